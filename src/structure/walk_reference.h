// For tests: iteration vectors and the loop tree by their definitions, from what really happened (testing.h).
//
// Nothing is kept up to date. The whole history of every activation is kept, and whenever a part runs, where it is gets
// worked out from that history alone:
// - Loop L around the current place of an activation was entered at the first of those visits, up to the last one, that
//   are all inside L. Its counter is how often its header was among them, not counting the first.
// - A component is live from the call of its first activation to that one's end. It *steps* at every call of one of its
//   headers in between; and at every end of an activation during which it stepped, the call of it included, unless a
//   component inside of it is live. Its counter is the number of its steps.
// - The context of a part is: the context of the first call of the innermost live component; the component; then, from
//   the activation that its last step led to (visits before that step do not count) up to the innermost one, their
//   loops and calls.
// - A place that control comes to by longjmp or an exception is a node of its own, unless it comes there again and
// again
//   without having been there in the ordinary way.
// - A tail call inside a live component, made by a function that was itself tail-called in it, ends the caller's loops;
//   the two end as one activation.
//
// Cost: the square of the history for every part. Graphs of up to 64 nodes, by graph_reference.h.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "structure/graph_reference.h"
#include "structure/loop_tree.h"
#include "structure/testing.h"

namespace loopfold::structure::testing {

/// Where a part ran.
struct Located {
  std::uint32_t stack = 0;
  std::uint64_t address = 0;
  std::string context;
  std::vector<std::uint64_t> counters;
  friend bool operator==(const Located&, const Located&) = default;
};

/// What a context's counts are.
struct Totals {
  std::uint64_t instructions = 0, memory = 0, floating = 0, entries = 0, finished = 0;
  EntryCounts iterations, trips;
};

class WalkReference {
 public:
  explicit WalkReference(const Story& story) : story_(story), starts_(story.starts) {
    for (const Happening& h : story.log) {
      using Kind = Happening::Kind;
      if (h.kind == Kind::kCall || h.kind == Kind::kBehind || (h.kind == Kind::kBegin && h.number == 0))
        starts_.insert(h.address);
    }
    do {
      functions_.clear();
      function_at_.clear();
      replay();
    } while (find_ways_back());
    find_loops();
    known_ = true;
    replay();
    for (const auto& [key, entry] : loop_entries_) finish_loop(key.first, entry);
  }

  std::vector<Located> parts;
  std::map<std::string, Totals> totals;

 private:
  using Time = std::int64_t;
  static constexpr Time kNever = std::int64_t{1} << 60;
  static constexpr std::size_t kNone = ~std::size_t{0};

  struct Visit {
    Time time = 0;
    NodeId node = 0;
  };
  struct Act {
    std::uint32_t stack = 0;
    std::size_t function = 0;
    std::size_t below = kNone;
    std::uint64_t site = 0;
    bool from_landing = false;
    std::size_t depth = 0;  // of the real activation that it belongs to
    bool tail = false;
    bool merged = false;
    Time called = 0;
    Time closed = kNever;  // its loops ended
    Time ended = kNever;
    std::vector<Visit> visits;
  };
  struct StackInfo {
    Origin origin = Origin::kThread;
    std::uint64_t ordinal = 0;
    std::size_t root = 0;
    std::vector<std::size_t> live;
  };
  struct FunctionInfo {
    std::uint64_t entry = 0;
    std::vector<std::uint64_t> places;  // by node
    std::vector<bool> landings;
    std::vector<std::pair<NodeId, NodeId>> edges;
    std::vector<reference::Loop> loops;  // outer ones first
  };
  struct Step {
    Time time = 0;
    std::size_t act = 0;  // that control is in afterwards
  };
  struct LoopEntry {
    std::size_t act = 0;
    std::size_t last = 0;  // visit
    NodeId header = 0;
    std::uint64_t headers = 0;
    bool self = false;  // the header is a latch
  };
  struct Position {
    std::string context;
    std::vector<std::uint64_t> counters;
  };

  // ---- Replaying --------------------------------------------------------------------------------------------------

