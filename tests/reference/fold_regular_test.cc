// Regular streams are folded into as few pieces as they can be written in; and memory does not grow with the streams.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reference/fold_reference.h"
#include "reference/fold_shrink.h"
#include "reference/fold_streams.h"

namespace loopfold::fold::reference {

namespace {

constexpr std::uint64_t kStreams = 100;  // of each family
constexpr Variant kPublished[] = {Variant::kF, Variant::kFW, Variant::kFGG, Variant::kFGGW};

std::string describe(const Stream& stream, std::uint64_t seed, const Folded& folded) {
  return fmt::format("seed {}: {}, {} points\n{}{}", seed, stream.what, stream.points.size(),
                     stream.points.size() <= 40 ? literal(stream) + "\n" : "", text(folded));
}

void expect_exact(const Stream& stream, std::uint64_t seed, Variant variant, std::size_t pieces) {
  const Folded folded = fold_stream(stream, {variant, 16});
  EXPECT_TRUE(check(stream, folded).empty()) << describe(stream, seed, folded);
  EXPECT_TRUE(folded.exact()) << variant_name(variant) << " " << describe(stream, seed, folded);
  EXPECT_EQ(folded.pieces.size(), pieces) << variant_name(variant) << " " << describe(stream, seed, folded);
}

class FoldRegular : public testing::TestWithParam<Family> {};

INSTANTIATE_TEST_SUITE_P(Families, FoldRegular, testing::ValuesIn(kExactFamilies),
                         [](const auto& info) { return std::string(family_name(info.param)); });

TEST_P(FoldRegular, AreFoldedIntoTheFewestPieces) {
  const std::uint64_t from = first_seed();
  for (std::uint64_t seed = from; seed < from + streams(kStreams) && !HasFailure(); ++seed) {
    const Regular regular = regular_stream(GetParam(), seed);
    expect_exact(regular.stream, seed, Variant::kAuto, regular.adaptive);
    for (const Variant variant : kPublished)
      if (regular.published != 0) expect_exact(regular.stream, seed, variant, regular.published);
  }
}

TEST(FoldRows, AreWidenedAlongTheRowsOnly) {
  const std::uint64_t from = first_seed();
  for (std::uint64_t seed = from; seed < from + streams(kStreams) && !testing::Test::HasFailure(); ++seed) {
    const Stream stream = regular_stream(Family::kRows, seed).stream;
    for (const Variant variant : {Variant::kFW, Variant::kFGGW, Variant::kAuto}) {
      const Folded folded = fold_stream(stream, {variant, 16});
      EXPECT_TRUE(check(stream, folded).empty()) << describe(stream, seed, folded);
      ASSERT_EQ(folded.pieces.size(), 1U) << variant_name(variant) << " " << describe(stream, seed, folded);
      EXPECT_TRUE(folded.pieces[0].exact_domain) << variant_name(variant) << " " << describe(stream, seed, folded);
      for (const Output& output : folded.pieces[0].outputs) {
        std::vector<bool> expected(stream.shape.dimensions, false);
        expected[0] = true;
        EXPECT_EQ(output.top, expected) << variant_name(variant) << " " << describe(stream, seed, folded);
      }
    }
  }
}

/// The most that a folder held at a time, and how many pieces it found.
struct Memory {
  std::size_t peak = 0;
  std::size_t pieces = 0;
};

Memory memory_for(const Stream& stream, Variant variant) {
  const std::unique_ptr<Folder> folder = make_folder({variant, 16}, stream.shape);
  std::size_t peak = folder->bytes();
  for (const Labelled& labelled : stream.points) {
    folder->add(labelled.point.data(), labelled.labels.data());
    peak = std::max(peak, folder->bytes());
  }
  return {peak, folder->finish().pieces.size()};
}

constexpr std::size_t kMostBytes = 32 * 1024;
constexpr std::size_t kMostBytesPerPiece = 256;

/// The published algorithm has no bound on the number of pieces of its result, which it keeps: give-up bounds only what
/// is still growing (one stretch after the other along a single dimension is never too much of that).

TEST(FoldMemory, DoesNotGrowWithRandomStreams) {
  std::size_t tried = 0;
  for (std::uint64_t seed = 1; tried < 25; ++seed) {
    const Stream stream = random_stream(seed, 100000);
    if (stream.points.size() < 50000) continue;
    ++tried;
    for (const Variant variant : {Variant::kFGG, Variant::kFGGW, Variant::kAuto}) {
      const Memory memory = memory_for(stream, variant);
      const std::size_t result = variant == Variant::kAuto ? 0 : memory.pieces * kMostBytesPerPiece;
      EXPECT_LE(memory.peak, kMostBytes + result)
          << variant_name(variant) << " seed " << seed << ": " << stream.what << ", " << stream.points.size()
          << " points, " << memory.pieces << " pieces";
    }
  }
}

/// All of i0, i1, i2 below these, with two affine labels; no list of a million points is made.
TEST(FoldMemory, DoesNotGrowWithRegularStreams) {
  for (const Variant variant : {Variant::kF, Variant::kFW, Variant::kFGG, Variant::kFGGW, Variant::kAuto}) {
    const std::unique_ptr<Folder> folder = make_folder({variant, 16}, {3, 2, 0});
    std::size_t peak = 0;
    std::int64_t point[3] = {};
    for (point[0] = 0; point[0] < 100; ++point[0])
      for (point[1] = 0; point[1] < 100; ++point[1])
        for (point[2] = 0; point[2] < 100; ++point[2]) {
          const std::int64_t labels[2] = {8 * point[2] + 800 * point[1], point[0]};
          folder->add(point, labels);
          peak = std::max(peak, folder->bytes());
        }
    const Folded folded = folder->finish();
    EXPECT_LE(peak, 8 * 1024U) << variant_name(variant);
    EXPECT_EQ(folded.pieces.size(), 1U) << text(folded);
    EXPECT_TRUE(folded.exact()) << text(folded);
    EXPECT_EQ(folded.points, 1000000U);
  }
}

}  // namespace

}  // namespace loopfold::fold::reference
