// Which cells of a storage are needed at the same time.
//
// A value is alive from its definition to its last use. A cell that is written meanwhile must be another one, in any
// storage that is to hold both. From what: live ranges (storage.h) and an order; for each range (x, u) and each
// definition y with x before y before u, the cells of x and y, if they are not the same. Of two values that are alive
// together one was written while the other was there, so pairs in one direction are all that is needed. Definitions
// that nothing uses count as y.
//
// Exact where ranges are; more pairs than there are otherwise. Loops that run in parallel are not looked at.
#pragma once

#include "advise/liveness/storage.h"

namespace loopfold::advise::liveness {

/// { cell -> other cell }, in the space of the accesses' cells. Null if isl gave up, or there are no accesses.
poly::Isl<isl_map> alive_together(const Storage& storage, const Times& times);

}  // namespace loopfold::advise::liveness
