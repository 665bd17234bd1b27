// The loop-nesting forest, almost linear: Havlak's collapsing of loops, inner ones first, with Ramalingam's placing of
// the edges.
//
// Nodes are called by their number in a depth-first search from the entry. A loop's header is its smallest member w.
// Unrolling the recursive definition, the loop of w is the strongly connected component of w among the nodes from w on,
// and since a path that never goes below w cannot leave the search's subtree of w, the loop is: the nodes of the
// subtree that reach w inside the subtree. (w is an entry of its loop: it is the entry of the graph, or its parent in
// the search, which is smaller, leads to it from outside.)
//
// So headers are taken from the last to the first. A loop found is collapsed into its header (union-find), and the loop
// of w is found by going backwards from the sources of the edges that lead to w from its subtree, over collapsed nodes.
// Havlak finds only as he goes whether the source of an edge is in the subtree; an edge into an irreducible loop may be
// turned down once for each loop around its target, which is quadratic. Ramalingam: the edge y -> x lies in the subtree
// of w exactly if the lowest common ancestor of x and y does. It is put aside with that ancestor, and becomes visible
// when w gets there, as an edge to what x is collapsed into by then, r. From then on it can only be found to lie inside
// a loop: all visible edges into a node have their sources in the subtree, and come into the loop when the node does.
// Each edge is placed once and followed once.
//
// The ancestors come out of the search itself (Tarjan): a node that is done is united with its parent, and then the
// ancestor of an edge is the name of the set that its target is in when the edge is looked at.
//
// The edge y -> x that is placed as y -> r says two more things:
//   - r heads the outermost loop around x that y is not in. The loops around x up to that one are entered by it, and
//     are irreducible unless x is their header.
//   - Edges so placed, those to headers of loops around their sources left out, make a graph without cycles, whose
//     topological order, looked at only for the nodes and sub-loop headers that one loop consists of, is an order of
//     its reduced graph: r stands for the sub-loop that is entered, and the header of the sub-loop that is left comes
//     before y. One order of the whole graph thus orders all levels. It is a reversed post-order with larger
//     successors followed first: of two branches, the one with the smaller number comes first.
//
// Cost: linear but for two union-finds with O(nodes + edges) operations, by size with path halving: a factor of the
// inverse Ackermann function. No recursion. Exact, and a function of the graph alone.
#include "structure/loop_forest.h"

#include <algorithm>
#include <utility>

namespace loopfold::structure {
namespace {

using Number = std::uint32_t;  // of a node, in the order in which the search meets them
constexpr std::uint32_t kNone = 0xffffffff;

/// Sets of numbers, each with a member that it is named after.
class NamedSets {
 public:
  explicit NamedSets(std::size_t size) : up_(size), size_(size, 1), name_(size) {
    for (Number i = 0; i < size; i++) up_[i] = name_[i] = i;
  }
  Number name_of(Number member) { return name_[root(member)]; }
  /// What is in the set of `member` goes into the set that is named `into`, which keeps its name.
  void unite(Number member, Number into) {
    Number small = root(member);
    Number large = root(into);
    if (small == large) return;
    if (size_[small] > size_[large]) std::swap(small, large);
    up_[small] = large;
    size_[large] += size_[small];
    name_[large] = into;
  }

 private:
  Number root(Number member) {
    while (up_[member] != member) member = up_[member] = up_[up_[member]];
    return member;
  }
  std::vector<Number> up_;
  std::vector<std::uint32_t> size_;
  std::vector<Number> name_;  // of a root
};

/// Edges between numbers, each in one list at a time.
class EdgeLists {
 public:
  void make_lists(std::size_t count) { first_.assign(count, kNone); }
  void add(Number list, Number from, Number to) {
    links_.push_back({from, to, first_[list]});
    first_[list] = static_cast<std::uint32_t>(links_.size() - 1);
  }
  /// Takes the list's edges off and calls visit(from, to) for each; adding to any list meanwhile is allowed.
  template <typename Visit>
  void drain(Number list, Visit visit) {
    for (std::uint32_t at = std::exchange(first_[list], kNone); at != kNone;) {
      const Link link = links_[at];
      visit(link.from, link.to);
      at = link.next;
    }
  }

