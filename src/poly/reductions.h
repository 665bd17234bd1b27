// Reductions: values that a loop carries from iteration to iteration only to add to them (or multiply, ...).
//
// A chain of one associative operation: each step's accumulator comes from another step of the chain, or from before
// the loop; nothing else in the loop uses what a step makes, and nothing else in the loop defines the variable
// (`if (c[i]) s = 0; s += a[i]` is none). Subtraction counts as addition through its left operand only. Conversions end
// the chain. A chain may go through memory: a load, the operation and a store to the same cell; if the cell differs
// from iteration to iteration, it is a reduction of an array (`bins[x] += w`). Steps under a condition count, if the
// condition does not hang on the chain, whether it is a branch or a conditional move between the old value and the new
// one. Minimum and maximum are found as an instruction, as compare and conditional move, and as compare and branch.
//
// What is found is one for this run: no other use, no other definition, no other place was seen. What is not found may
// still be one; the loop is then said to carry the dependence.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "poly/choices.h"
#include "poly/control.h"
#include "poly/loop_flow.h"
#include "poly/verdicts.h"

namespace loopfold::poly {

/// Also found, with no operation: a variable that nothing in the loop uses but to keep it. `if (c[i]) at = i` reads
/// `at` where a conditional move stands for the branch, and registers that are saved and restored under a branch go
/// round. Nothing needs to be done about what is carried there.
struct FoundReduction {
  Reduction what;
  std::vector<std::uint32_t> edges;  // of LoopFlow::edges, those carried by the loop that it explains
  std::vector<std::uint32_t> chain;  // all by which the variable is used, those inside an iteration too
};

/// For many loops of one graph: what leaves the loops is looked up in an index that is made once, when it is needed.
class ReductionFinder {
 public:
  ReductionFinder(const ddg::Graph& graph, Decisions decisions);
  ReductionFinder(const ddg::Graph& graph, const Control& control)
      : ReductionFinder(graph, {[&control](ddg::StatementId s) { return control.deciders(s); },
                                [&control](structure::ContextId loop) { return control.exit_deciders(loop); },
                                [&control](ddg::StatementId s, structure::ContextId loop) {
                                  return control.may_come_between(s, loop);
                                }}) {}
  ~ReductionFinder();

  /// `blocking`: the edges that the loop carries and that nothing else explains.
  std::vector<FoundReduction> find(const LoopFlow& flow, std::span<const std::uint32_t> blocking) const;

 private:
  class Index;
  const ddg::Graph& graph_;
  Decisions decisions_;
  mutable std::once_flag index_made_;
  mutable std::unique_ptr<const Index> index_;
};

/// For one loop.
inline std::vector<FoundReduction> find_reductions(const LoopFlow& flow, std::span<const std::uint32_t> blocking,
                                                   const ddg::Graph& graph, const Control& control) {
  return ReductionFinder(graph, control).find(flow, blocking);
}

}  // namespace loopfold::poly
