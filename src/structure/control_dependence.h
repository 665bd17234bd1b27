// Post-dominators and control dependence of a control-flow graph as it was run.
//
// The graph gets a virtual exit, behind every node at which the function was left (returned, unwound, or never came
// back from a call). A node from which no exit is reached (a loop that was still running when recording ended) is given
// one, at the header of the outermost such loop, so that post-dominance is defined everywhere. (A loop that leads to
// another such loop reaches the exit by that one; a node without successors at which the function was not left is
// treated as a loop.) Node b is control-dependent on the edge a -> s if b post-dominates s and does not strictly
// post-dominate a (Ferrante, Ottenstein, Warren); on itself, if it decides whether a loop goes on. Exact for the graph
// given; the graph is what ran, so a branch that always went one way decides nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "structure/digraph.h"

namespace loopfold::structure {

class PostDominators {
 public:
  PostDominators() = default;
  /// `exits`: the nodes at which the function was left, in any order, possibly several times. `entry` only decides
  /// what the header of a loop is that no exit is reached from: the same node as in LoopForest.
  PostDominators(const Digraph& graph, std::span<const NodeId> exits, NodeId entry = 0);

  /// kNoNode stands for the virtual exit.
  NodeId immediate(NodeId node) const { return immediate_[node]; }
  /// Has it an edge to the virtual exit, its own or one that it was given?
  bool leaves(NodeId node) const { return leaves_[node]; }
  /// Reflexive. O(1).
  bool post_dominates(NodeId a, NodeId b) const { return first_[a] <= first_[b] && last_[b] <= last_[a]; }

 private:
  void find_exits(const Digraph& graph, std::span<const NodeId> exits, NodeId entry);

  std::vector<bool> leaves_;
  std::vector<NodeId> immediate_;
  std::vector<std::uint32_t> first_;  // the node's interval in a walk of the tree
  std::vector<std::uint32_t> last_;
};

class ControlDependence {
 public:
  ControlDependence() = default;
  ControlDependence(const Digraph& graph, const PostDominators& post_dominators);

  /// The branches (nodes with several successors, or a way out besides) that `node` is control-dependent on,
  /// increasing.
  std::span<const NodeId> deciders(NodeId node) const {
    return {deciders_.data() + first_[node], first_[node + 1] - first_[node]};
  }

 private:
  std::vector<NodeId> deciders_;
  std::vector<std::uint32_t> first_;
};

}  // namespace loopfold::structure
