// Rows of orders in terms of the loops of a source, and how accesses step along them.
#include "advise/nest_facts.h"

#include <gtest/gtest.h>

#include <limits>

#include "advise/testing.h"

namespace loopfold::advise {
namespace {

using testing::rows_of;

using Stands = std::vector<std::optional<std::size_t>>;
constexpr std::nullopt_t kNone = std::nullopt;

TEST(NestFacts, RowsStandForTheirOwnCoordinate) {
  EXPECT_EQ(stands_for(rows_of({{1, 0}, {0, 1}})), (Stands{0, 1}));
  EXPECT_EQ(stands_for(rows_of({{0, 1}, {1, 0}})), (Stands{1, 0}));
  EXPECT_EQ(stands_for(rows_of({{1, 0}, {1, 1}})), (Stands{0, 1}));
  EXPECT_EQ(stands_for(rows_of({{1, 1}, {1, 0}})), (Stands{1, 0}));
  EXPECT_EQ(stands_for(rows_of({{2, 1, 0}, {1, 0, 0}, {0, 0, 1}})), (Stands{1, 0, 2}));
}

TEST(NestFacts, RowsThatFollowFromOthersStandForNothing) {
  EXPECT_EQ(stands_for(rows_of({{0, 0}, {1, 0}, {0, 0}, {0, 1}})), (Stands{kNone, 0, kNone, 1}));
  EXPECT_EQ(stands_for(rows_of({{1}, {1}})), (Stands{0, kNone}));
  EXPECT_EQ(stands_for(rows_of({{1, 0}, {0, 1}, {1, 1}})), (Stands{0, 1, kNone}));
  EXPECT_EQ(stands_for(rows_of({{1, 1}, {2, 2}, {1, 0}})), (Stands{1, kNone, 0}));
}

TEST(NestFacts, ASkewedRowLeavesTheOtherCoordinateToItsFellow) {
  EXPECT_EQ(stands_for(rows_of({{1, -1}, {0, 1}})), (Stands{0, 1}));
  EXPECT_EQ(stands_for(rows_of({{1, 1, 1}, {0, 0, 1}, {0, 1, 0}})), (Stands{0, 2, 1}));
}

TEST(NestFacts, TheDirectionOfALoopLeavesTheOthersStanding) {
  EXPECT_EQ(direction_of(rows_of({{1, 0}, {0, 1}}), 0), (Direction{1, 0}));
  EXPECT_EQ(direction_of(rows_of({{1, 0}, {0, 1}}), 1), (Direction{0, 1}));
  EXPECT_EQ(direction_of(rows_of({{1, 0}, {0, -1}}), 1), (Direction{0, -1}));
  // t, t + i: a step of t alone takes i back.
  EXPECT_EQ(direction_of(rows_of({{1, 0}, {1, 1}}), 0), (Direction{1, -1}));
  EXPECT_EQ(direction_of(rows_of({{1, 0}, {1, 1}}), 1), (Direction{0, 1}));
  // t + i, t: inside, i goes back as t goes on.
  EXPECT_EQ(direction_of(rows_of({{1, 1}, {1, 0}}), 1), (Direction{1, -1}));
  EXPECT_EQ(direction_of(rows_of({{0, 0, 1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}), 3), (Direction{0, 1, 0}));
}

TEST(NestFacts, ADirectionThatIsNotKnownIsEmpty) {
  EXPECT_EQ(direction_of(rows_of({{1, 0}, {0, 0}}), 0), Direction{});  // the other coordinate has no row
  EXPECT_EQ(direction_of(rows_of({{1, 0}, {0, 1}, {0, 0}}), 2), Direction{});
  EXPECT_EQ(direction_of(rows_of({{2, 0}, {0, 1}}), 0), Direction{});  // every other iteration
  EXPECT_EQ(direction_of(rows_of({{1, 0}, {0, 1}, {1, 1}}), 2), Direction{});
}

/// Each direction moves its own row by one and no other row: for all small rows that are independent.
TEST(NestFacts, DirectionsSolveTheirRows) {
  std::size_t known = 0;
  for (int code = 0; code < 81; ++code) {
    std::vector<std::vector<std::int64_t>> rows(2);
    for (int rest = code, n = 0; n < 4; ++n, rest /= 3) rows[static_cast<std::size_t>(n) / 2].push_back(rest % 3 - 1);
    const std::int64_t determinant = rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0];
    const std::vector<Row> given = rows_of(rows);
    for (std::size_t row = 0; row < 2; ++row) {
      const Direction direction = direction_of(given, row);
      const bool unimodular = determinant == 1 || determinant == -1;
      EXPECT_FALSE(unimodular && direction.empty()) << ::testing::PrintToString(rows);
      EXPECT_FALSE(determinant == 0 && !direction.empty()) << ::testing::PrintToString(rows);
      if (direction.empty()) continue;
      ++known;
      for (std::size_t k = 0; k < 2; ++k)
        EXPECT_EQ(rows[k][0] * direction[0] + rows[k][1] * direction[1], k == row ? 1 : 0);
    }
  }
  EXPECT_GT(known, 60u);
}

TEST(NestFacts, SumsOfTheSourceAreNoSkews) {
  GroupFacts facts;
  EXPECT_FALSE(is_skewed({{0, 1}, 0}, 1, facts));
  EXPECT_FALSE(is_skewed({{0, -1}, 7}, 1, facts));
  EXPECT_TRUE(is_skewed({{1, 1}, 0}, 1, facts));
  facts.natural.insert({1, 0, 1});  // for (j = i; ...)
  EXPECT_FALSE(is_skewed({{1, 1}, 0}, 1, facts));
  EXPECT_FALSE(is_skewed({{2, 2}, 0}, 1, facts));
  EXPECT_TRUE(is_skewed({{2, 1}, 0}, 1, facts));
  EXPECT_TRUE(is_skewed({{-1, 1}, 0}, 1, facts));
  EXPECT_TRUE(is_skewed({{1, 2}, 0}, 1, facts));
  EXPECT_TRUE(is_skewed({{1, 1}, 0}, 0, facts)) << "natural for j, not for i";
}

TEST(NestFacts, OneCoordinateOrMore) {
  EXPECT_EQ(single_coordinate({{0, 3, 0}, 1}), 1u);
  EXPECT_EQ(single_coordinate({{0, 0}, 1}), kNone);
  EXPECT_EQ(single_coordinate({{1, 1}, 0}), kNone);
}

/// Accesses of 8 bytes.
class Accesses {
 public:
  Accesses() { eight_.size = 8; }
  AccessFacts access(std::vector<profile::Coefficient> steps, std::uint64_t count = 1) const {
    AccessFacts facts;
    facts.access = &eight_;
    facts.steps = std::move(steps);
    facts.count = count;
    return facts;
  }

