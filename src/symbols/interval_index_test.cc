// Against a search through all intervals.
#include "symbols/interval_index.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

namespace loopfold::symbols {
namespace {

using Index = IntervalIndex<int>;

const Index::Interval* slow_find(const std::vector<Index::Interval>& all, std::uint64_t number) {
  const Index::Interval* best = nullptr;
  for (const Index::Interval& interval : all) {
    if (number < interval.low || number >= interval.high) continue;
    if (best == nullptr || std::tuple(interval.low, best->high) >= std::tuple(best->low, interval.high)) {
      best = &interval;
    }
  }
  return best;
}

TEST(IntervalIndex, AgreesWithASlowSearch) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t room = 2 + random() % 60;
    Index index;
    std::vector<Index::Interval> all;
    for (int i = static_cast<int>(random() % 30); i > 0; --i) {
      const std::uint64_t low = random() % room;
      const std::uint64_t high = random() % room;
      index.add(low, high, i);
      all.push_back({low, high, i});
    }
    index.build();
    for (std::uint64_t number = 0; number <= room; ++number) {
      const Index::Interval* expected = slow_find(all, number);
      const Index::Interval* found = index.find(number);
      ASSERT_EQ(found == nullptr, expected == nullptr) << number;
      if (found == nullptr) continue;
      EXPECT_EQ(found->value, expected->value) << number;
    }
  }
}

TEST(IntervalIndex, Corners) {
  Index index;
  index.build();
  EXPECT_EQ(index.find(0), nullptr);
  index.add(5, 5, 1);
  index.add(0, ~std::uint64_t{0}, 2);
  index.build();
  EXPECT_EQ(index.find(5)->value, 2);
  EXPECT_EQ(index.find(~std::uint64_t{0}), nullptr);
}

}  // namespace
}  // namespace loopfold::symbols
