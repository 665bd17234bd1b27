// What was planned for a region, in the terms of a profile.
//
// The schedule of a region has one row per loop around a nest that stays as it is and one for the place of the nest in
// it, then the rows of the nest's order. Statements of one group have the same times: within an instance of the group
// they run in the order that they have now. Percentages are of the region's operations; what is in no nest counts as
// not transformed, but for loops that are parallel as they are.
#pragma once

#include "advise/plan.h"
#include "profile/profile.h"

namespace loopfold::advise {

profile::Transformed describe_plan(const RegionPlan& plan, const poly::Context& context, const profile::Region& region,
                                   const profile::Profile& profile);

}  // namespace loopfold::advise
