#include "fold/box.h"

#include <algorithm>
#include <limits>

#include "support/wide.h"

namespace loopfold::fold {

namespace {

std::int64_t saturated(Wide value) {
  constexpr Wide kLow = std::numeric_limits<std::int64_t>::min();
  constexpr Wide kHigh = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::clamp(value, kLow, kHigh));
}

}  // namespace

Box::Box(Shape shape)
    : shape_(shape), coordinates_(shape.dimensions), outputs_(shape.outputs), distances_(shape.shared) {}

void Box::extend(Interval& interval, std::int64_t value, bool first) {
  interval.minimum = first ? value : std::min(interval.minimum, value);
  interval.maximum = first ? value : std::max(interval.maximum, value);
}

void Box::add(const std::int64_t* point, const std::int64_t* labels) {
  const bool first = points_++ == 0;
  for (std::size_t k = 0; k < coordinates_.size(); ++k) extend(coordinates_[k], point[k], first);
  for (std::size_t o = 0; o < outputs_.size(); ++o) extend(outputs_[o], labels[o], first);
  for (std::size_t o = 0; o < distances_.size(); ++o)
    extend(distances_[o], saturated(static_cast<Wide>(point[o]) - labels[o]), first);
}

Folded Box::finish(std::string_view why) const {
  Folded folded;
  folded.points = points_;
  if (points_ == 0) return folded;
  folded.max_intermediate = 1;
  folded.gave_up = true;
  folded.widened = shape_.outputs > 0 && shape_.dimensions > 0;
  folded.why = why;
  Piece piece;
  piece.exact_domain = false;
  piece.points = points_;
  for (std::size_t k = 0; k < coordinates_.size(); ++k) {
    const std::vector<std::int64_t> none(k);
    piece.ranges.push_back({{coordinates_[k].minimum, none}, {coordinates_[k].maximum, none}, 1});
  }
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    Output output;
    output.value.coefficients.assign(shape_.dimensions, 0);
    output.top.assign(shape_.dimensions, true);
    if (shape_.dimensions == 0) output.value.constant = outputs_[o].minimum;
    output.minimum = outputs_[o].minimum;
    output.maximum = outputs_[o].maximum;
    if (o < distances_.size()) {
      output.distance_minimum = distances_[o].minimum;
      output.distance_maximum = distances_[o].maximum;
    }
    piece.outputs.push_back(std::move(output));
  }
  folded.pieces.push_back(std::move(piece));
  return folded;
}

std::size_t Box::bytes() const {
  return sizeof(*this) + sizeof(Interval) * (coordinates_.size() + outputs_.size() + distances_.size());
}

}  // namespace loopfold::fold
