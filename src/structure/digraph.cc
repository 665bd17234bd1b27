// Building a graph by counting, and Tarjan's strongly connected components without recursion.
//
// Two stable distributions of the edges, by target and then by source, leave each node's successors in increasing order
// with equal ones side by side, where they are dropped. Predecessors are then distributed from the successors, source
// by source, and so are in order too.
//
// Components: the head of a component is the node where Tarjan's algorithm closes it, which is the one it met first.
// The search keeps its own stack: a function may be one chain of a hundred thousand blocks.
#include "structure/digraph.h"

#include <algorithm>
#include <utility>

namespace loopfold::structure {
namespace {

/// Where each bucket starts if `key` of every edge is counted; one more entry for the end.
template <typename Key>
std::vector<std::uint32_t> bucket_starts(std::size_t buckets, std::span<const Edge> edges, Key key) {
  std::vector<std::uint32_t> starts(buckets + 1, 0);
  for (const Edge& edge : edges) starts[key(edge) + 1]++;
  for (std::size_t i = 0; i < buckets; i++) starts[i + 1] += starts[i];
  return starts;
}

NodeId source(const Edge& edge) { return edge.from; }
NodeId target(const Edge& edge) { return edge.to; }

/// The edges by increasing key; edges of equal key stay in their order.
template <typename Key>
std::vector<Edge> distribute(std::size_t buckets, std::span<const Edge> edges, Key key) {
  std::vector<std::uint32_t> next = bucket_starts(buckets, edges, key);
  std::vector<Edge> sorted(edges.size());
  for (const Edge& edge : edges) sorted[next[key(edge)]++] = edge;
  return sorted;
}

class StrongComponents {
 public:
  explicit StrongComponents(const Digraph& graph)
      : graph_(graph), number_(graph.size(), kNoNode), low_(graph.size()), heads_(graph.size(), kNoNode) {}

  void search_from(NodeId start) {
    if (number_[start] != kNoNode) return;
    discover(start);
    while (!path_.empty()) {
      Step& step = path_.back();
      const std::span<const NodeId> successors = graph_.successors(step.node);
      if (step.next == successors.size()) {
        leave();
      } else {
        follow(step.node, successors[step.next++]);
      }
    }
  }

  std::vector<NodeId> heads() && { return std::move(heads_); }

 private:
  struct Step {
    NodeId node;
    std::uint32_t next;  // of its successors, the first not followed yet
  };

  void discover(NodeId node) {
    number_[node] = low_[node] = met_++;
    open_.push_back(node);
    path_.push_back({node, 0});
  }

  void follow(NodeId from, NodeId to) {
    if (number_[to] == kNoNode) {
      discover(to);
    } else if (heads_[to] == kNoNode) {
      low_[from] = std::min(low_[from], number_[to]);
    }
  }

  void leave() {
    const NodeId node = path_.back().node;
    path_.pop_back();
    if (!path_.empty()) low_[path_.back().node] = std::min(low_[path_.back().node], low_[node]);
    if (low_[node] == number_[node]) close(node);
  }

  void close(NodeId head) {
    while (heads_[head] == kNoNode) {
      heads_[open_.back()] = head;
      open_.pop_back();
    }
  }

  const Digraph& graph_;
  std::uint32_t met_ = 0;
  std::vector<std::uint32_t> number_;  // by node: when it was met
  std::vector<std::uint32_t> low_;
  std::vector<NodeId> heads_;  // kNoNode: its component is not complete
  std::vector<NodeId> open_;   // met, in no complete component
  std::vector<Step> path_;
};

}  // namespace

Digraph::Digraph(std::size_t nodes, std::span<const Edge> edges) : size_(nodes) {
  std::vector<Edge> sorted = distribute(nodes, distribute(nodes, edges, target), source);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  first_successor_ = bucket_starts(nodes, sorted, source);
  successors_.reserve(sorted.size());
  for (const Edge& edge : sorted) successors_.push_back(edge.to);
  first_predecessor_ = bucket_starts(nodes, sorted, target);
  predecessors_.reserve(sorted.size());
  for (const Edge& edge : distribute(nodes, sorted, target)) predecessors_.push_back(edge.from);
}

std::vector<NodeId> strong_component_heads(const Digraph& graph, std::span<const NodeId> starts) {
  StrongComponents components(graph);
  for (const NodeId start : starts) components.search_from(start);
  for (NodeId node = 0; node < graph.size(); node++) components.search_from(node);
  return std::move(components).heads();
}

}  // namespace loopfold::structure
