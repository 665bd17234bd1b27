// The reference itself: wrong results must not pass it.
#include "reference/fold_reference.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "reference/fold_shrink.h"
#include "reference/fold_streams.h"

namespace loopfold::fold::reference {

namespace {

using Kind = Complaint::Kind;

bool complains(const Stream& stream, const Folded& folded, Kind kind) {
  const std::vector<Complaint> complaints = check(stream, folded);
  return std::any_of(complaints.begin(), complaints.end(), [&](const Complaint& c) { return c.kind == kind; });
}

/// Points (i, j) with 0 <= i <= 3 and 0 <= j <= i; labels 8 i - j + 3, as a producer of i.
Stream triangle() {
  Stream stream{{2, 1, 1}, {}, "triangle"};
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j <= i; ++j) stream.points.push_back({{i, j}, {8 * i - j + 3}});
  return stream;
}

Folded folded_triangle() {
  Output output{{3, {8, -1}}, {false, false}, 0, 0, 3, 27, -24 + 3 - 3 + 0, -3};
  output.distance_minimum = 3 - 27;
  Piece piece{{{{0, {}}, {3, {}}, 1}, {{0, {0}}, {0, {1}}, 1}}, {output}, true, 10};
  return {{piece}, 10, 1, false, false, ""};
}

/// Rows 67, 71, 77 and 68, 99, 12, as in the published description of widening.
Stream two_rows() {
  return {{2, 1, 0},
          {{{0, 0}, {67}}, {{0, 1}, {71}}, {{0, 2}, {77}}, {{1, 0}, {68}}, {{1, 1}, {99}}, {{1, 2}, {12}}},
          "two rows"};
}

Folded widened_rows(std::int64_t coefficient, std::vector<bool> top) {
  const Output output{{67, {coefficient, 0}}, std::move(top), 0, 0, 12, 99, 0, 0};
  const Piece piece{{{{0, {}}, {1, {}}, 1}, {{0, {0}}, {2, {0}}, 1}}, {output}, true, 6};
  return {{piece}, 6, 1, true, false, ""};
}

TEST(FoldReference, AcceptsWhatIsRight) {
  EXPECT_TRUE(check(triangle(), folded_triangle()).empty());
  EXPECT_TRUE(check(two_rows(), widened_rows(0, {true, true})).empty());
  EXPECT_TRUE(check(Stream{{2, 1, 0}, {}, ""}, Folded{}).empty());
}

TEST(FoldReference, FindsAMissingPoint) {
  Folded folded = folded_triangle();
  folded.pieces[0].ranges[0].upper.constant = 2;
  EXPECT_TRUE(complains(triangle(), folded, Kind::kMissing));
  EXPECT_TRUE(complains(triangle(), folded, Kind::kCount));
}

TEST(FoldReference, FindsAnExtraPoint) {
  Folded folded = folded_triangle();
  folded.pieces[0].ranges[1].upper.constant = 1;
  EXPECT_TRUE(complains(triangle(), folded, Kind::kExtra));
  folded = folded_triangle();
  folded.pieces[0].ranges[0].upper.constant = std::int64_t{1} << 62;
  EXPECT_TRUE(complains(triangle(), folded, Kind::kExtra));
}

TEST(FoldReference, FindsAWrongStride) {
  Folded folded = folded_triangle();
  folded.pieces[0].ranges[1].stride = 2;
  EXPECT_TRUE(complains(triangle(), folded, Kind::kMissing));
}

TEST(FoldReference, FindsAWrongCoefficient) {
  Folded folded = folded_triangle();
  folded.pieces[0].outputs[0].value.coefficients[1] = 1;
  EXPECT_TRUE(complains(triangle(), folded, Kind::kLabel));
  folded = folded_triangle();
  folded.pieces[0].outputs[0].modulus = 5;
  EXPECT_TRUE(complains(triangle(), folded, Kind::kLabel));
}

TEST(FoldReference, FindsAWrongDivisor) {
  Folded folded = folded_triangle();
  folded.pieces[0].outputs[0].divisor = 2;
  EXPECT_TRUE(complains(triangle(), folded, Kind::kLabel));
  folded.pieces[0].outputs[0].value = {6, {16, -2}};
  EXPECT_TRUE(complains(triangle(), folded, Kind::kForm));
  folded = folded_triangle();
  folded.pieces[0].outputs[0].divisor = 0;
  EXPECT_TRUE(complains(triangle(), folded, Kind::kForm));
}

TEST(FoldReference, FindsAWrongLabelInAnInexactPiece) {
  Folded folded = folded_triangle();
  folded.pieces[0].exact_domain = false;
  folded.pieces[0].ranges[1].upper = {3, {0}};
  folded.gave_up = true;
  folded.why = "test";
  EXPECT_TRUE(check(triangle(), folded).empty());
  folded.pieces[0].outputs[0].value.constant = 4;
  EXPECT_TRUE(complains(triangle(), folded, Kind::kLabel));
}

TEST(FoldReference, FindsAFalseClaimBesideATop) {
  EXPECT_TRUE(complains(two_rows(), widened_rows(1, {false, true}), Kind::kClaim));
  EXPECT_TRUE(complains(two_rows(), widened_rows(0, {true, false}), Kind::kClaim));
  Stream stream = two_rows();
  for (std::size_t i = 0; i < 3; ++i) stream.points[3 + i].labels[0] = stream.points[i].labels[0] + 1;
  Folded folded = widened_rows(1, {false, true});
  folded.pieces[0].outputs[0].minimum = 67;
  folded.pieces[0].outputs[0].maximum = 78;
  EXPECT_TRUE(check(stream, folded).empty());
}

TEST(FoldReference, FindsAClaimThatNoOverlappingPieceKeeps) {
  const Output claims{{0, {1, 0}}, {false, true}, 0, 0, 0, 100, 0, 0};
  const std::vector<Range> box{{{0, {}}, {1, {}}, 1}, {{0, {0}}, {2, {0}}, 1}};
  const Piece one{{box[0], {{0, {0}}, {0, {0}}, 1}}, {claims}, false, 1};
  const Piece two{box, {claims}, false, 5};
  const Folded folded{{one, two}, 6, 2, true, true, "test"};
  EXPECT_TRUE(complains(two_rows(), folded, Kind::kClaim));
}

TEST(FoldReference, FindsBoundsThatLeaveOutALabelOrAreNotReached) {
  for (std::int64_t Output::*bound :
       {&Output::minimum, &Output::maximum, &Output::distance_minimum, &Output::distance_maximum}) {
    for (const std::int64_t change : {-1, 1}) {
      Folded folded = folded_triangle();
      folded.pieces[0].outputs[0].*bound += change;
      EXPECT_TRUE(complains(triangle(), folded, Kind::kBounds));
    }
  }
}

TEST(FoldReference, FindsOverlappingExactPieces) {
  Folded folded = folded_triangle();
  folded.pieces.push_back(folded.pieces[0]);
  EXPECT_TRUE(complains(triangle(), folded, Kind::kOverlap));
}

TEST(FoldReference, FindsPiecesInTheWrongOrder) {
  Folded folded = fold_naively(triangle());
  EXPECT_TRUE(check(triangle(), folded).empty());
  std::swap(folded.pieces[1], folded.pieces[2]);
  EXPECT_TRUE(complains(triangle(), folded, Kind::kOrder));
}

TEST(FoldReference, FindsWrongFlags) {
  Folded folded = folded_triangle();
  folded.widened = true;
  EXPECT_TRUE(complains(triangle(), folded, Kind::kFlags));
  folded = folded_triangle();
  folded.gave_up = true;
  EXPECT_TRUE(complains(triangle(), folded, Kind::kFlags));
  folded = widened_rows(0, {true, true});
  folded.widened = false;
  EXPECT_TRUE(complains(two_rows(), folded, Kind::kFlags));
}

TEST(FoldReference, FindsAnUpperBoundThatIsNotReached) {
  Folded folded = folded_triangle();
  folded.pieces[0].ranges[0] = {{0, {}}, {4, {}}, 3};
  Stream stream = triangle();
  std::erase_if(stream.points, [](const Labelled& labelled) { return labelled.point[0] % 3 != 0; });
  folded.points = folded.pieces[0].points = stream.points.size();
  EXPECT_TRUE(complains(stream, folded, Kind::kTight));
  folded.pieces[0].ranges[0].upper.constant = 3;
  EXPECT_TRUE(check(stream, folded).empty());
}

TEST(FoldReference, FindsMalformedPieces) {
  Folded folded = folded_triangle();
  folded.pieces[0].ranges.pop_back();
  EXPECT_TRUE(complains(triangle(), folded, Kind::kForm));
  folded = folded_triangle();
  folded.pieces[0].ranges[1].stride = 0;
  EXPECT_TRUE(complains(triangle(), folded, Kind::kForm));
  EXPECT_TRUE(complains(two_rows(), widened_rows(3, {true, true}), Kind::kForm));
}

TEST(FoldReference, FindsApproximationsThatTheVariantDoesNotMake) {
  const Folded widened = widened_rows(0, {true, true});
  Folded given_up = widened;
  given_up.gave_up = true;
  const auto complains = [](const Folded& folded, Variant variant) {
    return !check_variant(two_rows(), folded, {variant, 16}, false).empty();
  };
  EXPECT_TRUE(complains(widened, Variant::kF));
  EXPECT_FALSE(complains(widened, Variant::kFW));
  EXPECT_TRUE(complains(widened, Variant::kFGG));
  EXPECT_FALSE(complains(widened, Variant::kFGGW));
  EXPECT_TRUE(complains(given_up, Variant::kF));
  EXPECT_TRUE(complains(given_up, Variant::kFW));
  EXPECT_FALSE(complains(given_up, Variant::kFGG));
  EXPECT_FALSE(complains(given_up, Variant::kFGGW));
  EXPECT_TRUE(check_variant(two_rows(), widened, {Variant::kAuto, 16}, false).empty());
  EXPECT_FALSE(check_variant(two_rows(), widened, {Variant::kAuto, 16}, true).empty());
  EXPECT_FALSE(check_variant(two_rows(), fold_naively(two_rows()), {Variant::kAuto, 3}, false).empty());
}

/// Every naive result passes; a small error anywhere in it does not.
TEST(FoldReference, FindsOneErrorInManyPieces) {
  Random random(1);
  std::size_t folded_streams = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Stream stream = random_stream(seed, 200);
    if (!in_order(stream) || stream.points.empty()) continue;
    const Folded right = fold_naively(stream);
    const std::vector<Complaint> complaints = check(stream, right);
    ASSERT_TRUE(complaints.empty()) << "seed " << seed << ": " << complaints.front().text << "\n" << text(right);
    if (is_extreme(stream)) continue;
    ++folded_streams;
    Folded wrong = right;
    Piece& piece = wrong.pieces[static_cast<std::size_t>(random.in(0, std::ssize(wrong.pieces) - 1))];
    const std::int64_t change = random.chance(50) ? 1 : -1;
    if (!piece.outputs.empty() && random.chance(50))
      piece.outputs.front().value.constant += change;
    else if (!piece.ranges.empty() && random.chance(60))
      piece.ranges.back().upper.constant += change;
    else
      piece.points += static_cast<std::uint64_t>(change);
    EXPECT_FALSE(check(stream, wrong).empty()) << "seed " << seed << "\n" << text(wrong);
  }
  EXPECT_GT(folded_streams, 200U);
}

