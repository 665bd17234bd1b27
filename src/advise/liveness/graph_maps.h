// Parts of the dependence graph as isl objects over whole iteration vectors: S3[i0, i1, ...], the first coordinate
// being the number of the stack.
//
// All are exact where folding was, and hold more otherwise: an address with a ⊤ may be anything between the smallest
// and the largest one that was seen.
#pragma once

#include <string>

#include "ddg/graph.h"
#include "poly/isl.h"
#include "structure/loop_tree.h"

namespace loopfold::advise::liveness {

/// "S3"
std::string name_of(ddg::StatementId statement);

/// { S3[i0, ...] }
poly::Isl<isl_set> domain_of(isl_ctx* isl, const ddg::Graph& graph, ddg::StatementId statement);

/// { S3[i0, ...] -> [block, byte] }
poly::Isl<isl_map> cells_of(isl_ctx* isl, const ddg::Graph& graph, const structure::LoopTree& tree,
                            const ddg::Access& access);

/// { S1[o0, ...] -> S3[i0, ...] }; of all chunks, if it has several.
poly::Isl<isl_map> flow_of(isl_ctx* isl, const ddg::Graph& graph, const structure::LoopTree& tree,
                           const ddg::Dependence& dependence);

}  // namespace loopfold::advise::liveness
