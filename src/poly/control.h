// What decides whether a statement runs, and which branches decide whether a loop goes on: control dependence of the
// functions' graphs, carried over to the statements of the loop tree, and across calls.
//
// A statement depends on the branches that its node depends on in the graph of its function (post-dominance in what
// ran), in the same activation; and on whatever the call that its function is called by depends on. A branch that is
// outside of the loop in question is of no interest to it, so deciders come with their statements, and whoever asks
// looks only at those inside.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ddg/graph.h"
#include "structure/loop_tree.h"
#include "structure/structure.h"

namespace loopfold::poly {

class Control {
 public:
  Control(const ddg::Graph& graph, const structure::Structure& structure, const structure::LoopTree& tree);

  /// The statements whose last instruction (a conditional branch, an indirect jump or call) directly decides whether
  /// `statement` runs: in its own function, and, for what a call under a decision runs, in the functions around it. A
  /// decider of a decider is not repeated. Sorted.
  std::span<const ddg::StatementId> deciders(ddg::StatementId statement) const;

  /// The statements inside a loop (a context of kind kLoop), callees included, whose last instruction decides whether
  /// the loop goes on: branches with a way out of the loop, and branches behind which frames that the loop is around
  /// are left by longjmp, an exception or the end of the program. Sorted.
  std::span<const ddg::StatementId> exit_deciders(structure::ContextId loop) const;

  /// The statements that end with a conditional branch, or an indirect jump or call, which always went one way in this
  /// context.
  std::span<const ddg::StatementId> one_way() const;
};

}  // namespace loopfold::poly
