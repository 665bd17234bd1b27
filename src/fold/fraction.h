// An affine function with rational coefficients, while it is being put together: integers over one common divisor.
//
// Numbers have 128 bits and are checked, so that what fits into 64 bits in the end may be larger on the way. Exact:
// every function here returns false rather than cut something off. reduced() gives the normal form of fold::Output.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "fold/fold.h"
#include "support/wide.h"

namespace loopfold::fold {

/// Whether both fit into 64 bits, where a division costs much less: nearly always.
inline bool are_short(Wide a, Wide b) { return a == static_cast<std::int64_t>(a) && b == static_cast<std::int64_t>(b); }

inline Wide gcd(Wide a, Wide b) {
  if (are_short(a, b)) {
    const auto size = [](Wide number) { return static_cast<std::uint64_t>(number < 0 ? -number : number); };
    return std::gcd(size(a), size(b));
  }
  while (b != 0) a = std::exchange(b, a % b);
  return a < 0 ? -a : a;
}

/// a / b, rounded to 0.
inline Wide quotient(Wide a, Wide b) {
  if (b == 1) return a;
  if (b == -1) return -a;
  return are_short(a, b) ? static_cast<std::int64_t>(a) / static_cast<std::int64_t>(b) : a / b;
}

struct Fraction {
  std::vector<Wide> coefficients;
  Wide constant = 0;
  Wide divisor = 1;  // > 0

  explicit Fraction(std::size_t dimensions) : coefficients(dimensions) {}
  Fraction(const Affine& value, Wide divided_by);

  /// The same function with a divisor that is a multiple of the one it has.
  bool extend(Wide by);
  /// Sets coefficient k to numerator / denominator.
  bool set(std::size_t k, Wide numerator, Wide denominator);
  /// With the smallest possible divisor; false if that does not fit into 64 bits.
  bool reduced(Affine& into, std::int64_t& into_divisor) const;
};

/// Puts the bounds of a range, which are over divisors of their own, over the smallest common one; false if that does
/// not fit into 64 bits.
bool set_divisor(Range& range, std::int64_t of_lower, std::int64_t of_upper);

}  // namespace loopfold::fold
