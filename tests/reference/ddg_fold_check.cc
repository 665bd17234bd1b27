#include "ddg_fold_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "support/wide.h"

namespace loopfold::reference {

namespace {

using Vector = std::span<const std::int64_t>;

Wide at(const fold::Affine& function, Vector point) {
  Wide value = function.constant;
  for (std::size_t k = 0; k < function.coefficients.size(); ++k)
    value += static_cast<Wide>(function.coefficients[k]) * point[k];
  return value;
}

bool inside(const fold::Range& range, Vector before, std::int64_t coordinate) {
  const Wide lower = at(range.lower, before);
  const Wide divisor = range.divisor;
  const Wide own = divisor * coordinate;
  return lower <= own && own <= at(range.upper, before) && (own - lower) % (divisor * range.stride) == 0;
}

bool inside(const fold::Piece& piece, Vector point) {
  for (std::size_t k = 0; k < piece.ranges.size(); ++k)
    if (!inside(piece.ranges[k], point.first(k), point[k])) return false;
  return true;
}

/// The label that the function gives, where `value` is its numerator; it must divide.
Wide reduced(const fold::Output& output, Wide value) {
  value /= output.divisor;
  if (output.modulus == 0) return value;
  const Wide remainder = (value - output.base) % output.modulus;
  return output.base + (remainder < 0 ? remainder + output.modulus : remainder);
}

bool lexicographically_less(Vector a, Vector b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

std::string text(Vector point) { return fmt::format("({})", fmt::join(point, ",")); }

class Checker {
 public:
  Checker(const fold::Folded& folded, const Points& points, std::size_t shared)
      : folded_(folded), points_(points), shared_(shared), piece_of_(points.count, kNone), order_(points.count) {}

  std::string check() {
    check_shape();
    if (problem_.empty()) sort_points();
    for (std::size_t i = 0; i < folded_.pieces.size() && problem_.empty(); ++i)
      if (folded_.pieces[i].exact_domain) regenerate(i);
    if (problem_.empty()) check_rest();
    for (std::size_t i = 0; i < folded_.pieces.size() && problem_.empty(); ++i)
      for (std::size_t o = 0; o < points_.outputs && problem_.empty(); ++o) check_output(i, o);
    return problem_;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  template <class... Arguments>
  void wrong(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (problem_.empty()) problem_ = fmt::format(format, std::forward<Arguments>(arguments)...);
  }

  void check_shape() {
    if (folded_.points != points_.count) wrong("{} points instead of {}", folded_.points, points_.count);
    std::uint64_t sum = 0;
    bool top = false;
    bool inexact = false;
    for (const fold::Piece& piece : folded_.pieces) {
      sum += piece.points;
      inexact = inexact || !piece.exact_domain;
      if (piece.ranges.size() != points_.dimensions || piece.outputs.size() != points_.outputs)
        return wrong("a piece with {} dimensions and {} outputs instead of {} and {}", piece.ranges.size(),
                     piece.outputs.size(), points_.dimensions, points_.outputs);
      for (std::size_t k = 0; k < piece.ranges.size(); ++k)
        if (piece.ranges[k].stride < 1 || piece.ranges[k].divisor < 1 ||
            piece.ranges[k].lower.coefficients.size() != k || piece.ranges[k].upper.coefficients.size() != k)
          return wrong("a malformed range of dimension {}", k);
      for (const fold::Output& output : piece.outputs) {
        top = top || !output.affine();
        if (output.top.size() != points_.dimensions || output.value.coefficients.size() != points_.dimensions)
          return wrong("a malformed output");
      }
    }
    if (sum != points_.count) wrong("pieces with {} points instead of {}", sum, points_.count);
    if (folded_.widened != top) wrong("widened is {}, but an output with TOP is {}", folded_.widened, top);
    if (folded_.gave_up != inexact) wrong("gave_up is {}, but an inexact domain is {}", folded_.gave_up, inexact);
  }

  void sort_points() {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t a, std::size_t b) { return lexicographically_less(points_.point(a), points_.point(b)); });
    for (std::size_t i = 1; i < order_.size(); ++i) {
      if (lexicographically_less(points_.point(order_[i - 1]), points_.point(order_[i]))) continue;
      duplicates_ = true;
    }
  }

  void regenerate(std::size_t piece) {
    std::vector<std::int64_t> point(points_.dimensions);
    std::uint64_t count = 0;
    enumerate(piece, 0, point, count);
    if (count != folded_.pieces[piece].points)
      wrong("piece {} has an exact domain of {} points, but {} were folded into it", piece, count,
            folded_.pieces[piece].points);
  }

  void enumerate(std::size_t piece, std::size_t dimension, std::vector<std::int64_t>& point, std::uint64_t& count) {
    if (!problem_.empty()) return;
    if (dimension == points_.dimensions) {
      ++count;
      return claim(piece, point);
    }
    const fold::Range& range = folded_.pieces[piece].ranges[dimension];
    const Vector before = Vector(point).first(dimension);
    const Wide lower = at(range.lower, before);
    const Wide upper = at(range.upper, before);
    if (lower % range.divisor != 0 || upper % range.divisor != 0)
      return wrong("piece {}: a bound of dimension {} is a fraction", piece, dimension);
    for (Wide x = lower / range.divisor; x <= upper / range.divisor && problem_.empty(); x += range.stride) {
      point[dimension] = static_cast<std::int64_t>(x);
      enumerate(piece, dimension + 1, point, count);
      if (++steps_ > (points_.count + 2) * (points_.dimensions + 1)) wrong("exact pieces have too many points");
    }
  }

  void claim(std::size_t piece, Vector point) {
    const auto found = std::lower_bound(order_.begin(), order_.end(), point, [&](std::size_t index, Vector p) {
      return lexicographically_less(points_.point(index), p);
    });
    if (found == order_.end() || lexicographically_less(point, points_.point(*found)))
      return wrong("piece {} has the point {}, which the stream has not", piece, text(point));
    if (piece_of_[*found] != kNone)
      return wrong("{} is in piece {} and in piece {}", text(point), piece_of_[*found], piece);
    piece_of_[*found] = piece;
  }

  /// Points in no exact piece belong to an inexact one; if only one has them, it is that.
  void check_rest() {
    for (std::size_t i = 0; i < points_.count; ++i) {
      if (piece_of_[i] != kNone) continue;
      std::size_t found = 0;
      for (std::size_t p = 0; p < folded_.pieces.size(); ++p) {
        if (folded_.pieces[p].exact_domain || !inside(folded_.pieces[p], points_.point(i))) continue;
        piece_of_[i] = p;
        ++found;
      }
      if (found == 0 && !duplicates_) return wrong("{} is in no piece", text(points_.point(i)));
      if (found > 1) piece_of_[i] = kNone;
    }
  }

  void check_output(std::size_t piece, std::size_t o) {
    const fold::Output& output = folded_.pieces[piece].outputs[o];
    std::map<std::vector<std::int64_t>, Wide> rests;  // by the coordinates in TOP dimensions
    for (std::size_t i = 0; i < points_.count && problem_.empty(); ++i) {
      if (piece_of_[i] != piece) continue;
      const Vector point = points_.point(i);
      const std::int64_t label = points_.labels(i)[o];
      const Wide value = at(output.value, point);
      if (label < output.minimum || label > output.maximum)
        wrong("output {} at {} is {}, beyond {}..{} of piece {}", o, text(point), label, output.minimum, output.maximum,
              piece);
      if (o < shared_ && (point[o] - label < output.distance_minimum || point[o] - label > output.distance_maximum))
        wrong("the distance along dimension {} at {} is {}, beyond {}..{} of piece {}", o, text(point),
              point[o] - label, output.distance_minimum, output.distance_maximum, piece);
      if (output.affine() && value % output.divisor != 0)
        wrong("output {} at {} is a fraction by piece {}", o, text(point), piece);
      if (output.affine() && reduced(output, value) != label)
        wrong("output {} at {} is {}, but {} by piece {}", o, text(point), label,
              static_cast<std::int64_t>(reduced(output, value)), piece);
      if (output.affine()) continue;
      std::vector<std::int64_t> group;
      for (std::size_t k = 0; k < point.size(); ++k)
        if (output.top[k]) group.push_back(point[k]);
      Wide rest = static_cast<Wide>(output.divisor) * label - value;
      if (output.modulus != 0) rest = ((rest % output.modulus) + output.modulus) % output.modulus;
      if (const auto [found, added] = rests.try_emplace(group, rest); !added && found->second != rest)
        wrong("output {} of piece {} claims a difference that {} has not", o, piece, text(point));
    }
  }

  const fold::Folded& folded_;
  const Points& points_;
  std::size_t shared_;
  std::vector<std::size_t> piece_of_;  // by point; kNone: not known
  std::vector<std::size_t> order_;     // of the points, sorted
  std::uint64_t steps_ = 0;
  bool duplicates_ = false;  // a point came twice
  std::string problem_;
};

}  // namespace

std::string check_folded(const fold::Folded& folded, const Points& points, std::size_t shared) {
  return Checker(folded, points, shared).check();
}

}  // namespace loopfold::reference
