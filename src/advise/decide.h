// Suggestions of new orders, decided: the steps that a suggestion stands for are put to check (check.h), which looks at
// the flow of values and at live ranges.
//
// Legal as it is, or legal with what check asks for (private copies, expansion), which then is required. Everything
// else stays unknown: a plain step may be illegal where the order that the scheduler found is not, because that puts
// statements which stand between the loops somewhere else. Large regions are left alone, since a check costs about as
// much as a schedule.
#pragma once

#include <string>
#include <vector>

#include "advise/check_nest.h"
#include "ddg/graph.h"
#include "poly/describe.h"
#include "poly/region_flow.h"
#include "profile/profile.h"

namespace loopfold::advise {

/// The steps for a suggestion of a region, as `loopfold check` reads them; empty: it is none of an order.
std::string steps_of(const profile::Suggestion& suggestion, const profile::Region& region);

/// Nests that are in `built` were built with kCheckOperations.
void decide_orders(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                   profile::Profile& profile, BuiltNests& built);

}  // namespace loopfold::advise
