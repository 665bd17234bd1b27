// A directed graph that does not change: successors and predecessors as two arrays each; and its strongly connected
// components.
//
// Nodes are numbers from 0. Building sorts the edges by counting, so that it is linear, and so that whatever is
// computed by walking the graph depends on the set of edges only, not on the order in which they were found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace loopfold::structure {

using NodeId = std::uint32_t;  // dense
inline constexpr NodeId kNoNode = 0xffffffff;

struct Edge {
  NodeId from = 0;
  NodeId to = 0;
  friend bool operator==(const Edge&, const Edge&) = default;
};

class Digraph {
 public:
  Digraph() = default;
  /// Edges given several times count once. Self-edges are kept. O(nodes + edges).
  Digraph(std::size_t nodes, std::span<const Edge> edges);

  std::size_t size() const { return size_; }
  /// How many different edges there are.
  std::size_t edges() const { return successors_.size(); }
  /// In increasing order.
  std::span<const NodeId> successors(NodeId node) const {
    return {successors_.data() + first_successor_[node], first_successor_[node + 1] - first_successor_[node]};
  }
  /// In increasing order.
  std::span<const NodeId> predecessors(NodeId node) const {
    return {predecessors_.data() + first_predecessor_[node], first_predecessor_[node + 1] - first_predecessor_[node]};
  }

 private:
  std::size_t size_ = 0;
  std::vector<NodeId> successors_;
  std::vector<std::uint32_t> first_successor_;
  std::vector<NodeId> predecessors_;
  std::vector<std::uint32_t> first_predecessor_;
};

/// For each node the head of its strongly connected component: the member that a depth-first search, from `starts` in
/// their order and then from the nodes not met yet in increasing order, meets first. A node on no cycle is its own.
/// O(nodes + edges).
std::vector<NodeId> strong_component_heads(const Digraph& graph, std::span<const NodeId> starts);

}  // namespace loopfold::structure
