// 128-bit integers, for arithmetic on 64-bit numbers that must not overflow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace loopfold {

__extension__ using Wide = __int128;

/// The nearest number that fits into 64 bits.
inline std::int64_t saturated(Wide value) {
  constexpr Wide kLow = std::numeric_limits<std::int64_t>::min();
  constexpr Wide kHigh = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::clamp(value, kLow, kHigh));
}

/// The quotient, rounded down; `by` is positive.
inline Wide rounded_down(Wide value, Wide by) { return value / by - (value % by < 0 ? 1 : 0); }
inline Wide rounded_up(Wide value, Wide by) { return -rounded_down(-value, by); }

}  // namespace loopfold
