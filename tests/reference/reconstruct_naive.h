// The paper's engine without any of its guidance: slow and obvious.
//
// For n = 0, 1, 2, … loops, all ways to give each address an index vector are tried, depth first: the vector of an
// address is the one before with one index increased by 1 and those inside it set to 0 (figure 1 of the paper; a loop
// that is inserted later has index 0 until then). A coefficient is what its loop's first step needs. After each step
// it is checked from scratch that the vectors so far can be those of a nest: for every loop there is an affine function
// of the outer indices which is exactly where each of its completed visits ended, and which the visit that is going on
// has not passed. Loops that end because an inner one would be empty are not considered: with these there may be a
// nest with fewer loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace loopfold::reconstruct::reference {

/// The smallest number of loops of a nest that generates the addresses; nothing if there is none with at most
/// max_levels loops, or if that is not known after max_steps steps.
std::optional<std::size_t> fewest_levels(const std::vector<std::uint64_t>& addresses, std::size_t max_levels,
                                         std::uint64_t max_steps);

}  // namespace loopfold::reconstruct::reference
