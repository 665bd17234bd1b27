#include "fold/isl_text.h"

#include <gtest/gtest.h>
#include <isl/cpp.h>

#include <memory>
#include <string>

#include "fold/test_points.h"

namespace loopfold::fold {
namespace {

using test_points::fold_all;
using test_points::Stream;
using test_points::Vector;

std::string joined(const Vector& v, std::size_t from = 0) {
  std::string s;
  for (std::size_t k = from; k < v.size(); ++k) s += (s.empty() ? "" : ", ") + std::to_string(v[k]);
  return s;
}

class IslText : public ::testing::Test {
 protected:
  isl::set set(const std::string& text) { return isl::set(ctx(), text); }
  isl::map map(const std::string& text) { return isl::map(ctx(), text); }
  isl::set domain(const Stream& stream, std::size_t from = 0) {
    std::string text;
    for (const auto& p : stream.points) text += (text.empty() ? "" : "; ") + ("S[" + joined(p.point, from) + "]");
    return set("{ " + text + " }");
  }
  isl::map dependence(const Stream& stream) {
    std::string text;
    for (const auto& p : stream.points)
      text += (text.empty() ? "" : "; ") + ("P[" + joined(p.labels) + "] -> C[" + joined(p.point) + "]");
    return map("{ " + text + " }");
  }

