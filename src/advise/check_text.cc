// The answer of a check in words, and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "advise/check.h"
#include "support/units.h"

namespace loopfold::advise {

namespace {

using Json = nlohmann::ordered_json;
using Verdict = CheckAnswer::Verdict;

constexpr std::size_t kMostShown = 5;

std::string place(const std::optional<profile::Source>& source) {
  if (!source) return "?";
  const std::size_t slash = source->file.rfind('/');
  return fmt::format("{}:{}", slash == std::string::npos ? source->file : source->file.substr(slash + 1), source->line);
}

std::string vector(const std::vector<std::int64_t>& numbers) { return fmt::format("[{}]", fmt::join(numbers, ", ")); }

const char* word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kLegal:
      return "legal";
    case Verdict::kLegalAfter:
      return "legal after";
    case Verdict::kIllegal:
      return "illegal";
    case Verdict::kUnknown:
      break;
  }
  return "unknown";
}

std::string words(const Violation& violation) {
  std::string text = fmt::format("  {} must come before {}", place(violation.from), place(violation.to));
  text += fmt::format(" ({}{})", violation.kind, violation.variable.empty() ? "" : ": " + violation.variable);
  if (!violation.producer.empty() || !violation.consumer.empty())
    text += fmt::format(": iteration {} before {}", vector(violation.producer), vector(violation.consumer));
  if (violation.count) text += "; " + counted(*violation.count, "pair");
  return text + "\n";
}

std::string words(const Collision& collision) {
  std::string text = fmt::format("  {}", collision.variable);
  if (collision.repair == "private" && collision.clause == "lastprivate") {  // of what has no name
    text += ": private, and what the last iteration leaves there is used behind the loop";
  } else if (collision.repair == "private") {
    text += fmt::format(": private{}", collision.clause.empty() ? "" : ", " + collision.clause);
  } else if (collision.repair == "expand") {
    if (collision.along.empty())
      text += ": one copy beside it, for the values from before";
    else
      text += fmt::format(": expanded along {}", fmt::join(collision.along_lines, ", "));
    if (collision.bytes) text += ", " + counted(*collision.bytes, "byte");
  } else if (collision.repair == "none") {
    text += fmt::format(": values overwrite each other, and {}", collision.why);
  } else {
    text += fmt::format(": not known, because {}", collision.why);
  }
  if (collision.source) text += fmt::format(" ({})", place(collision.source));
  return text + "\n";
}

/// What reads the same is said once.
template <typename T>
void add(std::string& text, const std::vector<T>& list) {
  std::vector<std::string> lines;
  for (const T& one : list)
    if (std::string line = words(one); std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(std::move(line));
  for (std::size_t i = 0; i < lines.size() && i < kMostShown; ++i) text += lines[i];
  if (lines.size() > kMostShown) text += fmt::format("  and {} more\n", lines.size() - kMostShown);
}

Json json_of(const std::optional<profile::Source>& source) {
  if (!source) return nullptr;
  return {{"file", source->file}, {"line", source->line}};
}

template <typename T>
Json json_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace

std::string answer_text(const CheckAnswer& answer) {
  std::string text = word(answer.verdict);
  if (answer.verdict == Verdict::kUnknown) text += fmt::format(": {}", answer.why);
  if (answer.verdict == Verdict::kLegalAfter) text += " giving values places of their own:";
  text += "\n";
  if (!answer.violations.empty()) {
    text += fmt::format("{} {} violated:\n", counted(answer.violations.size(), "dependence"),
                        answer.violations.size() == 1 ? "is" : "are");
    add(text, answer.violations);
  }
  if (answer.verdict == Verdict::kIllegal && !answer.collisions.empty()) text += "Memory reuse:\n";
  add(text, answer.collisions);
  for (const profile::Source& branch : answer.assumes)
    text += fmt::format("Assumes that the branch at {} always goes the way of this run.\n", place(branch));
  if (!answer.reduction.empty()) text += fmt::format("Legal as a reduction: {}\n", answer.reduction);
  if (!answer.next.empty()) text += fmt::format("Legal without expansion: {}\n", answer.next);
  text += fmt::format("Region {}; {} and {} examined, for this run.\n", answer.region,
                      counted(answer.dependences, "dependence"), counted(answer.storages, "variable"));
  if (!answer.also.empty())
    text += fmt::format("There are such loops in region{} {} as well: --region says which is meant.\n",
                        answer.also.size() == 1 ? "" : "s", fmt::join(answer.also, ", "));
  return text;
}

std::string answer_json(const CheckAnswer& answer) {
  Json violations = Json::array();
  for (const Violation& violation : answer.violations)
    violations.push_back({{"source_from", json_of(violation.from)},
                          {"source_to", json_of(violation.to)},
                          {"kind", violation.kind},
                          {"variable", violation.variable},
                          {"count", json_or_null(violation.count)},
                          {"example", {{"producer", violation.producer}, {"consumer", violation.consumer}}},
                          {"pairs", violation.pairs}});
  Json requires_ = Json::array();
  Json collisions = Json::array();
  for (const Collision& collision : answer.collisions) {
    Json one = {{"kind", collision.repair},           {"variable", collision.variable},
                {"loops", collision.along},           {"lines", collision.along_lines},
                {"clause", collision.clause},         {"bytes", json_or_null(collision.bytes)},
                {"source", json_of(collision.source)}};
    if (!collision.why.empty()) one["why"] = collision.why;
    const bool repaired = collision.repair == "private" || collision.repair == "expand";
    (repaired ? requires_ : collisions).push_back(std::move(one));
  }
  Json json = {{"schema", "loopfold-check/1"},
               {"verdict", word(answer.verdict)},
               {"why", answer.why},
               {"region", answer.region},
               {"also", answer.also},
               {"steps", answer.steps},
               {"private", answer.privates},
               {"requires", std::move(requires_)},
               {"violations", std::move(violations)},
               {"conflicts", std::move(collisions)},
               {"dependences", answer.dependences},
               {"variables", answer.storages}};
  for (const profile::Source& branch : answer.assumes) json["assumes"].push_back(json_of(branch));
  if (!answer.reduction.empty()) json["as_reduction"] = answer.reduction;
  if (!answer.next.empty()) json["next"] = answer.next;
  return json.dump(1) + "\n";
}

}  // namespace loopfold::advise
