// Suggestions that leave the order of loops as it is, once memory reuse is decided: legal, and what they require.
//
// A suggestion about one loop as written (in parallel, as a reduction, in vectors) was made from the flow of values
// alone. What memory reuse asks for is in the loop's row (liveness/loop_reuse.h): then the suggestion is legal with
// these requirements, or stays unknown where the row is. Suggestions of new orders are left alone.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"

namespace loopfold::advise {

/// As the source calls it, or by the line that sets it.
std::string touched_name(const profile::Touched& touched);

void require_reuse(const profile::Region& region, std::vector<profile::Suggestion>& suggestions);

}  // namespace loopfold::advise
