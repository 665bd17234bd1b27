#include "poly/folded_maps.h"

#include <gtest/gtest.h>
#include <isl/options.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>

#include "fold/test_points.h"

namespace loopfold::poly {
namespace {

using fold::Folded;
using fold::Output;
using fold::Piece;
using fold::Shape;
using fold::TextOptions;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

class FoldedMaps : public ::testing::Test {
 protected:
  ~FoldedMaps() override { isl_ctx_free(isl_); }

  void expect_same(const Folded& folded, const TextOptions& options) {
    const std::string text = fold::domain_text(folded, "S", options);
    const Isl<isl_set> read(isl_set_read_from_str(isl_, text.c_str()));
    const Isl<isl_set> made = set_of(isl_, domain_pieces(folded, options), "S");
    EXPECT_EQ(isl_set_is_equal(read.get(), made.get()), isl_bool_true) << text << "\n"
                                                                       << take_text(isl_set_to_str(made.get()));
    not_empty_ += isl_set_is_empty(made.get()) == isl_bool_false ? 1 : 0;
  }
  void expect_same(const Folded& folded, Shape shape, const TextOptions& options, const std::string& from = "A",
                   const std::string& to = "B") {
    const std::string text = fold::dependence_text(folded, shape, from, to, options);
    const Isl<isl_map> read(isl_map_read_from_str(isl_, text.c_str()));
    const Isl<isl_map> made = map_of(isl_, dependence_pieces(folded, shape, options), from, to);
    EXPECT_EQ(isl_map_is_equal(read.get(), made.get()), isl_bool_true) << text << "\n"
                                                                       << take_text(isl_map_to_str(made.get()));
    not_empty_ += isl_map_is_empty(made.get()) == isl_bool_false ? 1 : 0;
  }

  isl_ctx* isl_ = isl_ctx_alloc();
  int not_empty_ = 0;
};

/// Pieces of all forms that folding may give, and some that it hardly will.
class RandomFolded {
 public:
  explicit RandomFolded(unsigned seed) : random_(seed) {}

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool chance(int percent) { return pick(0, 99) < percent; }

  Folded make(Shape shape, const TextOptions& options) {
    Folded folded;
    for (std::int64_t n = pick(1, 3); n > 0; --n) folded.pieces.push_back(piece(shape, options));
    return folded;
  }

 private:
  fold::Affine affine(std::size_t count, int steep) {
    fold::Affine made;
    made.constant = pick(-4, 4);
    for (std::size_t k = 0; k < count; ++k) made.coefficients.push_back(chance(steep) ? pick(-2, 2) : 0);
    return made;
  }

  Piece piece(Shape shape, const TextOptions& options) {
    Piece made;
    for (std::size_t k = 0; k < shape.dimensions; ++k) {
      fold::Range& range = made.ranges.emplace_back();
      range.lower = affine(k, 30);
      range.upper = range.lower;
      if (!chance(30)) range.upper.constant += pick(0, 9);
      if (k > 0 && chance(30)) range.upper.coefficients[0] += pick(0, 1);
      if (chance(15)) range.stride = pick(2, 4);
      if (k > 0 && chance(15)) range.divisor = pick(2, 3);
      if (k == 0 && options.drop_first_in) range = {{0, {}}, {0, {}}, 1};
    }
    for (std::size_t o = 0; o < shape.outputs; ++o) made.outputs.push_back(output(shape, o));
    if (options.drop_first_out && shape.outputs > 0) {
      made.outputs[0] = {};
      made.outputs[0].value.coefficients.assign(shape.dimensions, 0);
      made.outputs[0].top.assign(shape.dimensions, false);
    }
    return made;
  }

  Output output(Shape shape, std::size_t o) {
    Output made;
    made.value = affine(shape.dimensions, 50);
    made.top.assign(shape.dimensions, false);
    if (o < shape.dimensions && chance(30)) {  // a coordinate, or one before it
      std::fill(made.value.coefficients.begin(), made.value.coefficients.end(), 0);
      made.value.coefficients[o] = 1;
      made.value.constant = pick(-1, 0);
    }
    made.minimum = pick(-9, 3);
    made.maximum = made.minimum + pick(0, 9);
    made.distance_minimum = pick(-2, 2);
    made.distance_maximum = made.distance_minimum + pick(0, 4);
    if (chance(10)) made.distance_minimum = kLeast;
    if (chance(10)) made.distance_maximum = kMost;
    if (chance(10)) made.divisor = pick(2, 3);
    if (chance(10)) {
      made.modulus = pick(2, 5);
      made.base = pick(-3, 3);
    } else if (shape.dimensions > 0 && chance(35)) {
      made.top[static_cast<std::size_t>(pick(0, shape.dimensions - 1))] = true;
    }
    return made;
  }

