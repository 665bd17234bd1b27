// Reductions: values that a loop carries from iteration to iteration only to add to them (or multiply, ...).
//
// A chain of one associative operation: each step's accumulator comes from another step of the chain, or from before
// the loop; nothing else in the loop uses what a step makes, and nothing else in the loop defines the variable
// (`if (c[i]) s = 0; s += a[i]` is none). Subtraction counts as addition through its left operand only. Conversions end
// the chain. A chain may go through memory: a load, the operation and a store to the same cell; if the cell differs
// from iteration to iteration, it is a reduction of an array (`bins[x] += w`). Steps under a condition count, if the
// condition does not hang on the chain, whether it is a branch or a conditional move between the old value and the new
// one. Minimum and maximum are found as an instruction, as compare and conditional move, and as compare and branch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poly/control.h"
#include "poly/loop_flow.h"
#include "poly/verdicts.h"

namespace loopfold::poly {

struct FoundReduction {
  Reduction what;
  std::vector<std::uint32_t> edges;  // of LoopFlow::edges, those carried by the loop that it explains
};

/// `blocking`: the edges that the loop carries and that nothing else explains.
std::vector<FoundReduction> find_reductions(const LoopFlow& flow, std::span<const std::uint32_t> blocking,
                                            const ddg::Graph& graph, const Control& control);

}  // namespace loopfold::poly
