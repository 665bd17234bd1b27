// The loops of a region as a complete program: bounds, guards and every statement. `loopfold ast --full`.
//
// isl generates it from a schedule (the region's new one, or the order as written) and the domains of the statements
// that the schedule has. It is C in its form; statements are called by name, with the lines of the source behind
// them, and loops of the new order that are parallel are marked. Domains that are not exact contain more than what ran:
// a line at the top says so. isl works under a budget of operations; what is too large is given up, with a reason.
#pragma once

#include <cstdint>
#include <string>

#include "profile/profile.h"
#include "support/result.h"
#include "views/words.h"

namespace loopfold::views {

/// An Error (kBadInput) says why there is none.
Result<std::string> full_ast(const profile::Profile& profile, const profile::Region& region, const Words& words,
                             bool transformed);

}  // namespace loopfold::views