  void replay() {
    acts_.clear();
    stacks_.clear();
    begun_.clear();
    now_ = 0;
    for (const Happening& h : story_.log) {
      ++now_;
      using Kind = Happening::Kind;
      switch (h.kind) {
        case Kind::kBegin:
          begin(h);
          break;
        case Kind::kCall:
          call(h.stack, h.address, false, top(h.stack).depth + 1);
          break;
        case Kind::kUnwind:
          while (top(h.stack).depth > h.number) end_top(h.stack);
          break;
        case Kind::kFall:
          if (story_.places.contains(h.address)) jump(h);
          break;
        case Kind::kJump:
        case Kind::kBehind:
          jump(h);
          break;
        case Kind::kPart:
          ran(h);
          break;
        case Kind::kEnd:
          while (!stacks_[h.stack].live.empty()) end_top(h.stack);
          break;
      }
    }
  }

  Act& top(std::uint32_t stack) { return acts_[stacks_[stack].live.back()]; }

  std::size_t function(std::uint64_t entry) {
    const auto [found, added] = function_at_.try_emplace(entry, functions_.size());
    if (added) functions_.push_back({entry, {entry}, {false}, {}, {}});
    return found->second;
  }
  NodeId find_node(const FunctionInfo& function, std::uint64_t address, bool landing) const {
    for (NodeId node = 0; node < function.places.size(); ++node)
      if (function.places[node] == address && function.landings[node] == landing) return node;
    return kNoNode;
  }
  NodeId node(std::size_t id, std::uint64_t address, bool landing) {
    FunctionInfo& function = functions_[id];
    landing = landing && !ways_back_.contains({function.entry, address});
    if (find_node(function, address, landing) == kNoNode) {
      function.places.push_back(address);
      function.landings.push_back(landing);
    }
    return find_node(function, address, landing);
  }

  void begin(const Happening& h) {
    StackInfo& stack = stacks_[h.stack];
    const std::size_t root = function(h.address);
    stack = {h.origin, begun_[{h.origin, root}]++, root, {}};
    roots_.insert(static_cast<NodeId>(root));
    if (known_) ++totals[start_label(stack)].entries;
    push(h.stack, root, 0, false, false, 1);
  }
  void call(std::uint32_t stack, std::uint64_t address, bool tail, std::size_t depth) {
    const std::size_t callee = function(address);
    const Act& caller = top(stack);
    calls_.insert({static_cast<NodeId>(caller.function), static_cast<NodeId>(callee)});
    const FunctionInfo& function = functions_[caller.function];
    const NodeId node = caller.visits.back().node;
    push(stack, callee, function.places[node], function.landings[node], tail, depth);
  }
  void jump(const Happening& h) {
    Act& act = top(h.stack);
    if (starts_.contains(h.address) && functions_[act.function].entry != h.address)
      return call(h.stack, h.address, true, act.depth);
    const NodeId to = node(act.function, h.address, h.kind == Happening::Kind::kJump && h.number == 1);
    functions_[act.function].edges.push_back({act.visits.back().node, to});
    act.visits.push_back({now_, to});
    if (known_) locate(h.stack);
  }
  void push(std::uint32_t stack, std::size_t function, std::uint64_t site, bool from_landing, bool tail,
            std::size_t depth) {
    StackInfo& info = stacks_[stack];
    Act act;
    act.stack = stack;
    act.function = function;
    act.below = info.live.empty() ? kNone : info.live.back();
    act.site = site;
    act.from_landing = from_landing;
    act.depth = depth;
    act.tail = tail;
    act.called = now_;
    act.visits.push_back({now_, 0});
    if (known_ && tail && merges(acts_[act.below], function)) {
      act.merged = true;
      acts_[act.below].closed = now_;
    }
    const std::size_t id = acts_.size();
    acts_.push_back(std::move(act));
    info.live.push_back(id);
    if (!known_) return;
    if (act_enters(id, info.live))
      ++totals[locate(stack, true)].entries;
    else if (acts_[id].below != kNone && !is_step(id))
      ++totals[locate(stack, true)].entries;
    locate(stack);
  }
  void end_top(std::uint32_t stack) {
    const std::size_t id = stacks_[stack].live.back();
    if (known_ && act_enters(id, stacks_[stack].live)) finish_component(id);
    acts_[id].ended = now_++;
    stacks_[stack].live.pop_back();
  }
  void ran(const Happening& h) {
    if (!known_) return;
    const Position at = position(stacks_[h.stack].live, now_);
    const Act& act = top(h.stack);
    const bool new_part = story_.places.contains(h.address);
    if (new_part)
      parts.push_back({h.stack, functions_[act.function].places[act.visits.back().node], at.context, at.counters});
    Totals& sums = totals[at.context];
    sums.instructions += h.number;
    for (std::uint64_t i = 0; i < h.number; ++i) {
      sums.memory += is_load(h.address + kBytes * i);
      sums.floating += is_floating(h.address + kBytes * i);
    }
  }

