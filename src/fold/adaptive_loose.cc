#include "fold/adaptive_loose.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "fold/adaptive_block.h"

namespace loopfold::fold::adaptive {

namespace {

constexpr std::size_t kMostDimensionsWithPairs = 8;
constexpr std::int64_t kLargeCoordinate = std::int64_t{1} << 60;

}  // namespace

Loose::Loose(Shape shape, std::vector<std::uint16_t> select, Domain domain)
    : shape_(shape), pairs_wanted_(domain == Domain::kCover && shape.dimensions <= kMostDimensionsWithPairs) {
  for (const std::uint16_t number : select) outputs_.push_back({number, {}, {}, LabelFit(shape.dimensions)});
}

void Loose::add_first(const std::int64_t* point, const std::int64_t* labels) {
  const std::span<const std::int64_t> all(point, shape_.dimensions);
  coordinates_.reserve(all.size());
  for (const std::int64_t x : all) coordinates_.push_back({x, {x, x}, 0});
  for (Tracked& output : outputs_) {
    const std::int64_t label = labels[output.number];
    output.labels = {label, label};
    if (output.number < shape_.shared) {
      const std::int64_t d = distance(point[output.number], label);
      output.distance = {d, d};
    }
    output.fit.add_first(point, label);
  }
  const bool small = std::all_of(all.begin(), all.end(),
                                 [](std::int64_t x) { return -kLargeCoordinate <= x && x <= kLargeCoordinate; });
  if (!pairs_wanted_ || !small) return;
  for (std::size_t inner = 1; inner < shape_.dimensions; ++inner)
    for (std::size_t outer = 0; outer < inner; ++outer) {
      const std::int64_t difference = point[inner] - point[outer];
      const std::int64_t sum = point[inner] + point[outer];
      pairs_.push_back({{difference, difference}, {sum, sum}});
    }
}

/// `step` is a difference of two coordinates, modulo 2^64 if that is too large.
void Loose::add_difference(Coordinate& coordinate, std::int64_t step, bool upwards) {
  const auto size = static_cast<std::uint64_t>(step);
  coordinate.common = std::gcd(coordinate.common, upwards ? size : -size);
}

/// Only pairs with a coordinate that changed: `first` or later.
void Loose::add_pairs(const std::int64_t* point, std::size_t first) {
  std::size_t at = first * (first - 1) / 2;
  for (std::size_t inner = first; inner < shape_.dimensions; ++inner)
    for (std::size_t outer = 0; outer < inner; ++outer, ++at) {
      pairs_[at].difference.include(point[inner] - point[outer]);
      pairs_[at].sum.include(point[inner] + point[outer]);
    }
}

void Loose::add(const std::int64_t* point, const std::int64_t* labels) {
  if (points_++ == 0) {
    add_first(point, labels);
    return;
  }
  const std::size_t dimensions = coordinates_.size();
  std::array<std::int64_t, LabelFit::kMostDimensions> steps;
  std::size_t first = 0;
  while (first < dimensions && point[first] == coordinates_[first].last) ++first;
  const bool ordered = first < dimensions && point[first] > coordinates_[first].last;
  bool small = true;
  std::uint64_t hash = first;
  if (first > 0) std::fill_n(steps.begin(), std::min(first, steps.size()), 0);
  for (std::size_t k = first; k < dimensions; ++k) {
    const std::int64_t x = point[k];
    Coordinate& coordinate = coordinates_[k];
    std::int64_t step = 0;
    small = !__builtin_sub_overflow(x, coordinate.last, &step) && small;
    if (k < steps.size()) steps[k] = step;
    if (step == 0) continue;
    hash += hash_of(k, step);
    if (coordinate.common != 1) add_difference(coordinate, step, x > coordinate.last);
    coordinate.last = x;
    coordinate.range.include(x);
    if (!pairs_.empty() && (x > kLargeCoordinate || x < -kLargeCoordinate)) pairs_ = {};
  }
  const Move move{point, steps.data(), first, hash};
  for (Tracked& output : outputs_) {
    const std::int64_t label = labels[output.number];
    output.labels.include(label);
    if (output.number < shape_.shared) output.distance.include(distance(point[output.number], label));
    if (output.fit.refuted()) continue;
    if (!small) output.fit.refute();
    if (!ordered) output.fit.unorder();
    output.fit.add(move, label);
  }
  if (!pairs_.empty()) add_pairs(point, std::max<std::size_t>(first, 1));
}

void Loose::take_outputs(Loose&& other) {
  for (Tracked& output : other.outputs_) outputs_.push_back(std::move(output));
}

void Loose::shrink() {
  for (Tracked& output : outputs_) output.fit.shrink();
}

void Loose::bound(Output& output, std::uint16_t number) const {
  for (const Tracked& tracked : outputs_) {
    if (tracked.number != number) continue;
    output.minimum = tracked.labels.low;
    output.maximum = tracked.labels.high;
    output.distance_minimum = tracked.distance.low;
    output.distance_maximum = tracked.distance.high;
  }
}

void Loose::claim(Output& output, std::uint16_t number) const {
  for (const Tracked& tracked : outputs_) {
    if (tracked.number != number) continue;
    std::vector<bool> constant;
    std::vector<std::int64_t> last;
    for (const Coordinate& coordinate : coordinates_) {
      constant.push_back(coordinate.range.low == coordinate.range.high);
      last.push_back(coordinate.last);
    }
    tracked.fit.claim(constant, last, output);
  }
}

/// Replaces constant bounds of a coordinate by functions of one outer coordinate that are tighter on average.
void Loose::tighten(std::size_t inner, Range& range) const {
  Wide best_low = 2 * static_cast<Wide>(range.lower.constant);
  Wide best_high = 2 * static_cast<Wide>(range.upper.constant);
  for (std::size_t outer = 0; outer < inner; ++outer) {
    const Interval& along = coordinates_[outer].range;
    if (along.low == along.high) continue;
    const Wide twice_middle = static_cast<Wide>(along.low) + along.high;
    const Pair& pair = pairs_[inner * (inner - 1) / 2 + outer];
    const auto consider = [&](const Interval& interval, std::int64_t slope) {
      const auto function = [&](std::int64_t constant) {
        Affine affine{constant, std::vector<std::int64_t>(inner)};
        affine.coefficients[outer] = slope;
        return affine;
      };
      const Wide low = 2 * static_cast<Wide>(interval.low) + slope * twice_middle;
      const Wide high = 2 * static_cast<Wide>(interval.high) + slope * twice_middle;
      if (range.stride == 1 && low > best_low) {
        best_low = low;
        range.lower = function(interval.low);
      }
      if (high < best_high) {
        best_high = high;
        range.upper = function(interval.high);
      }
    };
    consider(pair.difference, 1);
    consider(pair.sum, -1);
  }
}

Piece Loose::cover() const {
  Piece piece;
  piece.exact_domain = false;
  piece.points = points_;
  for (std::size_t k = 0; k < coordinates_.size(); ++k) {
    const Coordinate& coordinate = coordinates_[k];
    const std::vector<std::int64_t> none(k);
    Range range{{coordinate.range.low, none}, {coordinate.range.high, none}, 1};
    if (coordinate.common > 1 &&
        coordinate.common <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      range.stride = static_cast<std::int64_t>(coordinate.common);
    if (!pairs_.empty()) tighten(k, range);
    piece.ranges.push_back(std::move(range));
  }
  return piece;
}

std::size_t Loose::bytes() const {
  std::size_t bytes = sizeof(*this) + sizeof(Coordinate) * coordinates_.size() + sizeof(Pair) * pairs_.size();
  for (const Tracked& output : outputs_) bytes += sizeof(Tracked) - sizeof(LabelFit) + output.fit.bytes();
  return bytes;
}

}  // namespace loopfold::fold::adaptive
