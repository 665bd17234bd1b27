// Whether a cell holds what a variable holds, when a loop is entered.
//
// A compiler that may not keep a cell in a register alone (what else the loop stores might be there) keeps it in both:
// each new value is stored. The cell is then the variable of the source; but only if it held the variable's value from
// the start. (`s += a[i]; *last = s` has two variables, and *last gets the first value of s in the loop.) That is so if
// what comes into the loop in the register was
// - loaded from the cell, or
// - stored to the cell by the same piece of code that made it, or
// - zero, and the same piece of code, or one that ran as often and before the loop, stored a zero to the cell;
// and nothing that may run between there and the loop's entry writes to the cell's object. May say no wrongly.
#pragma once

#include "poly/choices.h"
#include "poly/loop_reads.h"
#include "poly/reduction_chain.h"

namespace loopfold::poly {

/// `use` reads the variable in the loop; `cell` is a store in the loop that stays where it is.
bool begins_in_cell(const LoopReads& reads, const Decisions& decisions, const Use& use, const ddg::Access& cell);

}  // namespace loopfold::poly