TEST(FoldReference, FewestPieces) {
  EXPECT_EQ(fewest_pieces({{0, 1, 0}, {{{}, {5}}}, ""}), 1U);
  EXPECT_EQ(fewest_pieces({{1, 0, 0}, {{{0}, {}}, {{2}, {}}, {{4}, {}}}, ""}), 1U);
  EXPECT_EQ(fewest_pieces({{1, 0, 0}, {{{0}, {}}, {{2}, {}}, {{3}, {}}}, ""}), 2U);
  EXPECT_EQ(fewest_pieces({{1, 1, 0}, {{{0}, {0}}, {{1}, {0}}, {{2}, {1}}, {{3}, {1}}, {{4}, {1}}}, ""}), 2U);
  EXPECT_EQ(fewest_pieces({{2, 0, 0}, {{{0, 0}, {}}, {{1, 0}, {}}, {{1, 1}, {}}, {{2, 0}, {}}, {{2, 2}, {}}}, ""}), 2U);
}

TEST(FoldReference, ShrinksToWhatMatters) {
  const Fails has_a_seven = [](const Stream& stream) {
    return std::any_of(stream.points.begin(), stream.points.end(),
                       [](const Labelled& l) { return !l.labels.empty() && l.labels[0] == 11; });
  };
  const Stream small = shrink(triangle(), has_a_seven);
  ASSERT_EQ(small.points.size(), 1U);
  EXPECT_EQ(literal(small), "{{0, 1, 0}, {{{}, {11}}}, \"triangle\"}");
}

}  // namespace

}  // namespace loopfold::fold::reference
