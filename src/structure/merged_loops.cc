// Which loops may be two is a matter of the graph; which are, of how control went: one more reading, which ends when
// all of them are decided.
#include "structure/merged_loops.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "structure/run_walk.h"

namespace loopfold::structure {

namespace {

constexpr std::size_t kMostRounds = 3;        // of loops that share one header: one more than that
constexpr std::uint32_t kEnoughChecks = 256;  // lengths that decide
constexpr std::uint32_t kFewestChecks = 2;

/// How often an inner way back was taken between two outer ones.
class Lengths {
 public:
  void inner(std::uint64_t times) { length_ += times; }
  void outer() { finish(); }
  void enter() {
    if (length_ == 0) return begin();
    finish();
    count_before_ = std::min(index_, kKept);
    std::copy_n(now_.begin(), count_before_, before_.begin());
    index_ = 0;
  }

  bool decided() const { return checks_ >= kEnoughChecks; }
  bool is_even() const { return checks_ >= kFewestChecks && 8 * even_ >= 7 * checks_ && total_ >= 2 * lengths_; }

 private:
  static constexpr std::size_t kKept = 16;

  void begin() { length_ = 1; }

  void finish() {
    if (length_ == 0) return begin();  // it was entered before it was watched
    const bool known = index_ < count_before_;
    if (index_ >= 2 || known) {
      ++checks_;
      const bool grows = index_ >= 2 && length_ - last_ == last_ - second_last_;
      if (grows || (index_ == 1 && length_ == last_) || (known && length_ == before_[index_])) ++even_;
    }
    if (index_ < kKept) now_[index_] = length_;
    second_last_ = last_;
    last_ = length_;
    ++index_;
    ++lengths_;
    total_ += length_;
    begin();
  }

