#include "poly/whole_loop.h"

#include "poly/loop_values.h"

namespace loopfold::poly {

bool describe_whole(const JudgedLoop& judged, WholeLoop& into) {
  if (!judged.verdict.doubts.empty() || judged.verdict.parallel == Parallel::kUnknown) return false;
  const LoopFlow& flow = judged.values.flow();
  for (const FlowNode& node : flow.nodes)
    if (node.index) into.index.insert(node.at);
  for (const KeptEdge& kept : judged.kept) {
    const FlowEdge& edge = flow.edges[kept.edge];
    into.kept.insert({flow.nodes[edge.to].at, edge.operand, edge.lane});
  }
  into.reload.insert(judged.verdict.reload.begin(), judged.verdict.reload.end());
  return true;
}

}  // namespace loopfold::poly
