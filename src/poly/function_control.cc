#include "poly/function_control.h"

#include <algorithm>
#include <set>

namespace loopfold::poly {

using structure::CallSite;
using structure::FunctionId;
using structure::kNoComponent;
using structure::kNoLoop;
using structure::LoopForest;
using structure::LoopId;
using structure::NodeId;

FunctionControl::FunctionControl(const structure::Structure& structure, FunctionId function)
    : function_(structure.flow.functions()[function]), left_(function_.graph.size(), 0) {
  for (std::size_t i = 0; i < function_.exits.size(); ++i) {
    left_[function_.exits[i]] = function_.left[i] & ~structure::kLeftByCut;
    if (left_[function_.exits[i]] != 0) exit_nodes_.push_back(function_.exits[i]);
  }
  post_dominators_ = structure::PostDominators(function_.graph, exit_nodes_);
  dependence_ = structure::ControlDependence(function_.graph, post_dominators_);
  find_iterations(structure.forests[function]);
  find_exits(structure.forests[function]);
  find_calls(structure, function);
}

/// Sorted by their innermost loops, the nodes of each loop stand together.
void FunctionControl::find_iterations(const LoopForest& forest) {
  in_iteration_.resize(function_.graph.size());
  on_every_round_.resize(function_.graph.size());
  std::vector<NodeId> nodes;
  std::vector<NodeId> number(function_.graph.size());
  for (NodeId node = 0; node < function_.graph.size(); ++node)
    if (forest.innermost(node) != kNoLoop) nodes.push_back(node);
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](NodeId a, NodeId b) { return forest.innermost(a) < forest.innermost(b); });
  for (LoopId loop = 0; loop < forest.loops().size(); ++loop) {
    const auto first =
        std::partition_point(nodes.begin(), nodes.end(), [&](NodeId node) { return forest.innermost(node) < loop; });
    const auto last =
        std::partition_point(first, nodes.end(), [&](NodeId node) { return forest.contains(loop, node); });
    find_iteration(forest, loop, {first, last}, number);
    find_rounds(forest, loop, {first, last}, number);
  }
}

void FunctionControl::find_iteration(const LoopForest& forest, LoopId loop, std::span<const NodeId> nodes,
                                     std::vector<NodeId>& number) {
  for (NodeId i = 0; i < nodes.size(); ++i) number[nodes[i]] = i;
  std::vector<structure::Edge> edges;
  std::vector<NodeId> exits;
  for (NodeId i = 0; i < nodes.size(); ++i) {
    if (left_at(nodes[i])) exits.push_back(i);
    for (const NodeId to : function_.graph.successors(nodes[i])) {
      if (to == forest.loops()[loop].header || !forest.contains(loop, to))
        exits.push_back(i);
      else
        edges.push_back({i, number[to]});
    }
  }
  const structure::Digraph graph(nodes.size(), edges);
  const structure::ControlDependence dependence(graph, structure::PostDominators(graph, exits));
  for (NodeId i = 0; i < nodes.size(); ++i)
    for (const NodeId decider : dependence.deciders(i)) in_iteration_[nodes[i]].push_back(nodes[decider]);
}

/// Post-dominance of the header among the ways that lead back to it.
void FunctionControl::find_rounds(const LoopForest& forest, LoopId loop, std::span<const NodeId> nodes,
                                  std::vector<NodeId>& number) {
  const NodeId header = forest.loops()[loop].header;
  for (const NodeId node : nodes)
    for (const NodeId before : function_.graph.predecessors(node))
      if (node != header && !forest.contains(loop, before)) return;  // it may begin in the middle
  std::vector<NodeId> rounds;
  std::vector<bool> met(nodes.size());
  for (NodeId i = 0; i < nodes.size(); ++i) number[nodes[i]] = i;
  const auto meet = [&](NodeId node) {
    if (!forest.contains(loop, node) || met[number[node]]) return;
    met[number[node]] = true;
    rounds.push_back(node);
  };
  for (const NodeId latch : function_.graph.predecessors(header)) meet(latch);
  const std::vector<NodeId> latches = rounds;
  for (std::size_t next = 0; next < rounds.size(); ++next)
    if (rounds[next] != header)
      for (const NodeId before : function_.graph.predecessors(rounds[next])) meet(before);
  if (rounds.empty() || !met[number[header]]) return;
  std::set<NodeId> is_round;
  for (NodeId i = 0; i < rounds.size(); ++i) {
    number[rounds[i]] = i;
    is_round.insert(rounds[i]);
  }
  std::vector<structure::Edge> edges;
  for (NodeId i = 0; i < rounds.size(); ++i)
    for (const NodeId to : function_.graph.successors(rounds[i]))
      if (to != header && is_round.contains(to)) edges.push_back({i, number[to]});
  std::vector<NodeId> exits;
  for (const NodeId latch : latches) exits.push_back(number[latch]);
  const structure::Digraph graph(rounds.size(), edges);
  const structure::PostDominators post_dominators(graph, exits, number[header]);
  for (const NodeId node : rounds)
    if (forest.innermost(node) == loop)
      on_every_round_[node] = post_dominators.post_dominates(number[node], number[header]);
}

