// For tests: the definitions of the graph algorithms, written down as they are, for graphs of up to 64 nodes.
//
// A set of nodes is a word. Nothing here is clever: components are nodes that reach each other, loops are found by
// taking edges away and looking again, post-dominance by leaving a node out and asking whether the exit is still
// reached.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "structure/digraph.h"

namespace loopfold::structure::reference {

using Nodes = std::uint64_t;
using Relation = std::vector<Nodes>;  // by node: where its edges lead

inline Nodes only(NodeId node) { return Nodes{1} << node; }
inline bool has(Nodes nodes, NodeId node) { return (nodes & only(node)) != 0; }
inline Nodes all(std::size_t size) { return size == 64 ? ~Nodes{0} : (Nodes{1} << size) - 1; }

inline Relation relation(std::size_t size, std::span<const Edge> edges) {
  Relation made(size, 0);
  for (const Edge& edge : edges) made[edge.from] |= only(edge.to);
  return made;
}

inline std::vector<Edge> edges_of(const Relation& edges) {
  std::vector<Edge> list;
  for (NodeId from = 0; from < edges.size(); from++) {
    for (NodeId to = 0; to < edges.size(); to++) {
      if (has(edges[from], to)) list.push_back({from, to});
    }
  }
  return list;
}

/// What is reached from `from` over one edge or more, without leaving `within`.
inline Nodes reached(const Relation& edges, NodeId from, Nodes within) {
  Nodes met = edges[from] & within;
  for (Nodes before = 0; before != met;) {
    before = met;
    for (NodeId node = 0; node < edges.size(); node++) {
      if (has(before, node)) met |= edges[node] & within;
    }
  }
  return met;
}

/// Strongly connected components with a cycle, of the graph that consists of `within`; by smallest member.
inline std::vector<Nodes> cyclic_components(const Relation& edges, Nodes within) {
  std::vector<Nodes> components;
  Nodes seen = 0;
  for (NodeId node = 0; node < edges.size(); node++) {
    if (!has(within, node) || has(seen, node)) continue;
    const Nodes from_node = reached(edges, node, within);
    if (!has(from_node, node)) continue;
    Nodes component = 0;
    for (NodeId other = 0; other < edges.size(); other++) {
      if (has(from_node, other) && has(reached(edges, other, within), node)) component |= only(other);
    }
    components.push_back(component);
    seen |= component;
  }
  return components;
}

/// The nodes in the order in which a depth-first search meets them.
inline void search(const Relation& edges, NodeId node, std::vector<NodeId>& met) {
  if (std::find(met.begin(), met.end(), node) != met.end()) return;
  met.push_back(node);
  for (NodeId to = 0; to < edges.size(); to++) {
    if (has(edges[node], to)) search(edges, to, met);
  }
}

inline NodeId first_of(std::span<const NodeId> order, Nodes nodes) {
  return *std::find_if(order.begin(), order.end(), [&](NodeId node) { return has(nodes, node); });
}

struct Loop {
  NodeId header = kNoNode;
  Nodes members = 0;
  NodeId parent = kNoNode;  // its header
  std::uint32_t depth = 1;
  Nodes latches = 0;
  bool irreducible = false;
};

/// Adds the loops of what `edges` has left inside `within`.
inline void add_loops(const Relation& graph, Relation edges, Nodes within, std::span<const NodeId> order, NodeId parent,
                      std::uint32_t depth, std::vector<Loop>& loops) {
  for (const Nodes members : cyclic_components(edges, within)) {
    Loop loop{first_of(order, members), members, parent, depth, 0, false};
    for (const NodeId from : order) {
      const bool inside = has(members, from);
      if (inside && has(edges[from], loop.header)) loop.latches |= only(from);
      if (!inside && (graph[from] & members & ~only(loop.header)) != 0) loop.irreducible = true;
    }
    loops.push_back(loop);
    Relation rest = edges;
    for (NodeId from = 0; from < rest.size(); from++) {
      if (has(members, from)) rest[from] &= ~only(loop.header);
    }
    add_loops(graph, rest, members, order, loop.header, depth + 1, loops);
  }
}

inline std::vector<Loop> loops(const Relation& edges, NodeId entry) {
  std::vector<NodeId> order;
  search(edges, entry, order);
  Nodes within = 0;
  for (const NodeId node : order) within |= only(node);
  std::vector<Loop> found;
  add_loops(edges, edges, within, order, kNoNode, 1, found);
  return found;
}

struct Components {
  std::vector<Nodes> members;  // by smallest function
  std::vector<Nodes> entries;
  std::vector<Nodes> headers;
};

/// Functions of `members` with a caller outside.
inline Nodes called_from_outside(const Relation& calls, Nodes members) {
  Nodes called = 0;
  for (NodeId caller = 0; caller < calls.size(); caller++) {
    if (!has(members, caller)) called |= calls[caller] & members;
  }
  return called;
}

/// The recursive-component-set. The entry that is chosen is the first that a search meets, which starts from the roots
/// and from what else is called by nobody, in increasing order.
inline Components recursive_components(const Relation& calls, std::span<const NodeId> roots) {
  const Nodes functions = all(calls.size());
  Nodes starts = 0;
  for (const NodeId root : roots) starts |= only(root);
  for (NodeId function = 0; function < calls.size(); function++) {
    if (called_from_outside(calls, only(function)) == 0 && !has(calls[function], function)) starts |= only(function);
  }
  Components found;
  found.members = cyclic_components(calls, functions);
  for (const Nodes members : found.members) {
    const Nodes entries = called_from_outside(calls, members) | (starts & members);
    found.entries.push_back(entries != 0 ? entries : members & -members);
    if (entries == 0) starts |= members & -members;
  }
  std::vector<NodeId> order;
  for (NodeId function = 0; function < calls.size(); function++) {
    if (has(starts, function)) search(calls, function, order);
  }
  std::vector<Loop> steps;
  add_loops(calls, calls, functions, order, kNoNode, 1, steps);
  for (const Nodes members : found.members) {
    found.headers.push_back(0);
    for (const Loop& step : steps) found.headers.back() |= only(step.header) & members;
  }
  return found;
}

/// The exits, and one for each component that no exit is reached from and that nothing leaves: its first node in a
/// search from `entry` and then from the other nodes.
inline Nodes exits_everywhere(const Relation& edges, std::span<const NodeId> exits, NodeId entry) {
  Nodes leaves = 0;
  for (const NodeId exit : exits) leaves |= only(exit);
  const Nodes given = leaves;
  std::vector<NodeId> order;
  search(edges, entry, order);
  for (NodeId node = 0; node < edges.size(); node++) search(edges, node, order);
  for (const NodeId node : order) {
    const Nodes ahead = reached(edges, node, all(edges.size())) | only(node);
    bool comes_back = true;
    for (NodeId other = 0; other < edges.size(); other++) {
      if (other != node && has(ahead, other)) comes_back &= has(reached(edges, other, all(edges.size())), node);
    }
    if ((ahead & given) == 0 && comes_back && (ahead & leaves) == 0) leaves |= only(node);
  }
  return leaves;
}

/// Does every way from b out of the graph go through a?
inline bool post_dominates(const Relation& edges, Nodes leaves, NodeId a, NodeId b) {
  if (a == b) return true;
  return ((reached(edges, b, all(edges.size()) & ~only(a)) | only(b)) & leaves) == 0;
}

/// Does an edge of `branch` decide `node`?
inline bool decides(const Relation& edges, Nodes leaves, NodeId branch, NodeId node) {
  if (branch != node && post_dominates(edges, leaves, node, branch)) return false;
  for (NodeId to = 0; to < edges.size(); to++) {
    if (has(edges[branch], to) && post_dominates(edges, leaves, node, to)) return true;
  }
  return false;
}

/// Any edges, self-edges included; some graphs are sparse, some dense.
inline Relation random_relation(std::mt19937_64& random, std::size_t most_nodes) {
  const std::size_t size = 1 + random() % most_nodes;
  Relation made(size, 0);
  const std::size_t count = random() % (1 + size * (1 + random() % 4));
  for (std::size_t i = 0; i < count; i++) made[random() % size] |= only(static_cast<NodeId>(random() % size));
  return made;
}

/// Like compiled code: mostly going on to the next node, some jumps, mostly near.
inline Relation random_code(std::mt19937_64& random, std::size_t most_nodes) {
  const std::size_t size = 2 + random() % (most_nodes - 1);
  Relation made(size, 0);
  for (NodeId node = 0; node < size; node++) {
    if (node + 1 < size && random() % 8 != 0) made[node] |= only(node + 1);
    const std::size_t reach = random() % 4 == 0 ? size : 4;
    const std::size_t target = node + random() % (2 * reach + 1);
    if (random() % 2 == 0 && target >= reach && target - reach < size) made[node] |= only(target - reach);
  }
  return made;
}

}  // namespace loopfold::structure::reference
