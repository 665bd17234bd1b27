// The blocks of an exact folder, covered: as if all their points had been added to a Loose, but in time proportional to
// the number of blocks. This is what giving up a stream for want of memory costs, however long it was.
//
// In a block everything is an affine function of counts, so ranges of coordinates, of sums and differences of two, of
// labels and of distances are known exactly, without looking at points. A label stays affine if one function fits all
// blocks: the steps along each count, and from the first point of one block to that of another, are equations for its
// coefficients. Nothing is claimed about other labels, though walking along the points could sometimes find that they
// are affine along the inner dimensions.
#include <algorithm>

#include "fold/adaptive_loose.h"

namespace loopfold::fold::adaptive {

namespace {

Function coordinate_of(const Placed& placed, std::size_t k) {
  const auto q = static_cast<int>(k);
  if (q >= placed.view.level) return placed.view.coordinate(q);
  Function same{placed.prefix[k], {}};
  same.steps.assign_zeros(View::at(placed.view.layout.dimensions));
  return same;
}

Function combined(Function a, int sign, const Function& b) {
  a.constant += sign * b.constant;
  for (std::size_t k = 0; k < a.steps.size(); ++k) a.steps[k] += sign * b.steps[k];
  return a;
}

}  // namespace

/// Adds differences of points and of their labels; false if no affine function has them.
struct Loose::Common {
  explicit Common(std::size_t dimensions) : equations(dimensions), known(dimensions <= LabelFit::kMostDimensions) {}

  void add(const std::vector<Wide>& vector, Wide value) {
    std::vector<std::int64_t> narrow(vector.begin(), vector.end());
    bool fresh = false;
    known = known && std::all_of(vector.begin(), vector.end(), fits) && fits(value) &&
            equations.add(narrow.data(), static_cast<std::int64_t>(value), fresh);
  }

  Equations equations;
  bool known;                   // such a function may exist
  std::vector<Wide> reference;  // the first point of the first block
  Wide label = 0;               // its label
};

Loose::Loose(Shape shape, std::vector<std::uint16_t> select, Domain domain, std::span<const Placed> blocks,
             const std::int64_t* last, std::uint64_t points)
    : Loose(shape, std::move(select), domain) {
  points_ = points;
  std::vector<Common> functions(followed_, Common(shape.dimensions));
  if (wants_pairs() && shape.dimensions > 1) pairs_.resize(std::size_t{shape.dimensions} * (shape.dimensions - 1u) / 2);
  for (const Placed& placed : blocks) {
    std::vector<Function> coordinates;
    for (std::size_t k = 0; k < shape.dimensions; ++k) coordinates.push_back(coordinate_of(placed, k));
    const bool first = &placed == blocks.data();
    cover_coordinates(placed, coordinates, first);
    for (std::size_t i = 0; i < followed_; ++i) cover_output(placed, coordinates, i, first, functions[i]);
  }
  std::uint32_t varied = 0;
  for (std::size_t k = shape.dimensions; k-- > 0;) {
    last_[k] = last[k];
    if (coordinates_[k].range.constant()) continue;
    lead_ = static_cast<std::uint16_t>(k);
    if (k < LabelFit::kMostDimensions) varied |= std::uint32_t{1} << k;
  }
  for (std::size_t i = 0; i < followed_; ++i)
    if (!follow(functions[i], varied, fits_[i])) set_form(outputs_[i], Form::kHopeless);
}

/// Ranges, strides, and ranges of pairs.
void Loose::cover_coordinates(const Placed& placed, const std::vector<Function>& coordinates, bool first) {
  const auto cover = [&](const Function& function, bool fresh, Interval& into) {
    Interval own;
    const bool whole = extremes(placed.view, function, own.low, own.high);
    into = fresh ? own : Interval{std::min(into.low, own.low), std::max(into.high, own.high)};
    return whole;
  };
  bool small = true;
  for (std::size_t k = 0; k < coordinates.size(); ++k) {
    Coordinate& coordinate = coordinates_[k];
    if (first) last_[k] = static_cast<std::int64_t>(coordinates[k].constant);
    Wide common = gcd(static_cast<Wide>(coordinate.common), coordinates[k].constant - last_[k]);
    for (const Wide step : coordinates[k].steps) common = gcd(common, step);
    coordinate.common = static_cast<std::uint64_t>(common);
    small = cover(coordinates[k], first, coordinate.range) && is_small(coordinate.range.low) &&
            is_small(coordinate.range.high) && small;
  }
  if (!small) pairs_ = {};
  for (std::size_t inner = 1; inner < coordinates.size() && !pairs_.empty(); ++inner)
    for (std::size_t outer = 0; outer < inner; ++outer) {
      Pair& pair = pairs_[inner * (inner - 1) / 2 + outer];
      cover(combined(coordinates[inner], -1, coordinates[outer]), first, pair.difference);
      cover(combined(coordinates[inner], 1, coordinates[outer]), first, pair.sum);
    }
}

/// The range of labels and distances, and what the block says about the function.
void Loose::cover_output(const Placed& placed, const std::vector<Function>& coordinates, std::size_t index, bool first,
                         Common& common) {
  const View& view = placed.view;
  const int o = static_cast<int>(index);
  const int along = view.layout.distance_dimension(o);
  Tracked& output = outputs_[index];
  Window own = window_of(view, o);
  if (along >= 0 && along < view.level) {
    own.distance_low = distance(placed.prefix[View::at(along)], own.high);
    own.distance_high = distance(placed.prefix[View::at(along)], own.low);
  }
  Window all{0, output.labels.low, output.labels.high, output.distance.low, output.distance.high};
  if (first) all = own;
  all.include(own);
  output.labels = {all.low, all.high};
  output.distance = {all.distance_low, all.distance_high};

  const Function label = view.function(o);
  common.known = common.known && view.block.modulus(o) == 0;
  std::vector<Wide> vector(coordinates.size());
  if (first) {
    for (const Function& coordinate : coordinates) common.reference.push_back(coordinate.constant);
    common.label = label.constant;
  }
  for (std::size_t k = 0; k < vector.size(); ++k) vector[k] = coordinates[k].constant - common.reference[k];
  common.add(vector, label.constant - common.label);
  for (int q = view.level; q < view.layout.dimensions; ++q) {
    if (!view.block.knows(q)) continue;
    for (std::size_t k = 0; k < vector.size(); ++k) vector[k] = coordinates[k].steps[View::at(q)];
    common.add(vector, label.steps[View::at(q)]);
  }
}

/// Goes on with the function that all blocks have in common, if there is one.
bool Loose::follow(const Common& common, std::uint32_t varied, LabelFit& fit) const {
  Fraction function(coordinates_.size());
  Affine value;
  std::int64_t divisor = 1;
  if (!common.known || !common.equations.solve(function) || !function.reduced(value, divisor)) return false;
  Wide at = 0;
  if (__builtin_mul_overflow(common.label, static_cast<Wide>(divisor), &at)) return false;
  for (std::size_t k = 0; k < coordinates_.size(); ++k) {
    Wide along = 0;
    if (__builtin_mul_overflow(last_[k] - common.reference[k], static_cast<Wide>(value.coefficients[k]), &along) ||
        __builtin_add_overflow(at, along, &at))
      return false;
  }
  fit.restart(static_cast<std::int64_t>(at / divisor), value, divisor, varied);
  return !fit.refuted();
}

}  // namespace loopfold::fold::adaptive
