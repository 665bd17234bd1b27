// Scalars in registers: one storage for each web of definitions and uses.
//
// From what: the flow of registers that a new order must keep, between units. A web is all definitions that reach a
// common use, and all uses of these. Definitions are all instances of their unit, whether their value is used or not: a
// scalar that is set in every iteration and read once behind the loop is overwritten every time.
#pragma once

#include <vector>

#include "advise/liveness/nest_storage.h"

namespace loopfold::advise::liveness {

std::vector<NestStorage> find_webs(const ddg::Graph& graph, const poly::Context& context, const poly::Program& program,
                                   const NestUnits& units, Locals& locals);

/// A value that a loop needs before all of it (poly/program.h) is used by every unit in the loop; but its web has one
/// use, in one unit. Maps to the other units do not fit that use: isl refuses to compare them with any order, so
/// nothing can be said about a nest with such a web. False if there is one; or if isl gave up.
bool fit(const std::vector<NestStorage>& webs, const NestUnits& units);

}  // namespace loopfold::advise::liveness
