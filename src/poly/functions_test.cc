#include "poly/functions.h"

#include <gtest/gtest.h>

#include <random>

#include "poly/testing.h"

namespace loopfold::poly {
namespace {

using testing::box_piece;
using testing::fold_of;
using testing::linear_output;
using Coefficients = std::vector<Coefficient>;

fold::Piece linear_piece(const std::vector<std::pair<std::int64_t, std::int64_t>>& bounds, std::int64_t constant,
                         const std::vector<std::int64_t>& coefficients) {
  fold::Piece piece = box_piece(bounds);
  piece.outputs.push_back(linear_output(piece, constant, coefficients));
  return piece;
}

/// Makes the label a remainder, in 0 .. modulus - 1.
void wrap_around(fold::Piece& piece, std::int64_t modulus) {
  fold::Output& output = piece.outputs[0];
  output.modulus = modulus;
  output.minimum = modulus;
  output.maximum = 0;
  for (std::int64_t i = piece.ranges[0].lower.constant; i <= piece.ranges[0].upper.constant; i++)
    for (std::int64_t j = piece.ranges[1].lower.constant; j <= piece.ranges[1].upper.constant; j++) {
      std::int64_t label = 0;
      const std::int64_t point[] = {i, j};
      ASSERT_TRUE(fold::evaluate(output, point, label));
      output.minimum = std::min(output.minimum, label);
      output.maximum = std::max(output.maximum, label);
    }
}

TEST(CommonFunction, one_piece_is_itself) {
  const fold::Folded folded = fold_of({linear_piece({{0, 0}, {0, 9}, {2, 4}}, 16, {0, 80, 8})});
  const CommonFunction function = common_function(folded, 0, false);
  EXPECT_EQ(function.coefficients, Coefficients({0, 80, 8}));
  EXPECT_EQ(function.constant, 16);
  EXPECT_EQ(common_function(folded, 0, true).coefficients, Coefficients({80, 8}));
}

TEST(CommonFunction, pieces_that_differ_have_none) {
  const fold::Folded folded =
      fold_of({linear_piece({{0, 4}, {0, 9}}, 0, {8, 1}), linear_piece({{5, 9}, {0, 9}}, 0, {16, 1})});
  const CommonFunction function = common_function(folded, 0, false);
  EXPECT_EQ(function.coefficients, Coefficients({std::nullopt, 1}));
  EXPECT_EQ(function.constant, std::nullopt);
  EXPECT_FALSE(function.affine());
}

TEST(CommonFunction, pieces_with_another_constant_share_coefficients) {
  const fold::Folded folded = fold_of({linear_piece({{0, 4}}, 0, {8}), linear_piece({{5, 9}}, 100, {8})});
  const CommonFunction function = common_function(folded, 0, false);
  EXPECT_EQ(function.coefficients, Coefficients{8});
  EXPECT_EQ(function.constant, std::nullopt);
}

TEST(CommonFunction, a_peeled_iteration_fits) {
  const fold::Folded fits = fold_of({linear_piece({{2, 2}}, 26, {0}), linear_piece({{3, 9}}, 10, {8})});
  EXPECT_EQ(common_function(fits, 0, false).coefficients, Coefficients{8});
  EXPECT_EQ(common_function(fits, 0, false).constant, 10);
  const fold::Folded other = fold_of({linear_piece({{2, 2}}, 27, {0}), linear_piece({{3, 9}}, 10, {8})});
  EXPECT_EQ(common_function(other, 0, false).coefficients, Coefficients{8});
  EXPECT_EQ(common_function(other, 0, false).constant, std::nullopt);
}

TEST(CommonFunction, points_that_have_nothing_in_common) {
  const fold::Folded moves = fold_of({linear_piece({{0, 0}}, 3, {0}), linear_piece({{5, 5}}, 90, {0})});
  EXPECT_EQ(common_function(moves, 0, false).coefficients, Coefficients{std::nullopt});
  const fold::Folded stays = fold_of({linear_piece({{0, 0}}, 3, {0}), linear_piece({{5, 5}}, 3, {0})});
  EXPECT_EQ(common_function(stays, 0, false).coefficients, Coefficients{0});
  EXPECT_EQ(common_function(stays, 0, false).constant, 3);
}

TEST(CommonFunction, top_and_modulus_are_missing) {
  fold::Folded folded = fold_of({linear_piece({{0, 9}, {0, 9}}, 0, {4, 8})});
  folded.pieces[0].outputs[0].top[0] = true;
  EXPECT_EQ(common_function(folded, 0, false).coefficients, Coefficients({std::nullopt, 8}));
  EXPECT_EQ(common_function(folded, 0, false).constant, std::nullopt);
  EXPECT_EQ(coefficients_of(folded.pieces[0].outputs[0], false), Coefficients({std::nullopt, 8}));
  folded = fold_of({linear_piece({{0, 9}, {0, 9}}, 0, {32, 8})});
  folded.pieces[0].outputs[0].modulus = 32;
  EXPECT_EQ(common_function(folded, 0, false).coefficients, Coefficients({0, std::nullopt}));
  EXPECT_EQ(coefficients_of(folded.pieces[0].outputs[0], true), Coefficients{8});
}

TEST(CommonFunction, fractions_are_missing) {
  fold::Folded folded = fold_of({linear_piece({{0, 9}, {0, 9}}, 6, {3, 2})});
  folded.pieces[0].ranges[1].stride = 3;
  folded.pieces[0].outputs[0].divisor = 3;
  EXPECT_EQ(common_function(folded, 0, false).coefficients, Coefficients({1, std::nullopt}));
  EXPECT_EQ(common_function(folded, 0, false).constant, std::nullopt);
  EXPECT_EQ(coefficients_of(folded.pieces[0].outputs[0], false), Coefficients({3, 2}));
  folded.pieces[0].ranges[1] = {{6, {0}}, {6, {0}}, 1};
  EXPECT_EQ(common_function(folded, 0, false).coefficients, Coefficients({1, 0}));
  EXPECT_EQ(common_function(folded, 0, false).constant, 6);
}

TEST(CommonFunction, no_overflow) {
  const std::int64_t most = INT64_MAX;
  const fold::Folded folded = fold_of({linear_piece({{2, 2}}, most, {0}), linear_piece({{3, 3}}, most, {0})});
  fold::Folded wild = folded;
  wild.pieces[0].outputs[0].value = {most, {most}};
  wild.pieces[1].ranges[0].upper.constant = 9;
  wild.pieces[1].outputs[0].value = {-most, {-most}};
  EXPECT_EQ(common_function(wild, 0, false).coefficients, Coefficients{-most});
  EXPECT_EQ(common_function(wild, 0, false).constant, std::nullopt);
}

/// Whatever is claimed is right at every point: compared with the pieces themselves, point by point.
TEST(CommonFunction, claims_hold_at_every_point) {
  std::mt19937 random(1);
  const auto number = [&](int low, int high) {
    return low + static_cast<std::int64_t>(random() % static_cast<unsigned>(high - low + 1));
  };
  int affine = 0;
  for (int round = 0; round < 3000; round++) {
    std::vector<fold::Piece> pieces;
    std::int64_t at = 0;
    for (std::int64_t i = number(1, 3); i > 0; i--) {
      const std::int64_t end = at + number(0, 2);
      pieces.push_back(linear_piece({{at, end}, {0, number(0, 2)}}, number(0, 2), {number(0, 1), number(0, 1)}));
      if (random() % 4 == 0) wrap_around(pieces.back(), number(1, 3));
      at = end + 1;
    }
    const fold::Folded folded = fold_of(std::move(pieces));
    const CommonFunction function = common_function(folded, 0, false);
    if (!function.constant) continue;
    affine++;
    for (const fold::Piece& piece : folded.pieces)
      for (std::int64_t i = piece.ranges[0].lower.constant; i <= piece.ranges[0].upper.constant; i++)
        for (std::int64_t j = piece.ranges[1].lower.constant; j <= piece.ranges[1].upper.constant; j++) {
          std::int64_t label = 0;
          const std::int64_t point[] = {i, j};
          ASSERT_TRUE(fold::evaluate(piece.outputs[0], point, label));
          ASSERT_EQ(*function.constant + *function.coefficients[0] * i + *function.coefficients[1] * j, label);
        }
  }
  EXPECT_GT(affine, 300);
}

}  // namespace
}  // namespace loopfold::poly
