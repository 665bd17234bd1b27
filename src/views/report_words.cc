#include "views/report_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profile/levels.h"
#include "support/units.h"

namespace loopfold::views {

namespace {

using profile::Loop;

constexpr std::size_t kMostNamed = 3;     // places or objects in one phrase
constexpr std::size_t kMostBlocking = 2;  // dependences

/// "a, b and c", "a, b, c and 4 more".
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  const std::size_t shown = names.size() <= kMostNamed + 1 ? names.size() : kMostNamed;
  for (std::size_t i = 0; i < shown; i++) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

void add_new(std::vector<std::string>& list, std::string text) {
  if (!text.empty() && std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
}

/// "sum", "product", ...
std::string noun_of(const std::string& operation) {
  if (operation == "+") return "sum";
  if (operation == "*") return "product";
  if (operation == "min") return "minimum";
  if (operation == "max") return "maximum";
  if (operation == "&") return "bitwise and";
  if (operation == "|") return "bitwise or";
  if (operation == "^") return "exclusive or";
  return operation;
}

std::string operators_of(const Loop& loop) {
  std::vector<std::string> operators;
  for (const profile::Reduction& reduction : loop.reductions) add_new(operators, reduction.operation);
  return fmt::format("{}", fmt::join(operators, ","));
}

/// 150.5, 27, 12.3 k.
std::string number(double value) {
  if (value >= 1e4) return short_count(static_cast<std::uint64_t>(value));
  const std::string text = fmt::format("{:.1f}", value);
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

}  // namespace

std::string ReportWords::verdict(const Loop& loop) const {
  const std::string mark = has_footnote(loop) ? "*" : "";
  switch (loop.parallel) {
    case Loop::Parallel::kYes:
      return "parallel" + mark;
    case Loop::Parallel::kReduction: {
      const std::string operators = operators_of(loop);
      return words_.text(operators.empty() ? "reduction" + mark : fmt::format("reduction({}){}", operators, mark));
    }
    case Loop::Parallel::kNo:
      return "no";
    case Loop::Parallel::kUnknown:
      break;
  }
  return "unknown";
}

Style ReportWords::style(const Loop& loop) {
  switch (loop.parallel) {
    case Loop::Parallel::kYes:
    case Loop::Parallel::kReduction:
      return Style::kLoop;
    case Loop::Parallel::kNo:
      return Style::kHot;
    case Loop::Parallel::kUnknown:
      break;
  }
  return Style::kCaution;
}

bool ReportWords::has_footnote(const Loop& loop) {
  const bool good = loop.parallel == Loop::Parallel::kYes || loop.parallel == Loop::Parallel::kReduction;
  return good && loop.reuse != Loop::Reuse::kNone;
}

std::string ReportWords::footnote() {
  return "* No value and no decision goes from one iteration to another (but through the reduction, where there is "
         "one). But iterations use the same memory for different values: below the loop is said what each needs of its "
         "own. Where nothing is said, that is not known.";
}

std::string ReportWords::where(const Loop& loop) const {
  if (!loop.source) return words_.where(profile_.tree[loop.node]);
  return words_.place(*loop.source) + profile::hidden_words(profile_.tree[loop.node]);
}

std::string ReportWords::function(const Loop& loop) const {
  const std::vector<std::string>& inlined = profile_.tree[loop.node].inlined;
  const std::string name = loop.function.empty() ? "?" : words_.text(loop.function);
  if (inlined.empty()) return name;
  return fmt::format("{}, inlined in {}", words_.text(inlined.back()), name);
}

std::string ReportWords::trips(const Loop& loop) const {
  if (loop.nodes.size() == 1) {
    const profile::TreeNode& node = profile_.tree[loop.node];
    const profile::Counts counts = rounds_of(node);
    if (counts.min == counts.max) return counts.max < 1000000 ? grouped(counts.max) : short_count(counts.max);
    if (node.entries != 0) return "~" + number(static_cast<double>(counts.total) / static_cast<double>(node.entries));
  }
  return "~" + number(loop.trip.mean);
}

std::string ReportWords::place(const std::optional<profile::Source>& source) const {
  return source ? words_.place(*source) : "";
}

std::string ReportWords::object(const std::optional<std::uint32_t>& object) const {
  return object && *object < profile_.objects.size() ? words_.text(profile_.objects[*object].name) : "";
}

/// "sum at heat.c:20; floating point: another order may round differently".
std::string ReportWords::reduction(const profile::Reduction& reduction) const {
  std::string text = words_.text(noun_of(reduction.operation));
  if (reduction.array) text += "s, one per element";
  if (!reduction.variable.empty())
    text += fmt::format(" {} {}", reduction.array ? "of" : "in", words_.text(reduction.variable));
  if (const std::string at = place(reduction.source); !at.empty()) text += fmt::format(" at {}", at);
  if (reduction.reassociates) text += ": reassociates, so floating-point results may differ in rounding";
  return text;
}

std::string ReportWords::doubt(const profile::Doubt& doubt) const {
  std::string text = words_.text(doubt.why);
  if (const std::string at = place(doubt.source); !at.empty()) text += fmt::format(" ({})", at);
  return text;
}

/// "a (stencil.c:7) and b (stencil.c:8)".
std::string ReportWords::touched(const std::vector<profile::Touched>& list) const {
  std::vector<std::string> names;
  for (const profile::Touched& element : list) {
    std::string name = element.variable.empty() ? object(element.object) : element.variable;
    const std::string at = place(element.source);
    if (element.clause == "lastprivate")  // of what has no name
      name = fmt::format("{} of which the last one is used behind the loop", name.empty() ? "a value" : name);
    else if (!element.clause.empty() && !element.clause.starts_with("private("))
      name = fmt::format("{}, {}", name.empty() ? "a value" : name, element.clause);
    if (name.empty() || at.empty())
      add_new(names, name.empty() ? at : name);
    else
      add_new(names, fmt::format("{} ({})", name, at));
  }
  return listed(names);
}

std::string ReportWords::assumptions(const std::vector<profile::Assumption>& list) const {
  std::vector<std::string> names;
  for (const profile::Assumption& element : list) add_new(names, place(element.source));
  const bool one = list.size() == 1;
  if (names.empty()) return one ? "a branch" : fmt::format("{} branches", list.size());
  return fmt::format("the branch{} at {}", names.size() == 1 && one ? "" : "es", listed(names));
}

/// What a good verdict needs, and what it takes for granted.
void ReportWords::add_conditions(const Loop& loop, std::vector<std::string>& reasons) const {
  if (loop.trip.max <= 1) reasons.push_back("it never went round more than once in this run: that says little");
  for (const profile::Reduction& part : loop.reductions) add_new(reasons, reduction(part));
  if (!loop.reload.empty()) {
    const std::string what = touched(loop.reload);
    reasons.push_back(fmt::format("after loading {} again in each iteration", what.empty() ? "a value" : what));
  }
  if (!loop.privates.empty()) reasons.push_back("with private copies of " + touched(loop.privates));
  if (!loop.expand.empty()) reasons.push_back("with one copy per iteration of " + touched(loop.expand));
  if (!loop.assumes.empty())
    reasons.push_back(fmt::format("assumes that {} always go{} the way of this run", assumptions(loop.assumes),
                                  loop.assumes.size() == 1 ? "es" : ""));
}

std::string ReportWords::blocks(const Loop& loop) const {
  if (loop.block == 0 || !loop.blocks) return "";
  Loop blocks = loop;
  blocks.parallel = *loop.blocks;
  blocks.reductions.clear();
  blocks.reuse = Loop::Reuse::kNone;
  const bool good = *loop.blocks == Loop::Parallel::kYes || *loop.blocks == Loop::Parallel::kReduction;
  const bool known = loop.parallel == Loop::Parallel::kYes && loop.reuse == Loop::Reuse::kNone;
  return fmt::format(
      "it goes over a nest, whose inner loops are hidden in it (below); blocks of {} of its iterations: {}{}",
      grouped(loop.block), verdict(blocks),
      good && !known ? ", as far as values go; whether blocks need memory of their own is not known" : "");
}

std::vector<std::string> ReportWords::reasons(const Loop& loop) const {
  std::vector<std::string> reasons;
  switch (loop.parallel) {
    case Loop::Parallel::kYes:
    case Loop::Parallel::kReduction:
      add_conditions(loop, reasons);
      break;
    case Loop::Parallel::kUnknown:
      for (const profile::Doubt& part : loop.unknown) add_new(reasons, doubt(part));
      if (reasons.size() > kMostNamed) {
        const std::size_t more = reasons.size() - kMostNamed;
        reasons.resize(kMostNamed);
        reasons.push_back(fmt::format("and {} more", more));
      }
      break;
    case Loop::Parallel::kNo:
      for (std::size_t i = 0; i < std::min(kMostBlocking, loop.blocking.size()); i++)
        reasons.push_back(words_.text(loop.blocking[i].text));
      if (loop.blocking.size() > kMostBlocking)
        reasons.push_back(fmt::format("and {} more", loop.blocking.size() - kMostBlocking));
      break;
  }
  if (const std::string words = blocks(loop); !words.empty()) reasons.push_back(words);
  return reasons;
}

}  // namespace loopfold::views
