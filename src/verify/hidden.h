// Profiles with hidden loops, taken apart: what they claim of the loops as the binary has them, and what of the levels.
//
// A loop with hidden levels (structure/splits.h) has two kinds of claims. Its own row speaks of the iterations of the
// binary's loop, and has to be proved without splits. Rows of its levels, what is said of its blocks, and orders speak
// of iteration vectors with the levels in them, and have to be proved with the loop split in the same way. Each is a
// profile of its own, and is verified like any other.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"
#include "structure/loop_tree.h"
#include "structure/splits.h"

namespace loopfold::verify {

bool has_hidden_loops(const profile::Profile& profile);

/// Nothing but the loops that are split, in a tree without levels.
struct FlatProfile {
  profile::Profile profile;
  std::vector<std::uint32_t> nodes;  // by node of it: that of the whole profile
};
FlatProfile flat_profile(const profile::Profile& profile);

/// The same profile, in which rows of loops with levels say what holds for their blocks.
profile::Profile level_profile(const profile::Profile& profile);

/// How loops are split in the profile. `unsplit` is the tree of the trace without splits, `nodes` are those of
/// `flat` by its contexts.
structure::Splits splits_of(const profile::Profile& profile, const FlatProfile& flat, structure::LoopTree unsplit,
                            const std::vector<std::uint32_t>& nodes);

}  // namespace loopfold::verify