  // ---- Graphs -----------------------------------------------------------------------------------------------------

  static reference::Relation relation_of(const FunctionInfo& function) {
    EXPECT_LE(function.places.size(), 64u);
    reference::Relation edges(function.places.size(), 0);
    for (const auto& [from, to] : function.edges) edges[from] |= reference::only(to);
    return edges;
  }
  /// Landings to which control comes again without having been at the place in the ordinary way: these are no nodes of
  /// their own.
  bool find_ways_back() {
    const std::size_t before = ways_back_.size();
    for (const FunctionInfo& function : functions_) {
      const reference::Relation edges = relation_of(function);
      for (NodeId node = 0; node < edges.size(); ++node) {
        const NodeId first = find_node(function, function.places[node], false);
        if (!function.landings[node] || first == kNoNode) continue;
        const reference::Nodes others = reference::all(edges.size()) & ~reference::only(first);
        if (reference::has(reference::reached(edges, node, others), node))
          ways_back_.insert({function.entry, function.places[node]});
      }
    }
    return ways_back_.size() != before;
  }
  void find_loops() {
    for (FunctionInfo& function : functions_) {
      function.loops = reference::loops(relation_of(function), 0);
      std::stable_sort(function.loops.begin(), function.loops.end(),
                       [](const reference::Loop& a, const reference::Loop& b) { return a.depth < b.depth; });
    }
    ASSERT_LE(functions_.size(), 64u);
    reference::Relation calls(functions_.size(), 0);
    for (const auto& [from, to] : calls_) calls[from] |= reference::only(to);
    const std::vector<NodeId> roots(roots_.begin(), roots_.end());
    components_ = reference::recursive_components(calls, roots);
  }
  std::size_t component_of(std::size_t function) const {
    for (std::size_t i = 0; i < components_.members.size(); ++i)
      if (reference::has(components_.members[i], static_cast<NodeId>(function))) return i;
    return kNone;
  }
  bool is_header(std::size_t function) const {
    const std::size_t component = component_of(function);
    return component != kNone && reference::has(components_.headers[component], static_cast<NodeId>(function));
  }

  // ---- Definitions ------------------------------------------------------------------------------------------------

  /// Is this, of what is live, the first activation of its component?
  bool act_enters(std::size_t id, const std::vector<std::size_t>& live) const {
    const std::size_t component = component_of(acts_[id].function);
    if (component == kNone) return false;
    for (const std::size_t other : live) {
      if (other == id) return true;
      if (component_of(acts_[other].function) == component) return false;
    }
    return true;
  }
  /// Where in `live` the innermost live component was entered; kNone if none is live.
  std::size_t innermost_entered(const std::vector<std::size_t>& live) const {
    for (std::size_t i = live.size(); i-- > 0;)
      if (act_enters(live[i], live)) return i;
    return kNone;
  }
  /// A call of a header whose component is live already.
  bool is_step(std::size_t id) const { return is_header(acts_[id].function) && !act_enters(id, live_at(id)); }

  std::vector<std::size_t> live_at(std::uint32_t stack, Time time) const {
    std::vector<std::size_t> live;
    for (std::size_t i = 0; i < acts_.size(); ++i)
      if (acts_[i].stack == stack && acts_[i].called <= time && time < acts_[i].ended) live.push_back(i);
    return live;
  }
  std::vector<std::size_t> live_at(std::size_t id) const { return live_at(acts_[id].stack, acts_[id].called); }