 private:
  struct Link {
    Number from;
    Number to;
    std::uint32_t next;
  };
  std::vector<std::uint32_t> first_;
  std::vector<Link> links_;
};

/// The depth-first search: what it reached, and every edge with the lowest common ancestor of its ends.
class Search {
 public:
  Search(const Digraph& graph, NodeId entry) : graph_(graph), sets_(graph.size()), number_(graph.size(), kNone) {
    by_ancestor.make_lists(graph.size());
    if (entry >= graph.size()) return;
    meet(entry);
    while (!path_.empty()) {
      Step& step = path_.back();
      const std::span<const NodeId> successors = graph_.successors(nodes[step.number]);
      if (step.next == successors.size()) {
        leave();
      } else {
        follow(step.number, successors[step.next++]);
      }
    }
  }

  std::vector<NodeId> nodes;  // by number
  EdgeLists by_ancestor;

 private:
  struct Step {
    Number number;
    std::uint32_t next;  // of its successors, the first not followed yet
  };

  void meet(NodeId node) {
    number_[node] = static_cast<Number>(nodes.size());
    nodes.push_back(node);
    path_.push_back({number_[node], 0});
  }

  void follow(Number from, NodeId to) {
    if (number_[to] == kNone) {
      meet(to);
      by_ancestor.add(from, from, number_[to]);
    } else {
      by_ancestor.add(sets_.name_of(number_[to]), from, number_[to]);
    }
  }

  void leave() {
    const Number number = path_.back().number;
    path_.pop_back();
    if (!path_.empty()) sets_.unite(number, path_.back().number);
  }

  const Digraph& graph_;
  NamedSets sets_;
  std::vector<Number> number_;  // by node
  std::vector<Step> path_;
};

/// Finds the loops, in numbers.
class Collapse {
 public:
  explicit Collapse(Search& search)
      : around(search.nodes.size(), kNone),
        heads(search.nodes.size(), false),
        irreducible(search.nodes.size(), false),
        sets_(search.nodes.size()),
        entered_(search.nodes.size()) {
    into_.make_lists(search.nodes.size());
    for (Number i = 0; i < entered_.size(); i++) entered_[i] = i;
    for (Number w = static_cast<Number>(search.nodes.size()); w-- > 0;) {
      search.by_ancestor.drain(w, [&](Number from, Number to) { place(w, from, to); });
      collapse(w);
    }
    mark_irreducible();
  }

  std::vector<Number> around;  // header of the innermost loop around the node that it does not head itself
  std::vector<bool> heads;
  std::vector<bool> irreducible;  // of headers
  std::vector<Edge> placed;       // all but back edges, in numbers

 private:
  void place(Number w, Number from, Number to) {
    if (to == w) {
      heads[w] = true;
      latches_.push_back(from);
      return;
    }
    const Number reached = sets_.name_of(to);
    entered_[to] = std::min(entered_[to], reached);
    into_.add(reached, from, to);
    placed.push_back({from, reached});
  }

  /// Everything that reaches w over edges in sight goes into w.
  void collapse(Number w) {
    for (const Number latch : latches_) absorb(w, latch);
    latches_.clear();
    while (!absorbed_.empty()) {
      const Number node = absorbed_.back();
      absorbed_.pop_back();
      into_.drain(node, [&](Number from, Number) { absorb(w, from); });
    }
  }

  void absorb(Number w, Number member) {
    const Number node = sets_.name_of(member);
    if (node == w) return;
    around[node] = w;
    sets_.unite(node, w);
    absorbed_.push_back(node);
  }

  /// A loop around a node whose header is not smaller than what an edge into the node enters is entered besides its
  /// header. A loop passes that on to the loop around it.
  void mark_irreducible() {
    for (Number node = static_cast<Number>(around.size()); node-- > 0;) {
      const Number header = around[node];
      if (header == kNone || entered_[node] > header) continue;
      irreducible[header] = true;
      entered_[header] = std::min(entered_[header], entered_[node]);
    }
  }

