#include "verify/lines.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace loopfold::verify {
namespace {

using Counters = std::vector<std::uint64_t>;

TEST(VerifyLines, TwoValuesTellNothing) {
  Line line;
  line.add(1, Counters{0}, 7);
  line.add(1, Counters{1}, 100);
  EXPECT_TRUE(line.even());
  EXPECT_FALSE(line.told());
  line.add(1, Counters{2}, 193);
  EXPECT_TRUE(line.even());
  EXPECT_TRUE(line.told());
  EXPECT_FALSE(line.same());
  line.add(1, Counters{3}, 285);
  EXPECT_FALSE(line.even());
}

TEST(VerifyLines, EntriesMayDiffer) {
  Line line;
  for (std::uint64_t entry = 1; entry < 5; ++entry)
    for (std::uint64_t i = 0; i < 4; ++i)
      line.add(entry, Counters{i}, static_cast<std::int64_t>(1000 - entry * i));
  EXPECT_TRUE(line.even());
  EXPECT_EQ(line.entries().size(), 4u);
  EXPECT_EQ(line.entries()[2].step, -3);
  EXPECT_EQ(line.entries()[2].offset, 1000);
}

TEST(VerifyLines, GapsAreSeen) {
  Line line;
  for (const std::uint64_t i : {0u, 1u, 3u}) line.add(1, Counters{i}, static_cast<std::int64_t>(2 * i));
  EXPECT_TRUE(line.even());
  EXPECT_FALSE(line.gapless());
  EXPECT_EQ(line.entries().front().count, 3u);
}

TEST(VerifyLines, AStepThatIsNoIntegerIsNone) {
  Line line;
  line.add(1, Counters{0}, 0);
  line.add(1, Counters{3}, 8);
  EXPECT_FALSE(line.even());
}

/// Compared with the definition: some coefficients fit all points of every entry.
TEST(VerifyLines, NestsAgreeWithTheDefinition) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 300; ++trial) {
    Line line;
    bool even = true;
    for (std::uint64_t entry = 1; entry <= 2; ++entry) {
      const auto outer = static_cast<std::int64_t>(random() % 9) - 4;
      const auto inner = static_cast<std::int64_t>(random() % 9) - 4;
      const std::uint64_t wrong = random() % 3 == 0 ? random() % 20 : 99;
      std::uint64_t point = 0;
      for (std::uint64_t i = 0; i < 4; ++i)
        for (std::uint64_t j = 0; j < 5; ++j, ++point) {
          const bool off = point == wrong;
          line.add(entry, Counters{i, j},
                   3 + outer * static_cast<std::int64_t>(i) + inner * static_cast<std::int64_t>(j) + (off ? 1 : 0));
          even = even && !off;
        }
    }
    EXPECT_EQ(line.even(), even) << trial;
  }
}

}  // namespace
}  // namespace loopfold::verify
