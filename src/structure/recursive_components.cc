// The recursive-component-set, by way of the loop-nesting forest.
//
// The definition (POLY-PROF 3.2) takes a strongly connected component with a cycle, makes an entry of it a header,
// takes away the calls of that header from inside, and goes on with the components that are left. That is the recursive
// definition of a loop-nesting forest, word for word: the components are the outermost loops of the call graph, and the
// headers of a component are the headers of that loop and of all loops inside it. So the forest of the call graph is
// built, with one more node in front that calls whatever is called from outside, and read off. The entry that is chosen
// is the one that the search meets first; among starting points, the smaller function first. For a component that is
// left inside another one, an entry is a function with a caller outside of what is left; the function met first has
// one, the one that it was met from.
//
// Every function must be met. Where the recording lost who called a component, so that nothing outside calls it and no
// root is in it, its smallest function is taken as called from outside.
//
// Example: main calls f; f and g call each other; g calls itself. One component {f, g}, entry f, headers f and g:
// without calls of f and g from inside no cycle is left. Exact, almost linear in the size of the graph.
#include "structure/recursive_components.h"

#include "structure/loop_forest.h"

namespace loopfold::structure {
namespace {

/// Functions from which a search meets all others: the roots, and the smallest function of every strongly connected
/// component that has neither a root nor a caller outside of it.
std::vector<NodeId> starting_points(const Digraph& calls, std::span<const NodeId> roots,
                                    std::span<const NodeId> component_heads) {
  std::vector<NodeId> starts(roots.begin(), roots.end());
  std::vector<bool> met(calls.size(), false);  // of component heads
  for (const NodeId root : roots) met[component_heads[root]] = true;
  for (NodeId callee = 0; callee < calls.size(); callee++) {
    for (const NodeId caller : calls.predecessors(callee)) {
      if (component_heads[caller] != component_heads[callee]) met[component_heads[callee]] = true;
    }
  }
  for (NodeId function = 0; function < calls.size(); function++) {
    if (met[component_heads[function]]) continue;
    met[component_heads[function]] = true;
    starts.push_back(function);
  }
  return starts;
}

/// The call graph with one more function, the last one, that calls `starts`.
Digraph with_caller_of(const Digraph& calls, std::span<const NodeId> starts) {
  const NodeId outside = static_cast<NodeId>(calls.size());
  std::vector<Edge> edges;
  edges.reserve(calls.edges() + starts.size());
  for (NodeId caller = 0; caller < calls.size(); caller++) {
    for (const NodeId callee : calls.successors(caller)) edges.push_back({caller, callee});
  }
  for (const NodeId start : starts) edges.push_back({outside, start});
  return Digraph(calls.size() + 1, edges);
}

}  // namespace

RecursiveComponents::RecursiveComponents(const Digraph& calls, std::span<const NodeId> roots)
    : component_(calls.size(), kNoComponent), entry_(calls.size(), false), header_(calls.size(), false) {
  const std::vector<NodeId> heads = strong_component_heads(calls, roots);
  const std::vector<NodeId> starts = starting_points(calls, roots, heads);
  const LoopForest forest(with_caller_of(calls, starts), static_cast<NodeId>(calls.size()));

  std::vector<ComponentId> by_head(calls.size(), kNoComponent);
  for (NodeId function = 0; function < calls.size(); function++) {
    if (forest.innermost(function) == kNoLoop) continue;
    ComponentId& component = by_head[heads[function]];
    if (component == kNoComponent) {
      component = static_cast<ComponentId>(functions_.size());
      functions_.emplace_back();
    }
    component_[function] = component;
    functions_[component].push_back(function);
    header_[function] = forest.is_header(function);
    for (const NodeId caller : calls.predecessors(function)) {
      if (heads[caller] != heads[function]) entry_[function] = true;
    }
  }
  for (const NodeId start : starts) entry_[start] = component_[start] != kNoComponent;
}

}  // namespace loopfold::structure
