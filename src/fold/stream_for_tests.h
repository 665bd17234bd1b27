// Streams as lists, and the contract of fold.h checked on them point by point: for tests of ways of folding.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fold/polyhedron.h"
#include "fold/published.h"
#include "support/wide.h"

namespace loopfold::fold::point_lists {

/// Choices of a random stream.
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low + 1)));
  }

 private:
  std::mt19937_64 random_;
};

using Vector = std::vector<std::int64_t>;

inline constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
inline constexpr Variant kVariants[] = {Variant::kF, Variant::kFW, Variant::kFGG, Variant::kFGGW};

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

/// How many times as long random tests run, and where their seeds begin: `make soak`.
inline std::uint64_t soak() { return from_environment("LOOPFOLD_SOAK", 1); }
inline std::uint64_t first_seed() { return from_environment("LOOPFOLD_SEED", 0) * 1'000'000; }

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
    return {shape,
            {points.begin(), points.begin() + static_cast<std::ptrdiff_t>(length)},
            {labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(length)}};
  }
};

inline std::unique_ptr<Folder> folder(Variant variant, Shape shape) {
  return make_published(Options{.variant = variant, .max_pieces = 16}, shape);
}

inline Folded fold(const Stream& stream, Variant variant) {
  const std::unique_ptr<Folder> folder = fold::point_lists::folder(variant, stream.shape);
  for (std::size_t i = 0; i < stream.points.size(); ++i) folder->add(stream.points[i].data(), stream.labels[i].data());
  return folder->finish();
}

/// "1*i0 + TOP*i1 + 67".
inline std::string text(const Output& output) {
  std::string out;
  for (std::size_t k = 0; k < output.top.size(); ++k)
    out += (output.top[k] ? "TOP" : std::to_string(output.value.coefficients[k])) + "*i" + std::to_string(k) + " + ";
  return out + std::to_string(output.value.constant);
}

inline std::string text(const Affine& function) {
  std::string out;
  for (std::size_t k = 0; k < function.coefficients.size(); ++k)
    if (function.coefficients[k] != 0)
      out += std::to_string(function.coefficients[k]) + "*i" + std::to_string(k) + " + ";
  return out + std::to_string(function.constant);
}

/// "0 <= i0 <= 15, 0 <= i1 <= 1*i0 + 42".
inline std::string domain(const Piece& piece) {
  std::string out;
  for (std::size_t k = 0; k < piece.ranges.size(); ++k) {
    if (k > 0) out += ", ";
    const std::string times = piece.ranges[k].divisor == 1 ? "" : std::to_string(piece.ranges[k].divisor) + "*";
    out +=
        text(piece.ranges[k].lower) + " <= " + times + "i" + std::to_string(k) + " <= " + text(piece.ranges[k].upper);
  }
  return out;
}

/// What the output claims about the label at `point`, without its constant.
inline Wide affine_part(const Output& output, const Vector& point) {
  Wide sum = 0;
  for (std::size_t k = 0; k < point.size(); ++k) sum += static_cast<Wide>(output.value.coefficients[k]) * point[k];
  return sum;
}

/// As far as 64 bits go.
inline std::int64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(std::clamp<Wide>(static_cast<Wide>(a) - b, kLeast, kMost));
}

/// The contract of fold.h, one output of one piece, on the points of the stream that are in it.
inline void check_output(const Stream& stream, const Piece& piece, const std::vector<std::size_t>& inside,
                         std::size_t o) {
  const Output& output = piece.outputs[o];
  std::map<Vector, Wide> residuals;
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
      near = std::min(near, difference(point[o], label));
      far = std::max(far, difference(point[o], label));
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
    const Wide residual = label - affine_part(output, point);
    ASSERT_TRUE(residuals.emplace(fixed, residual).first->second == residual)
        << text(output) << " of " << domain(piece);
  }
  EXPECT_EQ(output.minimum, minimum);
  EXPECT_EQ(output.maximum, maximum);
  if (o >= stream.shape.shared) return;
  EXPECT_EQ(output.distance_minimum, near);
  EXPECT_EQ(output.distance_maximum, far);
}

/// The contract of fold.h, by looking at every point.
inline void check(const Stream& stream, const Folded& folded) {
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
    const bool counted = count_points(piece.ranges, 1 << 20, count) && count == piece.points;
    ASSERT_TRUE(counted || !piece.exact_domain) << domain(piece);
    for (std::size_t o = 0; o < piece.outputs.size(); ++o) {
      check_output(stream, piece, inside, o);
      widened = widened || !piece.outputs[o].affine();
    }
  }
  for (const unsigned times : covered) ASSERT_EQ(times, 1u);
  EXPECT_EQ(folded.widened, widened);
}

}  // namespace loopfold::fold::point_lists
