// Post-dominators by Lengauer and Tarjan, control dependence by walks in the tree.
//
// Post-dominators are dominators of the reversed graph seen from the virtual exit. Lengauer and Tarjan's algorithm with
// path compression takes O(edges · log nodes) at worst. The shorter iterative algorithms (Cooper, Harvey, Kennedy;
// semi-NCA) walk up the tree for every edge, and are quadratic where a long chain of blocks is left and entered far
// away from where it ends. No recursion: compression keeps a stack of its own.
//
// A node is not reached from the virtual exit if no exit is reached from it. Such nodes lead to components that nothing
// leaves; the head of each of these, the one that a search from the function's entry meets first, becomes an exit, and
// then everything is reached.
//
// Control dependence: what an edge a -> s decides are the nodes from s up the tree, up to the immediate post-dominator
// of a, which is not decided any more. Where two walks for the same a meet, the rest is known. So the cost is that of
// the graph plus the size of the answer (which may be the square of the depth in a deep nest of loops that are tested
// at their ends). An edge to the virtual exit decides no node by itself; it moves the immediate post-dominator of a to
// the exit. A node with only one way to go has it as immediate post-dominator, and decides nothing.
#include "structure/control_dependence.h"

#include <algorithm>
#include <utility>

namespace loopfold::structure {
namespace {

using Number = std::uint32_t;  // of a node in the search from the virtual exit, which is 0
constexpr std::uint32_t kNone = 0xffffffff;

/// What reaches one of `targets`.
std::vector<bool> reaching(const Digraph& graph, std::span<const NodeId> targets) {
  std::vector<bool> reaches(graph.size(), false);
  std::vector<NodeId> left;
  const auto add = [&](NodeId node) {
    if (reaches[node]) return;
    reaches[node] = true;
    left.push_back(node);
  };
  for (const NodeId target : targets) add(target);
  while (!left.empty()) {
    const NodeId node = left.back();
    left.pop_back();
    for (const NodeId from : graph.predecessors(node)) add(from);
  }
  return reaches;
}

/// Dominators of the reversed graph, in numbers of a depth-first search. The immediate dominator of a node is an
/// ancestor of it in the search, so it has a smaller number.
class Dominators {
 public:
  Dominators(const Digraph& graph, const std::vector<bool>& leaves) : graph_(graph), number_(graph.size(), kNone) {
    nodes.push_back(kNoNode);
    parent_.push_back(0);
    for (NodeId node = 0; node < graph.size(); node++) {
      if (leaves[node]) search_from(node);
    }
    compute(leaves);
  }

  std::vector<NodeId> nodes;      // by number; kNoNode first
  std::vector<Number> immediate;  // by number

 private:
  struct Step {
    Number number;
    std::uint32_t next;  // of the predecessors, the first not followed yet
  };

  void search_from(NodeId exit) {
    if (number_[exit] != kNone) return;
    std::vector<Step> path;
    const auto meet = [&](NodeId node, Number parent) {
      number_[node] = static_cast<Number>(nodes.size());
      nodes.push_back(node);
      parent_.push_back(parent);
      path.push_back({number_[node], 0});
    };
    meet(exit, 0);
    while (!path.empty()) {
      Step& step = path.back();
      const std::span<const NodeId> predecessors = graph_.predecessors(nodes[step.number]);
      if (step.next == predecessors.size()) {
        path.pop_back();
      } else if (const NodeId from = predecessors[step.next++]; number_[from] == kNone) {
        meet(from, step.number);
      }
    }
  }

  void compute(const std::vector<bool>& leaves) {
    const Number size = static_cast<Number>(nodes.size());
    immediate.assign(size, 0);
    semi_.resize(size);
    best_.resize(size);
    for (Number i = 0; i < size; i++) semi_[i] = best_[i] = i;
    above_.assign(size, kNone);
    std::vector<Number> first_waiting(size, kNone);  // by semi-dominator: nodes that wait for their dominator
    std::vector<Number> next_waiting(size, kNone);
    for (Number w = size; w-- > 1;) {
      semi_[w] = semi_dominator(w, leaves);
      next_waiting[w] = std::exchange(first_waiting[semi_[w]], w);
      above_[w] = parent_[w];
      for (Number v = std::exchange(first_waiting[parent_[w]], kNone); v != kNone; v = next_waiting[v]) {
        const Number u = best_above(v);
        immediate[v] = semi_[u] < semi_[v] ? u : parent_[w];
      }
    }
    for (Number w = 1; w < size; w++) {
      if (immediate[w] != semi_[w]) immediate[w] = immediate[immediate[w]];
    }
  }

