// What would stop a static compiler from doing the same to a region: POLY-PROF's letters, each with an example.
//
// Said of what ran, not of the source: a letter means that this was seen in the region.
//   R  calls;
//   C  control flow that is no nest of counted loops: data decide whether a loop goes on, recursion, irreducible loops;
//   B  bounds or conditions that are not affine: domains with no exact form, statements that run under data;
//   F  accesses that are not affine, or go where a loaded value says;
//   A  pointers that may alias: something is written in one block of the heap (or an array in a caller's frame) while
//      another one is used, and nothing in the code says that they are not the same;
//   P  base pointers that change: the rows of a matrix are blocks of their own.
// What was inlined is no call any more. Scalars in frames are left out: a compiler has them in registers.
//
// From the profile, and from the flow for what data decide. Linear in the statements, accesses and dependences of all.
#pragma once

#include <string>
#include <vector>

#include "ddg/graph.h"
#include "poly/describe.h"
#include "poly/region_flow.h"
#include "profile/profile.h"

namespace loopfold::advise {

/// Fills static_obstacles of all regions: "R: calls squash", in the order of the letters above.
void find_obstacles(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                    profile::Profile& profile);

}  // namespace loopfold::advise
