// What a new order must keep: flow in a nest of two loops that is made by hand.
#include "poly/region_flow.h"

#include <gtest/gtest.h>

#include "poly/nest_testing.h"

namespace loopfold::poly {
namespace {

using testing::adds;
using testing::computes;
using testing::loads;
using testing::NestScene;
using testing::stores;
using Carrier = NestScene::Carrier;
using Where = KeptFlow::Where;

constexpr std::uint8_t kMemory = ddg::kFirstMemoryOperand;

const KeptFlow* find(const FlowOfLoop& loop, CodePoint from, CodePoint to, Where where) {
  for (const KeptFlow& flow : loop.flows)
    if (flow.from == from && flow.to == to && flow.where == where) return &flow;
  return nullptr;
}

TEST(RegionFlow, IndexValuesAreLeftOut) {
  NestScene scene({{'H', {adds()}}, {'B', {stores()}}});
  scene.counts('H', 0, Carrier::kOuter, true);
  scene.flow('H', 0, 'B', 0, 0);
  const RegionFlow& flow = scene.collect();
  EXPECT_TRUE(flow.is_index(scene.at('H', 0)));
  ASSERT_EQ(flow.loops().size(), 2u);
  EXPECT_EQ(flow.loops()[0].parallel, Parallel::kYes);
  for (const FlowOfLoop& loop : flow.loops()) {
    EXPECT_TRUE(loop.flows.empty());
    EXPECT_TRUE(loop.exits.empty());
    EXPECT_TRUE(loop.doubt.empty());
  }
}

TEST(RegionFlow, DataIsKeptWhereItIsCarriedAndWhereItGoes) {
  NestScene scene({{'H', {computes()}}, {'B', {stores()}}});
  scene.counts('H', 0, Carrier::kOuter, false);
  scene.flow('H', 0, 'B', 0, 0);
  const RegionFlow& flow = scene.collect();
  EXPECT_FALSE(flow.is_index(scene.at('H', 0)));
  const FlowOfLoop& outer = flow.loops()[0];
  const KeptFlow* const carried = find(outer, scene.at('H', 0), scene.at('H', 0), Where::kCarried);
  ASSERT_NE(carried, nullptr);
  EXPECT_EQ(carried->least, 1);
  EXPECT_EQ(carried->greatest, 1);
  EXPECT_TRUE(carried->direct);
  EXPECT_NE(find(outer, scene.at('H', 0), scene.at('B', 0), Where::kInside), nullptr);
  EXPECT_EQ(outer.flows.size(), 2u);
  EXPECT_TRUE(flow.loops()[1].flows.empty());
}

TEST(RegionFlow, WhatInnerLoopsKnowIsTheirs) {
  NestScene scene({{'B', {loads(), stores()}}});
  scene.local('B', 0, 1, 0);
  scene.flow('B', 1, 'B', 0, kMemory, Carrier::kInner);
  const RegionFlow& flow = scene.collect();
  EXPECT_TRUE(flow.loops()[0].flows.empty()) << "of the outer loop's iterations each has its own";
  EXPECT_NE(find(flow.loops()[1], scene.at('B', 1), scene.at('B', 0), Where::kCarried), nullptr);
  EXPECT_EQ(flow.loops()[1].parallel, Parallel::kNo);
}

TEST(RegionFlow, WhatOnlyTheOuterLoopSeesIsKeptAtAnyDistance) {
  NestScene scene({{'B', {loads(), stores()}}});
  scene.local('B', 0, 1, 0);
  scene.flow('B', 1, 'B', 0, kMemory, Carrier::kInner);
  const RegionFlow& flow = scene.collect_without_last_inside();
  EXPECT_NE(find(flow.loops()[0], scene.at('B', 1), scene.at('B', 0), Where::kWithin), nullptr);
  EXPECT_EQ(find(flow.loops()[1], scene.at('B', 1), scene.at('B', 0), Where::kCarried), nullptr);
}

TEST(RegionFlow, TheTestOfALoopAndWhatLeadsToIt) {
  NestScene scene({{'B', {stores()}}, {'C', {adds(), adds(), computes()}}});
  scene.counts('C', 0, Carrier::kInner, true);
  scene.local('C', 0, 1, 0);
  scene.local('C', 1, scene.branch('C'), ddg::kFlagsOperand);
  const RegionFlow& flow = scene.collect();
  const FlowOfLoop& inner = flow.loops()[1];
  EXPECT_TRUE(inner.tests.contains(scene.at('C', scene.branch('C'))));
  EXPECT_TRUE(inner.tests.contains(scene.at('C', 0)));
  EXPECT_TRUE(inner.tests.contains(scene.at('C', 1)));
  EXPECT_FALSE(inner.tests.contains(scene.at('C', 2))) << "not on the way to the branch";
  EXPECT_FALSE(inner.tests.contains(scene.at('B', 0)));
  EXPECT_TRUE(inner.exits.empty()) << "index values decide";
}

TEST(RegionFlow, AnExitThatDataDecides) {
  NestScene scene({{'B', {stores()}}, {'C', {computes()}}});
  scene.counts('C', 0, Carrier::kInner, false);
  scene.local('C', 0, scene.branch('C'), ddg::kFlagsOperand);
  const RegionFlow& flow = scene.collect();
  EXPECT_EQ(flow.loops()[1].exits, std::vector<CodePoint>{scene.at('C', scene.branch('C'))});
  EXPECT_EQ(flow.loops()[1].parallel, Parallel::kNo);
  EXPECT_TRUE(flow.loops()[0].exits.empty());
}

TEST(RegionFlow, ADoubtMakesALoopOpaque) {
  NestScene scene({{'B', {stores()}}});
  const RegionFlow& flow = scene.collect("another thread wrote it");
  EXPECT_EQ(flow.loops()[0].doubt, "another thread wrote it");
  EXPECT_TRUE(flow.loops()[1].doubt.empty());
}

TEST(RegionFlow, TheLoopAroundBoth) {
  NestScene scene({});
  const RegionFlow& flow = scene.collect();
  EXPECT_EQ(flow.loop_around(scene.context('H'), scene.context('B')), scene.outer());
  EXPECT_EQ(flow.loop_around(scene.context('B'), scene.context('C')), scene.inner());
  EXPECT_EQ(flow.loop_around(scene.context('H'), scene.context('T')), scene.outer());
  EXPECT_EQ(flow.loop_around(scene.inner()), scene.inner());
}

}  // namespace
}  // namespace loopfold::poly
