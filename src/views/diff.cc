#include "views/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "support/units.h"
#include "views/loop_accesses.h"
#include "views/text.h"

namespace loopfold::views {

namespace {

constexpr std::size_t kMostStrides = 8;
constexpr double kNearPoints = 1;    // of percent: less is no change
constexpr double kOpsChange = 0.01;  // of the operations: less is no change
constexpr double kMuch = 4;          // from here on "x 4.0" says more than "+300 %"

/// By node of the tree: the judged loop that it is.
struct Judged {
  const profile::Region* region = nullptr;
  const profile::Loop* loop = nullptr;
};

std::unordered_map<std::uint32_t, Judged> judged_loops(const profile::Profile& profile) {
  std::unordered_map<std::uint32_t, Judged> loops;
  for (const profile::Region& region : profile.regions)
    for (const profile::Loop& loop : region.loops)
      for (const std::uint32_t node : loop.nodes) loops.try_emplace(node, Judged{&region, &loop});
  return loops;
}

/// "4 next element, 1 stays": how many accesses of the source move in each way, most frequent ways first.
std::string stride_summary(const std::vector<LoopAccess>& accesses) {
  std::map<std::string, std::size_t> counts;
  for (const LoopAccess& access : accesses) counts[stride_text(access)]++;
  std::vector<std::pair<std::string, std::size_t>> ways(counts.begin(), counts.end());
  std::stable_sort(ways.begin(), ways.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [way, count] : ways) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, way);
  return text;
}

std::vector<std::string> stride_words(const ReportWords& words, const std::vector<LoopAccess>& accesses) {
  std::vector<std::string> texts;
  for (const LoopAccess& access : accesses) {
    if (texts.size() == kMostStrides) break;
    const std::string place = access.source ? " at " + words.words().place(*access.source) : "";
    texts.push_back(fmt::format("{} of {}{}: {}", access.kind == profile::Access::Kind::kLoad ? "load" : "store",
                                words.object(access.object), place, stride_text(access)));
  }
  return texts;
}

LoopSide side_of(const ReportWords& words, const Judged& judged) {
  const std::vector<LoopAccess> accesses = accesses_of(words.profile(), *judged.loop);
  LoopSide side{judged.region,
                judged.loop,
                0,
                words.where(*judged.loop),
                words.function(*judged.loop),
                words.verdict(*judged.loop),
                words.trips(*judged.loop),
                stride_summary(accesses),
                stride_words(words, accesses)};
  for (const std::uint32_t node : judged.loop->nodes) side.ops += words.profile().tree[node].ops;
  return side;
}

class Comparison {
 public:
  Comparison(const ReportWords& before, const ReportWords& after)
      : before_(before),
        after_(after),
        judged_before_(judged_loops(before.profile())),
        judged_after_(judged_loops(after.profile())) {}

  Diff run() {
    diff_.tree = match_trees(before_.profile(), after_.profile());
    diff_.shares_before = parallel_shares(before_.profile());
    diff_.shares_after = parallel_shares(after_.profile());
    for (std::uint32_t i = 0; i < diff_.tree.size(); i++) add_pair(diff_.tree[i]);
    for (std::size_t i = 0; i < diff_.loops.size(); i++) describe(diff_.loops[i]);
    find_interchanges();
    std::stable_sort(diff_.loops.begin(), diff_.loops.end(),
                     [](const LoopPair& a, const LoopPair& b) { return weight(a) > weight(b); });
    compare_suggestions();
    return std::move(diff_);
  }

 private:
  static std::uint64_t weight(const LoopPair& pair) {
    return std::max(pair.before ? pair.before->ops : 0, pair.after ? pair.after->ops : 0);
  }

  static const Judged* find(const std::unordered_map<std::uint32_t, Judged>& loops, std::optional<std::uint32_t> node) {
    if (!node) return nullptr;
    const auto at = loops.find(*node);
    return at == loops.end() ? nullptr : &at->second;
  }

  /// Copies of a loop make one pair: the first nodes that are paired decide.
  void add_pair(const MatchedNode& node) {
    const Judged* const a = find(judged_before_, node.before);
    const Judged* const b = find(judged_after_, node.after);
    const bool new_a = a != nullptr && seen_before_.insert(a->loop).second;
    const bool new_b = b != nullptr && seen_after_.insert(b->loop).second;
    if (!new_a && !new_b) return;
    LoopPair pair;
    if (new_a) pair.before = side_of(before_, *a);
    if (new_b) pair.after = side_of(after_, *b);
    diff_.loops.push_back(std::move(pair));
  }

