#include "fold/polyhedron.h"

#include <gtest/gtest.h>

namespace loopfold::fold {
namespace {

/// Innermost coordinate first.
Polyhedron row(std::vector<std::int64_t> start, std::uint64_t length) {
  Polyhedron polyhedron;
  polyhedron.assign_row(start, length);
  return polyhedron;
}

/// Rows of these lengths and starts, one after the other along dimension 1, at coordinate `third` of dimension 2.
Polyhedron slice(const std::vector<std::pair<std::int64_t, std::uint64_t>>& rows, std::int64_t third) {
  Polyhedron grown = row({rows[0].first, 0, third}, rows[0].second);
  for (std::size_t j = 1; j < rows.size(); ++j) {
    const Polyhedron next = row({rows[j].first, static_cast<std::int64_t>(j), third}, rows[j].second);
    if (j == 1) {
      Polyhedron merged;
      EXPECT_TRUE(grown.merge(next, 1, merged));
      grown = merged;
    } else {
      EXPECT_TRUE(grown.can_extend(next, 1));
      grown.extend(next);
    }
  }
  return grown;
}

TEST(Polyhedron, a_point_and_a_segment) {
  const Polyhedron point = row({4, 7}, 1);
  EXPECT_EQ(point.vertices(), 1u);
  EXPECT_TRUE(point.flat(0));
  const Polyhedron segment = row({4, 7}, 5);
  EXPECT_EQ(segment.vertices(), 2u);
  EXPECT_EQ(segment.minimum(0), 4);
  EXPECT_EQ(segment.maximum(0), 8);
  EXPECT_TRUE(segment.flat(1));
  EXPECT_TRUE(segment.constant_bounds(0));
}

TEST(Polyhedron, figure_7_a_square_and_a_triangle_do_not_merge) {
  const Polyhedron square = slice({{0, 2}, {0, 2}}, 0);
  const Polyhedron triangle = slice({{0, 1}, {0, 2}}, 1);
  const Polyhedron other_square = slice({{0, 2}, {0, 2}}, 1);
  Polyhedron merged;
  EXPECT_FALSE(square.merge(triangle, 2, merged));
  EXPECT_TRUE(square.merge(other_square, 2, merged));
  EXPECT_EQ(merged.vertices(), 8u);
}

TEST(Polyhedron, vertices_must_be_within_reach) {
  Polyhedron merged;
  EXPECT_TRUE(row({0, 0}, 5).merge(row({0, 1}, 6), 1, merged));
  EXPECT_TRUE(row({0, 0}, 5).merge(row({-1, 1}, 5), 1, merged));
  EXPECT_FALSE(row({0, 0}, 5).merge(row({0, 1}, 7), 1, merged));
  EXPECT_FALSE(row({0, 0}, 5).merge(row({0, 2}, 5), 1, merged));
  EXPECT_FALSE(row({0, 0}, 5).merge(row({2, 1}, 5), 1, merged));
  EXPECT_FALSE(row({0, 0}, 1).merge(row({0, 1}, 3), 1, merged));
}

TEST(Polyhedron, extension_follows_the_edges) {
  const Polyhedron triangle = slice({{0, 1}, {0, 2}, {0, 3}}, 0);
  Coordinates next{};
  ASSERT_TRUE(triangle.next_anchor(1, next));
  EXPECT_EQ(next[0], 0);
  EXPECT_EQ(next[1], 3);
  EXPECT_TRUE(triangle.can_extend(row({0, 3, 0}, 4), 1));
  EXPECT_FALSE(triangle.can_extend(row({0, 3, 0}, 3), 1));
  EXPECT_FALSE(triangle.can_extend(row({1, 3, 0}, 3), 1));
  const Polyhedron shrinking = slice({{0, 3}, {1, 2}}, 0);
  EXPECT_TRUE(shrinking.can_extend(row({2, 2, 0}, 1), 1));
}

TEST(Polyhedron, bounds) {
  const Polyhedron trapezoid = slice({{5, 3}, {4, 5}, {3, 7}}, 9);
  Bound bound;
  ASSERT_TRUE(trapezoid.bound(0, false, bound));
  EXPECT_EQ(bound.constant, 5);
  EXPECT_EQ(bound.coefficients[1], -1);
  ASSERT_TRUE(trapezoid.bound(0, true, bound));
  EXPECT_EQ(bound.constant, 7);
  EXPECT_EQ(bound.coefficients[1], 1);
  ASSERT_TRUE(trapezoid.bound(2, true, bound));
  EXPECT_EQ(bound.constant, 9);
  EXPECT_FALSE(trapezoid.constant_bounds(0));
  EXPECT_TRUE(trapezoid.constant_bounds(1));
}

/// A diagonal is flat along the inner dimension, though it moves; the next slice is not.
TEST(Polyhedron, a_diagonal_widens) {
  const Polyhedron diagonal = slice({{0, 1}, {1, 1}, {2, 1}}, 0);
  EXPECT_TRUE(diagonal.flat(0));
  EXPECT_FALSE(diagonal.constant_bounds(0));
  Polyhedron merged;
  ASSERT_TRUE(diagonal.merge(slice({{0, 2}, {1, 2}, {2, 2}}, 1), 2, merged));
  Bound bound;
  ASSERT_TRUE(merged.bound(0, true, bound));
  EXPECT_EQ(bound.coefficients[1], 1);
  EXPECT_EQ(bound.coefficients[2], 1);
  EXPECT_FALSE(diagonal.merge(slice({{0, 1}, {0, 1}, {0, 1}}, 1), 2, merged));
}

TEST(Polyhedron, a_bound_that_does_not_fit) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  Polyhedron merged;
  ASSERT_TRUE(row({10, kLeast}, 3).merge(row({10, kLeast + 1}, 3), 1, merged));
  EXPECT_FALSE(row({10, kLeast}, 3).merge(row({10, kLeast + 1}, 4), 1, merged));
}

TEST(Polyhedron, points_are_counted) {
  const Affine zero{0, {}};
  const std::vector<Range> triangle{{zero, {9, {}}, 1}, {{0, {0}}, {0, {1}}, 1}, {{0, {0, 0}}, {4, {0, 0}}, 1}};
  std::uint64_t count = 0;
  ASSERT_TRUE(count_points(triangle, 1000, count));
  EXPECT_EQ(count, 55u * 5);
  EXPECT_FALSE(count_points(triangle, 5, count));
  const std::vector<Range> large{{zero, {1'000'000'000, {}}, 1}, {{0, {0}}, {999, {0}}, 1}};
  ASSERT_TRUE(count_points(large, 10, count));
  EXPECT_EQ(count, 1'000'000'001'000u);
  const std::vector<Range> strided{{zero, {10, {}}, 3}};
  ASSERT_TRUE(count_points(strided, 10, count));
  EXPECT_EQ(count, 4u);
}

}  // namespace
}  // namespace loopfold::fold