  NamedSets sets_;                // collapsed loops, named after their headers
  EdgeLists into_;                // edges in sight, by the collapsed node that they lead to
  std::vector<Number> entered_;   // by node: header of the outermost loop that an edge into the node enters
  std::vector<Number> latches_;   // of the header at hand
  std::vector<Number> absorbed_;  // into the header at hand, edges not followed yet
};

/// A topological order of what `entry` reaches in a graph without cycles.
std::vector<NodeId> topological_order(const Digraph& graph, NodeId entry) {
  struct Step {
    NodeId node;
    std::size_t left;  // of its successors, how many are not followed yet
  };
  std::vector<NodeId> order;
  std::vector<bool> met(graph.size(), false);
  std::vector<Step> path;
  const auto meet = [&](NodeId node) {
    met[node] = true;
    path.push_back({node, graph.successors(node).size()});
  };
  meet(entry);
  while (!path.empty()) {
    Step& step = path.back();
    if (step.left == 0) {
      order.push_back(step.node);
      path.pop_back();
    } else if (const NodeId to = graph.successors(step.node)[--step.left]; !met[to]) {
      meet(to);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

/// How many loops each loop is, with those inside it, by header; 0 for other numbers.
std::vector<std::uint32_t> nest_sizes(const Collapse& loops) {
  std::vector<std::uint32_t> sizes(loops.heads.size(), 0);
  for (Number header = static_cast<Number>(sizes.size()); header-- > 0;) {
    if (!loops.heads[header]) continue;
    sizes[header]++;
    if (loops.around[header] != kNone) sizes[loops.around[header]] += sizes[header];
  }
  return sizes;
}

}  // namespace

LoopForest::LoopForest(const Digraph& graph, NodeId entry)
    : innermost_(graph.size(), kNoLoop), node_index_(graph.size(), 0) {
  Search search(graph, entry);
  Collapse found(search);
  const std::vector<LoopId> by_header = number_loops(found.heads, found.around, nest_sizes(found));
  for (Number number = 0; number < by_header.size(); number++) {
    const LoopId around = found.around[number] == kNone ? kNoLoop : by_header[found.around[number]];
    const LoopId headed = by_header[number];
    innermost_[search.nodes[number]] = headed == kNoLoop ? around : headed;
    if (headed == kNoLoop) continue;
    Loop& loop = loops_[headed];
    loop.header = search.nodes[number];
    loop.parent = around;
    loop.depth = around == kNoLoop ? 1 : loops_[around].depth + 1;
    loop.irreducible = found.irreducible[number];
  }
  find_latches(graph);
  for (Edge& edge : found.placed) edge = {search.nodes[edge.from], search.nodes[edge.to]};
  set_indices(search.nodes.empty() ? std::vector<NodeId>()
                                   : topological_order(Digraph(graph.size(), found.placed), entry));
}

/// Gives every loop an id, so that a loop is followed by what is inside it; siblings in the order of their headers.
/// `sizes`: by header, how many loops it is with those inside.
std::vector<LoopId> LoopForest::number_loops(const std::vector<bool>& heads, std::span<const std::uint32_t> around,
                                             std::span<const std::uint32_t> sizes) {
  std::vector<LoopId> ids(heads.size(), kNoLoop);
  std::vector<LoopId> next_inside(heads.size(), 0);
  LoopId next_outermost = 0;
  for (std::uint32_t header = 0; header < heads.size(); header++) {
    if (!heads[header]) continue;
    LoopId& next = around[header] == kNone ? next_outermost : next_inside[around[header]];
    ids[header] = next;
    next += sizes[header];
    next_inside[header] = ids[header] + 1;
  }
  loops_.resize(next_outermost);
  end_.resize(next_outermost);
  for (std::uint32_t header = 0; header < heads.size(); header++) {
    if (heads[header]) end_[ids[header]] = ids[header] + sizes[header];
  }
  return ids;
}

void LoopForest::find_latches(const Digraph& graph) {
  for (LoopId id = 0; id < loops_.size(); id++) {
    for (const NodeId from : graph.predecessors(loops_[id].header)) {
      if (contains(id, from)) loops_[id].latches.push_back(from);
    }
  }
}

/// `order`: all reachable nodes, so that those that a loop consists of are in an order of its reduced graph, where a
/// sub-loop's header stands for the sub-loop.
void LoopForest::set_indices(std::span<const NodeId> order) {
  loop_index_.assign(loops_.size(), 0);
  std::vector<std::uint32_t> next_in_loop(loops_.size(), 0);
  std::uint32_t next_in_graph = 0;
  const auto next_in = [&](LoopId loop) { return loop == kNoLoop ? next_in_graph++ : next_in_loop[loop]++; };
  std::vector<bool> reached(node_index_.size(), false);
  for (const NodeId node : order) {
    reached[node] = true;
    if (is_header(node)) loop_index_[innermost_[node]] = next_in(loops_[innermost_[node]].parent);
    node_index_[node] = next_in(innermost_[node]);
  }
  for (NodeId node = 0; node < node_index_.size(); node++) {
    if (!reached[node]) node_index_[node] = next_in_graph++;
  }
}

}  // namespace loopfold::structure
