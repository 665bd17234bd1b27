// Sums modulo 2^64, as labels of runs have them.
#pragma once

#include <cstdint>

namespace loopfold::fold {

inline std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// a + times * b.
inline std::int64_t wrapping_add(std::int64_t a, std::int64_t b, std::uint64_t times) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + times * static_cast<std::uint64_t>(b));
}

}  // namespace loopfold::fold
