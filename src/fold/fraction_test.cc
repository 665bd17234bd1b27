#include "fold/fraction.h"

#include <gtest/gtest.h>

#include <limits>

namespace loopfold::fold {
namespace {

TEST(Fraction, CoefficientsGetOneDivisor) {
  Fraction fraction(3);
  ASSERT_TRUE(fraction.set(0, 1, 3));
  ASSERT_TRUE(fraction.set(1, -6, -4));
  ASSERT_TRUE(fraction.set(2, 10, -5));
  Affine value;
  std::int64_t divisor = 0;
  ASSERT_TRUE(fraction.reduced(value, divisor));
  EXPECT_EQ(divisor, 6);
  EXPECT_EQ(value, (Affine{0, {2, 9, -12}}));
}

TEST(Fraction, IsReducedWithItsConstant) {
  Fraction fraction({6, {4, -10}}, 8);
  Affine value;
  std::int64_t divisor = 0;
  ASSERT_TRUE(fraction.reduced(value, divisor));
  EXPECT_EQ(divisor, 4);
  EXPECT_EQ(value, (Affine{3, {2, -5}}));
  fraction.constant = 1;
  ASSERT_TRUE(fraction.reduced(value, divisor));
  EXPECT_EQ(divisor, 8);
  ASSERT_TRUE(fraction.set(0, 0, 7));
  ASSERT_TRUE(fraction.set(1, 5, 1));
  fraction.constant = 16;
  ASSERT_TRUE(fraction.reduced(value, divisor));
  EXPECT_EQ(divisor, 1);
  EXPECT_EQ(value, (Affine{2, {0, 5}}));
}

TEST(Fraction, WhatDoesNotFitIsRefused) {
  const Wide large = static_cast<Wide>(1) << 100;
  Affine value;
  std::int64_t divisor = 0;
  Fraction fraction(1);
  ASSERT_TRUE(fraction.set(0, large, 1));
  EXPECT_FALSE(fraction.reduced(value, divisor));
  ASSERT_TRUE(fraction.set(0, large, 3 * large));
  ASSERT_TRUE(fraction.reduced(value, divisor));
  EXPECT_EQ(divisor, 3);
  EXPECT_TRUE(fraction.extend(large));
  EXPECT_FALSE(fraction.extend(large));
}

TEST(Fraction, ShortAndLongNumbersAreDividedAlike) {
  const Wide lowest = std::numeric_limits<std::int64_t>::min();
  const Wide highest = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(gcd(lowest, 0) == -lowest);
  EXPECT_TRUE(gcd(lowest, lowest) == -lowest);
  EXPECT_TRUE(gcd(lowest, 6) == 2);
  EXPECT_TRUE(gcd(-lowest, 6) == 2);
  EXPECT_TRUE(gcd(highest, -7) == 7);
  EXPECT_TRUE(gcd(0, 0) == 0);
  EXPECT_TRUE(quotient(lowest, -1) == -lowest);
  EXPECT_TRUE(quotient(lowest, lowest) == 1);
  EXPECT_TRUE(quotient(-7, 2) == -3);
  EXPECT_TRUE(quotient(4 * lowest, 4) == lowest);
  EXPECT_TRUE(quotient(highest, 2 * lowest) == 0);
}

}  // namespace
}  // namespace loopfold::fold
