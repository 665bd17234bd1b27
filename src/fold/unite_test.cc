#include <gtest/gtest.h>

#include <array>

#include "fold/test_points.h"

namespace loopfold::fold {
namespace {

using test_points::check;
using test_points::fold_all;
using test_points::Stream;
using test_points::text;
using test_points::Vector;

/// Folds the points of every first coordinate on its own, in `order`, and unites.
Folded in_parts(const Stream& stream, std::int64_t parts, bool backwards = false) {
  std::vector<Folded> folded;
  for (std::int64_t part = 0; part < parts; ++part) {
    Stream own{stream.shape, {}};
    for (const auto& p : stream.points)
      if (p.point[0] == (backwards ? parts - 1 - part : part)) own.points.push_back(p);
    folded.push_back(fold_all(own));
  }
  return unite(std::move(folded), stream.shape);
}

template <typename Wanted, typename Label>
Stream threads(std::int64_t count, const Wanted& wanted, const Label& label) {
  Stream stream{{3, 1, 1}, {}};
  for (std::int64_t thread = 0; thread < count; ++thread)
    for (std::int64_t i = 0; i < 8; ++i)
      for (std::int64_t j = 0; j < 9; ++j)
        if (wanted(thread, i, j)) stream.points.push_back({{thread, i, j}, {label(thread, i, j)}});
  return stream;
}

constexpr auto kAll = [](auto, auto, auto) { return true; };

TEST(Unite, NothingAndOnePart) {
  EXPECT_TRUE(unite({}, {2, 1, 0}).pieces.empty());
  const Stream one = threads(1, kAll, [](auto, auto i, auto j) { return i + j; });
  EXPECT_EQ(unite({fold_all(one)}, one.shape).pieces, fold_all(one).pieces);
}

TEST(Unite, ThreadsThatDoTheSameAreOnePiece) {
  for (const bool backwards : {false, true}) {
    const Stream stream = threads(5, kAll, [](auto t, auto i, auto j) { return 1000 * t + 10 * i + j; });
    const Folded folded = in_parts(stream, 5, backwards);
    EXPECT_EQ(check(stream, folded), "") << text(folded);
    EXPECT_EQ(folded.pieces, fold_all(stream).pieces) << text(folded);
  }
  const Stream slanted = threads(
      5, [](auto t, auto i, auto j) { return i <= t + 1 && j >= i - t; },
      [](auto t, auto i, auto j) { return t - i + j; });
  EXPECT_EQ(check(slanted, in_parts(slanted, 5)), "");
}

TEST(Unite, SeveralPiecesPerThread) {
  const Stream stream =
      threads(6, kAll, [](auto t, auto i, auto j) { return j == 0 ? 5000 + 7 * t : 100 * t + 10 * i + 3 * j; });
  const Folded folded = in_parts(stream, 6);
  EXPECT_EQ(check(stream, folded), "") << text(folded);
  EXPECT_EQ(folded.pieces.size(), 2u) << text(folded);
}

TEST(Unite, FractionsAreJoinedOverOneDivisor) {
  const Stream stream = threads(
      6, [](auto, auto i, auto j) { return i % 2 == 0 && j % 3 == 1; },
      [](auto t, auto i, auto j) { return 7 * t + i / 2 - j / 3; });
  const Folded folded = in_parts(stream, 6);
  EXPECT_EQ(check(stream, folded), "") << text(folded);
  EXPECT_EQ(folded.pieces, fold_all(stream).pieces) << text(folded);
  EXPECT_EQ(folded.pieces[0].outputs[0].divisor, 6);
  const Stream changing = threads(
      6, [](auto, auto, auto j) { return j % 4 == 0; },
      [](auto t, auto i, auto j) { return t < 3 ? j / 4 + t : j / 2 * (i % 2) - t; });
  const Folded two = in_parts(changing, 6);
  EXPECT_EQ(check(changing, two), "") << text(two);
}

TEST(Unite, BoundsWithFractionsAreJoined) {
  const Stream stream = threads(
      4, [](auto t, auto i, auto j) { return j <= (i + 2 * t) / 2; },
      [](auto t, auto i, auto j) { return 100 * t + 10 * i + j; });
  const Folded folded = in_parts(stream, 4);
  EXPECT_EQ(check(stream, folded), "") << text(folded);
  EXPECT_EQ(folded.pieces.size(), 2u) << text(folded);
  EXPECT_EQ(folded.pieces[0].ranges[2].divisor, 2) << text(folded);
}

TEST(Unite, WhatIsTopStaysSound) {
  const Stream stream =
      threads(4, kAll, [](auto t, auto i, auto j) { return (t * 77 + i * i * i * 31 + j * j * j * 17) % 101; });
  const Folded folded = in_parts(stream, 4);
  EXPECT_EQ(check(stream, folded), "") << text(folded);
  EXPECT_TRUE(folded.widened);
}

TEST(Unite, RandomThreads) {
  for (std::int64_t seed = 0; seed < 300; ++seed) {
    const std::int64_t a = seed % 5 - 2;
    const std::int64_t m = 2 + seed % 7;
    const Stream stream = threads(
        4, [&](auto t, auto i, auto j) { return (i + a * t + j * (seed % 3)) % m != 0 && j <= i + t; },
        [&](auto t, auto i, auto j) {
          return seed % 2 == 0 ? (t + i + j) % m : a * t + (5 * i + (j < 3 ? j : 9)) / (1 + seed % 5);
        });
    const Folded folded = in_parts(stream, 4, seed % 2 == 0);
    ASSERT_EQ(check(stream, folded), "") << seed << "\n" << text(folded);
  }
}

TEST(Unite, TooManyPiecesAreCovered) {
  const Stream stream = threads(
      40, [](auto t, auto i, auto j) { return i == t * t % 7 && j != t % 5; },
      [](auto, auto i, auto j) { return 9 * i + j; });
  const Folded folded = in_parts(stream, 40);
  EXPECT_EQ(check(stream, folded), "") << text(folded);
  EXPECT_LE(folded.pieces.size(), 64u);
}

}  // namespace
}  // namespace loopfold::fold
