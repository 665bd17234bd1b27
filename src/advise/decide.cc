#include "advise/decide.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

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

/// As large as is suggested, but smaller than the loops: in a tile that holds all of them nothing changes its place,
/// and nothing would be proved for larger ones.
int tile_size(const std::vector<std::uint32_t>& nodes, const profile::Region& region) {
  constexpr int kSize = 32;
  constexpr int kSmall = 4;
  for (const Loop& loop : region.loops)
    for (const std::uint32_t node : nodes)
      if (std::find(loop.nodes.begin(), loop.nodes.end(), node) != loop.nodes.end() && loop.trip.max < 2 * kSize)
        return kSmall;
  return kSize;
}

/// All skews of the region's order.
std::string all_skews(const profile::Region& region) {
  if (!region.transformed) return "";
  std::string steps;
  for (const std::vector<std::int64_t>& skew : region.transformed->skew) {
    const std::string loop = name_of(static_cast<std::uint32_t>(skew[0]), region);
    const std::string by = name_of(static_cast<std::uint32_t>(skew[1]), region);
    if (loop.empty() || by.empty()) return "";
    steps += fmt::format("skew {} {} {}; ", loop, by, skew[2]);
  }
  return steps;
}

std::string tile_steps(const Suggestion& suggestion, const std::vector<std::string>& names,
                       const profile::Region& region) {
  return fmt::format("tile {} {}", fmt::join(names, ","), tile_size(suggestion.loops, region));
}

/// The region's order skews one of the loops.
bool is_skewed(const Suggestion& suggestion, const profile::Region& region) {
  if (!region.transformed) return false;
  const auto is_named = [&](std::int64_t node) {
    return std::find(suggestion.loops.begin(), suggestion.loops.end(), static_cast<std::uint32_t>(node)) !=
           suggestion.loops.end();
  };
  return std::any_of(region.transformed->skew.begin(), region.transformed->skew.end(),
                     [&](const std::vector<std::int64_t>& skew) { return is_named(skew[0]) || is_named(skew[1]); });
}

/// Skews, if the order has some, then tiles of the loops.
std::string skewed_steps(const Suggestion& suggestion, const std::vector<std::string>& names,
                         const profile::Region& region) {
  if (!is_skewed(suggestion, region)) return names.size() < 2 ? "" : tile_steps(suggestion, names, region);
  const std::string skews = names.size() < 2 ? "" : all_skews(region);
  return skews.empty() ? "" : skews + tile_steps(suggestion, names, region);
}

std::vector<std::string> names_of(const std::vector<std::uint32_t>& nodes, const profile::Region& region) {
  std::vector<std::string> names;
  for (const std::uint32_t node : nodes) {
    names.push_back(name_of(node, region));
    if (names.back().empty()) return {};
  }
  return names;
}

/// The steps for a loop that is to run in parallel as it is written; empty: it is about something else.
std::string parallel_steps(const Suggestion& suggestion, const profile::Region& region) {
  if ((suggestion.rule != "LF-PAR" && suggestion.rule != "LF-RED") || suggestion.loops.size() != 1) return "";
  for (const Loop& loop : region.loops) {
    if (std::find(loop.nodes.begin(), loop.nodes.end(), suggestion.loops.front()) == loop.nodes.end()) continue;
    const bool reduction = loop.parallel == Loop::Parallel::kReduction;
    if (!reduction && loop.parallel != Loop::Parallel::kYes) return "";  // blocks of its iterations
    const std::string name = name_of(suggestion.loops.front(), region);
    return name.empty() ? "" : fmt::format("parallel {}{}", name, reduction ? " reduction" : "");
  }
  return "";
}

/// What else must be legal: with tiles of one iteration, those of a wavefront at once.
std::string wavefront_steps(const Suggestion& suggestion, const profile::Region& region) {
  const std::vector<std::string> names = names_of(suggestion.loops, region);
  if (names.size() < 2) return "";
  const bool skewed = is_skewed(suggestion, region);
  std::string steps = skewed ? all_skews(region) : "";
  if (skewed && steps.empty()) return "";
  for (std::size_t k = 1; k < names.size(); ++k) steps += fmt::format("skew {} {} 1; ", names[0], names[k]);
  return steps + fmt::format("parallel {}", names[1]);
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
  const std::string evidence = fmt::format("live ranges of {} examined in the new order of region {}",
                                           counted(answer.storages, "variable"), region.id);
  if (std::find(suggestion.evidence.begin(), suggestion.evidence.end(), evidence) == suggestion.evidence.end())
    suggestion.evidence.push_back(evidence);
  suggestion.legal = Suggestion::Legal::kYes;
}

bool is_legal(const CheckAnswer& answer) {
  return answer.verdict == CheckAnswer::Verdict::kLegal || answer.verdict == CheckAnswer::Verdict::kLegalAfter;
}

