#include "fold/published.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <random>

#include "fold/polyhedron.h"

namespace loopfold::fold {
namespace {

using Vector = std::vector<std::int64_t>;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr Variant kVariants[] = {Variant::kF, Variant::kFW, Variant::kFGG, Variant::kFGGW};

/// A stream as a list.
struct Stream {
  Shape shape;
  std::vector<Vector> points;
  std::vector<Vector> labels;

  void add(Vector point, Vector label) {
    points.push_back(std::move(point));
    labels.push_back(std::move(label));
  }
  Stream prefix(std::size_t length) const {
    return {shape, {points.begin(), points.begin() + static_cast<std::ptrdiff_t>(length)},
            {labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(length)}};
  }
};

std::unique_ptr<Folder> folder(Variant variant, Shape shape) {
  return make_published(Options{.variant = variant, .max_pieces = 16}, shape);
}

Folded fold(const Stream& stream, Variant variant) {
  const std::unique_ptr<Folder> folder = fold::folder(variant, stream.shape);
  for (std::size_t i = 0; i < stream.points.size(); ++i) folder->add(stream.points[i].data(), stream.labels[i].data());
  return folder->finish();
}

/// "1*i0 + TOP*i1 + 67".
std::string text(const Output& output) {
  std::string out;
  for (std::size_t k = 0; k < output.top.size(); ++k)
    out += (output.top[k] ? "TOP" : std::to_string(output.value.coefficients[k])) + "*i" + std::to_string(k) + " + ";
  return out + std::to_string(output.value.constant);
}

std::string text(const Affine& function) {
  std::string out;
  for (std::size_t k = 0; k < function.coefficients.size(); ++k)
    if (function.coefficients[k] != 0)
      out += std::to_string(function.coefficients[k]) + "*i" + std::to_string(k) + " + ";
  return out + std::to_string(function.constant);
}

/// "0 <= i0 <= 15, 0 <= i1 <= 1*i0 + 42".
std::string domain(const Piece& piece) {
  std::string out;
  for (std::size_t k = 0; k < piece.ranges.size(); ++k) {
    if (k > 0) out += ", ";
    out += text(piece.ranges[k].lower) + " <= i" + std::to_string(k) + " <= " + text(piece.ranges[k].upper);
  }
  return out;
}

/// What the output claims about the label at `point`, without its constant.
std::int64_t affine_part(const Output& output, const Vector& point) {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < point.size(); ++k) sum += output.value.coefficients[k] * point[k];
  return sum;
}

/// The contract of fold.h, one output of one piece, on the points of the stream that are in it.
void check_output(const Stream& stream, const Piece& piece, const std::vector<std::size_t>& inside, std::size_t o) {
  const Output& output = piece.outputs[o];
  std::map<Vector, std::int64_t> residuals;
  std::int64_t minimum = kMost;
  std::int64_t maximum = kLeast;
  std::int64_t near = kMost;
  std::int64_t far = kLeast;
  for (const std::size_t i : inside) {
    const Vector& point = stream.points[i];
    const std::int64_t label = stream.labels[i][o];
    minimum = std::min(minimum, label);
    maximum = std::max(maximum, label);
    if (o < stream.shape.shared) {
      near = std::min(near, point[o] - label);
      far = std::max(far, point[o] - label);
    }
    std::int64_t value = 0;
    if (output.affine()) {
      ASSERT_TRUE(evaluate(output, point, value));
      ASSERT_EQ(value, label) << text(output);
      continue;
    }
    Vector fixed;
    for (std::size_t k = 0; k < point.size(); ++k)
      if (output.top[k]) fixed.push_back(point[k]);
    const std::int64_t residual = label - affine_part(output, point);
    ASSERT_EQ(residuals.emplace(fixed, residual).first->second, residual) << text(output) << " of " << domain(piece);
  }
  EXPECT_EQ(output.minimum, minimum);
  EXPECT_EQ(output.maximum, maximum);
  if (o >= stream.shape.shared) return;
  EXPECT_EQ(output.distance_minimum, near);
  EXPECT_EQ(output.distance_maximum, far);
}

/// The contract of fold.h, by looking at every point.
void check(const Stream& stream, const Folded& folded) {
  ASSERT_EQ(folded.points, stream.points.size());
  bool exact_domains = true;
  std::uint64_t points = 0;
  for (const Piece& piece : folded.pieces) {
    exact_domains = exact_domains && piece.exact_domain;
    points += piece.points;
  }
  ASSERT_EQ(points, stream.points.size());
  ASSERT_EQ(folded.gave_up, !exact_domains);
  ASSERT_EQ(folded.why.empty(), exact_domains);
  std::vector<unsigned> covered(stream.points.size());
  bool widened = false;
  const Vector* previous = nullptr;
  for (const Piece& piece : folded.pieces) {
    std::vector<std::size_t> inside;
    for (std::size_t i = 0; i < stream.points.size(); ++i) {
      if (!contains(piece, stream.points[i])) continue;
      inside.push_back(i);
      covered[i]++;
    }
    ASSERT_EQ(inside.size(), piece.points) << domain(piece);
    ASSERT_TRUE(previous == nullptr || *previous < stream.points[inside.front()]) << "order of pieces";
    previous = &stream.points[inside.front()];
    std::uint64_t count = 0;
    ASSERT_TRUE(count_points(piece.ranges, 1 << 20, count));
    ASSERT_TRUE(count == piece.points || !piece.exact_domain) << domain(piece);
    for (std::size_t o = 0; o < piece.outputs.size(); ++o) {
      check_output(stream, piece, inside, o);
      widened = widened || !piece.outputs[o].affine();
    }
  }
  for (const unsigned times : covered) ASSERT_EQ(times, 1u);
  EXPECT_EQ(folded.widened, widened);
}

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
  return rows(16, [](std::int64_t) { return 43; }, label);
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
  const Stream i2 = rows(3, [](auto) { return 3; }, [](auto j, auto k) { return 67 + connection(k) + j; });
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
  const Stream stream = rows(2, [](auto) { return 3; }, [&](auto j, auto k) { return labels[j][k]; });
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

/// Random nests of affine bounds, perhaps with holes, and labels of many kinds: the contract holds at every point.
class RandomNest {
 public:
  explicit RandomNest(std::uint64_t seed) : random_(seed) {}

