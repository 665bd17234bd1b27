// Pass 1 and the loops that follow from it.
#include "structure/structure.h"

#include <algorithm>
#include <utility>

namespace loopfold::structure {

namespace {

/// Follows the header in a straight line, as long as everything is of one source line.
NodeId find_test(const Function& function, const LoopForest& forest, LoopId which, const CodeMap& code,
                 const FunctionFacts& facts) {
  const Loop& loop = forest.loops()[which];
  const auto is_latch = [&](NodeId node) { return std::binary_search(loop.latches.begin(), loop.latches.end(), node); };
  const auto line_of = [&](std::uint64_t address) { return facts.line_of ? facts.line_of(address) : 0; };
  const std::uint64_t line = line_of(code.address(function.places[loop.header]));
  NodeId node = loop.header;
  while (line != 0 && !is_latch(node) && line_of(code.last_instruction(function.places[node])) == line) {
    const std::span<const NodeId> next = function.graph.successors(node);
    if (next.size() != 1 || forest.innermost(next[0]) != which) break;
    if (line_of(code.address(function.places[next[0]])) != line) break;
    node = next[0];
  }
  const std::span<const NodeId> next = function.graph.successors(node);
  const bool leaves = std::any_of(next.begin(), next.end(), [&](NodeId to) { return !forest.contains(which, to); });
  if (!leaves) node = loop.header;
  return is_latch(node) ? kNoNode : node;
}

}  // namespace

Structure find_structure(const trace::Reader& reader, const FunctionFacts& facts) {
  Structure structure{CodeMap(reader, facts), {}, {}, {}, {}, {}};
  structure.flow = find_control_flow(reader, structure.code, structure.damage);
  find_loops(structure, facts);
  return structure;
}

void find_loops(Structure& structure, const FunctionFacts& facts) {
  for (const Function& function : structure.flow.functions()) {
    const LoopForest& forest = structure.forests.emplace_back(function.graph, 0);
    std::vector<NodeId>& tests = structure.tests.emplace_back();
    for (LoopId loop = 0; loop < forest.loops().size(); ++loop)
      tests.push_back(find_test(function, forest, loop, structure.code, facts));
  }
  std::vector<Edge> edges;
  for (const CallSite& site : structure.flow.calls()) edges.push_back({site.caller, site.callee});
  const Digraph calls(structure.flow.functions().size(), edges);
  structure.recursion = RecursiveComponents(calls, structure.flow.roots());
}

}  // namespace loopfold::structure