  bool merges(const Act& caller, std::size_t callee) const {
    const std::size_t component = component_of(callee);
    if (component == kNone || !caller.tail || component_of(caller.function) != component) return false;
    const std::vector<std::size_t>& live = stacks_.at(caller.stack).live;
    return std::any_of(live.begin(), live.end(),
                       [&](std::size_t id) { return component_of(acts_[id].function) == component; });
  }

  /// The steps of the component that was entered by `entering`, up to `time`, by time.
  std::vector<Step> steps(std::size_t entering, Time time) const {
    const Act& entry = acts_[entering];
    const std::size_t component = component_of(entry.function);
    std::vector<Step> found;
    for (std::size_t i = entering + 1; i < acts_.size(); ++i) {
      const Act& act = acts_[i];
      if (act.stack == entry.stack && act.called <= time && is_header(act.function) &&
          component_of(act.function) == component)
        found.push_back({act.called, i});
    }
    const std::vector<Step> calls = found;
    for (std::size_t i = entering + 1; i < acts_.size(); ++i) {
      const Act& act = acts_[i];
      if (act.stack != entry.stack || act.merged || act.ended > time) continue;
      const std::vector<std::size_t> left = live_at(act.stack, act.ended);
      const std::size_t innermost = innermost_entered(left);
      if (innermost == kNone || left[innermost] != entering) continue;
      if (std::any_of(calls.begin(), calls.end(),
                      [&](const Step& call) { return call.time >= act.called && call.time < act.ended; }))
        found.push_back({act.ended, act.below});
    }
    std::sort(found.begin(), found.end(), [](const Step& a, const Step& b) { return a.time < b.time; });
    return found;
  }

  static std::string name(Origin origin) {
    return origin == Origin::kThread ? "thread" : origin == Origin::kSignalHandler ? "handler" : "coroutine";
  }
  std::string start_label(const StackInfo& stack) const {
    return fmt::format("/{}@{:x}", name(stack.origin), functions_[stack.root].entry);
  }

  std::string called(const char* kind, const Act& act) const {
    const std::uint64_t caller = act.below == kNone ? 0 : functions_[acts_[act.below].function].entry;
    return fmt::format("/{} {:x}{}@{:x}>{:x}", kind, act.site, act.from_landing ? "'" : "", caller,
                       functions_[act.function].entry);
  }

  /// Where control is if the activations `live` are.
  Position position(const std::vector<std::size_t>& live, Time time, bool without_loops_of_last = false) {
    const StackInfo& stack = stacks_.at(acts_[live[0]].stack);
    Position at;
    std::size_t first = 0;
    Time since = 0;
    const std::size_t entered = innermost_entered(live);
    if (entered == kNone || entered == 0) {
      at = {start_label(stack), {stack.ordinal}};
    } else {
      at = position({live.begin(), live.begin() + static_cast<std::ptrdiff_t>(entered)},
                    acts_[live[entered]].called - 1);
    }
    if (entered != kNone) {
      const Act& entry = acts_[live[entered]];
      const std::vector<Step> stepped = steps(live[entered], time);
      at.context += called("recursion", entry);
      at.counters.push_back(stepped.size());
      first = entered;
      if (!stepped.empty()) {
        since = stepped.back().time;
        first = static_cast<std::size_t>(std::find(live.begin(), live.end(), stepped.back().act) - live.begin());
      }
    }
    for (std::size_t i = first; i < live.size(); ++i) {
      const Act& act = acts_[live[i]];
      if (i > first) at.context += called("call", act);
      const bool last = i + 1 == live.size();
      if (act.closed > time && !(last && without_loops_of_last)) add_loops(at, live[i], i == first ? since : 0);
    }
    return at;
  }

