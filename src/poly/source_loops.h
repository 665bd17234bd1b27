// Which loops of the binary are one loop of the source.
//
// A compiler peels, unrolls and vectorises loops, and leaves several behind that were one: siblings in the loop tree
// (same function instance, same parent, not nested in each other) with the line and column of one back edge. They get
// one row and one verdict. A loop without a known source is by itself.
#pragma once

#include <vector>

#include "poly/verdicts.h"
#include "structure/loop_names.h"
#include "structure/loop_tree.h"
#include "structure/structure.h"

namespace loopfold::poly {

/// Every loop of the tree once, ordered by the first context of each.
std::vector<SourceLoop> source_loops(const structure::Structure& structure, const structure::LoopTree& tree,
                                     structure::LoopNames& names);

}  // namespace loopfold::poly