  static void describe(LoopPair& pair) {
    if (!pair.before || !pair.after) {
      pair.changes.push_back(pair.before ? "only before" : "only after");
      return;
    }
    const LoopSide& a = *pair.before;
    const LoopSide& b = *pair.after;
    if (a.verdict != b.verdict) pair.changes.push_back(fmt::format("verdict {} → {}", a.verdict, b.verdict));
    if (a.trips != b.trips) pair.changes.push_back(fmt::format("trips {} → {}", a.trips, b.trips));
    if (std::abs(a.loop->stride01_percent - b.loop->stride01_percent) >= kNearPoints)
      pair.changes.push_back(
          fmt::format("near accesses {:.0f} % → {:.0f} %", a.loop->stride01_percent, b.loop->stride01_percent));
    if (a.stride_summary != b.stride_summary)
      pair.changes.push_back(fmt::format("strides along it: {} → {}", a.stride_summary, b.stride_summary));
    const double most = static_cast<double>(std::max(a.ops, b.ops));
    if (std::abs(static_cast<double>(a.ops) - static_cast<double>(b.ops)) > kOpsChange * most)
      pair.changes.push_back(
          fmt::format("operations {} → {} ({})", short_count(a.ops), short_count(b.ops), change_text(a.ops, b.ops)));
  }

  static bool nested(const LoopSide& outer, const LoopSide& inner) {
    return outer.region == inner.region && inner.loop->depth == outer.loop->depth + 1;
  }

  /// Two pairs, one directly inside the other on both sides, of which trip counts have been exchanged. Pairs are still
  /// in the order of the tree: the outer one is the last before the inner one with a smaller depth.
  void find_interchanges() {
    for (std::size_t inner = 0; inner < diff_.loops.size(); inner++) {
      LoopPair& in = diff_.loops[inner];
      if (!in.before || !in.after) continue;
      for (std::size_t outer = inner; outer-- > 0;) {
        LoopPair& out = diff_.loops[outer];
        if (!out.before || !out.after || !nested(*out.before, *in.before) || !nested(*out.after, *in.after)) continue;
        say_interchange(out, in);
        break;
      }
    }
  }

  static void say_interchange(LoopPair& out, LoopPair& in) {
    const auto trips = [](const LoopSide& side) { return std::llround(side.loop->trip.mean); };
    if (trips(*out.before) != trips(*in.after) || trips(*in.before) != trips(*out.after)) return;
    if (trips(*out.before) == trips(*in.before)) return;
    const std::string sizes = fmt::format("{} × {} trips became {} × {}", trips(*out.before), trips(*in.before),
                                          trips(*out.after), trips(*in.after));
    out.changes.insert(out.changes.begin(), fmt::format("changed places with {}: {}", in.before->where, sizes));
    in.changes.insert(in.changes.begin(), fmt::format("changed places with {}: {}", out.before->where, sizes));
  }

  /// Of each rule and function: those that one side has more of.
  void compare_suggestions() {
    using Key = std::pair<std::string, std::string>;
    std::map<Key, std::vector<SuggestionChange>> before;
    std::map<Key, std::vector<SuggestionChange>> after;
    const auto collect = [](const profile::Profile& profile, std::map<Key, std::vector<SuggestionChange>>& all) {
      for (const profile::Region& region : profile.regions)
        for (const profile::Suggestion& suggestion : region.suggestions)
          all[{suggestion.rule, region.function}].push_back({&suggestion, region.function});
    };
    collect(before_.profile(), before);
    collect(after_.profile(), after);
    const auto more = [](const auto& mine, const auto& other, std::vector<SuggestionChange>& list) {
      for (const auto& [key, suggestions] : mine) {
        const auto at = other.find(key);
        const std::size_t common = at == other.end() ? 0 : at->second.size();
        for (std::size_t i = common; i < suggestions.size(); i++) list.push_back(suggestions[i]);
      }
      std::stable_sort(list.begin(), list.end(), [](const SuggestionChange& a, const SuggestionChange& b) {
        return a.suggestion->gain > b.suggestion->gain;
      });
    };
    more(before, after, diff_.gone);
    more(after, before, diff_.fresh);
  }

  const ReportWords& before_;
  const ReportWords& after_;
  std::unordered_map<std::uint32_t, Judged> judged_before_;
  std::unordered_map<std::uint32_t, Judged> judged_after_;
  std::set<const profile::Loop*> seen_before_;
  std::set<const profile::Loop*> seen_after_;
  Diff diff_;
};

}  // namespace

std::string change_text(std::uint64_t before, std::uint64_t after) {
  if (before == after) return "the same";
  if (before == 0) return "new";
  const double ratio = static_cast<double>(after) / static_cast<double>(before);
  if (ratio >= kMuch) return fmt::format("× {:.1f}", ratio);
  const double percent = 100 * (ratio - 1);
  return std::abs(percent) < 0.05 ? "the same" : fmt::format("{:+.1f} %", percent);
}

Diff compare(const ReportWords& before, const ReportWords& after) { return Comparison(before, after).run(); }

}  // namespace loopfold::views
