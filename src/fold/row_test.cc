#include "fold/row.h"

#include <gtest/gtest.h>

#include <limits>

namespace loopfold::fold {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

Row::Answer add(Row& row, std::vector<std::int64_t> point, std::vector<std::int64_t> labels) {
  return row.add(point.data(), labels.data());
}

void start(Row& row, std::vector<std::int64_t> point, std::vector<std::int64_t> labels) {
  row.start(point.data(), labels.data());
}

TEST(Row, takes_the_next_point_only) {
  Row row({2, 1, 0}, false);
  EXPECT_EQ(add(row, {0, 0}, {0}), Row::Answer::kNotNext);
  start(row, {3, 5}, {100});
  EXPECT_EQ(add(row, {3, 7}, {104}), Row::Answer::kNotNext);
  EXPECT_EQ(add(row, {4, 6}, {104}), Row::Answer::kNotNext);
  EXPECT_EQ(add(row, {3, 6}, {104}), Row::Answer::kTaken);
  EXPECT_EQ(add(row, {3, 7}, {109}), Row::Answer::kOtherLabel);
  EXPECT_EQ(add(row, {3, 7}, {108}), Row::Answer::kTaken);
  EXPECT_EQ(add(row, {3, 8}, {112}), Row::Answer::kTaken);
  EXPECT_EQ(row.length(), 4u);
}

TEST(Row, knows_what_comes_after_it) {
  Row row({3, 0, 0}, false);
  start(row, {1, 2, 3}, {});
  ASSERT_EQ(add(row, {1, 2, 4}, {}), Row::Answer::kTaken);
  const auto after = [&](std::vector<std::int64_t> point) { return row.is_before(point.data()); };
  const auto differs = [&](std::vector<std::int64_t> point) { return row.first_difference(point.data()); };
  EXPECT_FALSE(after({1, 2, 4}));
  EXPECT_FALSE(after({1, 2, 3}));
  EXPECT_FALSE(after({1, 1, 9}));
  EXPECT_TRUE(after({1, 2, 6}));
  EXPECT_TRUE(after({1, 3, 0}));
  EXPECT_EQ(differs({1, 2, 4}), 3u);
  EXPECT_EQ(differs({1, 2, 6}), 2u);
  EXPECT_EQ(differs({1, 3, 4}), 1u);
  EXPECT_EQ(differs({2, 2, 4}), 0u);
}

TEST(Row, becomes_a_polyhedron) {
  Row row({2, 2, 2}, true);
  start(row, {3, 5}, {3, 4});
  ASSERT_EQ(add(row, {3, 6}, {2, 5}), Row::Answer::kTaken);
  ASSERT_EQ(add(row, {3, 7}, {1, 0}), Row::Answer::kTaken);
  ASSERT_EQ(add(row, {3, 8}, {0, 7}), Row::Answer::kTaken);
  Polyhedron polyhedron;
  std::vector<LabelFunction> labels;
  row.finish(polyhedron, labels);
  EXPECT_TRUE(row.empty());
  EXPECT_EQ(add(row, {3, 9}, {-1, 8}), Row::Answer::kNotNext);
  EXPECT_EQ(polyhedron.minimum(0), 5);
  EXPECT_EQ(polyhedron.maximum(0), 8);
  EXPECT_EQ(polyhedron.maximum(1), 3);
  EXPECT_EQ(labels[0].coefficients.known, 1u);
  EXPECT_EQ(labels[0].coefficients.value[0], -1);
  EXPECT_EQ(labels[0].distance_minimum, 0);
  EXPECT_EQ(labels[0].distance_maximum, 3);
  EXPECT_EQ(labels[1].coefficients.top, 1u);
  EXPECT_EQ(labels[1].fingerprint.count(), 4u);
  EXPECT_EQ(labels[1].minimum, 0);
  EXPECT_EQ(labels[1].maximum, 7);
  EXPECT_EQ(labels[1].distance_minimum, 1);
  EXPECT_EQ(labels[1].distance_maximum, 7);
}

TEST(Row, ends_where_numbers_end) {
  Row row({1, 1, 0}, false);
  start(row, {kMost - 1}, {kMost - 2});
  EXPECT_EQ(add(row, {kMost}, {kMost}), Row::Answer::kTaken);
  EXPECT_EQ(add(row, {-kMost - 1}, {-kMost}), Row::Answer::kNotNext);
  Row labels({1, 1, 0}, false);
  start(labels, {0}, {kMost - 2});
  EXPECT_EQ(add(labels, {1}, {kMost - 1}), Row::Answer::kTaken);
  EXPECT_EQ(add(labels, {2}, {kMost}), Row::Answer::kTaken);
  EXPECT_EQ(add(labels, {3}, {-kMost - 1}), Row::Answer::kOtherLabel);
}

}  // namespace
}  // namespace loopfold::fold
