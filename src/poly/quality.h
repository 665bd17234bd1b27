// What makes the dependence graph of a run weaker than it could be: code that was not recorded or not understood, flow
// between threads, a trace that ends early, and how much of the run was given up.
#pragma once

#include "ddg/graph.h"
#include "poly/describe.h"
#include "profile/profile.h"

namespace loopfold::poly {

/// Behind what the structure stage has said already. gave_up must be there.
void add_quality(const ddg::Graph& graph, const Context& context, profile::Profile& profile);

}  // namespace loopfold::poly
