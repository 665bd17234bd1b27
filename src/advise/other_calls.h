// Suggestions that hold for some of the ways to a loop only.
//
// A loop of the source may be reached by several calls of its function, and be inlined in several places. Each of them
// is judged by itself, since what the calls pass decides: `step(y, x)` may be parallel where `step(x + 1, x)` is not.
// But the source has the loop once. Whoever changes it changes it for all of them, so a suggestion whose loop gets
// another answer elsewhere in the run requires a copy of the function for the one call that it is about, and says which
// answer the others get.
//
// - Of a loop as written (LF-PAR, LF-RED, LF-SIMD) the rows are compared: the verdict, what is reduced, and what must
//   be private or expanded. Clauses that do more than another call asks for (`lastprivate` where nobody needs the
//   value) do no harm.
// - Of a new order that is legal here, the same suggestion must be legal there.
// - Calls with too little of the work for a row were not looked at: that is said among the evidence.
//
// Two loops that stand in one line, in one function, are told apart by their code, and those inside each other by how
// many of the line are around them.
//
// Cost: linear in the rows of each line, squared.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "poly/describe.h"
#include "profile/profile.h"

namespace loopfold::advise {

/// Where the innermost function that a loop was inlined from is called, by node of the tree.
using InlinedAt = std::function<std::optional<profile::Source>(std::uint32_t node)>;

void require_copies(const InlinedAt& inlined_at, profile::Profile& profile);

/// By the debug information of the loops' headers.
InlinedAt inlined_by(const poly::Context& context, const profile::Profile& profile);

}  // namespace loopfold::advise
