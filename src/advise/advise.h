// Advice: what a legal order can make of each region, and what of it is worth doing.
//
// For each region the nests are planned (plan.h), the chosen orders are written into the profile (Transformed:
// schedule, bands, steps, simplified programs, metrics), and suggestions are made and ranked (suggest.h). What was
// given up is named in the profile's gave_up[]; the rest of the region stands.
//
// Deterministic, but for nests that only the timer could stop (budget.h): the profile's quality says so.
#pragma once

#include "advise/plan.h"

namespace loopfold::advise {

/// A poly::AnalysisOptions::advise.
void advise(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
            profile::Profile& profile, const PlanLimits& limits = {});

}  // namespace loopfold::advise
