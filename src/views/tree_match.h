// Which nodes of two loop trees are the same: two runs of one program, or of a program before and after a change.
//
// From the roots down: the children of two nodes that belong together are put side by side. Calls are the same if they
// call the same function, however the file around them has changed. Loops are the same if nothing contradicts it; how
// well they fit is a sum:
//
//     same file name and line                4    the file is unchanged, or the change is further down
//     loops in it are nested as deep         2    the shape of the nest
//     as many iterations per entry           1
//     similar share of the operations        0..1
//     nothing else                           0.5  two loops in one place are more likely one loop than two
//
// Of all ways to pair children that keep their order, the one with the greatest sum is taken (as texts are compared);
// calls and loops of equal place that are left over are then paired whatever their order. So a nest whose loops have
// changed places stays a nest: outer with outer, inner with inner, and what changed is what is said of the pair.
//
// A guess by construction, and deterministic. Quadratic in the number of siblings, with a bound from which on only
// equal names are paired.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profile/profile.h"

namespace loopfold::views {

/// A node of the tree that holds both: parents before children, depth first. At least one of the two is there.
struct MatchedNode {
  std::optional<std::uint32_t> parent;  // place in the list
  std::optional<std::uint32_t> before;
  std::optional<std::uint32_t> after;
};

std::vector<MatchedNode> match_trees(const profile::Profile& before, const profile::Profile& after);

}  // namespace loopfold::views
