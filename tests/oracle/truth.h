// The flow of values that a kernel's description implies: isl's own dataflow analysis.
//
// For each read of each statement, the last write of the same element before it in the order of the statements. Exact:
// all conditions and subscripts are affine, so nothing is approximated. A statement reads before it writes; flow from
// an instance to itself is no flow.
#pragma once

#include <isl/cpp.h>

#include "description.h"

namespace loopfold::oracle {

/// `{ S[i, j] : ... }`, the instances of all statements.
isl::union_set static_domains(isl::ctx context, const Description& description);

/// What flow goes through: variables (`s[]`) may live in registers, elements of arrays do not.
enum class Through { kAll, kArrays };

/// `{ S[producer] -> R[consumer] : ... }`.
isl::union_map static_flow(isl::ctx context, const Description& description, Through through = Through::kAll);

}  // namespace loopfold::oracle
