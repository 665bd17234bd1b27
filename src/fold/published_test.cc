#include "fold/published.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "fold/stream_for_tests.h"

namespace loopfold::fold {
namespace {

using namespace fold::point_lists;

/// Rows j = 0 .. rows - 1 of length(j), labels f(j, k).
Stream rows(std::int64_t count, const std::function<std::int64_t(std::int64_t)>& length,
            const std::function<std::int64_t(std::int64_t, std::int64_t)>& label) {
  Stream stream{{2, 1, 0}, {}, {}};
  for (std::int64_t j = 0; j < count; ++j)
    for (std::int64_t k = 0; k < length(j); ++k) stream.add({j, k}, {label(j, k)});
  return stream;
}

/// Where row k of `conn` begins: 43 blocks from malloc, with gaps; 67, 71, 77 ... 243 for j = 0.
std::int64_t connection(std::int64_t k) {
  constexpr std::int64_t kGaps[] = {0, 4, 10};
  return k < 3 ? kGaps[k] : k == 42 ? 176 : 10 + 4 * (k - 2) + k % 2;
}

Stream backprop(const std::function<std::int64_t(std::int64_t, std::int64_t)>& label) {
  return rows(
      16, [](std::int64_t) { return 43; }, label);
}

void expect_one_piece(const Stream& stream, Variant variant, const std::string& function) {
  const Folded folded = fold(stream, variant);
  check(stream, folded);
  ASSERT_EQ(folded.pieces.size(), 1u) << variant_name(variant);
  EXPECT_EQ(domain(folded.pieces[0]), "0 <= i0 <= 15, 0 <= i1 <= 42");
  EXPECT_EQ(text(folded.pieces[0].outputs[0]), function);
  EXPECT_EQ(folded.max_intermediate, 2u);
}

TEST(Published, table_3_instructions) {
  for (const Variant variant : kVariants) {
    expect_one_piece(backprop([](auto, auto k) { return 12 + k; }), variant, "0*i0 + 1*i1 + 12");
    expect_one_piece(backprop([](auto, auto k) { return 407 + k; }), variant, "0*i0 + 1*i1 + 407");
    expect_one_piece(backprop([](auto, auto k) { return 1 + k; }), variant, "0*i0 + 1*i1 + 1");
  }
  const Stream i2 = backprop([](auto j, auto k) { return 67 + connection(k) + j; });
  expect_one_piece(i2, Variant::kFW, "1*i0 + TOP*i1 + 67");
  expect_one_piece(i2, Variant::kFGGW, "1*i0 + TOP*i1 + 67");
  const Folded folded = fold(i2, Variant::kFGGW);
  EXPECT_EQ(folded.pieces[0].outputs[0].minimum, 67);
  EXPECT_EQ(folded.pieces[0].outputs[0].maximum, 243 + 15);
}

TEST(Published, table_3_instructions_without_values) {
  Stream i4{{2, 0, 0}, {}, {}};
  Stream i6{{1, 1, 0}, {}, {}};
  for (std::int64_t j = 0; j < 16; ++j) {
    for (std::int64_t k = 0; k < 43; ++k) i4.add({j, k}, {});
    i6.add({j}, {j + 2});
  }
  for (const Variant variant : kVariants) {
    const Folded four = fold(i4, variant);
    check(i4, four);
    ASSERT_EQ(four.pieces.size(), 1u);
    EXPECT_EQ(domain(four.pieces[0]), "0 <= i0 <= 15, 0 <= i1 <= 42");
    const Folded six = fold(i6, variant);
    check(i6, six);
    ASSERT_EQ(six.pieces.size(), 1u);
    EXPECT_EQ(domain(six.pieces[0]), "0 <= i0 <= 15");
    EXPECT_EQ(text(six.pieces[0].outputs[0]), "1*i0 + 2");
  }
}

TEST(Published, table_4_dependences) {
  Stream same{{2, 2, 2}, {}, {}};
  Stream sum{{2, 2, 2}, {}, {}};
  for (std::int64_t j = 0; j < 16; ++j) {
    for (std::int64_t k = 0; k < 43; ++k) {
      same.add({j, k}, {j, k});
      if (k > 0) sum.add({j, k}, {j, k - 1});
    }
  }
  for (const Variant variant : kVariants) {
    const Folded copy = fold(same, variant);
    check(same, copy);
    ASSERT_EQ(copy.pieces.size(), 1u);
    EXPECT_EQ(text(copy.pieces[0].outputs[0]), "1*i0 + 0*i1 + 0");
    EXPECT_EQ(text(copy.pieces[0].outputs[1]), "0*i0 + 1*i1 + 0");
    const Folded chain = fold(sum, variant);
    check(sum, chain);
    ASSERT_EQ(chain.pieces.size(), 1u);
    EXPECT_EQ(domain(chain.pieces[0]), "0 <= i0 <= 15, 1 <= i1 <= 42");
    EXPECT_EQ(text(chain.pieces[0].outputs[0]), "1*i0 + 0*i1 + 0");
    EXPECT_EQ(text(chain.pieces[0].outputs[1]), "0*i0 + 1*i1 + -1");
    EXPECT_EQ(chain.pieces[0].outputs[1].distance_minimum, 1);
    EXPECT_EQ(chain.pieces[0].outputs[1].distance_maximum, 1);
    EXPECT_TRUE(chain.exact());
  }
}

/// Figure 5: what there is after each point, if the stream ended there.
TEST(Published, figure_5_step_by_step) {
  const Stream i2 = rows(
      3, [](auto) { return 3; }, [](auto j, auto k) { return 67 + connection(k) + j; });
  struct Step {
    std::size_t points;
    std::vector<std::string> functions;
    std::uint64_t live;
  };
  const Step steps[] = {
      {1, {"0*i0 + 0*i1 + 67"}, 1},
      {2, {"0*i0 + 4*i1 + 67"}, 1},
      {3, {"0*i0 + TOP*i1 + 67"}, 1},
      {4, {"0*i0 + TOP*i1 + 67", "0*i0 + 0*i1 + 68"}, 2},
      {5, {"1*i0 + TOP*i1 + 67"}, 2},
      {6, {"1*i0 + TOP*i1 + 67"}, 2},
      {7, {"1*i0 + TOP*i1 + 67", "0*i0 + 0*i1 + 69"}, 2},
      {9, {"1*i0 + TOP*i1 + 67"}, 2},
  };
  for (const Step& step : steps) {
    const Stream seen = i2.prefix(step.points);
    const Folded folded = fold(seen, Variant::kFW);
    check(seen, folded);
    std::vector<std::string> functions;
    for (const Piece& piece : folded.pieces) functions.push_back(text(piece.outputs[0]));
    EXPECT_EQ(functions, step.functions) << step.points;
    EXPECT_EQ(folded.max_intermediate, step.live) << step.points;
  }
}

/// The first points of the rows differ by 1, the others do not: no coefficient of 1 may be claimed.
TEST(Published, a_widened_dimension_does_not_vouch_for_others) {
  const std::int64_t labels[2][3] = {{67, 71, 77}, {68, 99, 12}};
  const Stream stream = rows(
      2, [](auto) { return 3; }, [&](auto j, auto k) { return labels[j][k]; });
  for (const Variant variant : {Variant::kFW, Variant::kFGGW}) {
    const Folded folded = fold(stream, variant);
    check(stream, folded);
    ASSERT_EQ(folded.pieces.size(), 1u);
    EXPECT_EQ(text(folded.pieces[0].outputs[0]), "TOP*i0 + TOP*i1 + 67");
  }
  const Folded exact = fold(stream, Variant::kF);
  check(stream, exact);
  EXPECT_TRUE(exact.exact());
}

std::vector<std::string> domains(const Folded& folded) {
  std::vector<std::string> all;
  for (const Piece& piece : folded.pieces) all.push_back(domain(piece));
  return all;
}

/// All variants fold it to these domains, exactly.
void expect_exact(const Stream& stream, const std::vector<std::string>& expected) {
  for (const Variant variant : kVariants) {
    const Folded folded = fold(stream, variant);
    check(stream, folded);
    EXPECT_EQ(domains(folded), expected) << variant_name(variant);
    EXPECT_TRUE(folded.exact()) << variant_name(variant);
  }
}

TEST(Published, triangles_and_trapezoids_are_one_piece) {
  const auto label = [](auto j, auto k) { return 8 * j + 3 * k + 5; };
  expect_exact(rows(
                   7, [](auto j) { return j + 1; }, label),
               {"0 <= i0 <= 6, 0 <= i1 <= 1*i0 + 0"});
  expect_exact(rows(
                   7, [](auto j) { return 7 - j; }, label),
               {"0 <= i0 <= 6, 0 <= i1 <= -1*i0 + 6"});
  expect_exact(rows(
                   7, [](auto j) { return j + 20; }, label),
               {"0 <= i0 <= 6, 0 <= i1 <= 1*i0 + 19"});
  Stream band{{2, 1, 0}, {}, {}};
  for (std::int64_t j = 0; j < 9; ++j)
    for (std::int64_t k = j; k <= j + 2; ++k) band.add({j, k}, {label(j, k)});
  expect_exact(band, {"0 <= i0 <= 8, 1*i0 + 0 <= i1 <= 1*i0 + 2"});
}

/// i1 in i0 .. i0 + i2 style: the first slice is a diagonal, whose labels fit more than one function until the next.
TEST(Published, coefficients_of_a_diagonal_are_settled_by_the_next_slice) {
  Stream stream{{3, 1, 0}, {}, {}};
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = 0; j < 6; ++j)
      for (std::int64_t k = j; k <= j + i; ++k) stream.add({i, j, k}, {100 * i + 10 * j + k});
  expect_exact(stream, {"0 <= i0 <= 4, 0 <= i1 <= 5, 1*i1 + 0 <= i2 <= 1*i0 + 1*i1 + 0"});
  EXPECT_EQ(text(fold(stream, Variant::kF).pieces[0].outputs[0]), "100*i0 + 10*i1 + 1*i2 + 0");
}

TEST(Published, loops_that_run_once) {
  Stream once{{4, 1, 0}, {}, {}};
  for (std::int64_t j = 0; j < 5; ++j) once.add({3, 0, j, 7}, {2 * j});
  expect_exact(once, {"3 <= i0 <= 3, 0 <= i1 <= 0, 0 <= i2 <= 4, 7 <= i3 <= 7"});
  EXPECT_EQ(text(fold(once, Variant::kF).pieces[0].outputs[0]), "0*i0 + 0*i1 + 2*i2 + 0*i3 + 0");

  const auto label = [](auto j, auto k) { return 5 * j + k; };
  expect_exact(rows(
                   4, [](auto j) { return j == 0 ? 1 : 2; }, label),
               {"0 <= i0 <= 1, 0 <= i1 <= 1*i0 + 0", "2 <= i0 <= 3, 0 <= i1 <= 1"});
  expect_exact(rows(
                   2, [](auto j) { return j == 0 ? 1 : 9; }, label),
               {"0 <= i0 <= 0, 0 <= i1 <= 0", "1 <= i0 <= 1, 0 <= i1 <= 8"});
}

TEST(Published, two_halves_are_two_pieces) {
  Stream stream{{2, 1, 0}, {}, {}};
  for (std::int64_t j = 0; j < 10; ++j)
    for (std::int64_t k = 0; k < 20; ++k)
      if (k < 6 || k > 12) stream.add({j, k}, {j + 100 * k});
  expect_exact(stream, {"0 <= i0 <= 9, 0 <= i1 <= 5", "0 <= i0 <= 9, 13 <= i1 <= 19"});
  Stream apart{{2, 1, 0}, {}, {}};
  for (const std::int64_t first : {0, 50})
    for (std::int64_t j = 0; j < 10; ++j)
      for (std::int64_t k = 0; k < 4; ++k) apart.add({first + j, k}, {k});
  expect_exact(apart, {"0 <= i0 <= 9, 0 <= i1 <= 3", "50 <= i0 <= 59, 0 <= i1 <= 3"});
}

/// Figure 7, as a stream: a square slice, then a triangular one.
TEST(Published, figure_7_is_not_one_polyhedron) {
  Stream stream{{3, 0, 0}, {}, {}};
  for (std::int64_t j = 0; j < 2; ++j)
    for (std::int64_t k = 0; k < 2; ++k) stream.add({0, j, k}, {});
  for (std::int64_t j = 0; j < 2; ++j)
    for (std::int64_t k = 0; k <= j; ++k) stream.add({1, j, k}, {});
  expect_exact(stream, {"0 <= i0 <= 0, 0 <= i1 <= 1, 0 <= i2 <= 1", "1 <= i0 <= 1, 0 <= i1 <= 1, 0 <= i2 <= 1*i1 + 0"});
}

std::string only_function(const Stream& stream, Variant variant) {
  const Folded folded = fold(stream, variant);
  check(stream, folded);
  return folded.pieces.size() == 1 ? text(folded.pieces[0].outputs[0]) : "several pieces";
}

/// What is irregular along some dimensions stays affine along the others.
TEST(Published, widening_keeps_what_is_proven) {
  const auto in_3d = [](const std::function<std::int64_t(std::int64_t, std::int64_t, std::int64_t)>& label) {
    Stream stream{{3, 1, 0}, {}, {}};
    for (std::int64_t i = 0; i < 5; ++i)
      for (std::int64_t j = 0; j < 6; ++j)
        for (std::int64_t k = 0; k < 7; ++k) stream.add({i, j, k}, {label(i, j, k)});
    return only_function(stream, Variant::kFGGW);
  };
  const auto noise = [](std::int64_t x) { return x * x * x % 101; };
  EXPECT_EQ(in_3d([&](auto i, auto j, auto k) { return 9 * i + 4 * j + noise(k); }), "9*i0 + 4*i1 + TOP*i2 + 0");
  EXPECT_EQ(in_3d([&](auto i, auto j, auto k) { return 9 * i + noise(j) + 4 * k; }), "9*i0 + TOP*i1 + 4*i2 + 0");
  EXPECT_EQ(in_3d([&](auto i, auto j, auto k) { return noise(i) + 9 * j + 4 * k; }), "TOP*i0 + 9*i1 + 4*i2 + 0");
  EXPECT_EQ(in_3d([&](auto i, auto j, auto k) { return 9 * i + noise(7 * j + k); }), "9*i0 + TOP*i1 + TOP*i2 + 0");
  EXPECT_EQ(in_3d([&](auto i, auto j, auto k) { return 9 * i + noise(j) + noise(k); }), "9*i0 + TOP*i1 + TOP*i2 + 0");
  EXPECT_EQ(in_3d([&](auto i, auto j, auto k) { return noise(7 * i + k) + 2 * j; }), "TOP*i0 + 2*i1 + TOP*i2 + 0");
  EXPECT_EQ(in_3d([&](auto i, auto j, auto k) { return noise(i) * noise(k + 1) + j; }), "TOP*i0 + 1*i1 + TOP*i2 + 0");
  EXPECT_EQ(in_3d([&](auto i, auto j, auto k) { return noise(7 * i + j) + 2 * k; }), "TOP*i0 + TOP*i1 + 2*i2 + 0");
  EXPECT_EQ(in_3d([&](auto i, auto j, auto k) { return i == 4 && j == 5 && k == 6 ? 7 : 5; }),
            "TOP*i0 + TOP*i1 + TOP*i2 + 5");
}

/// Rows of different length are compared as far as both go, up to a bound.
TEST(Published, widened_triangles) {
  const auto label = [](auto j, auto k) { return 67 + connection(k) + j; };
  EXPECT_EQ(only_function(rows(
                              30, [](auto j) { return j + 1; }, label),
                          Variant::kFW),
            "1*i0 + TOP*i1 + 67");
  EXPECT_EQ(only_function(rows(
                              30, [](auto j) { return 30 - j; }, label),
                          Variant::kFW),
            "1*i0 + TOP*i1 + 67");
  const auto spoilt = [&](auto j, auto k) { return label(j, k) + (j == 20 && k == 10 ? 1 : 0); };
  EXPECT_EQ(only_function(rows(
                              30, [](auto j) { return j + 1; }, spoilt),
                          Variant::kFW),
            "TOP*i0 + TOP*i1 + 67");
  const auto far = [](auto j, auto k) { return k * k + j; };
  EXPECT_EQ(only_function(rows(
                              3, [](auto) { return 3000; }, far),
                          Variant::kFW),
            "1*i0 + TOP*i1 + 0");
  EXPECT_EQ(only_function(rows(
                              3, [](auto j) { return 3000 + j; }, far),
                          Variant::kFW),
            "TOP*i0 + TOP*i1 + 0");
  Stream shifted{{2, 1, 0}, {}, {}};
  for (std::int64_t j = 0; j < 5; ++j)
    for (std::int64_t k = j; k < j + 4; ++k) shifted.add({j, k}, {far(j, k)});
  EXPECT_EQ(only_function(shifted, Variant::kFW), "TOP*i0 + TOP*i1 + 0");
}

/// The same irregular triangle at every i0, whose first rows are affine for want of points.
TEST(Published, widened_triangles_that_repeat) {
  for (const bool growing : {true, false}) {
    Stream stream{{3, 1, 0}, {}, {}};
    for (std::int64_t i = 0; i < 5; ++i)
      for (std::int64_t j = 0; j < 9; ++j)
        for (std::int64_t k = 0; k <= (growing ? j : 8 - j); ++k)
          stream.add({i, j, k}, {9 * i + (7 * j + k) * (7 * j + k) * k % 101});
    EXPECT_EQ(only_function(stream, Variant::kFGGW), "9*i0 + TOP*i1 + TOP*i2 + 0");
  }
}

/// One output becomes TOP, the others do not.
TEST(Published, outputs_are_widened_one_by_one) {
  Stream stream{{2, 3, 2}, {}, {}};
  for (std::int64_t j = 0; j < 6; ++j)
    for (std::int64_t k = 0; k < 6; ++k) stream.add({j, k}, {j - 1, k * k % 5, 3 * k});
  const Folded folded = fold(stream, Variant::kFGGW);
  check(stream, folded);
  ASSERT_EQ(folded.pieces.size(), 1u);
  EXPECT_EQ(text(folded.pieces[0].outputs[0]), "1*i0 + 0*i1 + -1");
  EXPECT_EQ(text(folded.pieces[0].outputs[1]), "0*i0 + TOP*i1 + 0");
  EXPECT_EQ(text(folded.pieces[0].outputs[2]), "0*i0 + 3*i1 + 0");
  EXPECT_EQ(folded.pieces[0].outputs[1].distance_minimum, -2);
  EXPECT_EQ(folded.pieces[0].outputs[1].distance_maximum, 5);
}

TEST(Published, numbers_at_the_edge) {
  Stream stream{{1, 1, 0}, {}, {}};
  stream.add({0}, {kLeast});
  stream.add({1}, {kMost});
  stream.add({2}, {kLeast});
  const Folded exact = fold(stream, Variant::kF);
  EXPECT_EQ(exact.pieces.size(), 3u);
  EXPECT_TRUE(exact.exact());
  const Folded widened = fold(stream, Variant::kFW);
  ASSERT_EQ(widened.pieces.size(), 1u);
  EXPECT_EQ(text(widened.pieces[0].outputs[0]), "TOP*i0 + " + std::to_string(kLeast));
  EXPECT_EQ(widened.pieces[0].outputs[0].minimum, kLeast);
  EXPECT_EQ(widened.pieces[0].outputs[0].maximum, kMost);

  Stream wraps{{1, 1, 0}, {}, {}};
  for (std::int64_t i = 0; i < 4; ++i) wraps.add({i}, {kMost - 3 + i});
  for (std::int64_t i = 0; i < 4; ++i) wraps.add({4 + i}, {kLeast + i});
  const Folded pieces = fold(wraps, Variant::kF);
  check(wraps, pieces);
  EXPECT_EQ(domains(pieces), (std::vector<std::string>{"0 <= i0 <= 3", "4 <= i0 <= 7"}));

  Stream far{{1, 1, 0}, {}, {}};
  for (std::int64_t i = 0; i < 3; ++i) far.add({kMost - 2 + i}, {i * 1000});
  const Folded no_constant = fold(far, Variant::kF);
  ASSERT_EQ(no_constant.pieces.size(), 1u);
  EXPECT_TRUE(no_constant.pieces[0].exact_domain);
  EXPECT_TRUE(no_constant.widened);
  EXPECT_EQ(text(no_constant.pieces[0].outputs[0]), "TOP*i0 + 0");
  EXPECT_EQ(no_constant.pieces[0].outputs[0].maximum, 2000);

  Stream corner{{2, 1, 1}, {}, {}};
  for (const std::int64_t j : {kLeast, kLeast + 1})
    for (const std::int64_t k : {kLeast, kLeast + 1}) corner.add({j, k}, {kMost});
  for (const Variant variant : kVariants) {
    const Folded folded = fold(corner, variant);
    EXPECT_EQ(folded.points, 4u);
    for (const Piece& piece : folded.pieces) EXPECT_EQ(piece.outputs[0].distance_minimum, kLeast);
  }
}

/// A box, whatever the variant; labels and distances keep their extremes.
void expect_box(const Stream& stream, const Folded& folded, const std::string& why) {
  check(stream, folded);
  ASSERT_EQ(folded.pieces.size(), 1u);
  EXPECT_TRUE(folded.gave_up);
  EXPECT_EQ(folded.why, why);
  EXPECT_GE(folded.max_intermediate, 1u);
  for (const Output& output : folded.pieces[0].outputs)
    for (const bool top : output.top) EXPECT_TRUE(top);
}

/// i1 is i0 plus more than 64 bits hold.
TEST(Published, bounds_at_the_edge) {
  for (const Variant variant : kVariants) {
    Stream stream{{2, 1, 0}, {}, {}};
    for (std::int64_t j = 0; j < 3; ++j)
      for (std::int64_t k = 0; k < 2; ++k) stream.add({kLeast + j, kMost - 10 + j + k}, {k});
    expect_box(stream, fold(stream, variant), "bounds that do not fit into 64 bits");
    stream.add({5, 5}, {5});
    expect_box(stream, fold(stream, variant), "bounds that do not fit into 64 bits");
  }
}

TEST(Published, points_out_of_order) {
  for (const Variant variant : kVariants) {
    Stream stream = rows(
        4, [](auto) { return 5; }, [](auto j, auto k) { return j * k; });
    stream.add({2, 9}, {-7});
    stream.add({11, 3}, {2});
    expect_box(stream, fold(stream, variant), "a point out of order");
    Stream twice{{2, 1, 0}, {{4, 4}, {4, 4}}, {{1}, {2}}};
    const Folded folded = fold(twice, variant);
    EXPECT_EQ(folded.why, "a point out of order");
    EXPECT_EQ(domain(folded.pieces[0]), "4 <= i0 <= 4, 4 <= i1 <= 4");
    EXPECT_EQ(folded.points, 2u);
  }
}

TEST(Published, no_dimensions) {
  for (const Variant variant : kVariants) {
    Stream stream{{0, 2, 0}, {}, {}};
    EXPECT_TRUE(fold(stream, variant).pieces.empty());
    stream.add({}, {5, 6});
    const Folded folded = fold(stream, variant);
    check(stream, folded);
    ASSERT_EQ(folded.pieces.size(), 1u);
    EXPECT_TRUE(folded.exact());
    EXPECT_EQ(text(folded.pieces[0].outputs[1]), "6");
    EXPECT_EQ(folded.max_intermediate, 1u);
    stream.add({}, {7, 6});
    EXPECT_EQ(fold(stream, variant).why, "a point out of order");
  }
}

TEST(Published, no_points) {
  for (const Variant variant : kVariants) {
    const Folded folded = folder(variant, {3, 1, 0})->finish();
    EXPECT_TRUE(folded.pieces.empty());
    EXPECT_TRUE(folded.exact());
    EXPECT_EQ(folded.max_intermediate, 0u);
  }
}

/// Rows of `segments` segments each.
Stream segmented(std::int64_t segments) {
  Stream stream{{2, 1, 1}, {}, {}};
  for (std::int64_t j = 3; j < 9; ++j)
    for (std::int64_t k = 2; k < 4 * segments; ++k)
      if (k % 4 != 3) stream.add({j, k}, {j - k});
  return stream;
}

TEST(Published, geometric_give_up_past_4d_plus_1) {
  for (const Variant variant : kVariants) {
    const Stream four = segmented(4);
    const Folded kept = fold(four, variant);
    check(four, kept);
    EXPECT_EQ(kept.pieces.size(), 4u);
    EXPECT_LE(kept.max_intermediate, 9u);
    const Stream five = segmented(5);
    const Folded folded = fold(five, variant);
    if (variant == Variant::kF || variant == Variant::kFW) {
      check(five, folded);
      EXPECT_EQ(folded.pieces.size(), 5u);
      EXPECT_EQ(folded.max_intermediate, 10u);
      continue;
    }
    expect_box(five, folded, "more than 9 intermediate polyhedra");
    EXPECT_EQ(domain(folded.pieces[0]), "3 <= i0 <= 8, 2 <= i1 <= 18");
    EXPECT_EQ(folded.max_intermediate, 9u);
  }
}

TEST(Published, giving_up_when_told) {
  const Stream stream = segmented(3);
  for (const Variant variant : kVariants) {
    const std::unique_ptr<Folder> told = folder(variant, stream.shape);
    for (std::size_t i = 0; i < stream.points.size(); ++i) {
      if (i == 20) told->give_up("no memory");
      if (i == 25) told->give_up("not said twice");
      told->add(stream.points[i].data(), stream.labels[i].data());
    }
    expect_box(stream, told->finish(), "no memory");
  }
}

TEST(Published, more_than_10_dimensions) {
  for (const std::uint16_t dimensions : {std::uint16_t{10}, std::uint16_t{11}}) {
    Stream stream{{dimensions, 1, 0}, {}, {}};
    Vector point(dimensions);
    for (std::int64_t n = 0; n < (1 << dimensions); ++n) {
      for (std::size_t k = 0; k < dimensions; ++k) point[k] = n >> (dimensions - 1 - k) & 1;
      stream.add(point, {3 * n});
    }
    for (const Variant variant : kVariants) {
      const Folded folded = fold(stream, variant);
      check(stream, folded);
      ASSERT_EQ(folded.pieces.size(), 1u);
      EXPECT_EQ(folded.exact(), dimensions == 10);
      EXPECT_EQ(folded.why, dimensions == 10 ? "" : "more than 10 dimensions");
    }
  }
}

/// Random points: F is exact; what it has retired costs little and no time.
TEST(Published, irregular_streams) {
  std::mt19937_64 random(7);
  Stream stream{{2, 1, 0}, {}, {}};
  for (std::int64_t j = 0; j < 40; ++j)
    for (std::int64_t k = 0; k < 40; ++k)
      if (random() % 2 == 0) stream.add({j, k}, {static_cast<std::int64_t>(random() % 1000)});
  const Folded exact = fold(stream, Variant::kF);
  check(stream, exact);
  EXPECT_TRUE(exact.exact());
  EXPECT_GT(exact.pieces.size(), 300u);
  expect_box(stream, fold(stream, Variant::kFGGW), "more than 9 intermediate polyhedra");
}

TEST(Published, retired_pieces_are_small) {
  const std::unique_ptr<Folder> folder = fold::point_lists::folder(Variant::kF, {2, 1, 0});
  std::size_t before = 0;
  for (std::int64_t j = 0; j < 20'000; ++j) {
    const std::int64_t point[] = {2 * j, 0};
    const std::int64_t label = j * j;
    folder->add(point, &label);
    if (j == 9'999) before = folder->bytes();
  }
  EXPECT_LE(folder->bytes() - before, 10'000u * 150);
  const Folded folded = folder->finish();
  EXPECT_EQ(folded.pieces.size(), 20'000u);
  EXPECT_LE(folded.max_intermediate, 3u);
}

TEST(Published, bytes_do_not_grow_with_a_regular_stream) {
  for (const Variant variant : kVariants) {
    const std::unique_ptr<Folder> folder = fold::point_lists::folder(variant, {2, 1, 0});
    std::size_t small = 0;
    for (std::int64_t j = 0; j < 1000; ++j) {
      for (std::int64_t k = 0; k < 10; ++k) {
        const std::int64_t point[] = {j, k};
        const std::int64_t label = 5 * j + (variant == Variant::kFW ? k * k : k);
        folder->add(point, &label);
      }
      if (j == 10) small = folder->bytes();
    }
    EXPECT_GT(small, 0u);
    EXPECT_EQ(folder->bytes(), small);
  }
}

}  // namespace
}  // namespace loopfold::fold
