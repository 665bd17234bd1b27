// What a profile claims, in terms of a trace: its loops as contexts of the loop tree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "structure/loop_tree.h"
#include "support/result.h"
#include "verify/judge.h"

namespace loopfold::verify {

/// A row of a region, and where in the tree it is: several places if it was reached in several ways.
struct LoopClaim {
  std::uint32_t region = 0;
  const profile::Loop* loop = nullptr;
  std::vector<LoopPlace> places;
};

/// `nodes`: by context, the node of the profile's tree that shows it. An Error if the profile has nodes that the trace
/// has not, or other loops there.
Result<std::vector<LoopClaim>> loop_claims(const profile::Profile& profile, const structure::LoopTree& tree,
                                           const std::vector<std::uint32_t>& nodes);

/// The level of a loop's counter in iteration vectors.
std::uint16_t level_of(const structure::LoopTree& tree, structure::ContextId context);

/// By context: calls of functions that the profile takes for pure, and what is inside them. The profile says so itself.
std::vector<bool> pure_calls(const profile::Profile& profile, const structure::LoopTree& tree,
                             const std::vector<std::uint32_t>& nodes);

/// The operations of a row's reductions.
Operators operators_of(const profile::Loop& loop);

}  // namespace loopfold::verify
