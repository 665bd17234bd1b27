// Which of many half-open intervals holds a number: of several, the one that starts last, and of those that start
// together the shortest, then the one that was added last. For intervals that nest (scopes of a program, functions in
// files, units) that is the innermost one; for others it is still well defined. Internal to src/symbols.
//
// How: sorted by start (longer ones first), each interval knows the nearest one before it that ends later. From the
// last interval that starts at or before the number, following these links meets exactly the ones that end later and
// later, hence first the one that is asked for. Cost: n log n to build; a binary search and as many steps as intervals
// have ended between, which nesting keeps small.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace loopfold::symbols {

template <typename Value>
class IntervalIndex {
 public:
  struct Interval {
    std::uint64_t low = 0;
    std::uint64_t high = 0;  // exclusive
    Value value{};
  };

  /// Empty intervals are ignored. After the last one, call build().
  void add(std::uint64_t low, std::uint64_t high, Value value) {
    if (low < high) intervals_.push_back({low, high, value});
  }

  void build() {
    std::stable_sort(intervals_.begin(), intervals_.end(), [](const Interval& a, const Interval& b) {
      return a.low != b.low ? a.low < b.low : a.high > b.high;
    });
    outer_.assign(intervals_.size(), kNone);
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < intervals_.size(); ++i) {
      while (!open.empty() && intervals_[open.back()].high <= intervals_[i].high) open.pop_back();
      if (!open.empty()) outer_[i] = open.back();
      open.push_back(i);
    }
  }

  const Interval* find(std::uint64_t number) const {
    const auto after = std::upper_bound(intervals_.begin(), intervals_.end(), number,
                                        [](std::uint64_t value, const Interval& i) { return value < i.low; });
    if (after == intervals_.begin()) return nullptr;
    auto index = static_cast<std::uint32_t>(after - intervals_.begin() - 1);
    while (index != kNone && intervals_[index].high <= number) index = outer_[index];
    return index == kNone ? nullptr : &intervals_[index];
  }

  const std::vector<Interval>& intervals() const { return intervals_; }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<Interval> intervals_;
  std::vector<std::uint32_t> outer_;
};

}  // namespace loopfold::symbols
