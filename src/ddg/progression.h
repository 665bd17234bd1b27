// What a value of a block is in consecutive iterations of a run: start, start + step, start + 2 step, ... modulo 2^64.
//
// From the columns of the slots that it is computed from, without expanding them. A column that is a list may be even
// here: a run may go through several entries of a loop, and in each of them values start elsewhere. Sums of even values
// are even. Keeping the low bits of one and extending them is even only as long as that does not wrap around, which the
// first and the last iteration tell. What is not even must be evaluated iteration by iteration. Exact: even means that
// every one of the iterations has this value.
#pragma once

#include <cstdint>

#include "trace/run.h"
#include "trace/types.h"

namespace loopfold::ddg {

struct Progression {
  std::uint64_t start = 0;
  std::uint64_t step = 0;
  bool even = true;

  std::uint64_t at(std::uint64_t iteration) const { return start + step * iteration; }
};

/// Of `value` of a block whose first slot is number `slot` of the path, in the next n iterations.
Progression progression_of(const trace::Block& block, const trace::Value& value, const trace::RunExpander& ahead,
                           std::size_t slot, std::uint64_t n);

/// The low bytes of a value as a signed number.
inline std::int64_t sign_extended(std::uint64_t value, unsigned bytes) {
  const unsigned shift = 64 - bytes * 8;
  return static_cast<std::int64_t>(value << shift) >> shift;
}

/// The same as a signed number of so many bytes: the start and the step are then numbers of 64 bits.
Progression sign_extended(const Progression& value, unsigned bytes, std::uint64_t n);

}  // namespace loopfold::ddg