  std::mt19937 random_;
};

TEST_F(FoldedMaps, AllFormsMeanWhatTheirTextsMean) {
  RandomFolded random(7);
  for (int round = 0; round < 1500; ++round) {
    Shape shape;
    shape.dimensions = static_cast<std::uint16_t>(random.pick(0, 3));
    shape.outputs = static_cast<std::uint16_t>(random.pick(0, 3));
    shape.shared = static_cast<std::uint16_t>(random.pick(0, std::min(shape.dimensions, shape.outputs)));
    TextOptions options;
    options.drop_first_in = shape.dimensions > 0 && random.chance(30);
    options.drop_first_out = shape.outputs > 0 && random.chance(30);
    options.hide_last_in = shape.dimensions > shape.shared + (options.drop_first_in ? 1 : 0) && random.chance(20);
    options.may_be_equal = random.chance(70);
    const Folded folded = random.make(shape, options);
    expect_same(folded, shape, options);
    expect_same(folded, options);
    if (HasFailure()) return;
  }
  EXPECT_GT(not_empty_, 1500);
}

TEST_F(FoldedMaps, LargeNumbersAndNoNames) {
  Folded folded;
  Piece& piece = folded.pieces.emplace_back();
  piece.ranges = {{{kLeast, {}}, {kMost, {}}, 1}, {{kMost, {}}, {kMost, {}}, 1}, {{-5, {0, 3}}, {7, {0, 3}}, 1}};
  piece.outputs.resize(2);
  piece.outputs[0].value = {kLeast, {kMost, kMost, -1}};
  piece.outputs[0].top = {false, false, false};
  piece.outputs[1].value = {0, {0, 0, 0}};
  piece.outputs[1].top = {true, false, false};
  piece.outputs[1].minimum = kLeast;
  piece.outputs[1].maximum = kMost;
  piece.outputs[1].distance_minimum = kLeast;
  piece.outputs[1].distance_maximum = kMost;
  expect_same(folded, {});
  expect_same(folded, {3, 2, 2}, {}, "", "");
  EXPECT_EQ(not_empty_, 2);
}

TEST_F(FoldedMaps, PlainPiecesNeedNoQuantifiedVariables) {
  fold::test_points::Stream stream{{2, 2, 2}, {}};
  for (std::int64_t i = 1; i < 12; ++i)
    for (std::int64_t j = 0; j < 14; ++j) stream.points.push_back({{i, j}, {i - 1, j == 5 ? i * i % 7 : j}});
  const Folded folded = fold::test_points::fold_all(stream);
  const LinearPieces pieces = dependence_pieces(folded, stream.shape);
  EXPECT_TRUE(
      std::all_of(pieces.all.begin(), pieces.all.end(), [](const LinearPiece& p) { return p.quantified == 0; }));
  expect_same(folded, stream.shape, {});
}

TEST_F(FoldedMaps, WhatReadsTheSameIsEqual) {
  RandomFolded random(3);
  std::map<std::string, LinearPieces> known;
  int again = 0;
  const Shape shape{1, 1, 1};
  for (int round = 0; round < 20000; ++round) {
    const Folded folded = random.make(shape, {});
    const LinearPieces pieces = dependence_pieces(folded, shape);
    const auto [other, is_new] = known.try_emplace(fold::dependence_text(folded, shape, "A", "B"), pieces);
    again += is_new ? 0 : 1;
    ASSERT_EQ(other->second, pieces) << other->first;
  }
  EXPECT_GT(again, 100);
}

TEST_F(FoldedMaps, NoPiecesAreAnError) {
  isl_options_set_on_error(isl_, ISL_ON_ERROR_CONTINUE);
  EXPECT_FALSE(set_of(isl_, domain_pieces({}), "S"));
  EXPECT_NE(isl_ctx_last_error(isl_), isl_error_none);
  EXPECT_FALSE(map_of(isl_, dependence_pieces({}, {1, 1, 1}), "A", "B"));
}

}  // namespace
}  // namespace loopfold::poly
