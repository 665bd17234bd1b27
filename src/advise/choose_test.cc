// Which order is chosen, and why: nests by hand, with accesses of eight bytes.
#include "advise/choose.h"

#include <gtest/gtest.h>

#include "advise/testing.h"

namespace loopfold::advise {
namespace {

using structure::ContextId;
using testing::HandMade;
using testing::one_band;
using testing::rows_of;

constexpr std::uint64_t kPlenty = 3'000'000;

/// Facts of the groups of a nest, all innermost and of the same weight, until a test says otherwise.
struct Facts {
  explicit Facts(const HandMade& nest) : groups(nest.program.groups.size()) {
    eight.size = 8;
    for (GroupFacts& group : groups) {
      group.ops = 100;
      group.innermost = true;
    }
  }
  void access(std::uint32_t group, std::vector<profile::Coefficient> steps, std::uint64_t count = 100) {
    AccessFacts& made = groups[group].accesses.emplace_back();
    made.access = &eight;
    made.steps = std::move(steps);
    made.count = count;
  }
  profile::Access eight;
  std::vector<GroupFacts> groups;
};

/// Two loops around one group.
struct TwoLoops : HandMade {
  TwoLoops() { point = group(loop(11, loop(10)), "0 <= i, j < 50"); }
  std::uint32_t point = 0;
};

TEST(Choose, RowsOfAMatrixAreWalkedAlong) {
  TwoLoops nest;
  Facts facts(nest);
  facts.access(0, {8, 800});  // a[j][i]
  const Choice choice = choose_order(nest.isl.get(), nest.program, facts.groups, kPlenty);
  EXPECT_FALSE(choice.is_written);
  EXPECT_TRUE(choice.best.legal);
  EXPECT_EQ(choice.best.rows[0], rows_of({{0, 1}, {1, 0}}));
  EXPECT_DOUBLE_EQ(choice.worth_written.near, 0);
  EXPECT_DOUBLE_EQ(choice.worth.near, 1);
  EXPECT_TRUE(choice.why.empty());
}

TEST(Choose, WhatIsGoodStays) {
  TwoLoops nest;
  Facts facts(nest);
  facts.access(0, {800, 8});
  const Choice choice = choose_order(nest.isl.get(), nest.program, facts.groups, kPlenty);
  EXPECT_EQ(choice.best.rows[0], rows_of({{1, 0}, {0, 1}}));
  EXPECT_DOUBLE_EQ(choice.worth.near, 1);
  EXPECT_DOUBLE_EQ(choice.worth.outer, 1);
}

TEST(Choose, NoInterchangeThatFlowForbids) {
  TwoLoops nest;
  nest.flow(0, 0, "[i, j] -> [i + 1, j - 1]");
  Facts facts(nest);
  facts.access(0, {8, 800});
  const Choice choice = choose_order(nest.isl.get(), nest.program, facts.groups, kPlenty);
  EXPECT_TRUE(choice.best.legal);
  EXPECT_NE(choice.best.rows[0], rows_of({{0, 1}, {1, 0}}));
}

TEST(Choose, TheParallelLoopGoesOutside) {
  TwoLoops nest;
  nest.flow(0, 0, "[i, j] -> [i + 1, j]");
  Facts facts(nest);  // no accesses: only what is carried matters
  const Choice choice = choose_order(nest.isl.get(), nest.program, facts.groups, kPlenty);
  EXPECT_DOUBLE_EQ(choice.worth_written.outer, 0);
  EXPECT_DOUBLE_EQ(choice.worth.outer, 1);
}

TEST(Choose, ASkewMustPay) {
  // Flow to the next row, to both sides: as written, the inner loop is parallel; skewed, both can be tiled.
  TwoLoops nest;
  for (const char* const to : {"j - 1", "j", "j + 1"}) nest.flow(0, 0, fmt::format("[i, j] -> [i + 1, {}]", to));
  Facts facts(nest);
  facts.access(0, {0, 8});
  const Choice choice = choose_order(nest.isl.get(), nest.program, facts.groups, kPlenty);
  EXPECT_FALSE(choice.is_written);
  EXPECT_TRUE(choice.worth.skewed);
  EXPECT_EQ(choice.worth.tile_depth, 2u);
  EXPECT_FALSE(choice.worth_written.skewed);
  EXPECT_EQ(choice.worth_written.tile_depth, 1u);
  EXPECT_GT(choice.worth.total, choice.worth_written.total);
}

TEST(Choose, NothingIsWonByAChainOfOneLoop) {
  HandMade nest;
  const std::uint32_t sum = nest.group(nest.loop(10), "0 <= i < 1000");
  nest.flow(sum, sum, "[i] -> [i + 1]");
  Facts facts(nest);
  const Choice choice = choose_order(nest.isl.get(), nest.program, facts.groups, kPlenty);
  EXPECT_TRUE(choice.is_written);
  EXPECT_DOUBLE_EQ(choice.worth.parallel, 0);
  EXPECT_DOUBLE_EQ(choice.worth.vector, 0);
}

TEST(Choose, ABoundMattersIfNothingElseIsFound) {
  HandMade nest;
  const std::uint32_t mirror = nest.group(nest.loop(10), "0 <= i < 1000");
  nest.flow(mirror, mirror, "[i] -> [999 - i] : i < 500");
  Facts facts(nest);
  const Choice choice = choose_order(nest.isl.get(), nest.program, facts.groups, kPlenty);
  EXPECT_TRUE(choice.why.empty()) << choice.why;
  EXPECT_TRUE(choice.best.legal);
}

TEST(Choose, WithoutABudgetTheOrderStaysAndSaysWhy) {
  TwoLoops nest;
  nest.flow(0, 0, "[i, j] -> [i + 1, j]");
  Facts facts(nest);
  const Choice none = choose_order(nest.isl.get(), nest.program, facts.groups, 1);
  EXPECT_TRUE(none.is_written);
  EXPECT_EQ(none.why, "the scheduler found no order within its budget");
  EXPECT_FALSE(none.timed_out);
  nest.forget_reach();
  const Choice nothing = choose_order(nest.isl.get(), nest.program, facts.groups, 1);
  EXPECT_TRUE(nothing.is_written);
  EXPECT_EQ(nothing.why, "the order as written could not be confirmed");
  const Choice plenty = choose_order(nest.isl.get(), nest.program, facts.groups, kPlenty);
  EXPECT_TRUE(plenty.why.empty()) << "the context works again";
}

TEST(Choose, WorthIsASumOfSharesOfTheOperations) {
  HandMade nest;
  const ContextId i = nest.loop(10);
  const std::uint32_t chain = nest.group(i, "0 <= i < 50");
  const std::uint32_t inner = nest.group(nest.loop(11, i), "0 <= i, j < 50");
  nest.flow(chain, chain, "[i] -> [i + 1]");
  Facts facts(nest);
  facts.groups[chain].ops = 100;
  facts.groups[inner].ops = 300;
  facts.access(inner, {8, 8});
  const Worth worth = worth_of(nest.written(), facts.groups);
  EXPECT_DOUBLE_EQ(worth.parallel, 0.75) << "the inner loop is; the outer one is not";
  EXPECT_DOUBLE_EQ(worth.outer, 0);
  EXPECT_DOUBLE_EQ(worth.vector, 0.75);
  EXPECT_DOUBLE_EQ(worth.near, 1);
  EXPECT_DOUBLE_EQ(worth.tilable, 0);
  EXPECT_FALSE(worth.skewed);
}

TEST(Choose, AReductionIsAVectorButNotParallel) {
  HandMade nest;
  const std::uint32_t sum = nest.group(nest.loop(10), "0 <= i < 50");
  nest.flow(sum, sum, "[i] -> [i + 1]", true);
  Facts facts(nest);
  const Order order = nest.written();
  EXPECT_TRUE(is_vector(order, sum));
  const Worth worth = worth_of(order, facts.groups);
  EXPECT_DOUBLE_EQ(worth.vector, 1);
  EXPECT_DOUBLE_EQ(worth.parallel, 0);
  EXPECT_GT(worth.total, worth_of(nest.examined(one_band({{0}})), facts.groups).total);
}

TEST(Choose, TilesOfABandMayBeParallelWherePointsAreNot) {
  // Row 0 carries nothing by itself, whatever place it has; row 1 carries.
  TwoLoops nest;
  nest.flow(0, 0, "[i, j] -> [i, j + 1]");
  Facts facts(nest);
  const Order outside = nest.examined(one_band({{1, 0}, {0, 1}}));
  const Order inside = nest.examined(one_band({{0, 1}, {1, 0}}));
  EXPECT_DOUBLE_EQ(worth_of(outside, facts.groups).outer, 1);
  EXPECT_DOUBLE_EQ(worth_of(inside, facts.groups).outer, 1) << "the loop over tiles can be put outside";
  EXPECT_DOUBLE_EQ(worth_of(nest.written(), facts.groups).outer, 1);
}

TEST(Choose, RowsThatStayTheSameAreNoLoops) {
  TwoLoops nest;
  const Order order = nest.examined(one_band({{1, 0}, {0, 0}, {0, 1}, {1, 1}}));
  for (std::uint32_t k = 0; k < 4; ++k) EXPECT_EQ(is_loop(order, order.bands[0], k), k == 0 || k == 2) << k;
  const std::optional<Innermost> inner = innermost_of(order, 0);
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->band, 0u);
  EXPECT_EQ(inner->place, 2u);
}

/// Each instance needs the one before, from row to row: counted one by one such a nest can be tiled, for nothing.
TEST(Choose, AChainOfAllInstancesStaysAsItIs) {
  HandMade nest;
  const ContextId i = nest.loop(10);
  const ContextId j = nest.loop(11, i);
  const std::uint32_t g = nest.group(j, "0 <= i < 40 and 0 <= j < 50");
  nest.flow(g, g, "[i, j] -> [i, j + 1]");
  nest.flow(g, g, "[i, j] -> [i + 1, 0] : j = 49");
  std::vector<GroupFacts> facts(1);
  facts[0].ops = 1000;
  facts[0].innermost = true;
  const Choice choice = choose_order(nest.isl.get(), nest.program, facts, 3'000'000);
  EXPECT_TRUE(choice.is_written);
  EXPECT_TRUE(choice.why.empty());
  const std::vector<Order> orders = candidate_orders(nest.isl.get(), nest.program, 3'000'000, 50);
  EXPECT_EQ(orders.size(), 1u);
}

/// Two loops that may change places: as written, and the other way round.
TEST(Choose, CandidatesAreAllOrdersOfABand) {
  HandMade nest;
  const ContextId i = nest.loop(10);
  const ContextId j = nest.loop(11, i);
  const std::uint32_t g = nest.group(j, "0 <= i, j < 50");
  nest.flow(g, g, "[i, j] -> [i, j + 1]");
  const std::vector<Order> orders = candidate_orders(nest.isl.get(), nest.program, 3'000'000, 50);
  ASSERT_GE(orders.size(), 2u);
  EXPECT_EQ(orders[0].rows, original_order(nest.program).rows);
  for (const Order& order : orders) EXPECT_TRUE(order.legal);
}

}  // namespace
}  // namespace loopfold::advise
