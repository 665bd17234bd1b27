// What decides whether a statement runs, and which branches decide whether a loop goes on: control dependence of the
// functions' graphs, carried over to the statements of the loop tree, and across calls.
//
// A statement depends on the branches that its node depends on in the graph of its function (post-dominance in what
// ran), in the same activation; and on whatever the call that its function is called by depends on. A branch that is
// outside of the loop in question is of no interest to it, so deciders come with their statements, and whoever asks
// looks only at those inside.
//
// Only direct deciders are listed: those of the statement's node; and, if the node runs whenever its function is left
// the usual way (it post-dominates the entry), those of the call. Every node reaches such a node, from decider to
// decider, so following deciders of deciders finds all, those of the calls around included.
//
// - What decides whether a node runs in this iteration of a loop around it counts, even if it runs later in any case
//   (function_control.h).
// - A call whose target varied (in this context) decides what it calls, and is the call's only decider there. So does a
//   branch that is a tail call on one of its ways.
// - Where a call sometimes does not come back (longjmp, an exception, exit), what follows it is decided by its callees:
//   the branches there, in functions that they call too, on which it depends whether control gets to where they were
//   left. These stand in for the call. If control went on in several places instead, so do the jumps that left the
//   frames. (A jump that lands just where the call would have returned to, at times, counts as its return.)
// - A rep instruction decides how often it is repeated. A system call, or a call of hidden code, behind which control
//   went several ways is a decider with all its statements: whatever it does, it is nothing that can be looked into.
//   Hidden code decides what it calls back. A statement among deciders that ends with no branch is such a case, or
//   a return that left frames.
// - In a recursive component, one context has activations of several functions. Direct deciders there are the
//   statements of the branch in all contexts of the component, and what decides any of the component's calls of itself
//   decides whatever runs whenever its function is called.
// - What recording cut off was no decision: a function that was active then was not left there.
//
// Exact for the graphs, which are per function, not per context: a branch that went both ways in another context of the
// function, and one way in this one, is a decider here. In recursive components an over-approximation.
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
  std::span<const ddg::StatementId> deciders(ddg::StatementId statement) const { return members(deciders_[statement]); }
  /// False: some of its deciders may have no statements, because their contexts ran too little to get any.
  bool knows_deciders(ddg::StatementId statement) const { return sets_[deciders_[statement]].whole; }

  /// Whether a statement runs in every iteration of the loop that it is right in, but for the last one of an entry: no
  /// branch decides that it does not, unless the loop ends.
  bool is_on_every_round(ddg::StatementId statement) const { return on_every_round_[statement]; }

  /// The statements inside a loop (a context of kind kLoop), callees included, whose last instruction decides whether
  /// the loop goes on: branches with a way out of the loop, and branches behind which frames that the loop is around
  /// are left by longjmp, an exception or the end of the program. A loop of a recursive component ends, as the loop
  /// tree counts, where the component calls itself: if it does so in the loop, all branches of the component inside are
  /// listed. Sorted. Empty for contexts that are no loops.
  std::span<const ddg::StatementId> exit_deciders(structure::ContextId loop) const { return members(exits_[loop]); }
  bool knows_exit_deciders(structure::ContextId loop) const { return sets_[exits_[loop]].whole; }

  /// The statements that end with a conditional branch or an indirect jump which always went one way in this function,
  /// or with an indirect call that always called the same in this context. (A branch both of whose ways lead to one
  /// place is one of them.) Sorted.
  std::span<const ddg::StatementId> one_way() const { return one_way_; }

  /// Whether a statement may run between the beginning of the body that a loop stands in (an iteration of the loop
  /// around it, or a call of its function) and the loop's entry there. False for what is in the loop, what stands
  /// behind it in every order of the body or on another way through it, and what is not below the body.
  bool may_come_between(ddg::StatementId statement, structure::ContextId loop) const;

 private:
  friend class ControlBuilder;
  struct Set {
    std::size_t begin = 0;
    std::size_t size = 0;
    bool whole = true;
  };

  std::span<const ddg::StatementId> members(std::uint32_t set) const {
    return {pool_.data() + sets_[set].begin, sets_[set].size};
  }

  std::vector<ddg::StatementId> pool_;
  bool leads_to(structure::NodeId node, const structure::Context& loop) const;

  const structure::LoopTree* tree_ = nullptr;
  const structure::Structure* structure_ = nullptr;
  std::vector<structure::ContextId> context_of_;  // by statement
  std::vector<std::uint32_t> index_of_;           // by statement: its static index among what is in its context
  std::vector<structure::NodeId> node_of_;        // by statement: kNoNode if it is no code of its context's function
  std::vector<Set> sets_;                         // the first is empty
  std::vector<std::uint32_t> deciders_;           // by statement: set
  std::vector<bool> on_every_round_;              // by statement
  std::vector<std::uint32_t> exits_;              // by context: set
  std::vector<ddg::StatementId> one_way_;
};

}  // namespace loopfold::poly