  /// The loops that the activation is in, where visits before `since` do not count.
  void add_loops(Position& at, std::size_t id, Time since) {
    const Act& act = acts_[id];
    const FunctionInfo& function = functions_[act.function];
    if (act.visits.back().time < since) return;
    for (const reference::Loop& loop : function.loops) {
      if (!reference::has(loop.members, act.visits.back().node)) continue;
      std::size_t first = act.visits.size() - 1;
      while (first > 0 && act.visits[first - 1].time >= since &&
             reference::has(loop.members, act.visits[first - 1].node))
        --first;
      LoopEntry entry{id, act.visits.size() - 1, loop.header, 0, reference::has(loop.latches, loop.header)};
      std::uint64_t counter = 0;
      for (std::size_t i = first; i < act.visits.size(); ++i) {
        entry.headers += act.visits[i].node == loop.header;
        counter += act.visits[i].node == loop.header && i > first;
      }
      at.context += fmt::format("/loop {:x}@{:x}", function.places[loop.header], function.entry);
      at.counters.push_back(counter);
      loop_entries_[{at.context, {id, first}}] = entry;
    }
  }

  // ---- Counts -----------------------------------------------------------------------------------------------------

  /// The position of the innermost activation, for the loops that are noted on the way; with or without its own loops.
  std::string locate(std::uint32_t stack, bool without_loops = false) {
    return position(stacks_[stack].live, now_, without_loops).context;
  }
  static void count(EntryCounts& counts, std::uint64_t value, bool first) {
    counts.min = first ? value : std::min(counts.min, value);
    counts.max = first ? value : std::max(counts.max, value);
    counts.total += value;
  }
  void finish_component(std::size_t id) {
    const std::vector<std::size_t>& live = stacks_[acts_[id].stack].live;
    const Position outside = live.size() == 1 ? Position{start_label(stacks_[acts_[id].stack]), {}}
                                              : position({live.begin(), live.end() - 1}, acts_[id].called - 1);
    Totals& sums = totals[outside.context + called("recursion", acts_[id])];
    const std::uint64_t count_now = steps(id, now_ - 1).size() + 1;
    count(sums.iterations, count_now, sums.finished == 0);
    count(sums.trips, count_now, sums.finished == 0);
    ++sums.finished;
  }
  /// Every entry of a loop ends some time. If that was from its header, and the header does not jump to itself, then
  /// its last time there was a test that said no. A step of a component ends loops that control has called out of.
  void finish_loop(const std::string& context, const LoopEntry& entry) {
    const Act& act = acts_[entry.act];
    const Visit& last = act.visits[entry.last];
    const Time until = std::min(
        {act.closed, act.ended, entry.last + 1 < act.visits.size() ? act.visits[entry.last + 1].time : kNever});
    bool called_out = false;
    for (std::size_t i = 0; i < acts_.size(); ++i) {
      const Act& callee = acts_[i];
      if (callee.stack != act.stack || callee.called <= last.time || callee.called >= until || !is_step(i)) continue;
      for (const std::size_t id : live_at(i)) {
        if (component_of(acts_[id].function) != component_of(callee.function)) continue;
        called_out |= acts_[id].called <= act.called;
        break;
      }
    }
    const bool tested = last.node == entry.header && entry.headers > 0 && !entry.self && !called_out;
    Totals& sums = totals[context];
    ++sums.entries;
    count(sums.iterations, entry.headers, sums.finished == 0);
    count(sums.trips, entry.headers - (tested ? 1 : 0), sums.finished == 0);
    ++sums.finished;
  }

  const Story& story_;
  std::set<std::uint64_t> starts_;
  bool known_ = false;  // the graphs are complete
  Time now_ = 0;
  std::map<std::uint64_t, std::size_t> function_at_;
  std::vector<FunctionInfo> functions_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> ways_back_;  // function and place
  std::set<std::pair<NodeId, NodeId>> calls_;
  std::set<NodeId> roots_;
  reference::Components components_;
  std::vector<Act> acts_;
  std::map<std::uint32_t, StackInfo> stacks_;
  std::map<std::pair<Origin, std::size_t>, std::uint64_t> begun_;
  std::map<std::pair<std::string, std::pair<std::size_t, std::size_t>>, LoopEntry> loop_entries_;
};

}  // namespace loopfold::structure::testing
