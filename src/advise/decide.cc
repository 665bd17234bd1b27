#include "advise/decide.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/check.h"
#include "support/units.h"

namespace loopfold::advise {

namespace {

using profile::Loop;
using profile::Suggestion;

constexpr std::uint64_t kMostStatements = 120;

std::string name_of(std::uint32_t node, const profile::Region& region) {
  for (const Loop& loop : region.loops)
    if (std::find(loop.nodes.begin(), loop.nodes.end(), node) != loop.nodes.end() && loop.source)
      return fmt::format("{}@{}", loop.source->line, node);
  return "";
}

bool is_undecided(const Suggestion& suggestion) {
  return suggestion.legal == Suggestion::Legal::kUnknown &&
         std::any_of(suggestion.requirements.begin(), suggestion.requirements.end(),
                     [](const profile::Requirement& r) { return r.kind == "unknown" && r.variable.empty(); });
}

/// Of the suggestion that has these loops change places, if there is one.
std::string interchange_of(const std::vector<std::uint32_t>& loops, const profile::Region& region) {
  for (const Suggestion& other : region.suggestions) {
    if (other.rule != "LF-ICH") continue;
    const bool all = std::all_of(loops.begin(), loops.end(), [&](std::uint32_t node) {
      return std::find(other.loops.begin(), other.loops.end(), node) != other.loops.end();
    });
    const bool some = std::any_of(loops.begin(), loops.end(), [&](std::uint32_t node) {
      return std::find(other.loops.begin(), other.loops.end(), node) != other.loops.end();
    });
    if (all || (some && loops.size() > 1)) return steps_of(other, region);
  }
  return "";
}

/// All skews of the region's order, then tiles of the loops.
std::string skewed_steps(const std::vector<std::string>& names, const profile::Region& region) {
  if (!region.transformed || names.size() < 2) return "";
  std::string steps;
  for (const std::vector<std::int64_t>& skew : region.transformed->skew) {
    const std::string loop = name_of(static_cast<std::uint32_t>(skew[0]), region);
    const std::string by = name_of(static_cast<std::uint32_t>(skew[1]), region);
    if (loop.empty() || by.empty()) return "";
    steps += fmt::format("skew {} {} {}; ", loop, by, skew[2]);
  }
  return steps.empty() ? "" : steps + fmt::format("tile {} 32", fmt::join(names, ","));
}

void take_over(const CheckAnswer& answer, const profile::Region& region, Suggestion& suggestion) {
  std::erase_if(suggestion.requirements,
                [](const profile::Requirement& r) { return r.kind == "unknown" && r.variable.empty(); });
  for (const Collision& collision : answer.collisions) {
    const auto known = [&](const profile::Requirement& r) {
      return r.kind == collision.repair && r.variable == collision.variable;
    };
    if (std::any_of(suggestion.requirements.begin(), suggestion.requirements.end(), known)) continue;
    std::optional<std::uint32_t> along;
    if (!collision.along.empty()) along = collision.along.front();
    if (!along && !suggestion.loops.empty()) along = suggestion.loops.front();
    std::string name = collision.variable;
    if (name.empty() && collision.source) name = fmt::format("{}:{}", collision.source->file, collision.source->line);
    suggestion.requirements.push_back({collision.repair, name, along, collision.clause, collision.bytes});
  }
  suggestion.evidence.push_back(fmt::format("live ranges of {} examined in the new order of region {}",
                                            counted(answer.storages, "variable"), region.id));
  suggestion.legal = Suggestion::Legal::kYes;
}

bool needs_reduction(const Suggestion& suggestion) {
  return std::any_of(suggestion.requirements.begin(), suggestion.requirements.end(),
                     [](const profile::Requirement& r) { return r.kind == "reduction"; });
}

}  // namespace

std::string steps_of(const Suggestion& suggestion, const profile::Region& region) {
  std::vector<std::string> names;
  for (const std::uint32_t node : suggestion.loops) {
    names.push_back(name_of(node, region));
    if (names.back().empty()) return "";
  }
  if (suggestion.rule == "LF-ICH") return names.size() == 2 ? fmt::format("interchange {} {}", names[0], names[1]) : "";
  const std::string before = interchange_of(suggestion.loops, region);
  const std::string first = before.empty() ? "" : before + "; ";
  const bool skewed = region.transformed && !region.transformed->skew.empty();
  if (suggestion.rule == "LF-TIL" && names.size() >= 2 && skewed) return skewed_steps(names, region);
  if (suggestion.rule == "LF-TIL" && names.size() >= 2)
    return fmt::format("{}tile {} 32", first, fmt::join(names, ","));
  if (suggestion.rule == "LF-SIMD" && names.size() == 1 && !before.empty())
    return fmt::format("{}vector {}{}", first, names[0], needs_reduction(suggestion) ? " reduction" : "");
  if (suggestion.rule == "LF-SKW") return skewed_steps(names, region);
  if (suggestion.rule == "LF-FUS" && names.size() == 2) return fmt::format("fuse {} {}", names[0], names[1]);
  return "";
}

void decide_orders(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                   profile::Profile& profile, BuiltNests& built) {
  for (profile::Region& region : profile.regions) {
    if (region.vertices > kMostStatements) continue;
    for (Suggestion& suggestion : region.suggestions) {
      if (!is_undecided(suggestion)) continue;
      const std::string steps = steps_of(suggestion, region);
      if (steps.empty()) continue;
      const Result<ScheduleText> schedule = parse_schedule(steps);
      if (!schedule) continue;
      CheckOptions options;
      options.region = region.id;
      options.operations = kCheckOperations;
      options.only_verdict = true;
      const Result<CheckAnswer> answer = check(graph, context, flow, profile, *schedule, options, &built);
      if (!answer) continue;
      const bool legal =
          answer->verdict == CheckAnswer::Verdict::kLegal || answer->verdict == CheckAnswer::Verdict::kLegalAfter;
      if (legal) {
        take_over(*answer, region, suggestion);
      } else if (!answer->why.empty()) {
        suggestion.evidence.push_back(fmt::format("not decided: {}", answer->why));
      }
    }
  }
}

}  // namespace loopfold::advise