 private:
  profile::Access eight_;
};

TEST(NestFacts, NearIsInPlaceOrTheNextElement) {
  const Accesses make;
  const AccessFacts element = make.access({800, 8});
  EXPECT_TRUE(element.near({0, 1}));
  EXPECT_TRUE(element.near({0, -1}));
  EXPECT_FALSE(element.near({1, 0}));
  EXPECT_FALSE(element.near({0, 2}));
  EXPECT_FALSE(element.near({})) << "a direction that is not known";
  EXPECT_EQ(element.step({1, -1}), 792);
  EXPECT_TRUE(make.access({0, 8}).near({1, 0})) << "in place";
  EXPECT_TRUE(make.access({8, 8}).near({1, -1})) << "a[i + j] along a diagonal";
}

TEST(NestFacts, AStepThatIsNotKnownMattersWhereItIsTaken) {
  const Accesses make;
  const AccessFacts scattered = make.access({8, kNone});
  EXPECT_TRUE(scattered.near({1, 0}));
  EXPECT_FALSE(scattered.near({0, 1}));
  EXPECT_EQ(scattered.step({1, 1}), kNone);
  EXPECT_EQ(make.access({std::numeric_limits<std::int64_t>::max(), 8}).step({2, 0}), kNone) << "too far";
  EXPECT_EQ(make.access({std::numeric_limits<std::int64_t>::max(), 8}).step({1, 1}), kNone) << "too far";
}

TEST(NestFacts, TheShareOfNearAccessesIsByCount) {
  const Accesses make;
  std::vector<GroupFacts> facts(3);
  facts[0].accesses = {make.access({800, 8}, 30), make.access({8, 800}, 10)};
  facts[1].accesses = {make.access({8}, 60)};
  EXPECT_DOUBLE_EQ(near_share(facts, {0}, {{0, 1}}), 0.75);
  EXPECT_DOUBLE_EQ(near_share(facts, {0}, {{1, 0}}), 0.25);
  EXPECT_DOUBLE_EQ(near_share(facts, {0, 1}, {{1, 0}, {1}}), 0.7);
  EXPECT_DOUBLE_EQ(near_share(facts, {2}, {{1}}), 1.0) << "nothing is far";
}

}  // namespace
}  // namespace loopfold::advise
