// Pass 1 and the loops that follow from it.
#include "structure/structure.h"

#include <algorithm>
#include <utility>

#include "structure/merged_loops.h"

namespace loopfold::structure {

Structure find_structure(const trace::Reader& reader, const FunctionFacts& facts, bool separate) {
  Structure structure{CodeMap(reader, facts), {}, {}, {}, {}, {}};
  structure.flow = find_control_flow(reader, structure.code, structure.damage);
  find_loops(structure);
  if (separate) separate_loops(reader, structure);
  return structure;
}

void find_loops(Structure& structure) {
  for (const Function& function : structure.flow.functions()) {
    const LoopForest& forest = structure.forests.emplace_back(function.graph, 0);
    std::vector<std::vector<NodeId>>& tests = structure.tests.emplace_back(forest.loops().size());
    for (LoopId id = 0; id < forest.loops().size(); ++id) {
      const Loop& loop = forest.loops()[id];
      if (!std::binary_search(loop.latches.begin(), loop.latches.end(), loop.header)) tests[id] = {loop.header};
    }
  }
  std::vector<Edge> edges;
  for (const CallSite& site : structure.flow.calls()) edges.push_back({site.caller, site.callee});
  const Digraph calls(structure.flow.functions().size(), edges);
  structure.recursion = RecursiveComponents(calls, structure.flow.roots());
}

}  // namespace loopfold::structure