 private:
  isl::ctx ctx() { return isl::ctx(ctx_.get()); }
  std::unique_ptr<isl_ctx, void (*)(isl_ctx*)> ctx_{isl_ctx_alloc(), isl_ctx_free};
};

/// Points i, j with i < 12, j < 14 that are wanted, with labels.
template <typename Wanted, typename Label>
Stream grid(Shape shape, const Wanted& wanted, const Label& label) {
  Stream stream{shape, {}};
  for (std::int64_t i = 0; i < 12; ++i)
    for (std::int64_t j = 0; j < 14; ++j)
      if (wanted(i, j)) stream.points.push_back({{i, j}, label(i, j)});
  return stream;
}

Vector no_label(std::int64_t, std::int64_t) { return {}; }

TEST_F(IslText, NothingAndNoDimensions) {
  EXPECT_EQ(domain_text({}, "S"), "{ }");
  const Stream one{{0, 0, 0}, {{{}, {}}}};
  EXPECT_EQ(domain_text(fold_all(one), "S"), "{ S[] }");
}

TEST_F(IslText, ReadsAsAPersonWouldWriteIt) {
  const Stream triangle = grid(
      {2, 0, 0}, [](auto i, auto j) { return i < 10 && j <= i; }, no_label);
  EXPECT_EQ(domain_text(fold_all(triangle), "S3"), "{ S3[i0, i1] : 0 <= i0 <= 9 and 0 <= i1 <= i0 }");
  const Stream odd = grid(
      {2, 0, 0}, [](auto i, auto j) { return i == 4 && j % 3 == 1; }, no_label);
  EXPECT_EQ(domain_text(fold_all(odd), "S"), "{ S[4, i1] : 1 <= i1 <= 13 and i1 mod 3 = 1 }");
  const Stream flow = grid(
      {2, 2, 2}, [](auto i, auto) { return i > 0; },
      [](auto i, auto j) {
        return Vector{i - 1, 2 * j - i};
      });
  EXPECT_EQ(dependence_text(fold_all(flow), flow.shape, "A", "B"),
            "{ A[o0, o1] -> B[i0, i1] : 1 <= i0 <= 11 and 0 <= i1 <= 13 and o0 = i0 - 1 and o1 = -i0 + 2i1 }");
}

TEST_F(IslText, NumbersAndSharedCoordinatesStandInTheVectors) {
  const Stream flow = grid(
      {2, 2, 2}, [](auto i, auto) { return i == 3; },
      [](auto i, auto j) {
        return Vector{i, j};
      });
  EXPECT_EQ(dependence_text(fold_all(flow), flow.shape, "A", "B"), "{ A[3, i1] -> B[3, i1] : 0 <= i1 <= 13 }");
  const Stream one = grid(
      {2, 2, 2}, [](auto i, auto j) { return i == 3 && j == 5; },
      [](auto i, auto j) {
        return Vector{i - 4, j};
      });
  EXPECT_EQ(dependence_text(fold_all(one), one.shape, "A", "B"), "{ A[-1, 5] -> B[3, 5] }");
}

TEST_F(IslText, DomainsAreTheSetsOfTheirPoints) {
  const auto check = [&](const auto& wanted) {
    const Stream stream = grid({2, 0, 0}, wanted, no_label);
    const Folded folded = fold_all(stream);
    ASSERT_TRUE(folded.exact());
    const std::string text = domain_text(folded, "S");
    EXPECT_TRUE(set(text).is_equal(domain(stream))) << text;
  };
  check([](auto i, auto j) { return j <= i; });
  check([](auto i, auto j) { return j <= 2 * i && j >= 5 - i; });
  check([](auto i, auto j) { return (i + j) % 2 == 0; });
  check([](auto i, auto j) { return (i + j) % 3 == 1; });
  check([](auto i, auto j) { return i % 4 == 3 && j % 5 != 2; });
  check([](auto i, auto j) { return i != j; });
  check([](auto i, auto j) { return i == 3 && j % 4 == 1; });
  check([](auto i, auto j) { return j == i + 2; });
  check([](auto i, auto j) { return i == 7 && j == 2; });
  check([](auto i, auto j) { return j <= i / 2; });
  check([](auto i, auto j) { return j <= (11 - i) / 3; });
  check([](auto i, auto j) { return j >= i / 2 && (j - i / 2) % 3 == 0; });
  check([](auto i, auto j) { return i % 2 == 1 && j == (i + 1) / 2; });
}

TEST_F(IslText, BoundsWithFractionsAreWrittenWithoutDivision) {
  const Stream triangle = grid(
      {2, 0, 0}, [](auto i, auto j) { return i < 10 && j <= i / 2; }, no_label);
  EXPECT_EQ(domain_text(fold_all(triangle), "S"),
            "{ S[i0, i1] : 0 <= i0 <= 8 and i0 mod 2 = 0 and 0 <= 2i1 <= i0; "
            "S[i0, i1] : 1 <= i0 <= 9 and i0 mod 2 = 1 and 0 <= 2i1 <= i0 - 1 }");
}

TEST_F(IslText, DependencesAreTheSetsOfTheirPairs) {
  const auto check = [&](const auto& wanted, const auto& label) {
    const Stream stream = grid({2, 2, 2}, wanted, label);
    const Folded folded = fold_all(stream);
    ASSERT_TRUE(folded.exact());
    const std::string text = dependence_text(folded, stream.shape, "P", "C");
    EXPECT_TRUE(map(text).is_equal(dependence(stream))) << text;
  };
  const auto all = [](auto, auto) { return true; };
  check(all, [](auto i, auto j) { return Vector{i - 1, j}; });
  check(all, [](auto i, auto j) { return Vector{j, i}; });
  check(all, [](auto i, auto) { return Vector{i, i}; });
  check([](auto i, auto) { return i == 4; }, [](auto i, auto j) { return Vector{i, j + i}; });
  check([](auto i, auto j) { return i == 4 && j % 3 == 2; }, [](auto, auto j) { return Vector{j, j % 2}; });
  check(all, [](auto i, auto j) { return Vector{i % 3, j}; });
  check(all, [](auto i, auto j) { return Vector{i, 5 + (3 * j) % 4}; });
  check(all, [](auto i, auto j) { return Vector{(2 * i + j) % 5 - 5, i}; });
  check([](auto i, auto j) { return (i + j) % 2 == 0; }, [](auto i, auto j) { return Vector{i - 1, (i + j) / 2 * 2}; });
  const auto lattice = [](auto i, auto j) { return i % 2 == 1 && j % 3 == 0; };
  check(lattice, [](auto i, auto j) { return Vector{(i - 1) / 2, j / 3 - i}; });
  check(lattice, [](auto i, auto j) { return Vector{(i + 1) / 2 + j / 3, 7 + (j / 3) % 2}; });
  check(lattice, [](auto i, auto j) { return Vector{i, (i / 2 + j / 3) % 4 - 9}; });
}

TEST_F(IslText, FractionsAreWrittenWithoutDivision) {
  const Stream stream = grid(
      {2, 2, 0}, [](auto i, auto j) { return i % 3 == 0 && j % 2 == 0; },
      [](auto i, auto j) {
        return Vector{i / 3, 1 + i - j / 2};
      });
  EXPECT_EQ(dependence_text(fold_all(stream), stream.shape, "A", "B"),
            "{ A[o0, o1] -> B[i0, i1] : 0 <= i0 <= 9 and i0 mod 3 = 0 and 0 <= i1 <= 12 and i1 mod 2 = 0 and "
            "3o0 = i0 and 2o1 = 2i0 - i1 + 2 }");
}

TEST_F(IslText, WhatIsNotAffineIsBoundedByWhatWasMeasured) {
  const Stream stream = grid(
      {2, 2, 2}, [](auto i, auto) { return i > 0; },
      [](auto i, auto j) {
        return Vector{i - 1 - (i * i * 7 + j * j * 5) % 3 % i, (i * j * j) % 11};
      });
  const Folded folded = fold_all(stream);
  ASSERT_FALSE(folded.pieces[0].outputs[0].affine());
  const std::string text = dependence_text(folded, stream.shape, "P", "C");
  EXPECT_TRUE(dependence(stream).is_subset(map(text))) << text;
  const isl::map order = map("{ P[a, b] -> C[c, d] : a < c or (a = c and b < d) }");
  EXPECT_TRUE(map(text).is_subset(order)) << text;
}

TEST_F(IslText, PrecedenceIsWrittenPerLevel) {
  Folded folded;
  Piece piece;
  piece.ranges = {{{0, {}}, {9, {}}, 1}, {{0, {0}}, {9, {0}}, 1}};
  Output outer;
  outer.value = {0, {0, 0}};
  outer.top = {true, false};
  outer.minimum = 0;
  outer.maximum = 9;
  outer.distance_minimum = 0;
  outer.distance_maximum = 3;
  Output inner = outer;
  inner.distance_minimum = -2;
  piece.outputs = {outer, inner};
  folded.pieces = {piece};
  const isl::map bounded =
      map("{ P[a, b] -> C[c, d] : 0 <= a, b, c, d <= 9 and 0 <= c - a <= 3 and -2 <= d - b <= 3 }");
  const isl::map before = map("{ P[a, b] -> C[c, d] : a < c or (a = c and b < d) }");
  const isl::map same = map("{ P[a, b] -> C[a, b] }");
  TextOptions strict;
  strict.may_be_equal = false;
  EXPECT_TRUE(map(dependence_text(folded, {2, 2, 2}, "P", "C")).is_equal(bounded.intersect(before.unite(same))));
  EXPECT_TRUE(map(dependence_text(folded, {2, 2, 2}, "P", "C", strict)).is_equal(bounded.intersect(before)));
  folded.pieces[0].outputs[0].distance_minimum = 1;
  EXPECT_EQ(dependence_text(folded, {2, 2, 2}, "P", "C"),
            "{ P[o0, o1] -> C[i0, i1] : 0 <= i0 <= 9 and 0 <= i1 <= 9 and 0 <= o0 <= 9 and 1 <= i0 - o0 <= 3 and "
            "0 <= o1 <= 9 and -2 <= i1 - o1 <= 3 }");
}

TEST_F(IslText, CoordinatesCanBeLeftOut) {
  Stream stream{{3, 2, 2}, {}};
  for (std::int64_t i = 1; i < 5; ++i)
    for (std::int64_t chunk = 0; chunk < 3; ++chunk) stream.points.push_back({{0, i, chunk}, {0, i - 1}});
  TextOptions options;
  options.drop_first_in = options.drop_first_out = options.hide_last_in = true;
  const Folded folded = fold_all(stream);
  EXPECT_TRUE(set(domain_text(folded, "S", options)).is_equal(set("{ S[i] : 1 <= i <= 4 }")));
  const std::string text = dependence_text(folded, stream.shape, "P", "C", options);
  EXPECT_TRUE(map(text).is_equal(map("{ P[a] -> C[a + 1] : 0 <= a <= 3 }"))) << text;
}

}  // namespace
}  // namespace loopfold::fold
