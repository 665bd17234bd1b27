// LF-CON: temporary arrays of which only a few elements are needed at a time.
//
// An array that a nest fills and uses up by itself, and that nothing else ever touches, needs no more cells than the
// values that are alive together under the order as written. Live ranges (liveness/nest_storage.h) say which these are
// (liveness/together.h); the array's shape (arrays.h) turns cells into elements; and the fewest cells are found among
// maps that drop dimensions or take them modulo a number (layout/modular.h): `t[i][j]` becomes `t[i % 2][j]`.
//
// Only where all of it is proved for this run: accesses and flow are exact, nothing is read that was there before,
// nothing is read behind, no code outside the nest touches it, each access is one whole element. Then the suggestion is
// legal; in all other cases there is none. What it gains is counted in cache lines, like layouts
// (suggest.h); where that is too little to be suggested, a page of memory must be saved. Costs what a check of the
// region costs, for regions that have such an array.
#pragma once

#include <vector>

#include "advise/arrays.h"
#include "advise/check_nest.h"
#include "ddg/graph.h"
#include "poly/describe.h"
#include "poly/region_flow.h"
#include "profile/profile.h"

namespace loopfold::advise {

void suggest_contractions(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                          const std::vector<Array>& arrays, profile::Region& region, const profile::Profile& profile,
                          BuiltNests& built);

}  // namespace loopfold::advise
