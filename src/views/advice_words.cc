#include "views/advice_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profile/levels.h"
#include "support/units.h"

namespace loopfold::views {

namespace {

using profile::Blocking;
using profile::Loop;
using profile::Region;
using profile::Suggestion;
using profile::Transformed;

constexpr double kAll = 99.5;  // percent that read as all of it
constexpr std::string_view kUnknown = "?";

/// With an asterisk where it is not decided whether iterations share memory.
std::string share(double percent, bool footnote) {
  const std::string_view mark = footnote ? "*" : "";
  if (percent >= kAll) return fmt::format("yes{}", mark);
  return percent > 0 ? fmt::format("{} %{}", percent_text(percent), mark) : "no";
}

/// Loops that have no loop inside them.
bool is_innermost(const Region& region, std::size_t loop) {
  return loop + 1 == region.loops.size() || region.loops[loop + 1].depth <= region.loops[loop].depth;
}

bool is_good(const Loop& loop) {
  return loop.parallel == Loop::Parallel::kYes || loop.parallel == Loop::Parallel::kReduction;
}

const Loop* outermost_blocked(const Region& region) {
  const auto found = std::find_if_not(region.loops.begin(), region.loops.end(), is_good);
  return found == region.loops.end() ? nullptr : &*found;
}

/// The innermost loop with most operations of those that are not parallel.
const Loop* innermost_blocked(const Region& region) {
  const Loop* worst = nullptr;
  for (std::size_t i = 0; i < region.loops.size(); i++) {
    const Loop& loop = region.loops[i];
    if (!is_innermost(region, i) || loop.parallel == Loop::Parallel::kYes) continue;
    if (worst == nullptr || loop.ops_percent > worst->ops_percent) worst = &loop;
  }
  return worst;
}

/// Phrases with what they are reasons for: "parallel, SIMD: ...".
class Reasons {
 public:
  void add(const std::string& what, const std::string& phrase) {
    if (phrase.empty()) return;
    const auto same = [&](const auto& entry) { return entry.second == phrase; };
    const auto found = std::find_if(entries_.begin(), entries_.end(), same);
    if (found == entries_.end())
      entries_.emplace_back(what, phrase);
    else if (found->first.find(what) == std::string::npos)
      found->first += ", " + what;
  }

