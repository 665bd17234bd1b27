// The loop-nesting forest of a control-flow graph, irreducible loops included.
//
// Defined as by Ramalingam (POLY-PROF 3.1): a strongly connected component with a cycle is an outermost loop; one of
// its entry nodes, the one that a depth-first search from the graph's entry meets first, is its header; taking away the
// edges inside the loop that lead to its header leaves the components that are its sub-loops. A node with an edge to
// itself is a loop. Exact, and almost linear in the size of the graph; loop_forest.cc says how.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "structure/digraph.h"

namespace loopfold::structure {

using LoopId = std::uint32_t;  // dense within a forest; a parent's is smaller than its children's
inline constexpr LoopId kNoLoop = 0xffffffff;

struct Loop {
  NodeId header = kNoNode;
  LoopId parent = kNoLoop;
  std::uint32_t depth = 1;      // 1 for an outermost loop
  bool irreducible = false;     // it has entries besides its header
  std::vector<NodeId> latches;  // sources of its back edges, increasing
};

class LoopForest {
 public:
  LoopForest() = default;
  /// Of what can be reached from `entry`. Nodes that cannot are in no loop.
  LoopForest(const Digraph& graph, NodeId entry);

  std::span<const Loop> loops() const { return loops_; }
  /// The innermost loop around `node`, which is the loop that it heads if it heads one.
  LoopId innermost(NodeId node) const { return innermost_[node]; }
  bool is_header(NodeId node) const { return innermost_[node] != kNoLoop && loops_[innermost_[node]].header == node; }
  bool contains(LoopId loop, NodeId node) const { return encloses(loop, innermost_[node]); }
  /// Is `inner` (which may be kNoLoop) the loop itself or inside it?
  bool encloses(LoopId outer, LoopId inner) const { return inner != kNoLoop && inner >= outer && inner < end_[outer]; }

  /// The static index of Kelly's mapping: the place of a node, or of a loop, among what its parent loop (or the graph)
  /// consists of, in a topological order of the reduced graph: sub-loops contracted, back edges of the parent taken
  /// away. 0 for the header within its loop. Nodes that cannot be reached come last.
  std::uint32_t index_of(NodeId node) const { return node_index_[node]; }
  std::uint32_t index_of_loop(LoopId loop) const { return loop_index_[loop]; }

 private:
  std::vector<LoopId> number_loops(const std::vector<bool>& heads, std::span<const std::uint32_t> around,
                                   std::span<const std::uint32_t> sizes);
  void find_latches(const Digraph& graph);
  void set_indices(std::span<const NodeId> order);

  std::vector<Loop> loops_;        // in pre-order, so that a loop and what is inside it are a range
  std::vector<LoopId> end_;        // by loop: one behind the last loop inside it
  std::vector<LoopId> innermost_;  // by node
  std::vector<std::uint32_t> node_index_;
  std::vector<std::uint32_t> loop_index_;
};

}  // namespace loopfold::structure
