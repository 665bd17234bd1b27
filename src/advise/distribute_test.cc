// Splits of loops, by hand and against the definition on random flows.
#include "advise/distribute.h"

#include <gtest/gtest.h>

#include <random>

namespace loopfold::advise {
namespace {

using Lines = std::vector<std::uint32_t>;

TEST(Distribute, NothingFlows) {
  const std::vector<Part> parts = split(3, {});
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_TRUE(parts[0].parallel);
  EXPECT_EQ(parts[0].lines, (Lines{0, 1, 2}));
}

TEST(Distribute, ASequentialLineThenAParallelOne) {
  const std::vector<LineFlow> flows = {{0, 0, true}, {0, 1, false}};
  const std::vector<Part> parts = split(2, flows);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_FALSE(parts[0].parallel);
  EXPECT_EQ(parts[0].lines, Lines{0});
  EXPECT_TRUE(parts[1].parallel);
  EXPECT_EQ(parts[1].lines, Lines{1});
}

TEST(Distribute, ParallelLinesOnBothSidesOfASequentialOne) {
  const std::vector<LineFlow> flows = {{0, 1, false}, {1, 1, true}, {1, 2, false}};
  const std::vector<Part> parts = split(3, flows);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].lines, Lines{0});
  EXPECT_EQ(parts[1].lines, Lines{1});
  EXPECT_FALSE(parts[1].parallel);
  EXPECT_EQ(parts[2].lines, Lines{2});
}

TEST(Distribute, ACycleThatTheLoopCarriesOnlyInPart) {
  const std::vector<LineFlow> flows = {{0, 1, false}, {1, 0, true}};
  const std::vector<Part> parts = split(2, flows);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_FALSE(parts[0].parallel);
}

TEST(Distribute, ACycleWithinIterationsIsNoOrder) {
  const std::vector<LineFlow> flows = {{0, 1, false}, {1, 0, false}};
  const std::vector<Part> parts = split(2, flows);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_TRUE(parts[0].parallel);
}

TEST(Distribute, WhatIsCarriedBetweenTwoParallelLinesTellsThemApart) {
  const std::vector<LineFlow> flows = {{0, 1, true}};
  const std::vector<Part> parts = split(2, flows);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_TRUE(parts[0].parallel);
  EXPECT_TRUE(parts[1].parallel);
}

/// Every line is in one part; flows go forward; a parallel part has no flow of its own that is carried; and lines that
/// reach each other stay together, so that a sequential part is one because it has to.
TEST(Distribute, RandomFlows) {
  std::mt19937 random(7);
  unsigned split_up = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::size_t lines = 1 + random() % 9;
    std::vector<LineFlow> flows(random() % 14);
    for (LineFlow& flow : flows)
      flow = {static_cast<std::uint32_t>(random() % lines), static_cast<std::uint32_t>(random() % lines),
              random() % 3 == 0};
    const std::vector<Part> parts = split(lines, flows);
    std::vector<std::size_t> at(lines, parts.size());
    for (std::size_t p = 0; p < parts.size(); ++p)
      for (const std::uint32_t line : parts[p].lines) {
        ASSERT_EQ(at[line], parts.size());
        at[line] = p;
      }
    std::vector<std::vector<bool>> reaches(lines, std::vector<bool>(lines));
    for (const LineFlow& flow : flows) reaches[flow.from][flow.to] = true;
    for (std::size_t k = 0; k < lines; ++k)
      for (std::size_t i = 0; i < lines; ++i)
        for (std::size_t j = 0; j < lines; ++j)
          if (reaches[i][k] && reaches[k][j]) reaches[i][j] = true;
    for (const LineFlow& flow : flows) {
      ASSERT_LE(at[flow.from], at[flow.to]);
      ASSERT_FALSE(flow.carried && at[flow.from] == at[flow.to] && parts[at[flow.from]].parallel);
    }
    for (std::size_t p = 0; p < parts.size(); ++p)
      for (const std::uint32_t line : parts[p].lines) {
        ASSERT_LT(at[line], parts.size());
        if (parts[p].parallel) continue;
        const bool needed = std::any_of(flows.begin(), flows.end(), [&](const LineFlow& flow) {
          const bool joined = (flow.from == line || (reaches[line][flow.from] && reaches[flow.from][line])) &&
                              (flow.to == line || (reaches[line][flow.to] && reaches[flow.to][line]));
          return flow.carried && joined;
        });
        ASSERT_TRUE(needed);
      }
    split_up += parts.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(split_up, 500u);
}

}  // namespace
}  // namespace loopfold::advise
