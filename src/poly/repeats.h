// Where a loop's body repeats an instruction: several iterations of the source in one of the binary.
//
// A compiler that unrolls a loop copies its body, and each copy of an instruction has the source position of the
// original. Instructions of one context with the same position (file, line and column, and those of all calls that were
// inlined on the way), of the same name and operand kinds, at different addresses, are taken for such copies. What
// flows from one copy to another within an iteration of the binary's loop goes from one iteration of the source's loop
// to another. A source line that says the same twice (`f(x) + f(x)` has two columns; a macro has one) is taken for
// copies too: that can turn a verdict into `unknown`, never into `yes`.
#pragma once

#include <cstdint>
#include <vector>

#include "poly/loop_flow.h"
#include "symbols/symbolizer.h"

namespace loopfold::poly {

/// By node of the flow: the number of its group of copies, from 1; 0 if it is not repeated, or its line or column is
/// not known.
std::vector<std::uint32_t> repeats(const LoopFlow& flow, const ddg::Graph& graph, symbols::Symbolizer& symbolizer);

/// Whether something flows, inside one iteration and over whatever instructions, from a copy of an instruction to
/// another copy of it. What index values carry does not count: each copy can compute them for itself. `left_out` says
/// by edge what does not count either (the chains of reductions); empty: all count.
bool copies_depend(const LoopFlow& flow, const std::vector<std::uint32_t>& groups,
                   const std::vector<bool>& left_out = {});

}  // namespace loopfold::poly
