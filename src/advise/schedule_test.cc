// Orders of nests that are written down by hand: what is legal, what may change places, and what is carried where.
#include "advise/schedule.h"

#include <gtest/gtest.h>
#include <isl/options.h>

#include "advise/testing.h"
#include "poly/budget.h"

namespace loopfold::advise {
namespace {

using Fusion = profile::Transformed::Fusion;
using structure::ContextId;
using testing::HandMade;
using testing::one_band;
using testing::rows_of;

constexpr Carries kNothing = Carries::kNothing;
constexpr Carries kReduction = Carries::kReduction;
constexpr Carries kFlow = Carries::kFlow;

/// Rows of all groups in a band, for what a band must be made of.
std::vector<std::vector<std::int64_t>> coefficients(const Order& order, const OrderBand& band, std::uint32_t group) {
  std::vector<std::vector<std::int64_t>> found;
  for (std::uint32_t k = 0; k < band.depth; ++k) found.push_back(order.rows[group][band.first + k].coefficients);
  return found;
}

/// c[i][j] = 0; for k: c[i][j] += a[i][k] * b[k][j]; d[i][j] = c[i][j].
struct MatrixProduct : HandMade {
  explicit MatrixProduct(bool reduction = false) {
    const ContextId i = loop(10);
    const ContextId j = loop(11, i);
    zero = group(j, "0 <= i, j < 64");
    const ContextId k = loop(12, j);
    add = group(k, "0 <= i, j, k < 64");
    copy = group(j, "0 <= i, j < 64");
    flow(zero, add, "[i, j] -> [i, j, 0]");
    flow(add, add, "[i, j, k] -> [i, j, k + 1]", reduction);
    flow(add, copy, "[i, j, 63] -> [i, j]");
  }
  std::uint32_t zero = 0;
  std::uint32_t add = 0;
  std::uint32_t copy = 0;
};

TEST(Schedule, TheOrderAsWrittenHasARowForTheParts) {
  MatrixProduct nest;
  const Order order = original_order(nest.program);
  const std::vector<Row> zero{{{1, 0}, 0}, {{0, 1}, 0}, {{0, 0}, 0}, {{0, 0}, 0}};
  const std::vector<Row> add{{{1, 0, 0}, 0}, {{0, 1, 0}, 0}, {{0, 0, 0}, 1}, {{0, 0, 1}, 0}};
  const std::vector<Row> copy{{{1, 0}, 0}, {{0, 1}, 0}, {{0, 0}, 2}, {{0, 0}, 0}};
  EXPECT_EQ(order.rows, (std::vector<std::vector<Row>>{zero, add, copy}));
  ASSERT_EQ(order.bands.size(), 3u);
  EXPECT_EQ(order.bands[0].groups.size(), 3u);
  EXPECT_EQ(order.bands[1].groups.size(), 3u);
  EXPECT_EQ(order.bands[2].groups, std::vector<std::uint32_t>{nest.add});
  EXPECT_EQ(order.bands[2].first, 3u);
}

TEST(Schedule, MatrixProductAsWritten) {
  MatrixProduct nest;
  const Order order = nest.written();
  EXPECT_TRUE(order.legal);
  EXPECT_FALSE(order.violated);
  ASSERT_EQ(order.bands.size(), 3u);
  EXPECT_EQ(order.bands[0].carries, std::vector<Carries>{kNothing});
  EXPECT_EQ(order.bands[1].carries, std::vector<Carries>{kNothing});
  EXPECT_EQ(order.bands[2].carries, std::vector<Carries>{kFlow});
}

TEST(Schedule, AReductionIsNoFlowButKeepsItsOrder) {
  MatrixProduct nest(true);
  EXPECT_EQ(nest.written().bands[2].carries, std::vector<Carries>{kReduction});
  Order reversed = original_order(nest.program);
  reversed.rows[nest.add][3].coefficients[2] = -1;
  EXPECT_FALSE(nest.examined(reversed).legal);
}

TEST(Schedule, MatrixProductIsOneBandOfThree) {
  MatrixProduct nest;
  for (const Fusion fusion : {Fusion::kMax, Fusion::kSmart, Fusion::kNone}) {
    const Order order = nest.found(fusion);
    ASSERT_TRUE(order.legal);
    EXPECT_EQ(order.fusion, fusion);
    const auto deep = std::find_if(order.bands.begin(), order.bands.end(), [&](const OrderBand& band) {
      return band.depth == 3 && std::find(band.groups.begin(), band.groups.end(), nest.add) != band.groups.end();
    });
    ASSERT_NE(deep, order.bands.end());
    EXPECT_TRUE(deep->permutable);
    EXPECT_EQ(std::count(deep->carries.begin(), deep->carries.end(), kNothing), 2);
    EXPECT_EQ(std::count(deep->carries.begin(), deep->carries.end(), kFlow), 1);
  }
}

TEST(Schedule, DistributionSeparatesTheStatements) {
  MatrixProduct nest;
  const Order order = nest.found(Fusion::kNone);
  ASSERT_TRUE(order.legal);
  EXPECT_EQ(order.bands.size(), 3u);
  for (const OrderBand& band : order.bands) EXPECT_EQ(band.groups.size(), 1u);
  EXPECT_LT(order.rows[nest.zero][0].constant, order.rows[nest.add][0].constant);
  EXPECT_LT(order.rows[nest.add][0].constant, order.rows[nest.copy][0].constant);
}

TEST(Schedule, WhatIsUsedBeforeItIsMadeIsNamed) {
  MatrixProduct nest;
  Order order = original_order(nest.program);
  order.rows[nest.copy][2].constant = 0;
  order.rows[nest.zero][2].constant = 2;
  order = nest.examined(order);
  EXPECT_FALSE(order.legal);
  EXPECT_EQ(order.violated, 0u);
  order.rows[nest.zero][2].constant = 0;
  order.rows[nest.copy][2].constant = 1;  // now beside the sum, at time 0 of its loop
  order = nest.examined(order);
  EXPECT_FALSE(order.legal);
  EXPECT_EQ(order.violated, 2u);
}

TEST(Schedule, AtTheSameTimeIsNotAfter) {
  HandMade nest;
  const ContextId i = nest.loop(10);
  const std::uint32_t a = nest.group(i, "0 <= i < 10");
  const std::uint32_t b = nest.group(i, "0 <= i < 10");
  nest.flow(a, b, "[i] -> [i]");
  EXPECT_TRUE(nest.written().legal);
  Order order = original_order(nest.program);
  order.rows[b][1].constant = order.rows[a][1].constant;
  EXPECT_FALSE(nest.examined(order).legal);
}

/// for t: for i: b[i] = a[i-1] + a[i] + a[i+1]; for i: a[i] = b[i], as one statement: [t, i] from [t-1, i-1..i+1].
struct Jacobi : HandMade {
  Jacobi() {
    const ContextId t = loop(10);
    const ContextId i = loop(11, t);
    point = group(i, "0 <= i < 20 and 0 <= j < 100");
    for (const char* const to : {"j - 1", "j", "j + 1"}) flow(point, point, fmt::format("[i, j] -> [i + 1, {}]", to));
  }
  std::uint32_t point = 0;
};

TEST(Schedule, JacobiIsTilableWhenSkewed) {
  Jacobi nest;
  const Order written = nest.written();
  EXPECT_TRUE(written.legal);
  EXPECT_EQ(written.bands[0].carries, std::vector<Carries>{kFlow});
  EXPECT_EQ(written.bands[1].carries, std::vector<Carries>{kNothing});

  const Order plain = nest.examined(one_band({{1, 0}, {0, 1}}));
  EXPECT_TRUE(plain.legal);
  EXPECT_FALSE(plain.bands[0].permutable);
  EXPECT_EQ(plain.bands[0].carries, (std::vector<Carries>{kFlow, kNothing}));
  EXPECT_EQ(plain.bands[0].alone, (std::vector<Carries>{kFlow, kFlow}));

  const Order skewed = nest.examined(one_band({{1, 0}, {1, 1}}));
  EXPECT_TRUE(skewed.legal);
  EXPECT_TRUE(skewed.bands[0].permutable);
  EXPECT_EQ(skewed.bands[0].carries, (std::vector<Carries>{kFlow, kNothing}));
  EXPECT_EQ(skewed.bands[0].alone, (std::vector<Carries>{kFlow, kFlow}));

  const Order found = nest.found();
  ASSERT_TRUE(found.legal);
  ASSERT_EQ(found.bands.size(), 1u);
  EXPECT_TRUE(found.bands[0].permutable);
  EXPECT_EQ(coefficients(found, found.bands[0], 0), (std::vector<std::vector<std::int64_t>>{{1, 0}, {1, 1}}));
}

TEST(Schedule, ASkewOfTheOtherSideIsLegalButNoBand) {
  Jacobi nest;
  const Order order = nest.examined(one_band({{1, 0}, {-2, 1}}));
  EXPECT_TRUE(order.legal);
  EXPECT_FALSE(order.bands[0].permutable);
}

/// LU without pivots: l[i][k] /= a[k][k]; a[i][j] -= l[i][k] * a[k][j], with i = k + 1 + j, j = k + 1 + k'.
struct Lu : HandMade {
  Lu() {
    const ContextId k = loop(10);
    const ContextId i = loop(11, k);
    divide = group(i, "0 <= i < 15 and 0 <= j < 15 - i");
    const ContextId j = loop(12, i);
    update = group(j, "0 <= i < 15 and 0 <= j < 15 - i and 0 <= k < 15 - i");
    flow(divide, update, "[i, j] -> [i, j, k]");
    flow(update, divide, "[i, j, 0] -> [i + 1, j - 1]");
    flow(update, divide, "[i, 0, 0] -> [i + 1, j]");
    flow(update, update, "[i, j, k] -> [i + 1, j - 1, k - 1]");
    flow(update, update, "[i, 0, k] -> [i + 1, j, k - 1]");
  }
  std::uint32_t divide = 0;
  std::uint32_t update = 0;
};

TEST(Schedule, LuIsParallelInsideItsOutermostLoop) {
  Lu nest;
  const Order written = nest.written();
  ASSERT_TRUE(written.legal);
  ASSERT_EQ(written.bands.size(), 3u);
  EXPECT_EQ(written.bands[0].carries, std::vector<Carries>{kFlow});
  EXPECT_EQ(written.bands[1].carries, std::vector<Carries>{kNothing});
  EXPECT_EQ(written.bands[2].carries, std::vector<Carries>{kNothing});
}

TEST(Schedule, LuIsOneBandInTheCountersOfTheSource) {
  Lu nest;
  Order order;
  order.rows = {rows_of({{1, 0}, {1, 1}, {1, 0}}), rows_of({{1, 0, 0}, {1, 1, 0}, {1, 0, 1}})};
  order.rows[nest.update][2].constant = 1;  // source: k, i - 1, j - 1; the division stands where j is k
  order.bands.push_back({0, 3, {nest.divide, nest.update}, false, {}, {}, {}, {}});
  order = nest.examined(order);
  EXPECT_TRUE(order.legal);
  EXPECT_TRUE(order.bands[0].permutable);
  const Order found = nest.found();
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.bands.front().depth, 3u);
  EXPECT_TRUE(found.bands.front().permutable);
}

/// A loop in which each of five groups comes before all later iterations of all, and of those behind it.
TEST(Schedule, WhatFollowsFromOthersIsNotAskedAbout) {
  HandMade nest;
  const ContextId i = nest.loop(10);
  for (int g = 0; g < 5; ++g) nest.group(i, "0 <= i < 1000");
  for (std::uint32_t from = 0; from < 5; ++from)
    for (std::uint32_t to = 0; to < 5; ++to)
      nest.flow(from, to, from < to ? "[i] -> [j] : j >= i" : "[i] -> [j] : j > i");
  const Constraints asked = scheduling_constraints(nest.isl.get(), nest.program, false);
  EXPECT_EQ(isl_union_map_n_map(asked.all.get()) + isl_union_map_n_map(asked.implied.get()), 25);
  EXPECT_LE(isl_union_map_n_map(asked.all.get()), 10);
  // All that is left out follows from what is left.
  const poly::Isl<isl_union_map> closure(isl_union_map_transitive_closure(asked.all.copy(), nullptr));
  EXPECT_EQ(isl_union_map_is_subset(asked.implied.get(), closure.get()), isl_bool_true);
  for (const auto fusion : {Fusion::kMax, Fusion::kSmart, Fusion::kNone}) {
    const Order found = nest.found(fusion);
    ASSERT_TRUE(found.legal);
    EXPECT_EQ(found.bands.size(), 1u);
    EXPECT_EQ(found.bands[0].groups.size(), 5u);
    EXPECT_EQ(found.bands[0].carries, std::vector<Carries>{kFlow});
  }
}

TEST(Schedule, APrefixSumStaysInOrder) {
  HandMade nest;
  const std::uint32_t sum = nest.group(nest.loop(10), "0 <= i < 1000");
  nest.flow(sum, sum, "[i] -> [i + 1]");
  EXPECT_EQ(nest.written().bands[0].carries, std::vector<Carries>{kFlow});
  const Order found = nest.found();
  ASSERT_TRUE(found.legal);
  EXPECT_EQ(found.rows[sum], rows_of({{1}}));
  EXPECT_EQ(found.bands[0].carries, std::vector<Carries>{kFlow});
  EXPECT_FALSE(nest.examined(one_band({{-1}})).legal);
  EXPECT_FALSE(nest.examined(one_band({{0}})).legal);
}

TEST(Schedule, AnInterchangeThatTurnsADependenceRound) {
  HandMade nest;
  const ContextId i = nest.loop(10);
  const std::uint32_t point = nest.group(nest.loop(11, i), "0 <= i, j < 30");
  nest.flow(point, point, "[i, j] -> [i + 1, j - 1]");
  EXPECT_TRUE(nest.written().legal);
  const Order order = nest.examined(one_band({{0, 1}, {1, 0}}));
  EXPECT_FALSE(order.legal);
  EXPECT_EQ(order.violated, 0u);
  EXPECT_FALSE(order.bands[0].permutable);
}

TEST(Schedule, NothingToKeepIsParallelEverywhere) {
  HandMade nest;
  const ContextId i = nest.loop(10);
  nest.group(nest.loop(11, i), "0 <= i, j < 30");
  const Order order = nest.examined(one_band({{0, -1}, {1, 0}}));
  EXPECT_TRUE(order.legal);
  EXPECT_TRUE(order.bands[0].permutable);
  EXPECT_EQ(order.bands[0].carries, (std::vector<Carries>{kNothing, kNothing}));
}

TEST(Schedule, CopiesOfALoopRunOneAfterTheOther) {
  HandMade nest;
  const std::uint32_t first = nest.group(nest.loop(10), "0 <= i < 5");
  const std::uint32_t second = nest.group(nest.loop(10), "0 <= i < 3");
  nest.flow(first, second, "[i] -> [j]");
  const Order order = nest.written();
  EXPECT_TRUE(order.legal);
  EXPECT_EQ(order.rows[first], (std::vector<Row>{{{0}, 0}, {{1}, 0}}));
  EXPECT_EQ(order.rows[second], (std::vector<Row>{{{0}, 1}, {{1}, 0}}));
}

TEST(Schedule, ABoundThatIsDroppedCanMakeAnOrderImpossible) {
  // The last half is the mirror image of the first. Without its bound, the flow would go both ways.
  HandMade nest;
  const std::uint32_t mirror = nest.group(nest.loop(10), "0 <= i < 1000");
  nest.flow(mirror, mirror, "[i] -> [999 - i] : i < 500");
  EXPECT_TRUE(nest.written().legal);
  EXPECT_TRUE(nest.found(Fusion::kMax, false).legal) << "it is known to go to later iterations";
  nest.forget_reach();
  isl_options_set_on_error(nest.isl.get(), ISL_ON_ERROR_CONTINUE);
  const Order relaxed = nest.found(Fusion::kMax, false);
  EXPECT_FALSE(relaxed.legal);
  const Order bounded = nest.found(Fusion::kMax, true);
  ASSERT_FALSE(bounded.rows.empty());
  EXPECT_TRUE(bounded.legal);
}

TEST(Schedule, ManyPiecesAreAskedAboutAsOne) {
  HandMade nest;
  const ContextId outer = nest.loop(10);
  const std::uint32_t scattered = nest.group(nest.loop(11, outer), "0 <= i, j < 200");
  for (int k = 1; k <= 70; ++k) nest.flow(scattered, scattered, fmt::format("[i, j] -> [i + {}, {}]", k, 100 - k));
  const Constraints constraints = scheduling_constraints(nest.isl.get(), nest.program, false);
  const poly::Isl<isl_union_map> expected(
      isl_union_map_read_from_str(nest.isl.get(), "{ G0[i, j] -> G0[x, y] : x > i }"));
  EXPECT_EQ(isl_union_map_is_equal(constraints.all.get(), expected.get()), isl_bool_true);
  const Order order = nest.found();
  EXPECT_TRUE(order.legal);
  EXPECT_EQ(order.rows[scattered], (std::vector<Row>{{{1, 0}, 0}, {{0, 1}, 0}}));
}

/// In one iteration of the loop around both: points here and there do not go together, those on a line do.
TEST(Schedule, FarTooManyPiecesAreNotAskedAboutUnlessTheyGoTogether) {
  for (const bool scattered : {true, false}) {
    HandMade nest;
    const ContextId outer = nest.loop(10);
    const std::uint32_t from = nest.group(nest.loop(11, outer), "0 <= i < 20 and 0 <= j < 4000");
    const std::uint32_t to = nest.group(nest.loop(12, outer), "0 <= i < 20 and 0 <= j < 4000");
    for (int k = 1; k <= 300; ++k)
      nest.flow(from, to, fmt::format("[i, {}] -> [i, {}]", scattered ? 6 * k : k, scattered ? 6 * (k * k % 311) : k));
    nest.forget_reach();
    for (const bool bounded : {true, false}) {
      const Constraints constraints = scheduling_constraints(nest.isl.get(), nest.program, bounded);
      EXPECT_EQ(static_cast<bool>(constraints.all), !scattered);
      EXPECT_EQ(find_order(nest.isl.get(), nest.program, constraints, Fusion::kMax).has_value(), !scattered);
    }
  }
}

TEST(Schedule, WhatACarryingLoopSaysIsWhatIslSays) {
  MatrixProduct nest;
  Order known = nest.found();
  ASSERT_TRUE(known.legal);
  nest.forget_reach();
  const Order proved = nest.examined(known);
  EXPECT_TRUE(proved.legal);
  ASSERT_EQ(known.bands.size(), proved.bands.size());
  for (std::size_t i = 0; i < known.bands.size(); ++i) {
    EXPECT_EQ(known.bands[i].permutable, proved.bands[i].permutable);
    EXPECT_EQ(known.bands[i].carries, proved.bands[i].carries);
    EXPECT_EQ(known.bands[i].alone, proved.bands[i].alone);
  }
}

TEST(Schedule, PermutingABandFindsAnewWhatIsCarried) {
  HandMade nest;
  const ContextId i = nest.loop(10);
  const ContextId j = nest.loop(11, i);
  const std::uint32_t point = nest.group(nest.loop(12, j), "0 <= i, j, k < 9");
  nest.flow(point, point, "[i, j, k] -> [i + 1, j, k + 1]");
  Order order = nest.examined(one_band({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}));
  ASSERT_TRUE(order.bands[0].permutable);
  EXPECT_EQ(order.bands[0].carries, (std::vector<Carries>{kFlow, kNothing, kNothing}));
  EXPECT_EQ(order.bands[0].alone, (std::vector<Carries>{kFlow, kNothing, kFlow}));
  permute(order, 0, {1, 2, 0});
  EXPECT_EQ(order.rows[0], rows_of({{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}));
  EXPECT_EQ(order.bands[0].carries, (std::vector<Carries>{kNothing, kFlow, kNothing}));
  EXPECT_EQ(order.bands[0].alone, (std::vector<Carries>{kNothing, kFlow, kFlow}));
}

TEST(Schedule, FlowCountsMoreThanAReduction) {
  HandMade nest;
  const std::uint32_t sum = nest.group(nest.loop(10), "0 <= i < 100");
  nest.flow(sum, sum, "[i] -> [i + 1]", true);
  EXPECT_EQ(nest.written().bands[0].carries, std::vector<Carries>{kReduction});
  nest.flow(sum, sum, "[i] -> [i + 1]", false);
  EXPECT_EQ(nest.written().bands[0].carries, std::vector<Carries>{kFlow});
}

TEST(Schedule, ExamineForgetsWhatWasSaidBefore) {
  Jacobi nest;
  Order order = nest.examined(one_band({{0, 1}, {1, 0}}));
  EXPECT_FALSE(order.legal);
  order.rows = {rows_of({{1, 0}, {1, 1}})};
  order = nest.examined(order);
  EXPECT_TRUE(order.legal);
  EXPECT_FALSE(order.violated);
  EXPECT_TRUE(order.bands[0].permutable);
}

TEST(Schedule, ABudgetThatRunsOutGivesNothingAndLeavesTheContextInOrder) {
  MatrixProduct nest;
  constexpr std::chrono::milliseconds kLong(60'000);
  {
    const poly::IslBudget budget(nest.isl.get(), 500, kLong);
    EXPECT_FALSE(find_order(nest.isl.get(), nest.program, scheduling_constraints(nest.isl.get(), nest.program, false),
                            Fusion::kMax));
    EXPECT_TRUE(budget.exceeded());
  }
  EXPECT_TRUE(nest.found().legal);
}

TEST(Schedule, WhatCannotBeDecidedIsNotLegal) {
  MatrixProduct nest;
  nest.forget_reach();
  constexpr std::chrono::milliseconds kLong(60'000);
  Order order = original_order(nest.program);
  {
    const poly::IslBudget budget(nest.isl.get(), 1, kLong);
    examine(nest.isl.get(), nest.program, order);
    EXPECT_TRUE(budget.exceeded());
  }
  EXPECT_FALSE(order.legal);
  for (const OrderBand& band : order.bands) {
    EXPECT_FALSE(band.permutable);
    EXPECT_EQ(band.carries, std::vector<Carries>(band.depth, kFlow));
  }
  EXPECT_TRUE(nest.examined(order).legal);
}

}  // namespace
}  // namespace loopfold::advise
