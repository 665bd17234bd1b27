// Iterations of the source's loop that stand beside the binary's loop: what goes between them and the loop.
//
// A compiler takes iterations out of a loop: it peels the first one, leaves the last ones over when it unrolls, or has
// followed values from iteration to iteration by itself. What goes from such a piece into the loop, or from the loop
// to such a piece, may be carried by the source's loop, and the binary's loop does not carry it. So it is a doubt.
//
// A piece is one of two things:
// - A loop beside this one that has the name of a loop inside it (source_loops.h), or begins in a line between those of
//   the loop: the inner loop of an iteration that was left over, or of the first one that went that way. Or a call
//   beside the loop, where in the source a call of the same function in the loop is. All that goes between the two
//   counts, with what they call, but for index values.
// - Code in the context around the loop. Flow counts where both its ends are copies of code in the loop: by the line
//   and column, for values in memory that is no stack; by line, column and instruction, for values in registers. A
//   compiler that moves an instruction forgets its place, often in one copy only. So if there is a true copy of
//   anything that computes with data, beside the loop, ends in memory whose place is not known, or in the same line,
//   are taken for copies as well. A value that is loaded before the loop, from an object that the loop writes, by code
//   of a line of the loop counts too (a[i + 1] = a[i] stores one value everywhere), as it is or spread over a vector.
//   So does what is stored, by code of a line of the loop, and loaded in it.
//
// This can turn a verdict into `unknown`, never into `yes` or `no`. Cost: linear in the contexts, in the dependences
// that end in the loop and in the context around it, and a lookup of the source for each instruction there.
#pragma once

#include <set>
#include <vector>

#include "poly/flow_index.h"
#include "poly/loop_values.h"
#include "poly/verdicts.h"
#include "structure/loop_names.h"
#include "structure/structure.h"

namespace loopfold::poly {

/// The doubts about one loop. `chains` says by edge of its flow what is part of a reduction, and does not count;
/// `options` has a symbolizer.
std::vector<Doubt> doubts_of_pieces(const FlowIndex& index, const structure::Structure& structure,
                                    const LoopValues& values, const std::vector<bool>& chains,
                                    const VerdictOptions& options, structure::LoopNames& names);

/// Whether it is a plain load of one of the objects, which is no stack.
bool loads_from(const FlowIndex& index, CodePoint at, const std::set<ddg::ObjectId>& objects);

/// The objects that the loop stores to.
std::set<ddg::ObjectId> written_in(const FlowIndex& index, const LoopValues& values);

}  // namespace loopfold::poly
