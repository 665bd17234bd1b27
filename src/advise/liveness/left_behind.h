// What a nest leaves in registers for the code behind it: the last values of variables.
//
// In memory, what is needed behind a nest is an output of a storage, and an order under which another instance has the
// last word is in conflict with it. A compiler keeps scalars in registers, and there the value that leaves is that of
// whichever instance wrote it last; the flow that a nest must keep does not have it, since its use is outside. Here
// each such variable becomes a storage: written by all instances of all that sets it, and needed behind from those that
// the graph says. In the order as written, parallel or not, a loop's row says what private copies need instead
// (loop_reuse.h); so these storages are for other orders only.
//
// Where it is not known which instances leave their value, or what sets the variable is no part of a unit, the storage
// is unknown. Counters are left out: whoever reorders loops gives them counters anew.
#pragma once

#include <vector>

#include "advise/liveness/nest_storage.h"

namespace loopfold::advise::liveness {

std::vector<NestStorage> find_left_behind(isl_ctx* isl, const ddg::Graph& graph, const poly::Context& context,
                                          const poly::RegionFlow& flow, const poly::FlowOfLoop& nest,
                                          const NestUnits& units, const Times& written, Locals& locals);

}  // namespace loopfold::advise::liveness
