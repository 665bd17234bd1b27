// Whether a number grows evenly along loops, seen one point after the other.
//
// Of one entry of a loop: the value at the first iterations of all loops inside is the start, and each counter has a
// step, learned from the first point that differs from the start in this counter alone (of those whose step is not
// known yet). Points come in lexicographic order, so that an inner counter's step is known before the outer one moves.
// A point that no known step explains, or that differs in two unknown ones at once, ends it: the number is not even.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace loopfold::verify {

class Line {
 public:
  static constexpr std::size_t kMostEntries = 64;

  /// The value at these counters: that of the loop, then those of the loops inside it. `serial` is that of the entry.
  void add(std::uint64_t serial, std::span<const std::uint64_t> counters, std::int64_t value);

  /// In every entry it grew evenly.
  bool even() const { return even_; }
  /// ... and in every entry it stayed the same.
  bool same() const { return even_ && same_; }
  /// Some entry had values in at least three iterations: two always lie on a line.
  bool told() const { return told_; }
  /// In every entry there was a value in every iteration between the first and the last that had one.
  bool gapless() const { return gapless_; }

  /// One entry of the loop, as a line: value = offset + step * counter.
  struct Entry {
    std::uint64_t serial = 0;
    std::int64_t step = 0;
    std::int64_t offset = 0;
    std::uint64_t first = 0;  // counters
    std::uint64_t last = 0;
    std::uint64_t count = 0;  // iterations that had values
  };
  /// The first entries, of a number that has no loops inside. None if there are loops inside.
  std::vector<Entry> entries() const;

 private:
  struct Step {
    std::uint64_t start = 0;
    std::int64_t step = 0;
    bool known = false;
  };
  void restart(std::uint64_t serial, std::span<const std::uint64_t> counters, std::int64_t value);
  bool fits(std::span<const std::uint64_t> counters, std::int64_t value);

  bool even_ = true;
  bool same_ = true;
  bool told_ = false;
  bool gapless_ = true;
  std::uint64_t serial_ = 0;
  std::uint64_t last_ = 0;        // counter of the loop
  std::uint64_t iterations_ = 0;  // that had values
  std::int64_t start_ = 0;
  std::vector<Step> steps_;
  std::vector<Entry> finished_;
  Entry current() const;
};

}  // namespace loopfold::verify
