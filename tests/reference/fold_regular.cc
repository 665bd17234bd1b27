// The regular streams of fold_streams.h. The number of pieces is known by construction:
//
// Published algorithm: one piece if every corner of every face moves by -1, 0 or 1 per step of every dimension around
// it, which is what its search vectors find, if no row is empty, and if rows of one point do not leave it open what a
// step along the outer dimension does to the label (true if all counters start at a constant, as those of loops do, or
// if all rows have two points).
//
// kAuto: one piece for any integer slopes, strides, fractions on these, and moduli; two for a checkerboard.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "reference/fold_streams.h"

namespace loopfold::fold::reference {

namespace {

using Point = std::vector<std::int64_t>;
using Labels = std::function<std::int64_t(const Point&)>;
using Guard = std::function<bool(const Point&)>;

struct Bounds {
  std::vector<Affine> lower;
  std::vector<Affine> upper;
};

std::int64_t value(const Affine& function, const Point& point) {
  std::int64_t sum = function.constant;
  for (std::size_t k = 0; k < function.coefficients.size(); ++k) sum += function.coefficients[k] * point[k];
  return sum;
}

constexpr std::size_t kMost = 6000;

/// The points within bounds, and the length of the shortest row, of all dimensions.
class Walk {
 public:
  Walk(const Bounds& bounds, const Guard& guard) : bounds_(bounds), guard_(guard), point_(bounds.lower.size()) {
    loop(0);
  }
  const std::vector<Point>& points() const { return points_; }
  std::int64_t shortest() const { return shortest_; }

 private:
  void loop(std::size_t k) {
    if (k == point_.size()) {
      if (guard_(point_)) points_.push_back(point_);
      return;
    }
    const std::int64_t lower = value(bounds_.lower[k], point_);
    const std::int64_t upper = value(bounds_.upper[k], point_);
    shortest_ = std::min(shortest_, upper - lower + 1);
    for (point_[k] = lower; point_[k] <= upper && points_.size() <= kMost; ++point_[k]) loop(k + 1);
    point_[k] = 0;
  }

  const Bounds& bounds_;
  const Guard& guard_;
  Point point_;
  std::vector<Point> points_;
  std::int64_t shortest_ = 1000;
};

/// How far a corner moves along dimension k per step of dimension d, for all corners: in -1 .. 1?
bool corners_move_slowly(const Bounds& bounds, std::size_t d, std::size_t k, Point& moves) {
  if (k == bounds.lower.size()) return true;
  for (const Affine* bound : {&bounds.lower[k], &bounds.upper[k]}) {
    std::int64_t move = bound->coefficients[d];
    for (std::size_t m = d + 1; m < k; ++m) move += bound->coefficients[m] * moves[m];
    if (move < -1 || move > 1) return false;
    moves[k] = move;
    if (!corners_move_slowly(bounds, d, k + 1, moves)) return false;
  }
  return true;
}

bool has_small_slopes(const Bounds& bounds) {
  Point moves(bounds.lower.size());
  for (std::size_t d = 0; d < bounds.lower.size(); ++d)
    if (!corners_move_slowly(bounds, d, d + 1, moves)) return false;
  return true;
}

class Maker {
 public:
  Maker(Family family, std::uint64_t seed) : family_(family), random_(seed * 7 + static_cast<std::uint64_t>(family)) {}

  Regular make() {
    for (;;) {
      Regular regular;
      if (!try_make(regular)) continue;
      regular.stream.what = fmt::format("{}{}", family_name(family_), what_);
      return regular;
    }
  }

 private:
  bool try_make(Regular& regular) {
    what_.clear();
    const bool deep = family_ == Family::kSlopes || family_ == Family::kSteep || strided();
    dimensions_ = static_cast<std::size_t>(deep ? random_.in(1, 4) : random_.in(2, 3));
    if (family_ == Family::kModular) dimensions_ = static_cast<std::size_t>(random_.in(1, 3));
    const Bounds bounds = any_bounds();
    const Guard guard = any_guard();
    const Walk walk(bounds, guard);
    if (walk.points().size() < 4 || walk.points().size() > kMost) return false;
    if (walk.shortest() < (sloped_lower_ ? 2 : 1)) return false;
    if (family_ == Family::kSlopes && !has_small_slopes(bounds)) return false;
    modulus_ = random_.in(2, 4);
    dimension_ = static_cast<std::size_t>(random_.in(0, static_cast<std::int64_t>(dimensions_) - 1));
    std::vector<Labels> labels;
    for (std::int64_t o = random_.in(deep ? 0 : 1, 2); o > 0; --o) labels.push_back(any_labels());
    regular.stream.shape = {static_cast<std::uint16_t>(dimensions_), static_cast<std::uint16_t>(labels.size()), 0};
    for (const Point& point : walk.points()) {
      Labelled& labelled = regular.stream.points.emplace_back(Labelled{point, {}});
      for (const Labels& function : labels) labelled.labels.push_back(function(point));
    }
    regular.published = family_ == Family::kSlopes ? 1 : 0;
    regular.adaptive = family_ == Family::kCheckerboard ? 2 : 1;
    return true;
  }

