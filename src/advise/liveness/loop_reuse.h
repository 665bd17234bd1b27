// What memory reuse asks for, loop by loop, in the order as written: reuse, private[] and expand[] of a profile's
// loops.
//
// A loop whose iterations do not hand values to each other (verdicts.h) can still not run in parallel if they use the
// same memory one after the other. For each variable (variables.h) that is written in the loop:
// - Do two iterations of one entry of the loop touch the same byte, one of them by a store? isl decides, from the
//   folded addresses; where these are not exact the answer is no, or not known. If not, nothing is needed.
// - Where do the values come from, and where do they go: the same iteration, before the loop, behind it? That is
//   counted exactly per dependence, whatever folding approximates.
// - Values that stay in their iteration: private. Some come in from before: firstprivate. What is needed behind comes
//   from the last iteration: lastprivate. Otherwise private copies do not do, and the variable must be expanded: along
//   the loop, or, where only what was there before is in the way, by one copy beside it.
//
// Variables in registers are found by the debug information, where a value is put into one: they are private to begin
// with, but the source has them once, so they are named. What carries a value from iteration to iteration is no
// question of reuse: it is in blocking[] or reductions[], or is the loop's own counter.
//
// Exact where it says none, private or expand; else `unknown`, and why. Cost: isl's, within a budget per loop that
// goes by the loop's share of the work; loops that keep their order anyway and have next to none of it are not asked.
#pragma once

#include "ddg/graph.h"
#include "poly/describe.h"
#include "poly/region_flow.h"
#include "profile/profile.h"

namespace loopfold::advise::liveness {

/// Fills in the loops of all regions.
void find_reuse(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                profile::Profile& profile);

}  // namespace loopfold::advise::liveness
