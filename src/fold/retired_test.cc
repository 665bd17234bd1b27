#include "fold/retired.h"

#include <gtest/gtest.h>

#include <limits>

namespace loopfold::fold {
namespace {

/// `length` points from `start` (innermost coordinate first) with labels first, first + step ...
LabelledPolyhedron segment(std::vector<std::int64_t> start, std::uint64_t length, std::int64_t first,
                           std::int64_t step) {
  LabelledPolyhedron made;
  made.polyhedron.assign_row(start, length);
  made.points = length;
  made.labels.resize(1);
  made.labels[0].first = first;
  made.labels[0].coefficients.known = length > 1 ? 1 : 0;
  made.labels[0].coefficients.value[0] = step;
  made.labels[0].minimum = first;
  made.labels[0].maximum = first + step * static_cast<std::int64_t>(length - 1);
  made.labels[0].distance_minimum = -1;
  made.labels[0].distance_maximum = 4;
  return made;
}

TEST(RetiredPieces, come_back_in_the_order_of_their_first_points) {
  RetiredPieces retired({2, 1, 1});
  retired.add(segment({7, 4}, 3, 100, 5));
  retired.add(segment({2, 4}, 1, 60, 0));
  const std::vector<Piece> pieces = retired.unpack();
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].points, 1u);
  EXPECT_EQ(pieces[0].outputs[0].value, (Affine{60, {0, 0}}));
  EXPECT_EQ(pieces[1].points, 3u);
  EXPECT_TRUE(pieces[1].exact());
  EXPECT_EQ(pieces[1].ranges[0], (Range{{4, {}}, {4, {}}, 1}));
  EXPECT_EQ(pieces[1].ranges[1], (Range{{7, {0}}, {9, {0}}, 1}));
  EXPECT_EQ(pieces[1].outputs[0].value, (Affine{65, {0, 5}}));
  EXPECT_EQ(pieces[1].outputs[0].minimum, 100);
  EXPECT_EQ(pieces[1].outputs[0].maximum, 110);
  EXPECT_EQ(pieces[1].outputs[0].distance_minimum, -1);
  EXPECT_EQ(pieces[1].outputs[0].distance_maximum, 4);
}

TEST(RetiredPieces, keep_top) {
  RetiredPieces retired({2, 1, 0});
  LabelledPolyhedron piece = segment({0, 3}, 3, 100, 0);
  piece.labels[0].coefficients = {.known = 0, .top = 1, .value = {}};
  retired.add(piece);
  EXPECT_EQ(retired.unpack()[0].outputs[0].top, (std::vector<bool>{false, true}));
}

/// The count of points is a second check of the ranges.
TEST(RetiredPieces, a_wrong_number_of_points_is_not_exact) {
  RetiredPieces retired({2, 1, 0});
  LabelledPolyhedron piece = segment({0, 3}, 3, 100, 0);
  retired.add(piece);
  EXPECT_TRUE(retired.exact());
  piece.points = 4;
  retired.add(piece);
  EXPECT_FALSE(retired.exact());
  EXPECT_TRUE(retired.unpack().empty());
}

TEST(Extent, covers_points_and_polyhedra) {
  Extent extent({2, 1, 1});
  extent.add(segment({7, 4}, 3, 100, 5));
  const std::int64_t point[] = {2, 8};
  const std::int64_t label = -20;
  extent.add(point, &label);
  EXPECT_EQ(extent.points(), 4u);
  const Piece box = extent.piece();
  EXPECT_FALSE(box.exact_domain);
  EXPECT_EQ(box.ranges[0], (Range{{2, {}}, {4, {}}, 1}));
  EXPECT_EQ(box.ranges[1], (Range{{7, {0}}, {9, {0}}, 1}));
  EXPECT_EQ(box.outputs[0].minimum, -20);
  EXPECT_EQ(box.outputs[0].maximum, 110);
  EXPECT_EQ(box.outputs[0].distance_minimum, -1);
  EXPECT_EQ(box.outputs[0].distance_maximum, 22);
  EXPECT_EQ(box.outputs[0].top, (std::vector<bool>{true, true}));
}

}  // namespace
}  // namespace loopfold::fold
