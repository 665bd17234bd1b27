// Flow behind copies, exactly: the maps of all single steps, one after the other.
//
// Where a use gets a value through moves and spills, the graph counts how often the value's origin is how far away, but
// does not fold it (ddg/graph.h). Each step of the way is folded, though: from the use to the copy that it reads, from
// that to what it copied, and so on. Composed, they say exactly which instance of the origin gave each instance of the
// use its value. Ways that are long, or go round a loop through copies, are given up.
#pragma once

#include <optional>

#include "ddg/graph.h"
#include "poly/isl.h"
#include "poly/region_flow.h"
#include "structure/loop_tree.h"

namespace loopfold::advise::liveness {

/// { S1[...] of the origin -> S3[...] of the use }, over whole iteration vectors; nothing if it cannot be said exactly.
std::optional<poly::Isl<isl_map>> exact_flow(isl_ctx* isl, const ddg::Graph& graph, const structure::LoopTree& tree,
                                             const poly::KeptFlow& flow);

}  // namespace loopfold::advise::liveness