  std::uint64_t length_ = 0;  // of what goes on
  std::uint64_t last_ = 0;
  std::uint64_t second_last_ = 0;
  std::size_t index_ = 0;  // in this entry of the loop
  std::size_t count_before_ = 0;
  std::array<std::uint64_t, kKept> now_{};
  std::array<std::uint64_t, kKept> before_{};  // in the last one
  std::uint64_t lengths_ = 0;
  std::uint64_t total_ = 0;
  std::uint32_t checks_ = 0;
  std::uint32_t even_ = 0;
};

/// Ways back that may be those of an inner loop.
struct Candidate {
  FunctionId function = kNoFunction;
  LoopId loop = kNoLoop;
  NodeId header = kNoNode;
  NodeId place_node = kNoNode;  // that control comes to: the header, or what is behind its gates
  std::vector<NodeId> inner;    // latches, increasing
  std::size_t size = 0;         // of the inner loop
  Lengths lengths;
};

bool has(const std::vector<NodeId>& nodes, NodeId node) { return std::binary_search(nodes.begin(), nodes.end(), node); }

/// What leads to some latches without passing the header; it is part of it.
std::vector<bool> body_of(const Digraph& graph, const LoopForest& forest, LoopId loop,
                          std::span<const NodeId> latches) {
  const NodeId header = forest.loops()[loop].header;
  std::vector<bool> in(graph.size());
  in[header] = true;
  std::vector<NodeId> open;
  const auto add = [&](NodeId node) {
    if (in[node]) return;
    in[node] = true;
    open.push_back(node);
  };
  for (const NodeId latch : latches) add(latch);
  while (!open.empty()) {
    const NodeId node = open.back();
    open.pop_back();
    for (const NodeId from : graph.predecessors(node))
      if (forest.contains(loop, from)) add(from);
  }
  return in;
}

/// Whether control comes to it at its header only.
bool is_entered_at_header(const Digraph& graph, NodeId header, const std::vector<bool>& body) {
  for (NodeId node = 0; node < body.size(); ++node) {
    if (!body[node] || node == header) continue;
    for (const NodeId from : graph.predecessors(node))
      if (!body[from]) return false;
  }
  return true;
}

/// Whether what follows the inner loop, in the same iteration of the outer one, begins where the inner one ends: each
/// of its ways back could have gone on there instead. A loop with `continue` ends, or goes on, at each of its ways
/// back.
bool goes_on_behind(const Digraph& graph, const LoopForest& forest, LoopId loop, std::span<const NodeId> inner) {
  const NodeId header = forest.loops()[loop].header;
  return std::all_of(inner.begin(), inner.end(), [&](NodeId latch) {
    const std::span<const NodeId> next = graph.successors(latch);
    return std::any_of(next.begin(), next.end(), [&](NodeId to) { return to != header && forest.contains(loop, to); });
  });
}

void add_candidates(const ControlFlow& flow, const LoopForest& forest, FunctionId id, LoopId which,
                    std::vector<Candidate>& into) {
  const Loop& loop = forest.loops()[which];
  const Function& function = flow.functions()[id];
  if (loop.latches.size() < 2 || loop.irreducible || loop.header == 0) return;
  const std::size_t first = into.size();
  for (const NodeId latch : loop.latches) {
    Candidate candidate{id, which, loop.header, flow.behind_gates(id, loop.header), {latch}, 0, {}};
    // A way back from within the inner loop is one of it.
    std::vector<bool> body;
    for (bool more = true; more;) {
      more = false;
      body = body_of(function.graph, forest, which, candidate.inner);
      for (const NodeId other : loop.latches) {
        if (!body[other] || has(candidate.inner, other)) continue;
        candidate.inner.insert(std::lower_bound(candidate.inner.begin(), candidate.inner.end(), other), other);
        more = true;
      }
    }
    const auto same = [&](const Candidate& other) { return other.inner == candidate.inner; };
    if (candidate.inner.size() == loop.latches.size() ||
        !goes_on_behind(function.graph, forest, which, candidate.inner) ||
        !is_entered_at_header(function.graph, loop.header, body) ||
        std::any_of(into.begin() + static_cast<std::ptrdiff_t>(first), into.end(), same))
      continue;
    candidate.size = static_cast<std::size_t>(std::count(body.begin(), body.end(), true));
    into.push_back(std::move(candidate));
  }
  std::stable_sort(into.begin() + static_cast<std::ptrdiff_t>(first), into.end(),
                   [](const Candidate& a, const Candidate& b) { return a.size < b.size; });
}

/// Follows control, and counts at the headers of candidates.
class Probe {
 public:
  struct Frame {
    FunctionId function = kNoFunction;
    NodeId current = 0;
    friend bool operator==(const Frame&, const Frame&) = default;
  };
  struct Stack {};
  using S = Activations<Probe>::Stack;

  Probe(const Structure& structure, std::vector<Candidate>& candidates, std::atomic<bool>& decided)
      : structure_(structure), candidates_(candidates), decided_(decided), open_(candidates.size()) {
    watched_.resize(structure.code.places());
    for (const Candidate& candidate : candidates)
      watched_[structure.flow.functions()[candidate.function].places[candidate.header]] = true;
  }

  void begin(S& stack) { enter(stack); }
  void call(S& stack) { enter(stack); }
  bool keeps_tail_caller(S&, PlaceId) { return false; }
  void tail_call(S& stack, bool) { enter(stack); }
  void leave(S&) {}
  void end(S&) {}
  [[gnu::always_inline]] void jump(S& stack, PlaceId place) {
    Frame& frame = stack.frames.back().data;
    go(frame, structure_.flow.node_of(frame.function, place), place);
  }
  void land(S& stack, PlaceId place) {
    Frame& frame = stack.frames.back().data;
    go(frame, structure_.flow.landing_of(frame.function, place), place);
  }
  bool was_at(PlaceId) const { return false; }

