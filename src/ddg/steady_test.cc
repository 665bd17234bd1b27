// Values along the iterations of a loop, by hand.
#include "ddg/steady.h"

#include <gtest/gtest.h>

#include <limits>

namespace loopfold::ddg {
namespace {

TEST(Steady, EntriesHaveStepsOfTheirOwn) {
  Steady steady;
  for (std::uint64_t entry = 0; entry < 5; ++entry)
    for (std::int64_t i = 0; i < 4; ++i) steady.add(entry, i, 100 - static_cast<std::int64_t>(entry * entry) * i);
  EXPECT_TRUE(steady.steady());
}

TEST(Steady, IterationsThatAreLeftOutCount) {
  Steady affine;
  Steady counting;
  std::int64_t count = 0;
  for (const std::int64_t i : {0, 1, 3, 4, 7}) {
    affine.add(0, i, 5 * i + 1);
    counting.add(0, i, count++);
  }
  EXPECT_TRUE(affine.steady());
  EXPECT_FALSE(counting.steady());
}

TEST(Steady, AStepIsAWholeNumber) {
  Steady steady;
  steady.add(0, 0, 0);
  steady.add(0, 2, 3);
  EXPECT_FALSE(steady.steady());
}

TEST(Steady, WhatChangesOnceStaysUnsteady) {
  Steady steady;
  for (const std::int64_t value : {0, 1, 2, 4}) steady.add(0, value == 4 ? 3 : value, value);
  EXPECT_FALSE(steady.steady());
  steady.add(1, 0, 0);
  EXPECT_FALSE(steady.steady());
}

TEST(Steady, WrappingAroundIsNoStep) {
  Steady steady;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  steady.add(0, 0, most - 1);
  steady.add(0, 1, most);
  steady.add(0, 2, std::numeric_limits<std::int64_t>::min());
  EXPECT_FALSE(steady.steady());
}

}  // namespace
}  // namespace loopfold::ddg