bool is_illegal(const CheckAnswer& answer) { return answer.verdict == CheckAnswer::Verdict::kIllegal; }

bool needs_reduction(const Suggestion& suggestion) {
  return std::any_of(suggestion.requirements.begin(), suggestion.requirements.end(),
                     [](const profile::Requirement& r) { return r.kind == "reduction"; });
}

std::string line_of(const std::optional<profile::Source>& source) {
  return source ? fmt::format("{}:{}", source->file.substr(source->file.rfind('/') + 1), source->line) : "?";
}

/// A loop that was found to be parallel is examined in another way: if that finds a value which is needed in a later
/// iteration, one of the two is wrong, and nothing is claimed.
void doubt(const CheckAnswer& answer, Suggestion& suggestion) {
  std::string what = "a live range is cut";
  const auto stuck = std::find_if(answer.collisions.begin(), answer.collisions.end(),
                                  [](const Collision& collision) { return collision.repair == "none"; });
  if (!answer.violations.empty()) {
    const Violation& first = answer.violations.front();
    what = fmt::format("{} of {} is needed by {} in another iteration",
                       first.variable.empty() ? "a value" : first.variable, line_of(first.from), line_of(first.to));
  } else if (stuck != answer.collisions.end()) {
    what = fmt::format("values of {} get in each other's way",
                       stuck->variable.empty() ? line_of(stuck->source) : stuck->variable);
  }
  suggestion.legal = Suggestion::Legal::kUnknown;
  suggestion.requirements.push_back({"unknown", "", std::nullopt, "", std::nullopt});
  suggestion.evidence.push_back(fmt::format("not sure: as `loopfold check` sees it, {}", what));
}

}  // namespace

std::string steps_of(const Suggestion& suggestion, const profile::Region& region) {
  const std::vector<std::string> names = names_of(suggestion.loops, region);
  if (suggestion.rule == "LF-ICH") return names.size() == 2 ? fmt::format("interchange {} {}", names[0], names[1]) : "";
  const std::string before = interchange_of(suggestion.loops, region);
  const std::string first = before.empty() ? "" : before + "; ";
  const bool skewed = region.transformed && !region.transformed->skew.empty();
  if (suggestion.rule == "LF-TIL" && names.size() >= 2 && skewed) return skewed_steps(suggestion, names, region);
  if (suggestion.rule == "LF-TIL" && names.size() >= 2) return first + tile_steps(suggestion, names, region);
  if (suggestion.rule == "LF-SIMD" && names.size() == 1 && !before.empty())
    return fmt::format("{}vector {}{}", first, names[0], needs_reduction(suggestion) ? " reduction" : "");
  if (suggestion.rule == "LF-SKW") return skewed_steps(suggestion, names, region);
  if (suggestion.rule == "LF-FUS" && names.size() == 2) return fmt::format("fuse {} {}", names[0], names[1]);
  return "";
}

void decide_orders(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                   profile::Profile& profile, BuiltNests& built) {
  for (profile::Region& region : profile.regions) {
    if (region.vertices > kMostStatements) continue;
    const auto ask = [&](const std::string& steps, bool only_verdict = true) -> std::optional<CheckAnswer> {
      const Result<ScheduleText> schedule = parse_schedule(steps);
      if (steps.empty() || !schedule) return std::nullopt;
      CheckOptions options;
      options.region = region.id;
      options.operations = kCheckOperations;
      options.only_verdict = only_verdict;
      const Result<CheckAnswer> answer = check(graph, context, flow, profile, *schedule, options, &built);
      return answer ? std::optional(*answer) : std::nullopt;
    };
    for (Suggestion& suggestion : region.suggestions) {
      if (suggestion.legal == Suggestion::Legal::kYes) {
        const std::string steps = parallel_steps(suggestion, region);
        if (const std::optional<CheckAnswer> answer = ask(steps); answer && is_illegal(*answer))
          doubt(ask(steps, false).value_or(*answer), suggestion);
      }
      if (!is_undecided(suggestion)) continue;
      std::vector<std::string> orders = {steps_of(suggestion, region)};
      if (suggestion.rule == "LF-SKW") orders.push_back(wavefront_steps(suggestion, region));
      std::vector<CheckAnswer> answers;
      for (const std::string& steps : orders) {
        std::optional<CheckAnswer> answer = ask(steps);
        if (!answer) break;
        answers.push_back(std::move(*answer));
        if (!is_legal(answers.back())) break;
      }
      if (answers.size() == orders.size() && is_legal(answers.back())) {
        for (const CheckAnswer& answer : answers) take_over(answer, region, suggestion);
      } else if (!answers.empty() && !answers.back().why.empty() && !is_legal(answers.back())) {
        suggestion.evidence.push_back(fmt::format("not decided: {}", answers.back().why));
      }
    }
  }
}

}  // namespace loopfold::advise
