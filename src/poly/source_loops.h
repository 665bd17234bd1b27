// Which loops of the binary are one loop of the source.
//
// A compiler peels, unrolls and vectorises loops, and leaves several behind that were one. They get one row and one
// verdict. Two loops are one if they are siblings in the loop tree (same function instance, same parent, not nested in
// each other), are written in the same instance of an inlined function, and one of these holds:
// - their back edges have the same line and column;
// - their bodies do: apart from the places that name the two loops, at least half of the lines and columns of the one
//   with fewer are among those of the other. clang names a vectorised loop by the increment of its counter and what is
//   left of it by its `for`, and some vectorised loops by a line of the body: the bodies tell. Two loops in one line of
//   the source have other columns in their bodies, and stay two.
//
// A nest that was unrolled leaves iterations of its outer loop beside it, without being a loop, and copies of the inner
// loops in them are then siblings of the outer one. Their bodies are part of its body, but they are no copies of it.
// Such a loop is told by two things together: it has the name of a loop inside the other one, and nothing in it is
// written where the other one is outside its own inner loops. A copy of the outer loop would have its step or its test
// there. Values that go between the nest and such a loop may still be carried by the outer loop: taken_out.h has them.
//
// A loop without a known source is by itself. So are the loops of two inlined copies of a function.
//
// Decided once per function, for loops of the same parent; contexts follow. Exactness: as good as the line table.
// Without columns, and in the expansion of one macro, two loops of one line cannot be told apart and are one. Copies of
// an inner loop that come from unrolling the loop around it away are one loop, too: nothing shows that they are not.
// GCC at -O3 splits `for (i = 0; i < 2 * n; i++) b[i < n ? i : i - n] = ...` where its condition changes, and leaves
// two loops that go over the same elements one after the other, as two iterations of an outer loop would. So that the
// second one starts again at the address where the first one did is no proof; and whether a counter goes on from one to
// the other is the compiler's choice.
//
// Cost: linear in the contexts; quadratic in the sibling loops of one function, and a lookup per instruction of those
// that have siblings of another name.
#pragma once

#include <vector>

#include "poly/verdicts.h"
#include "structure/loop_names.h"
#include "structure/loop_tree.h"
#include "structure/structure.h"
#include "symbols/symbolizer.h"

namespace loopfold::poly {

/// Every loop of the tree once, ordered by the first context of each.
std::vector<SourceLoop> source_loops(const structure::Structure& structure, const structure::LoopTree& tree,
                                     structure::LoopNames& names, symbols::Symbolizer& symbolizer);

/// Whether a loop of a function has the name of a loop inside another one, and is written in the same instance of an
/// inlined function: is it a copy of that one, in what is left of an iteration of `outer`?
bool has_name_inside(const structure::LoopForest& forest, structure::FunctionId function, structure::LoopId outer,
                     structure::LoopId loop, structure::LoopNames& names);

}  // namespace loopfold::poly
