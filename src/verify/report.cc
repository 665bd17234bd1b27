#include "verify/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "verify/names.h"

namespace loopfold::verify {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostShown = 5;

/// 1234567 as 1,234,567.
std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string vector_text(const std::vector<std::uint64_t>& vector) {
  return fmt::format("[{}]", fmt::join(vector, ", "));
}

std::string violation_text(const Violation& violation) {
  std::string text = fmt::format("    {}: {}", violation.kind, violation.why);
  if (!violation.object.empty()) text += fmt::format(", in {}", violation.object);
  if (!violation.producer.empty() || !violation.consumer.empty())
    text += fmt::format(", first from {} to {}", vector_text(violation.producer), vector_text(violation.consumer));
  if (violation.count > 0)
    text += violation.count == 1 ? " (once)" : fmt::format(" ({} times)", grouped(violation.count));
  return text + "\n";
}

Json json_of(const std::optional<profile::Source>& source) {
  if (!source) return nullptr;
  return {{"file", source->file}, {"line", source->line}};
}

Json json_of(const Violation& violation) {
  return {{"kind", violation.kind},
          {"source_from", json_of(violation.from)},
          {"source_to", json_of(violation.to)},
          {"object", violation.object},
          {"producer", violation.producer},
          {"consumer", violation.consumer},
          {"count", violation.count},
          {"text", violation.why}};
}

}  // namespace

bool Report::holds() const {
  return std::all_of(claims.begin(), claims.end(),
                     [](const Claim& claim) { return claim.outcome == Claim::Outcome::kHolds; });
}

std::string_view kind_name(Claim::Kind kind) {
  switch (kind) {
    case Claim::Kind::kParallel:
      return "parallel";
    case Claim::Kind::kReduction:
      return "reduction";
    case Claim::Kind::kBlocking:
      return "no";
    case Claim::Kind::kSchedule:
      return "schedule";
    case Claim::Kind::kBand:
      return "band";
  }
  return "";
}

std::string_view outcome_name(Claim::Outcome outcome) {
  switch (outcome) {
    case Claim::Outcome::kHolds:
      return "ok";
    case Claim::Outcome::kViolated:
      return "violated";
    case Claim::Outcome::kUnknown:
      return "unknown";
  }
  return "";
}

std::string report_text(const Report& report) {
  std::string text;
  std::size_t violated = 0;
  std::size_t unknown = 0;
  for (const Claim& claim : report.claims) {
    const std::string where = claim.source ? text_of(claim.source) : fmt::format("node {}", claim.node.value_or(0));
    text += fmt::format("{:<9}  {}", kind_name(claim.kind), where);
    if (const std::string& what = claim.loops.empty() ? claim.text : claim.loops; !what.empty()) text += "  " + what;
    if (claim.outcome == Claim::Outcome::kHolds) {
      text += claim.checked == 0 ? "  ok, no value flows within it\n"
                                 : fmt::format("  ok, {} flow instances checked\n", grouped(claim.checked));
      continue;
    }
    (claim.outcome == Claim::Outcome::kViolated ? violated : unknown) += 1;
    text += fmt::format("  {}{}\n", outcome_name(claim.outcome), claim.why.empty() ? "" : ": " + claim.why);
    for (std::size_t i = 0; i < claim.violations.size() && i < kMostShown; ++i)
      text += violation_text(claim.violations[i]);
    if (claim.violations.size() > kMostShown)
      text += fmt::format("    and {} more\n", claim.violations.size() - kMostShown);
  }
  if (!report.damage.empty())
    text += fmt::format("The trace was read up to where it is damaged: {}\n", report.damage);
  else if (report.partial)
    text += "The recording is partial: what was checked is what was recorded.\n";
  if (report.claims.empty())
    text += "The profile claims nothing of any loop.\n";
  else if (violated + unknown == 0)
    text += fmt::format("All {} claims hold for this run.\n", grouped(report.claims.size()));
  else
    text += fmt::format("{} of {} claims are violated, {} could not be checked.\n", grouped(violated),
                        grouped(report.claims.size()), grouped(unknown));
  return text;
}

std::string report_json(const Report& report) {
  Json claims = Json::array();
  for (const Claim& claim : report.claims) {
    Json violations = Json::array();
    for (const Violation& violation : claim.violations) violations.push_back(json_of(violation));
    Json json = {{"kind", kind_name(claim.kind)},   {"outcome", outcome_name(claim.outcome)},
                 {"region", claim.region},          {"node", nullptr},
                 {"source", json_of(claim.source)}, {"text", claim.text},
                 {"checked", claim.checked},        {"why", claim.why},
                 {"violations", violations}};
    if (claim.node) json["node"] = *claim.node;
    if (!claim.loops.empty()) json["loops"] = claim.loops;
    claims.push_back(std::move(json));
  }
  const Json json = {{"schema", "loopfold-verify/1"},
                     {"holds", report.holds()},
                     {"partial", report.partial},
                     {"damage", report.damage},
                     {"instructions", report.instructions},
                     {"replays", report.replays},
                     {"claims", claims}};
  return json.dump(1) + "\n";
}

}  // namespace loopfold::verify
