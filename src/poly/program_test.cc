// Nests as polyhedral programs: groups, their order, and dependences between them, of a nest of two loops made by hand.
#include "poly/program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "poly/nest_testing.h"
#include "poly/pieces.h"

namespace loopfold::poly {
namespace {

using structure::kNoContext;
using testing::adds;
using testing::between;
using testing::computes;
using testing::equals;
using testing::loads;
using testing::NestScene;
using testing::stores;
using Carrier = NestScene::Carrier;

constexpr std::uint8_t kMemory = ddg::kFirstMemoryOperand;
constexpr std::uint32_t kNoGroup = 0xffffffff;

std::uint32_t group_of(const Program& program, ddg::StatementId id) {
  for (std::uint32_t g = 0; g < program.groups.size(); ++g)
    for (const ddg::StatementId statement : program.groups[g].statements)
      if (statement == id) return g;
  return kNoGroup;
}

/// Every dependence goes as far as it says.
void expect_reach(const Program& program) {
  for (const ProgramDependence& dependence : program.dependences) {
    Isl<isl_map> limits(isl_map_universe(isl_map_get_space(dependence.map.get())));
    limits = with_equal_first(std::move(limits), dependence.equal);
    const auto level = static_cast<int>(dependence.equal);
    if (dependence.later)
      limits = Isl<isl_map>(isl_map_order_lt(limits.release(), isl_dim_in, level, isl_dim_out, level));
    EXPECT_EQ(isl_map_is_subset(dependence.map.get(), limits.get()), isl_bool_true);
  }
}

TEST(Program, WhatStoresIsAGroupAndCountersAreNot) {
  NestScene scene({{'H', {adds()}}, {'B', {stores()}}});
  scene.counts('H', 0, Carrier::kOuter, true);
  scene.flow('H', 0, 'B', 0, 0);
  scene.collect();
  const Program program = scene.program(scene.outer());
  EXPECT_EQ(program.problem, "");
  ASSERT_EQ(program.groups.size(), 1u);
  EXPECT_EQ(program.groups[0].statements, std::vector<ddg::StatementId>{scene.statement('B')});
  EXPECT_EQ(program.groups[0].loops, (std::vector<structure::ContextId>{scene.outer(), scene.inner()}));
  EXPECT_EQ(program.prefix, 0u);
  EXPECT_TRUE(program.dependences.empty());
  const Isl<isl_set> domain(isl_set_read_from_str(scene.isl.get(), "{ G0[i, j] : 0 <= i < 4 and 0 <= j < 3 }"));
  EXPECT_EQ(isl_set_is_equal(program.groups[0].domain.get(), domain.get()), isl_bool_true);
}

TEST(Program, DataThatAnInnerLoopNeedsComesBeforeIt) {
  NestScene scene({{'H', {computes()}}, {'B', {stores()}}});
  scene.counts('H', 0, Carrier::kOuter, false);
  scene.flow('H', 0, 'B', 0, 0);
  scene.collect();
  const Program program = scene.program(scene.outer());
  EXPECT_EQ(program.problem, "");
  const std::uint32_t head = group_of(program, scene.statement('H'));
  const std::uint32_t body = group_of(program, scene.statement('B'));
  ASSERT_NE(head, kNoGroup);
  ASSERT_NE(body, kNoGroup);
  EXPECT_TRUE(equals(between(program, head, head), fmt::format("{{ G{0}[i] -> G{0}[i + 1] : 0 <= i < 3 }}", head)));
  EXPECT_TRUE(equals(between(program, head, body),
                     fmt::format("{{ G{}[i] -> G{}[i, j] : 0 <= i < 4 and 0 <= j < 3 }}", head, body)));
  expect_reach(program);
}

TEST(Program, BeforeAndBehindAnInnerLoopAreTwoGroups) {
  NestScene scene({{'H', {stores()}}, {'B', {loads(), stores()}}, {'T', {loads(), stores()}}});
  scene.flow('H', 0, 'B', 0, kMemory);
  scene.local('B', 0, 1, 0);
  scene.flow('B', 1, 'T', 0, kMemory);
  scene.local('T', 0, 1, 0);
  scene.collect();
  const Program program = scene.program(scene.outer());
  EXPECT_EQ(program.problem, "");
  ASSERT_EQ(program.groups.size(), 3u);
  const auto& body = program.body(scene.outer());
  ASSERT_EQ(body.size(), 3u);
  EXPECT_EQ(body[0].loop, kNoContext);
  EXPECT_EQ(body[0].group, group_of(program, scene.statement('H')));
  EXPECT_EQ(body[1].loop, scene.inner());
  EXPECT_EQ(body[2].loop, kNoContext);
  EXPECT_EQ(body[2].group, group_of(program, scene.statement('T')));
  EXPECT_TRUE(equals(
      between(program, group_of(program, scene.statement('B')), body[2].group),
      fmt::format("{{ G{}[i, 2] -> G{}[i] : 0 <= i < 4 }}", group_of(program, scene.statement('B')), body[2].group)));
}

TEST(Program, ABoundComesBeforeAllOfItsLoop) {
  // Nothing flows from the head to the body, but to the branch behind it, which decides how often the body runs.
  NestScene scene({{'H', {computes()}}, {'B', {stores()}}, {'C', {adds(), adds()}}});
  scene.counts('H', 0, Carrier::kOuter, false);
  scene.counts('C', 0, Carrier::kInner, true);
  scene.local('C', 0, 1, 0);
  scene.local('C', 1, scene.branch('C'), ddg::kFlagsOperand);
  scene.flow('H', 0, 'C', 1, 1);
  scene.collect();
  const Program program = scene.program(scene.outer());
  EXPECT_EQ(program.problem, "");
  const std::uint32_t head = group_of(program, scene.statement('H'));
  const std::uint32_t body = group_of(program, scene.statement('B'));
  ASSERT_NE(head, kNoGroup);
  ASSERT_NE(body, kNoGroup);
  const Isl<isl_map> flow = between(program, head, body);
  ASSERT_TRUE(flow);
  EXPECT_TRUE(equals(flow, fmt::format("{{ G{}[i] -> G{}[i, j] : 0 <= i < 4 and 0 <= j < 3 }}", head, body)));
}

TEST(Program, AnExitThatDataDecidesComesBeforeAllLaterIterations) {
  NestScene scene({{'B', {stores()}}, {'C', {computes()}}});
  scene.counts('C', 0, Carrier::kInner, false);
  scene.local('C', 0, scene.branch('C'), ddg::kFlagsOperand);
  scene.collect();
  const Program program = scene.program(scene.outer());
  EXPECT_EQ(program.problem, "");
  const std::uint32_t body = group_of(program, scene.statement('B'));
  const std::uint32_t latch = group_of(program, scene.statement('C'));
  ASSERT_NE(body, kNoGroup);
  ASSERT_NE(latch, kNoGroup);
  ASSERT_NE(body, latch);
  const Isl<isl_map> flow = between(program, latch, body);
  ASSERT_TRUE(flow);
  EXPECT_TRUE(equals(flow, fmt::format("{{ G{}[i, j] -> G{}[i, k] : 0 <= i < 4 and 0 <= j < k < 3 }}", latch, body)));
  expect_reach(program);
}

TEST(Program, AnOpaqueLoopIsRefusedWithItsReason) {
  NestScene scene({{'B', {stores()}}});
  scene.collect("another thread wrote it");
  EXPECT_EQ(scene.program(scene.outer()).problem, "another thread wrote it");
  const Program inner = scene.program(scene.inner());
  EXPECT_EQ(inner.problem, "") << "what is inside it is a nest of its own";
  EXPECT_EQ(inner.prefix, 1u);
  scene.collect("", "of the inner one");
  EXPECT_EQ(scene.program(scene.outer()).problem, "of the inner one");
}

TEST(Program, ANestInsideKeepsOnlyWhatHappensInOneIterationAround) {
  NestScene scene({{'B', {loads(), stores()}}});
  scene.local('B', 0, 1, 0);
  scene.flow('B', 1, 'B', 0, kMemory, Carrier::kOuter);
  scene.collect();
  const Program outer = scene.program(scene.outer());
  EXPECT_EQ(outer.problem, "");
  EXPECT_TRUE(equals(between(outer, 0, 0), "{ G0[i, 2] -> G0[i + 1, j] : 0 <= i < 3 and 0 <= j < 3 }"));
  const Program inner = scene.program(scene.inner());
  EXPECT_EQ(inner.problem, "");
  EXPECT_TRUE(inner.dependences.empty());
}

TEST(Program, FlowThatOnlyTheOuterLoopSeesIsKept) {
  NestScene scene({{'B', {loads(), stores()}}});
  scene.local('B', 0, 1, 0);
  scene.flow('B', 1, 'B', 0, kMemory, Carrier::kInner);
  scene.collect_without_last_inside();
  for (const structure::ContextId nest : {scene.outer(), scene.inner()}) {
    const Program program = scene.program(nest);
    EXPECT_EQ(program.problem, "");
    ASSERT_FALSE(program.dependences.empty());
    EXPECT_EQ(program.dependences.front().loop, scene.inner());
  }
  EXPECT_TRUE(
      equals(between(scene.program(scene.outer()), 0, 0), "{ G0[i, j] -> G0[i, j + 1] : 0 <= i < 4 and 0 <= j < 2 }"));
}

TEST(Program, TooManyStatementsAtOnce) {
  NestScene scene({{'H', {stores()}}, {'B', {stores()}}, {'T', {stores()}}});
  scene.collect();
  EXPECT_EQ(scene.program(scene.outer(), {3, 100}).problem, "");
  EXPECT_EQ(scene.program(scene.outer(), {2, 100}).problem, "3 statements, more than 2 at once");
  EXPECT_EQ(scene.program(scene.inner(), {2, 100}).problem, "");
}

TEST(Program, ANestThatLeavesNothingBehind) {
  NestScene scene({{'H', {adds()}}});
  scene.counts('H', 0, Carrier::kOuter, true);
  scene.collect();
  EXPECT_EQ(scene.program(scene.outer()).problem, "nothing in it stores or hands on a value");
}

}  // namespace
}  // namespace loopfold::poly