  Stream make() {
    Stream stream;
    stream.shape.dimensions = static_cast<std::uint16_t>(1 + pick(4));
    stream.shape.outputs = static_cast<std::uint16_t>(pick(3));
    stream.shape.shared = static_cast<std::uint16_t>(pick(1 + std::min(stream.shape.dimensions, stream.shape.outputs)));
    d_ = stream.shape.dimensions;
    size_ = d_ <= 2 ? 9 : d_ == 3 ? 5 : 4;
    holes_ = pick(3) == 0 ? 2 + pick(12) : 0;
    bounds_.assign(d_, {});
    for (std::size_t k = 0; k < d_; ++k) {
      bounds_[k].lower = affine(k, pick(3) == 0 ? 2 : 0);
      bounds_[k].upper = affine(k, pick(2) == 0 ? 2 : 0);
      bounds_[k].upper.constant += size_ - 1 - (pick(4) == 0 ? size_ - 1 : 0);
    }
    kinds_.clear();
    functions_.clear();
    for (std::size_t o = 0; o < stream.shape.outputs; ++o) {
      kinds_.push_back(pick(6));
      functions_.push_back(affine(d_, 9));
      masks_.push_back(pick(std::size_t{1} << d_));
    }
    Vector point;
    walk(stream, point);
    return stream;
  }

 private:
  std::size_t pick(std::size_t below) { return random_() % below; }

  Affine affine(std::size_t coefficients, std::int64_t reach) {
    Affine function;
    for (std::size_t k = 0; k < coefficients; ++k)
      function.coefficients.push_back(reach == 0 ? 0 : static_cast<std::int64_t>(pick(2 * reach - 1)) - (reach - 1));
    function.constant = static_cast<std::int64_t>(pick(2));
    return function;
  }

  static std::int64_t value(const Affine& function, const Vector& point) {
    std::int64_t sum = function.constant;
    for (std::size_t k = 0; k < function.coefficients.size(); ++k) sum += function.coefficients[k] * point[k];
    return sum;
  }

  /// Something that depends on the coordinates in `mask` only.
  std::int64_t noise(std::size_t mask, const Vector& point, std::uint64_t range) const {
    std::uint64_t hash = 12345;
    for (std::size_t k = 0; k < d_; ++k)
      if ((mask >> k & 1) != 0) hash = (hash ^ static_cast<std::uint64_t>(point[k])) * 0x9e3779b97f4a7c15 + (hash >> 31);
    return static_cast<std::int64_t>((hash >> 33) % range);
  }

  std::int64_t label(std::size_t o, const Vector& point) {
    const std::int64_t regular = value(functions_[o], point);
    switch (kinds_[o]) {
      case 0:
        return regular;
      case 1:  // irregular along some dimensions
        return regular + noise(masks_[o], point, 1000);
      case 2:  // the same, but often regular by chance
        return regular + noise(masks_[o], point, 2);
      case 3:  // a few exceptions
        return regular + (pick(20) == 0 ? 1 : 0);
      case 4:  // two parts
        return point[0] < 2 ? regular : 3 * regular;
      default:
        return static_cast<std::int64_t>(pick(2));
    }
  }

  void walk(Stream& stream, Vector& point) {
    const std::size_t k = point.size();
    if (k == d_) {
      if (holes_ != 0 && pick(holes_) == 0) return;
      Vector labels;
      for (std::size_t o = 0; o < stream.shape.outputs; ++o) labels.push_back(label(o, point));
      stream.add(point, labels);
      return;
    }
    const std::int64_t low = std::clamp<std::int64_t>(value(bounds_[k].lower, point), -4, 12);
    const std::int64_t high = std::clamp<std::int64_t>(value(bounds_[k].upper, point), -4, 12);
    for (std::int64_t x = low; x <= high; ++x) {
      point.push_back(x);
      walk(stream, point);
      point.pop_back();
    }
  }

  std::mt19937_64 random_;
  std::size_t d_ = 0;
  std::int64_t size_ = 0;
  std::size_t holes_ = 0;
  std::vector<Range> bounds_;
  std::vector<std::size_t> kinds_;
  std::vector<Affine> functions_;
  std::vector<std::size_t> masks_;
};

TEST(Published, random_nests_keep_the_contract) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Stream stream = RandomNest(seed).make();
    for (const Variant variant : kVariants) {
      const Folded folded = fold(stream, variant);
      check(stream, folded);
      EXPECT_TRUE(variant != Variant::kF || folded.exact());
      EXPECT_TRUE(variant != Variant::kFW || !folded.gave_up);
      EXPECT_TRUE(variant != Variant::kFGG || folded.gave_up || folded.exact());
      EXPECT_TRUE(!folded.gave_up || folded.pieces.size() == 1u);
      ASSERT_FALSE(HasFailure()) << "seed " << seed << " variant " << variant_name(variant);
    }
  }
}

}  // namespace
}  // namespace loopfold::fold
