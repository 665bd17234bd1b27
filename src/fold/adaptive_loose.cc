#include "fold/adaptive_loose.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "fold/adaptive_block.h"

namespace loopfold::fold::adaptive {

namespace {

constexpr std::size_t kMostDimensionsWithPairs = 8;
constexpr std::size_t kMostDimensionsWithFits = 16;
constexpr std::int64_t kLargeCoordinate = std::int64_t{1} << 60;

}  // namespace

Loose::Loose(Shape shape, std::vector<std::uint16_t> select, Domain domain)
    : shape_(shape),
      pairs_wanted_(domain == Domain::kCover && shape.dimensions <= kMostDimensionsWithPairs),
      step_(shape.dimensions) {
  for (const std::uint16_t number : select) outputs_.push_back({number, {}, {}, LabelFit(shape.dimensions)});
}

void Loose::add_first(const std::int64_t* point, const std::int64_t* labels) {
  last_.assign(point, point + shape_.dimensions);
  for (const std::int64_t x : last_) coordinates_.push_back({{x, x}, 0});
  for (Tracked& output : outputs_) {
    const std::int64_t label = labels[output.number];
    output.labels = {label, label};
    if (output.number < shape_.shared) {
      const std::int64_t d = distance(point[output.number], label);
      output.distance = {d, d};
    }
    if (shape_.dimensions <= kMostDimensionsWithFits) output.fit.add_first(point, label);
  }
  if (pairs_wanted_)
    for (std::size_t inner = 1; inner < last_.size(); ++inner)
      for (std::size_t outer = 0; outer < inner; ++outer) pairs_.emplace_back();
}

void Loose::add_pairs(const std::int64_t* point) {
  for (const Coordinate& coordinate : coordinates_)
    if (coordinate.range.low < -kLargeCoordinate || coordinate.range.high > kLargeCoordinate) {
      pairs_wanted_ = false;
      pairs_.clear();
      return;
    }
  std::size_t at = 0;
  for (std::size_t inner = 1; inner < last_.size(); ++inner)
    for (std::size_t outer = 0; outer < inner; ++outer, ++at) {
      const std::int64_t difference = point[inner] - point[outer];
      const std::int64_t sum = point[inner] + point[outer];
      if (points_ == 1) pairs_[at] = {{difference, difference}, {sum, sum}};
      pairs_[at].difference.include(difference);
      pairs_[at].sum.include(sum);
    }
}

void Loose::add(const std::int64_t* point, const std::int64_t* labels) {
  if (points_++ == 0) {
    add_first(point, labels);
    if (pairs_wanted_) add_pairs(point);
    return;
  }
  const std::size_t dimensions = last_.size();
  std::size_t first = dimensions;
  bool small = true;
  for (std::size_t k = dimensions; k-- > 0;) {
    const Wide step = static_cast<Wide>(point[k]) - last_[k];
    step_[k] = static_cast<std::int64_t>(step);
    small = small && step == step_[k];
    if (step == 0) continue;
    first = k;
    Coordinate& coordinate = coordinates_[k];
    coordinate.range.include(point[k]);
    if (coordinate.common != 1)
      coordinate.common = std::gcd(coordinate.common, static_cast<std::uint64_t>(step < 0 ? -step : step));
  }
  const bool ordered = first < dimensions && point[first] > last_[first];
  last_.assign(point, point + dimensions);
  for (Tracked& output : outputs_) {
    const std::int64_t label = labels[output.number];
    output.labels.include(label);
    if (output.number < shape_.shared) output.distance.include(distance(point[output.number], label));
    if (!small) output.fit = LabelFit(dimensions);
    if (!ordered) output.fit.unorder();
    output.fit.add(point, step_.data(), first, label);
  }
  if (pairs_wanted_) add_pairs(point);
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
    for (const Coordinate& coordinate : coordinates_) constant.push_back(coordinate.range.low == coordinate.range.high);
    tracked.fit.claim(constant, output);
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
  std::size_t bytes = sizeof(*this) + sizeof(std::int64_t) * 2 * step_.size() +
                      sizeof(Coordinate) * coordinates_.size() + sizeof(Pair) * pairs_.size();
  for (const Tracked& output : outputs_) bytes += sizeof(Tracked) - sizeof(LabelFit) + output.fit.bytes();
  return bytes;
}

}  // namespace loopfold::fold::adaptive