  void set_thread(trace::ThreadId) {}
  void run_part(S&, const Part&) {}
  void mark(S&) {}
  void begin_path(S&) {
    noted_.clear();
    noting_ = true;
    goes_on_ = true;
  }
  /// An iteration can be repeated if it took inner ways back only.
  PathEnd end_path(S&, std::size_t slot) {
    noting_ = false;
    if (!goes_on_) return PathEnd::kChanged;
    recorded_[slot] = noted_;
    return PathEnd::kRepeatable;
  }
  void repeat(S&, std::size_t slot, std::uint64_t times) {
    for (const std::size_t candidate : recorded_[slot]) candidates_[candidate].lengths.inner(times);
  }
  void stop_watching() { noting_ = false; }

 private:
  void enter(S& stack) {
    Frame& frame = stack.frames.back().data;
    frame = {structure_.flow.function_at(stack.frames.back().function), 0};
  }
  void go(Frame& frame, NodeId to, PlaceId place) {
    if (to == kNoNode) return;
    if (watched_[place]) [[unlikely]]
      come(frame, to);
    frame.current = to;
  }

  void come(const Frame& frame, NodeId to) {
    const LoopForest& forest = structure_.forests[frame.function];
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      Candidate& candidate = candidates_[i];
      if (candidate.function != frame.function || candidate.place_node != to || candidate.lengths.decided()) continue;
      if (has(candidate.inner, frame.current)) {
        candidate.lengths.inner(1);
        if (noting_) noted_.push_back(i);
        continue;
      }
      const bool inside = forest.contains(candidate.loop, frame.current);
      const std::vector<NodeId>& latches = forest.loops()[candidate.loop].latches;
      if (inside && !has(latches, frame.current)) continue;  // a loop with the same header, further in
      goes_on_ = false;
      inside ? candidate.lengths.outer() : candidate.lengths.enter();
      if (candidate.lengths.decided() && --open_ == 0) decided_ = true;
    }
  }

  const Structure& structure_;
  std::vector<Candidate>& candidates_;
  std::atomic<bool>& decided_;
  std::size_t open_;
  std::vector<bool> watched_;  // by place
  bool noting_ = false;
  bool goes_on_ = true;
  std::vector<std::size_t> noted_;                                      // candidates whose inner ways back were taken
  std::array<std::vector<std::size_t>, trace::kMaxRunPaths> recorded_;  // by path of a run
};

/// One loop less for each header that two or more share.
std::size_t separate_once(const trace::Reader& reader, Structure& structure, bool evenly) {
  std::vector<Candidate> candidates;
  for (FunctionId id = 0; id < structure.forests.size(); ++id)
    for (LoopId loop = 0; loop < structure.forests[id].loops().size(); ++loop)
      add_candidates(structure.flow, structure.forests[id], id, loop, candidates);
  if (candidates.empty()) return 0;
  std::atomic<bool> decided = false;
  Probe probe(structure, candidates, decided);
  std::vector<std::uint8_t> starts = structure.flow.starts();
  RunWalk<Probe> walk(structure.code, starts, probe);
  walk.walk(reader, structure.damage, {}, &decided);
  std::size_t found = 0;
  const Candidate* last = nullptr;
  for (const Candidate& candidate : candidates) {
    const bool same = last != nullptr && last->function == candidate.function && last->loop == candidate.loop;
    if (same || (evenly && !candidate.lengths.is_even())) continue;
    structure.flow.add_gate(candidate.function, candidate.header, candidate.inner);
    last = &candidate;
    ++found;
  }
  return found;
}

}  // namespace

std::size_t separate_loops(const trace::Reader& reader, Structure& structure, bool evenly) {
  std::size_t all = 0;
  for (std::size_t round = 0; round < kMostRounds; ++round) {
    const std::size_t found = separate_once(reader, structure, evenly);
    if (found == 0) break;
    all += found;
    structure.forests.clear();
    structure.tests.clear();
    find_loops(structure);
  }
  return all;
}

}  // namespace loopfold::structure
