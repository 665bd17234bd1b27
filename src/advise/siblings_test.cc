// Distances between two loops, against all points of random dependences.
#include "advise/siblings.h"

#include <gtest/gtest.h>

#include <random>

namespace loopfold::advise {
namespace {

fold::Output output(std::int64_t constant, std::vector<std::int64_t> coefficients) {
  fold::Output made;
  made.top.assign(coefficients.size(), false);
  made.value = {constant, std::move(coefficients)};
  return made;
}

TEST(Siblings, TheSameIteration) {
  fold::Folded map;
  map.pieces.push_back({{{{0, {}}, {9, {}}, 1}}, {output(0, {1})}, true, 10});
  const auto distances = distances_of(map, 0);
  ASSERT_TRUE(distances);
  EXPECT_EQ(distances->least, 0);
  EXPECT_EQ(distances->greatest, 0);
}

TEST(Siblings, ReversedLoopsAreFarApart) {
  fold::Folded map;
  map.pieces.push_back({{{{0, {}}, {9, {}}, 1}}, {output(9, {-1})}, true, 10});
  const auto distances = distances_of(map, 0);
  ASSERT_TRUE(distances);
  EXPECT_EQ(distances->least, -9);
  EXPECT_EQ(distances->greatest, 9);
}

TEST(Siblings, WhatIsNotAffineHasBounds) {
  fold::Folded map;
  map.pieces.push_back({{{{2, {}}, {9, {}}, 1}}, {output(0, {0})}, true, 8});
  map.pieces[0].outputs[0].top[0] = true;
  map.pieces[0].outputs[0].minimum = 1;
  map.pieces[0].outputs[0].maximum = 4;
  const auto distances = distances_of(map, 0);
  ASSERT_TRUE(distances);
  EXPECT_EQ(distances->least, -8);
  EXPECT_EQ(distances->greatest, 2);
}

TEST(Siblings, ADomainThatIsNotKnownHasNone) {
  fold::Folded map;
  map.pieces.push_back({{}, {output(0, {1})}, false, 10});
  EXPECT_FALSE(distances_of(map, 0));
}

TEST(Siblings, RandomDependencesAreNeverCloserThanTheyAre) {
  std::mt19937 random(3);
  const auto some = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  unsigned tight = 0;
  for (int round = 0; round < 2000; ++round) {
    fold::Folded map;
    const std::int64_t slope = some(-1, 1);
    const std::int64_t start = some(-2, 2);
    map.pieces.push_back({{{{start, {}}, {start + some(0, 5), {}}, 1}, {{0, {slope}}, {some(4, 8), {slope}}, 1}},
                          {output(some(-3, 3), {some(-2, 2), some(-2, 2)}), output(0, {0, 1})},
                          true,
                          0});
    const fold::Piece& piece = map.pieces[0];
    for (std::size_t c = 0; c < 2; ++c) {
      std::int64_t least = 1000;
      std::int64_t most = -1000;
      for (std::int64_t i = piece.ranges[0].lower.constant; i <= piece.ranges[0].upper.constant; ++i)
        for (std::int64_t j = slope * i; j <= piece.ranges[1].upper.constant + slope * i; ++j) {
          const fold::Affine& value = piece.outputs[c].value;
          const std::int64_t d =
              value.constant + value.coefficients[0] * i + value.coefficients[1] * j - (c == 0 ? i : j);
          least = std::min(least, d);
          most = std::max(most, d);
        }
      const auto distances = distances_of(map, c);
      ASSERT_TRUE(distances);
      EXPECT_LE(distances->least, least);
      EXPECT_GE(distances->greatest, most);
      tight += distances->least == least && distances->greatest == most ? 1 : 0;
    }
  }
  EXPECT_EQ(tight, 4000u);  // with bounds that are whole numbers
}

}  // namespace
}  // namespace loopfold::advise