  bool strided() const { return family_ == Family::kStrided || family_ == Family::kFractional; }

  Bounds any_bounds() {
    Bounds bounds;
    const bool lattice = strided() || family_ == Family::kCheckerboard;
    const bool shapes = family_ == Family::kSlopes || family_ == Family::kSteep;
    const bool flat = lattice || family_ == Family::kDiagonal || (!shapes && !random_.chance(20));
    const std::int64_t steepest = family_ == Family::kSteep ? 3 : 1;
    const std::int64_t least = shapes ? 0 : lattice ? 7 : 13;
    sloped_lower_ = false;
    for (std::size_t k = 0; k < dimensions_; ++k) {
      Affine lower{0, Point(k)};
      Affine upper{random_.in(least, dimensions_ < 3 ? 40 : least + 5), Point(k)};
      if (k == 0 && family_ == Family::kRows) upper.constant = random_.in(40, 60);
      for (std::size_t m = 0; m < k && !flat; ++m) {
        if (random_.chance(40)) upper.coefficients[m] = random_.in(-steepest, steepest);
        if (random_.chance(10)) lower.coefficients[m] = random_.in(-steepest, steepest);
        sloped_lower_ = sloped_lower_ || lower.coefficients[m] != 0;
      }
      bounds.lower.push_back(lower);
      bounds.upper.push_back(upper);
    }
    if (!flat) what_ += ", sloped";
    return bounds;
  }

  Guard any_guard() {
    if (family_ == Family::kCheckerboard) {
      const auto rest = random_.in(0, 1);
      const std::size_t k = dimensions_ - 2;
      return [=](const Point& p) { return (p[k] + p[k + 1]) % 2 == rest; };
    }
    if (!strided()) return [](const Point&) { return true; };
    Point& steps = steps_;
    Point& rests = rests_;
    steps.assign(dimensions_, 1);
    rests.assign(dimensions_, 0);
    for (std::size_t k = 0; k < dimensions_; ++k) {
      if (!random_.chance(60)) continue;
      steps[k] = random_.in(2, 3);
      rests[k] = random_.in(0, steps[k] - 1);
      what_ += fmt::format(", i{} % {} == {}", k, steps[k], rests[k]);
    }
    return [steps, rests](const Point& p) {
      for (std::size_t k = 0; k < p.size(); ++k)
        if (p[k] % steps[k] != rests[k]) return false;
      return true;
    };
  }

  Labels any_labels() {
    const std::size_t inner = dimensions_ - 1;
    const std::int64_t modulus = modulus_;
    const std::uint64_t salt = random_.next();
    Affine f{random_.in(-99, 99), Point(dimensions_)};
    for (std::int64_t& c : f.coefficients) c = random_.in(-9, 9);
    if (family_ == Family::kModular) {
      const std::size_t k = dimension_;
      const std::int64_t scale = random_.chance(50) ? 1 : 8;
      what_ += fmt::format(", {} (i{} % {})", scale, k, modulus);
      return [=](const Point& p) { return f.constant + scale * ((p[k] % modulus + modulus) % modulus); };
    }
    if (family_ == Family::kDiagonal) {
      what_ += fmt::format(", (i{} + i{}) % {}", inner - 1, inner, modulus);
      return [=](const Point& p) { return (p[inner - 1] + p[inner]) % modulus; };
    }
    if (family_ == Family::kFractional)
      return [f, steps = steps_, rests = rests_](Point p) {
        for (std::size_t k = 0; k < p.size(); ++k) p[k] = (p[k] - rests[k]) / steps[k];
        return value(f, p);
      };
    if (family_ == Family::kRows)
      return [=](const Point& p) {
        Random row(salt + static_cast<std::uint64_t>(p[0]) * 1000003);
        return value(f, p) + row.in(0, 1 << 20);
      };
    return [=](const Point& p) { return value(f, p); };
  }

  Family family_;
  Random random_;
  std::size_t dimensions_ = 0;
  Point steps_;                // where there are strides: of every dimension
  Point rests_;                // and where they start
  std::int64_t modulus_ = 2;   // of all labels of a stream
  std::size_t dimension_ = 0;  // along which labels are modular
  bool sloped_lower_ = false;
  std::string what_;
};

}  // namespace

std::string_view family_name(Family family) {
  switch (family) {
    case Family::kSlopes:
      return "slopes";
    case Family::kSteep:
      return "steep";
    case Family::kStrided:
      return "strided";
    case Family::kFractional:
      return "fractional";
    case Family::kModular:
      return "modular";
    case Family::kDiagonal:
      return "diagonal";
    case Family::kCheckerboard:
      return "checkerboard";
    case Family::kRows:
      return "rows";
  }
  return "";
}

Regular regular_stream(Family family, std::uint64_t seed) { return Maker(family, seed).make(); }

}  // namespace loopfold::fold::reference
