// Whether a value grows evenly in every entry of its innermost loop.
//
// From the values of one integer result in the order of the run, each with the entry and the counter of the loop. In
// one entry, two values make a step, if their difference is a multiple of that of the counters; all others must lie on
// the same line. Iterations in which the value was not computed count as iterations. Other entries may have other
// steps. Exact: differences are computed in 128 bits, and a value that wraps around is not steady. Constant cost.
#pragma once

#include <cstdint>

namespace loopfold::ddg {

class Steady {
 public:
  /// `entry` tells the entries of the loop apart; counters grow within one.
  void add(std::uint64_t entry, std::int64_t counter, std::int64_t value) {
    if (!steady_) return;
    if (entry != entry_) {
      entry_ = entry;
      seen_ = 0;
    }
    if (seen_ == 2 && is_next(counter_, counter)) [[likely]]
      steady_ = static_cast<Wide>(value) - value_ == step_;
    else if (seen_ > 0)
      follow(static_cast<Wide>(counter) - counter_, static_cast<Wide>(value) - value_);
    if (seen_ < 2) ++seen_;
    counter_ = counter;
    value_ = value;
  }
  bool steady() const { return steady_; }

 private:
  __extension__ using Wide = __int128;

  static bool is_next(std::int64_t before, std::int64_t now) {
    return now > before && static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(before) == 1;
  }
  [[gnu::noinline]] void follow(Wide iterations, Wide growth) {
    if (seen_ == 1 && iterations != 0) step_ = iterations == 1 ? growth : growth / iterations;
    Wide expected = 0;
    const bool overflow = __builtin_mul_overflow(step_, iterations, &expected);
    steady_ = !overflow && iterations > 0 && expected == growth;
  }

  bool steady_ = true;     // first: most values of irregular code have no other use for what follows
  std::uint8_t seen_ = 0;  // values of this entry, up to two
  std::uint64_t entry_ = ~std::uint64_t{0};
  std::int64_t counter_ = 0;
  std::int64_t value_ = 0;
  Wide step_ = 0;
};

/// The same of addresses, but for this: what they grow by need not be a whole number per iteration.
class EvenAddresses {
 public:
  bool add(std::uint64_t entry, std::uint64_t counter, std::uint64_t address) {
    // Mostly, it goes on as the last time.
    if (entry == entry_ && seen_ == 2 && iterations_ == 1 && counter - counter_ == 1 && counter > counter_ &&
        static_cast<Wide>(address) - address_ == growth_) {
      counter_ = counter;
      address_ = address;
      return true;
    }
    if (entry != entry_) {
      entry_ = entry;
      seen_ = 0;
    }
    const Wide iterations = static_cast<Wide>(counter) - counter_;
    const Wide growth = static_cast<Wide>(address) - address_;
    const bool even = seen_ < 2 || in_proportion(iterations, growth);
    if (seen_ > 0) {
      iterations_ = iterations;
      growth_ = growth;
    }
    if (seen_ < 2) ++seen_;
    counter_ = counter;
    address_ = address;
    return even;
  }

 private:
  __extension__ using Wide = __int128;

  static constexpr Wide kFew = Wide{1} << 32;  // iterations: times what an address grows by, they do not overflow

  bool in_proportion(Wide iterations, Wide growth) const {
    if (iterations == iterations_ && iterations > 0 && iterations < kFew) return growth == growth_;
    Wide a = 0;
    Wide b = 0;
    return !__builtin_mul_overflow(growth, iterations_, &a) && !__builtin_mul_overflow(growth_, iterations, &b) &&
           a == b;
  }

  Wide iterations_ = 0;  // of the last step
  Wide growth_ = 0;
  std::uint64_t entry_ = ~std::uint64_t{0};
  std::uint64_t counter_ = 0;
  std::uint64_t address_ = 0;
  std::uint8_t seen_ = 0;  // addresses of this entry, up to two
};

}  // namespace loopfold::ddg
