// More loops than necessary, to show the dimensions of an array again.
//
// The smallest nest runs over all of a matrix with contiguous rows in one loop. Its rows are two loops that have been
// merged; a loop of T iterations on which no bound depends can be split into T/f and f again, for any divisor f, and
// generates the same addresses. Which f the program had cannot be told from these addresses alone. Trip counts of other
// references are the best hint, since a trace usually has some that are not merged (a transposed access, a vector);
// without one that divides T, the divisor next to the square root is taken.
#pragma once

#include <cstdint>
#include <vector>

#include "reconstruct/nest.h"

namespace loopfold::reconstruct {

/// The same addresses with at least `levels` loops, if loops can be split that far. `hints`: trip counts, best first.
Nest deepened(Nest nest, std::size_t levels, const std::vector<std::int64_t>& hints);

/// Trip counts of the loops with constant bounds, for hints.
std::vector<std::int64_t> trip_counts(const Nest& nest);

}  // namespace loopfold::reconstruct