void FunctionControl::find_exits(const LoopForest& forest) {
  exits_.resize(forest.loops().size());
  for (NodeId node = 0; node < function_.graph.size(); ++node) {
    const std::span<const NodeId> successors = function_.graph.successors(node);
    for (LoopId loop = forest.innermost(node); loop != kNoLoop; loop = forest.loops()[loop].parent) {
      const bool out =
          std::any_of(successors.begin(), successors.end(), [&](NodeId to) { return !forest.contains(loop, to); });
      if (!out && !left_at(node)) break;
      exits_[loop].push_back(node);
    }
  }
}

void FunctionControl::find_calls(const structure::Structure& structure, FunctionId function) {
  const LoopForest& forest = structure.forests[function];
  callees_.resize(function_.graph.size());
  recurses_.resize(function_.graph.size());
  loop_recurses_.resize(forest.loops().size());
  const std::span<const CallSite> calls = structure.flow.calls();
  auto call = std::lower_bound(calls.begin(), calls.end(), function,
                               [](const CallSite& site, FunctionId id) { return site.caller < id; });
  const structure::ComponentId component = structure.recursion.component_of(function);
  for (; call != calls.end() && call->caller == function; ++call) {
    ++callees_[call->node];
    if (component == kNoComponent || structure.recursion.component_of(call->callee) != component) continue;
    recurses_[call->node] = true;
    for (LoopId loop = forest.innermost(call->node); loop != kNoLoop; loop = forest.loops()[loop].parent)
      loop_recurses_[loop] = true;
  }
}

/// The header of a loop that was not left is given a way out, so that post-dominance is defined. It decides nothing;
/// what depends on it depends on what it depends on.
FunctionControl::Deciders FunctionControl::deciders(NodeId node) const {
  Deciders found;
  std::vector<NodeId> pending = {node};
  std::vector<NodeId> passed;
  while (!pending.empty()) {
    const NodeId at = pending.back();
    pending.pop_back();
    found.call = found.call || post_dominators_.post_dominates(at, 0);
    for (const NodeId decider : dependence_.deciders(at)) {
      if (ways(decider) > 1) {
        found.nodes.push_back(decider);
      } else if (std::find(passed.begin(), passed.end(), decider) == passed.end()) {
        passed.push_back(decider);
        pending.push_back(decider);
      }
    }
  }
  found.nodes.insert(found.nodes.end(), in_iteration_[node].begin(), in_iteration_[node].end());
  std::sort(found.nodes.begin(), found.nodes.end());
  found.nodes.erase(std::unique(found.nodes.begin(), found.nodes.end()), found.nodes.end());
  return found;
}

std::vector<NodeId> FunctionControl::all_deciders(const std::vector<NodeId>& nodes) const {
  std::vector<bool> met(function_.graph.size());
  std::vector<NodeId> pending = nodes;
  while (!pending.empty()) {
    const NodeId at = pending.back();
    pending.pop_back();
    for (const NodeId decider : dependence_.deciders(at)) {
      if (met[decider]) continue;
      met[decider] = true;
      pending.push_back(decider);
    }
  }
  std::vector<NodeId> found;
  for (NodeId node = 0; node < met.size(); ++node)
    if (met[node] && ways(node) > 1) found.push_back(node);
  return found;
}

}  // namespace loopfold::poly