  Number semi_dominator(Number w, const std::vector<bool>& leaves) {
    if (leaves[nodes[w]]) return 0;
    Number least = w;
    for (const NodeId to : graph_.successors(nodes[w])) least = std::min(least, semi_[best_above(number_[to])]);
    return least;
  }

  /// Of the nodes from v up to below the root of its tree in the forest so far, one with the least semi-dominator.
  Number best_above(Number v) {
    if (above_[v] == kNone) return v;
    for (Number at = v; above_[above_[at]] != kNone; at = above_[at]) compressing_.push_back(at);
    for (; !compressing_.empty(); compressing_.pop_back()) {
      const Number at = compressing_.back();
      const Number above = above_[at];
      if (semi_[best_[above]] < semi_[best_[at]]) best_[at] = best_[above];
      above_[at] = above_[above];
    }
    return best_[v];
  }

  const Digraph& graph_;
  std::vector<Number> number_;  // by node
  std::vector<Number> parent_;  // in the search
  std::vector<Number> semi_;
  std::vector<Number> best_;   // a node with the least semi-dominator on the way that compression left out
  std::vector<Number> above_;  // in the forest; kNone for a root
  std::vector<Number> compressing_;
};

}  // namespace

PostDominators::PostDominators(const Digraph& graph, std::span<const NodeId> exits, NodeId entry)
    : leaves_(graph.size(), false), immediate_(graph.size()), first_(graph.size()), last_(graph.size()) {
  find_exits(graph, exits, entry);
  const Dominators dominators(graph, leaves_);
  const Number size = static_cast<Number>(dominators.nodes.size());
  std::vector<std::uint32_t> below(size, 1);
  for (Number i = size; i-- > 1;) below[dominators.immediate[i]] += below[i];
  std::vector<std::uint32_t> next(size, 0);
  for (Number i = 1; i < size; i++) {
    const Number parent = dominators.immediate[i];
    const NodeId node = dominators.nodes[i];
    immediate_[node] = dominators.nodes[parent];
    first_[node] = next[parent];
    last_[node] = next[parent] + below[i] - 1;
    next[i] = next[parent] + 1;
    next[parent] += below[i];
  }
}

/// Those given, and for what reaches none of them the heads of the components that nothing leaves.
void PostDominators::find_exits(const Digraph& graph, std::span<const NodeId> exits, NodeId entry) {
  for (const NodeId exit : exits) leaves_[exit] = true;
  const std::vector<bool> reaches = reaching(graph, exits);
  if (std::find(reaches.begin(), reaches.end(), false) == reaches.end()) return;
  const std::vector<NodeId> heads = strong_component_heads(graph, {&entry, 1});
  std::vector<bool> left(graph.size(), false);  // of heads: does an edge lead out of the component?
  for (NodeId node = 0; node < graph.size(); node++) {
    for (const NodeId to : graph.successors(node)) {
      if (heads[to] != heads[node]) left[heads[node]] = true;
    }
  }
  for (NodeId node = 0; node < graph.size(); node++) {
    if (!reaches[node] && heads[node] == node && !left[node]) leaves_[node] = true;
  }
}

ControlDependence::ControlDependence(const Digraph& graph, const PostDominators& post_dominators)
    : first_(graph.size() + 1, 0) {
  std::vector<Edge> decisions;  // from a branch to what it decides, by increasing branch
  std::vector<NodeId> seen_from(graph.size(), kNoNode);
  for (NodeId branch = 0; branch < graph.size(); branch++) {
    const NodeId end = post_dominators.immediate(branch);
    for (const NodeId to : graph.successors(branch)) {
      for (NodeId node = to; node != end && seen_from[node] != branch; node = post_dominators.immediate(node)) {
        seen_from[node] = branch;
        decisions.push_back({branch, node});
      }
    }
  }
  for (const Edge& decision : decisions) first_[decision.to + 1]++;
  for (NodeId node = 0; node < graph.size(); node++) first_[node + 1] += first_[node];
  deciders_.resize(decisions.size());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (const Edge& decision : decisions) deciders_[next[decision.to]++] = decision.from;
}

}  // namespace loopfold::structure
