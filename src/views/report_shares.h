// How much of a run is in loops of each verdict: by the outermost loop around an operation, and by the innermost one.
//
// From the loop tree and the regions of a profile. Every operation is counted once in each column. Loops that are in no
// region were not judged; loops that never went round more than once count as none. Linear, exact.
#pragma once

#include <array>
#include <cstdint>

#include "profile/profile.h"

namespace loopfold::views {

struct Shares {
  enum Group : std::uint8_t { kParallel, kReduction, kNo, kUnknown, kNotJudged, kNoLoop };
  static constexpr std::size_t kGroups = 6;
  std::array<double, kGroups> outermost{};  // percent of the operations
  std::array<double, kGroups> innermost{};
};

Shares shares_of(const profile::Profile& profile);

}  // namespace loopfold::views
