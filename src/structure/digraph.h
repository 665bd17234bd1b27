// A directed graph that does not change: successors and predecessors as two arrays each.
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
  /// Edges given several times count once. Self-edges are kept.
  Digraph(std::size_t nodes, std::span<const Edge> edges);

  std::size_t size() const { return size_; }
  /// In increasing order.
  std::span<const NodeId> successors(NodeId node) const {
    return {successors_.data() + first_successor_[node], first_successor_[node + 1] - first_successor_[node]};
  }
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

}  // namespace loopfold::structure
