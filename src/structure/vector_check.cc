#include "structure/vector_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "structure/loop_walk.h"

namespace loopfold::structure {

namespace {

struct Watch {
  static constexpr bool kEveryPart = true;

  explicit Watch(const CodeMap& map, VectorCheck& to) : code(map), result(to) {}

  template <class Walk>
  void part(const Walk& walk, const typename Walk::S& stack, const Part& part) {
    ++result.parts;
    walk.numbers(stack, now);
    const auto [found, added] = last.try_emplace(stack.data.id, now);
    if (added) ++result.stacks;
    if (!added && result.problem.empty() && !(found->second < now)) {
      result.problem =
          fmt::format("thread {}: the iteration vector of {:#x}, ({}), does not come after ({})", walk.thread(),
                      code.address(part.place), fmt::join(now, ","), fmt::join(found->second, ","));
    }
    found->second.swap(now);
  }

  const CodeMap& code;
  VectorCheck& result;
  std::vector<std::uint64_t> now;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> last;  // by stack
};

bool same(const EntryCounts& a, const EntryCounts& b) { return a.min == b.min && a.max == b.max && a.total == b.total; }

bool same(const Context& a, const Context& b) {
  return a.kind == b.kind && a.origin == b.origin && a.parent == b.parent && a.function == b.function &&
         a.site == b.site && a.caller == b.caller && a.node == b.node && a.loop == b.loop && a.hidden == b.hidden &&
         a.period == b.period && a.instructions == b.instructions && a.memory == b.memory && a.floating == b.floating &&
         a.entries == b.entries && a.finished == b.finished && same(a.iterations, b.iterations) &&
         same(a.trips, b.trips);
}

std::string described(const Context& context) {
  const auto counts = [](const EntryCounts& c) { return fmt::format("{} ({}..{})", c.total, c.min, c.max); };
  return fmt::format("{} instructions, {} entries, {} ended, {} iterations, {} trips", context.instructions,
                     context.entries, context.finished, counts(context.iterations), counts(context.trips));
}

std::string difference(const LoopTree& events, const LoopTree& runs) {
  if (events.contexts().size() != runs.contexts().size())
    return fmt::format("{} contexts event by event, but {} run by run", events.contexts().size(),
                       runs.contexts().size());
  for (ContextId id = 0; id < events.contexts().size(); ++id) {
    const Context& a = events[id];
    const Context& b = runs[id];
    if (same(a, b)) continue;
    return fmt::format("context {} is {} event by event, but {} run by run", id, described(a), described(b));
  }
  const auto same_split = [](const auto& a, const auto& b) {
    return a.first == b.first && a.second.iterations.min == b.second.iterations.min &&
           a.second.iterations.max == b.second.iterations.max && a.second.trips.min == b.second.trips.min &&
           a.second.trips.max == b.second.trips.max;
  };
  if (!std::equal(events.splits().begin(), events.splits().end(), runs.splits().begin(), runs.splits().end(),
                  same_split))
    return "loops that are split have other counts run by run";
  return {};
}

}  // namespace

VectorCheck check_vectors(const trace::Reader& reader, const Structure& structure) {
  VectorCheck result;
  std::string damage;
  LoopTree by_events;
  {
    Watch watch(structure.code, result);
    LoopWalk<Watch> walk(structure, by_events, watch);
    walk.walk(reader, damage);
  }
  LoopTree by_runs;
  NoObserver nothing;
  LoopWalk<NoObserver> walk(structure, by_runs, nothing);
  walk.walk(reader, damage);
  if (result.problem.empty()) result.problem = difference(by_events, by_runs);
  return result;
}

}  // namespace loopfold::structure
