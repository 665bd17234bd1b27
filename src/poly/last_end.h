// The end of a loop's last iteration, where it stands behind the loop.
//
// Loops are those of the control flow that was seen. A compiler gives several ways through a body a step and a test of
// their own, and if the only time that control took such a way was in the last iteration, nothing went back from there:
// the code is not in the loop, although in the source it is.
//
//   for (i = 0; i < n; i++) { if (i == n - 2) k = m; if (i == n - 1) b[i] = k; }
//
// becomes, with GCC at -O2, a loop with a conditional move for k, and behind it the store, a step of i and a branch
// that could have led back to the loop's header. That branch tells: the *end* of the last iteration is the code between
// the loop and a conditional branch with one side at the header that was never taken. What it uses of the loop counts
// as used by the loop:
// - a variable that the loop only keeps or that it reduces is used by an iteration, and is neither;
// - any other value was made by an earlier iteration, unless its maker runs in each of them, or every iteration can
//   compute it.
// Which of the two a value in memory is, is not decided. All this is a doubt: `unknown`, never `yes` or `no`.
//
// Code behind a `break` has no such branch and is no end. A loop around this one that ran only once has its branch at
// its own header, unless that is the same.
//
// Cost: linear in the function's graph, the statements around the loop and what they depend on.
#pragma once

#include <vector>

#include "poly/flow_index.h"
#include "poly/loop_values.h"
#include "poly/verdicts.h"
#include "structure/structure.h"

namespace loopfold::poly {

/// The doubts about one loop. `chains` says by edge of its flow what is part of a reduction.
std::vector<Doubt> doubts_of_last_end(const FlowIndex& index, const structure::Structure& structure,
                                      const LoopValues& values, const std::vector<bool>& chains);

}  // namespace loopfold::poly