  std::vector<std::string> list() const {
    std::vector<std::string> phrases;
    for (const auto& [what, phrase] : entries_) phrases.push_back(what.empty() ? phrase : what + ": " + phrase);
    return phrases;
  }

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

}  // namespace

std::string AdviceWords::tile_depth(std::uint32_t depth) { return depth == 0 ? "no" : fmt::format("{}D", depth); }

std::string AdviceWords::gain(double gain) { return fmt::format("{:.{}f}x", gain, gain < 9.95 ? 2 : 0); }

std::string AdviceWords::legal(Suggestion::Legal legal) {
  switch (legal) {
    case Suggestion::Legal::kYes:
      return "yes";
    case Suggestion::Legal::kNo:
      return "no";
    case Suggestion::Legal::kUnknown:
      break;
  }
  return "unknown";
}

std::string AdviceWords::loop(std::uint32_t node) const {
  if (node >= profile_.tree.size()) return "?";
  const profile::TreeNode& of = profile_.tree[node];
  return of.hidden ? words_.where(of) : words_.where(of) + profile::counter_words(of);
}

std::string AdviceWords::region(const Region& region) const {
  return region.loops.empty() ? loop(region.node) : report_.where(region.loops.front());
}

std::string AdviceWords::lines(const Suggestion& suggestion) const {
  std::vector<std::string> places;
  for (const profile::Source& source : suggestion.where) {
    std::string place = words_.place(source);
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(std::move(place));
  }
  if (places.empty())
    for (const std::uint32_t node : suggestion.loops) places.push_back(loop(node));
  return fmt::format("{}", fmt::join(places, ", "));
}

/// What a loop says of a reduction that is required: of several of one variable, of the one with more to say.
const profile::Reduction* AdviceWords::reduction_of(const profile::Requirement& requirement) const {
  if (requirement.kind != "reduction" || !requirement.loop) return nullptr;
  const profile::Reduction* found = nullptr;
  for (const Region& region : profile_.regions)
    for (const Loop& loop : region.loops) {
      if (std::find(loop.nodes.begin(), loop.nodes.end(), *requirement.loop) == loop.nodes.end()) continue;
      for (const profile::Reduction& reduction : loop.reductions)
        if (reduction.variable == requirement.variable && (found == nullptr || reduction.reassociates))
          found = &reduction;
      return found;
    }
  return nullptr;
}

/// "xmm0 at heat.c:12": what the compiler keeps there.
static bool is_register(std::string_view what) {
  const std::size_t at = what.find(" at ");
  return at != std::string_view::npos && at <= 5 && (what.starts_with("xmm") || what.starts_with('r'));
}

std::string AdviceWords::requirement(const profile::Requirement& requirement) const {
  if (requirement.kind == "unknown" && requirement.variable.empty())
    return "not decided yet: whether iterations need memory of their own";
  const bool is_place = requirement.kind == "reload" || requirement.kind == "assume";
  const std::size_t slash = is_place ? requirement.variable.rfind('/') : std::string::npos;
  const std::string what = requirement.variable.empty() ? "a value"
                           : slash == std::string::npos ? words_.text(requirement.variable)
                                                        : words_.text(requirement.variable.substr(slash + 1));
  std::string text;
  if (requirement.kind == "private")
    text = fmt::format("a private copy of {}", what);
  else if (requirement.kind == "expand")
    text = fmt::format("{}{} expanded to one copy per iteration", is_register(what) ? "the value in " : "", what);
  else if (requirement.kind == "reduction")
    text = fmt::format("a reduction into {}", what);
  else if (requirement.kind == "reload")
    text = fmt::format("{} loaded again in each iteration", what);
  else if (requirement.kind == "assume")
    text = fmt::format("that {} always goes the way of this run",
                       requirement.variable.empty() ? "a branch" : fmt::format("the branch at {}", what));
  else if (requirement.kind == "copy")
    text = fmt::format("a copy of {}", what);
  else if (requirement.kind == "unknown")
    text = fmt::format("not decided: what to do with {}", what);
  else
    text = fmt::format("{}: {}", words_.text(requirement.kind), what);
  if (requirement.loop) text += fmt::format(", along {}", loop(*requirement.loop));
  if (requirement.bytes) text += fmt::format(", {}", short_bytes(*requirement.bytes));
  if (requirement.clause == "lastprivate")  // of what has no name
    text +=
        "; what the last iteration leaves there is used behind the loop (lastprivate, of a variable without a name)";
  else if (!requirement.clause.empty())
    text += fmt::format(": {}", words_.text(requirement.clause));
  const profile::Reduction* const reduction = reduction_of(requirement);
  if (reduction != nullptr && reduction->partly)
    text += "; only into copies of what it puts something into: the loop uses other parts of it, too";
  if (reduction != nullptr && reduction->reassociates)
    text += "; reassociates, so floating-point results may differ in rounding";
  return text;
}

std::string AdviceWords::carries(const Loop& loop) const {
  const std::string where = report_.where(loop);
  if (loop.parallel == Loop::Parallel::kUnknown)
    return loop.unknown.empty() ? fmt::format("{} is not decided", where)
                                : fmt::format("{}: {}", where, words_.text(loop.unknown.front().why));
  if (loop.parallel == Loop::Parallel::kReduction) return fmt::format("{} is a reduction", where);
  if (loop.blocking.empty()) return "";
  const Blocking& first = loop.blocking.front();
  if (first.kind == Blocking::Kind::kControl) return fmt::format("data decide how {} goes on", where);
  if (first.kind == Blocking::Kind::kEnvironment) return fmt::format("{} does input or output", where);
  const std::string object = report_.object(first.object);
  std::vector<std::string> details;
  if (first.source_from && first.source_to)
    details.push_back(fmt::format("{} to {}", words_.place(*first.source_from), words_.place(*first.source_to)));
  if (first.distance) details.push_back(fmt::format("distance {}", *first.distance));
  const std::string what = object.empty() ? "a value" : object;
  const std::string more = details.empty() ? "" : fmt::format(" ({})", fmt::join(details, ", "));
  return fmt::format("{} carries {}{}", where, what, more);
}

std::string AdviceWords::interchanges(const Transformed& transformed) const {
  if (transformed.interchange.empty()) return "no";
  std::vector<std::string> pairs;
  for (const std::vector<std::uint32_t>& pair : transformed.interchange) {
    std::vector<std::string> lines;
    for (const std::uint32_t node : pair) {
      const bool known = node < profile_.tree.size() && profile_.tree[node].source;
      lines.push_back(known ? std::to_string(profile_.tree[node].source->line) +
                                  profile::counter_words(profile_.tree[node])
                            : loop(node));
    }
    pairs.push_back(fmt::format("{}", fmt::join(lines, ",")));
  }
  return pairs.size() == 1 ? pairs[0] : fmt::format("{} +{}", pairs[0], pairs.size() - 1);
}

std::vector<std::string> AdviceWords::why_not(const Region& region) const {
  const Transformed& transformed = *region.transformed;
  if (transformed.status == Transformed::Status::kGaveUp)
    return {transformed.why.empty() ? "gave up" : "gave up: " + words_.text(transformed.why)};
  Reasons reasons;
  const Loop* const outer = outermost_blocked(region);
  const Loop* const inner = innermost_blocked(region);
  if (transformed.parallel_ops_percent < kAll)
    reasons.add("parallel", outer != nullptr ? carries(*outer) : "the rest is in no parallel loop of the new order");
  if (transformed.simd_ops_percent < kAll)
    reasons.add("SIMD", inner != nullptr ? carries(*inner)
                                         : "the rest is in no innermost loop that is parallel and goes along its data");
  if (transformed.tile_depth < 2 && region.depth_source >= 2 && outer != nullptr) reasons.add("tile", carries(*outer));
  for (const Suggestion& suggestion : region.suggestions) {
    if (suggestion.legal != Suggestion::Legal::kNo) continue;
    const std::string& why = suggestion.evidence.empty() ? suggestion.title : suggestion.evidence.front();
    reasons.add(words_.text(suggestion.rule), words_.text(why));
  }
  reasons.add("", words_.text(transformed.why));
  std::vector<std::string> list = reasons.list();
  if (list.empty() && transformed.status == Transformed::Status::kOriginal && region.depth_source >= 2)
    list.emplace_back("no better order than the one as written was found");
  return list;
}

Transformations AdviceWords::transformations(const Region& region) const {
  Transformations row;
  if (!region.transformed || region.transformed->status == Transformed::Status::kGaveUp) {
    row.parallel = row.simd = row.interchange = row.tile = row.skew = row.fuse = kUnknown;
    row.why_not = region.transformed ? why_not(region) : std::vector<std::string>{"not looked for"};
    return row;
  }
  const Transformed& transformed = *region.transformed;
  const bool footnote = std::any_of(region.loops.begin(), region.loops.end(), ReportWords::has_footnote);
  row.parallel = share(transformed.parallel_ops_percent, footnote);
  row.simd = share(transformed.simd_ops_percent, footnote);
  row.interchange = interchanges(transformed);
  row.tile = tile_depth(transformed.tile_depth);
  row.skew = transformed.skew.empty() ? "no" : "yes";
  row.fuse = transformed.components_after < transformed.components_before
                 ? fmt::format("{} to {}", transformed.components_before, transformed.components_after)
                 : "no";
  row.why_not = why_not(region);
  return row;
}

/// "heat.c:17 and heat.c:18 + heat.c:17, which may be tiled together; heat.c:17 is parallel".
std::string AdviceWords::band(const profile::Band& band) const {
  std::vector<std::string> members;
  std::vector<std::string> parallel;
  for (const profile::BandMember& member : band.members) {
    std::vector<std::string> terms;
    for (const profile::BandMember::Term& term : member.terms)
      terms.push_back(term.factor == 1 ? loop(term.node) : fmt::format("{} * {}", term.factor, loop(term.node)));
    if (terms.empty()) continue;
    members.push_back(fmt::format("{}", fmt::join(terms, " + ")));
    if (member.parallel == Loop::Parallel::kYes || member.parallel == Loop::Parallel::kReduction)
      parallel.push_back(members.back());
  }
  if (members.empty()) return "";
  std::string text = fmt::format("loop{} {}", members.size() == 1 ? "" : "s", fmt::join(members, ", then "));
  if (members.size() > 1) text += "; they may change places and be tiled together";
  if (parallel.empty())
    text += "; none is parallel";
  else if (parallel.size() == members.size())
    text += members.size() == 1 ? "; parallel" : "; all parallel";
  else
    text += fmt::format("; parallel: {}", fmt::join(parallel, ", "));
  return text;
}

std::vector<std::string> AdviceWords::schedule(const Region& region) const {
  std::vector<std::string> sentences;
  if (!region.transformed) return {"what another order of the loops could do was not looked for"};
  const Transformed& transformed = *region.transformed;
  switch (transformed.status) {
    case Transformed::Status::kGaveUp:
      return {"gave up" + (transformed.why.empty() ? "" : ": " + words_.text(transformed.why))};
    case Transformed::Status::kOriginal:
      sentences.push_back("no order that is better than the one as written was found");
      break;
    case Transformed::Status::kFound:
      break;
  }
  for (const std::string& step : transformed.steps) sentences.push_back(words_.text(step));
  for (const std::vector<std::int64_t>& skew : transformed.skew)
    if (skew.size() == 3 && transformed.steps.empty())
      sentences.push_back(fmt::format("skew: {0} becomes {0} + {2} * {1}", loop(static_cast<std::uint32_t>(skew[0])),
                                      loop(static_cast<std::uint32_t>(skew[1])), skew[2]));
  for (const profile::Band& part : transformed.bands)
    if (std::string text = band(part); !text.empty()) sentences.push_back(std::move(text));
  return sentences;
}

std::string AdviceWords::legend() {
  return "parallel, SIMD: can all of the region's operations run so, or which share of them, in an order of its loops "
         "that keeps all dependences? interchange: lines of loops to change places; tile: so many loops deep; skew: "
         "needed for that; fuse: outermost loops before and after; ?: not known.";
}

std::vector<RankedSuggestion> ranked_suggestions(std::span<const Region* const> regions) {
  std::vector<RankedSuggestion> list;
  for (const Region* const region : regions)
    for (const Suggestion& suggestion : region->suggestions)
      if (suggestion.legal != Suggestion::Legal::kNo) list.push_back({region, &suggestion});
  std::stable_sort(list.begin(), list.end(), [](const RankedSuggestion& a, const RankedSuggestion& b) {
    if (a.suggestion->gain != b.suggestion->gain) return a.suggestion->gain > b.suggestion->gain;
    return a.suggestion->legal == Suggestion::Legal::kYes && b.suggestion->legal != Suggestion::Legal::kYes;
  });
  return list;
}

}  // namespace loopfold::views
