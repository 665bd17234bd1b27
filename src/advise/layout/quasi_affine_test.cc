#include "advise/layout/quasi_affine.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "poly/isl.h"

namespace loopfold::layout {
namespace {

const QuasiAffine kX = QuasiAffine::name("x");
const QuasiAffine kY = QuasiAffine::name("y");

std::string c_text(const QuasiAffine& expression, bool never_negative) {
  return expression.c_text(
      {[](const std::string& name) { return "(" + name + ")"; }, [&](const QuasiAffine&) { return never_negative; }});
}

TEST(QuasiAffine, SumsAreCanonical) {
  EXPECT_EQ(kX + kY, kY + kX);
  EXPECT_EQ(kX + kY - kX, kY);
  EXPECT_EQ((kX + 2) * 3 - 6, kX * 3);
  EXPECT_TRUE((kX - kX).is_constant());
  EXPECT_FALSE(kX.quotient(2) == kX.quotient(3));
  EXPECT_EQ(QuasiAffine(-7).quotient(2), QuasiAffine(-4));
  EXPECT_EQ(QuasiAffine(-7).remainder(2), QuasiAffine(1));
}

TEST(QuasiAffine, TextForIslAndForC) {
  const QuasiAffine both = kX.quotient(32) * 2 - (kX + kY).remainder(5) + 3;
  EXPECT_EQ(both.isl_text(), "2*floor((x)/32) - ((x + y) mod 5) + 3");
  EXPECT_EQ(c_text(both, true), "2 * ((x) / 32) - ((x) + (y)) % 5 + 3");
  EXPECT_EQ(c_text(kX.quotient(4), false), "((x) / 4 - ((x) % 4 < 0))");
  EXPECT_EQ(c_text(kX.remainder(4), false), "((x) % 4 + 4) % 4");
}

TEST(QuasiAffine, TooLargeNumbersAreNoticed) {
  EXPECT_THROW(kX * (std::int64_t{1} << 62) * 4, std::overflow_error);
  EXPECT_THROW(QuasiAffine(std::int64_t{1} << 62) + (std::int64_t{1} << 62), std::overflow_error);
}

QuasiAffine random_expression(std::mt19937& random, int depth) {
  const auto number = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  QuasiAffine result = kX * number(-3, 3) + kY * number(-3, 3) + number(-9, 9);
  if (depth == 0) return result;
  const QuasiAffine inner = random_expression(random, depth - 1);
  return result + (number(0, 1) == 0 ? inner.quotient(number(1, 6)) : inner.remainder(number(1, 6))) * number(-2, 2);
}

TEST(QuasiAffine, IslAgreesOnValues) {
  std::mt19937 random(7);
  const poly::IslContext context(isl_ctx_alloc());
  for (int round = 0; round < 200; round++) {
    const QuasiAffine expression = random_expression(random, 2);
    for (int x = -5; x <= 5; x += 5) {
      for (int y = -4; y <= 4; y += 4) {
        const std::int64_t value = expression.evaluated({{"x", x}, {"y", y}});
        const QuasiAffine there = expression.substituted({{"x", x}, {"y", kY}});
        EXPECT_EQ(there.evaluated({{"y", y}}), value);
        const std::string text = "{ [x, y] -> [" + expression.isl_text() + "] : x = " + std::to_string(x) +
                                 " and y = " + std::to_string(y) + " }";
        const std::string expected = "{ [" + std::to_string(value) + "] }";
        const poly::Isl<isl_map> map(isl_map_read_from_str(context.get(), text.c_str()));
        const poly::Isl<isl_set> range(isl_map_range(map.copy()));
        const poly::Isl<isl_set> wanted(isl_set_read_from_str(context.get(), expected.c_str()));
        ASSERT_EQ(isl_set_is_equal(range.get(), wanted.get()), isl_bool_true) << text << " is not " << value;
      }
    }
  }
}

}  // namespace
}  // namespace loopfold::layout
