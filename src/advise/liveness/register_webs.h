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

/// Whether every range goes from the unit of its definition to the unit of its use. A value that a loop needs before
/// all of it (poly/program.h) has a use in every unit of the loop. Maps between other units would not fit any order:
/// isl refuses to compare them, so nothing could be said about the nest. Also false if isl gave up.
bool fit(const std::vector<NestStorage>& webs, const NestUnits& units);

}  // namespace loopfold::advise::liveness
