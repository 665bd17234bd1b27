// The words of a piece: its first point (outermost coordinate first), the number of points; per coordinate the lower
// bound, coefficients and then constant, and the upper bound; per output the coefficients, the constant, the dimensions
// with TOP (a bit each), the extremes of the label and, if there are shared loops, of the distance. All pieces of a
// stream have the same number of words.
#include "fold/retired.h"

#include <algorithm>
#include <limits>

#include "support/wide.h"

namespace loopfold::fold {

namespace {

/// Steps for counting the points of a piece once more; what needs more is believed.
constexpr std::uint64_t kCountBudget = 1 << 12;

Affine read_affine(const std::int64_t*& words, std::size_t coefficients) {
  Affine function;
  function.coefficients.assign(words, words + coefficients);
  function.constant = words[coefficients];
  words += coefficients + 1;
  return function;
}

std::vector<Range> read_ranges(const std::int64_t*& words, std::size_t dimensions) {
  std::vector<Range> ranges(dimensions);
  for (std::size_t k = 0; k < dimensions; ++k) {
    ranges[k].lower = read_affine(words, k);
    ranges[k].upper = read_affine(words, k);
  }
  return ranges;
}

std::size_t range_words(std::size_t dimensions) { return dimensions * (dimensions + 1); }

/// A second check of what the construction of polyhedra guarantees.
bool has_points(std::span<const Range> ranges, std::uint64_t points) {
  std::uint64_t counted = 0;
  return !count_points(ranges, kCountBudget, counted) || counted == points;
}

}  // namespace

std::size_t LabelledPolyhedron::bytes() const {
  std::size_t sum = sizeof(*this) + polyhedron.bytes() + labels.size() * sizeof(LabelFunction);
  for (const LabelFunction& label : labels) sum += label.fingerprint.bytes();
  return sum;
}

Extent::Extent(Shape shape)
    : shape_(shape), coordinates_(shape.dimensions), outputs_(shape.outputs), distances_(shape.shared) {}

void Extent::extend(Interval& interval, std::int64_t minimum, std::int64_t maximum) const {
  interval.minimum = points_ == 0 ? minimum : std::min(interval.minimum, minimum);
  interval.maximum = points_ == 0 ? maximum : std::max(interval.maximum, maximum);
}

void Extent::add(const std::int64_t* point, const std::int64_t* labels) {
  for (std::size_t k = 0; k < coordinates_.size(); ++k) extend(coordinates_[k], point[k], point[k]);
  for (std::size_t o = 0; o < outputs_.size(); ++o) extend(outputs_[o], labels[o], labels[o]);
  for (std::size_t o = 0; o < distances_.size(); ++o) {
    const std::int64_t distance = saturated(static_cast<Wide>(point[o]) - labels[o]);
    extend(distances_[o], distance, distance);
  }
  ++points_;
}

std::uint64_t Extent::add(const Run& run) {
  const std::size_t dimensions = coordinates_.size();
  std::uint64_t n = count_fitting(run.point[dimensions - 1], 1, run.n);
  for (std::size_t o = 0; o < outputs_.size(); ++o) n = count_fitting(run.labels[o], run.steps[o], n);
  add(run.point, run.labels);
  if (n == 1) return n;
  adaptive::SmallArray<std::int64_t, 16> end(dimensions + outputs_.size());
  std::copy_n(run.point, dimensions, end.data());
  end[dimensions - 1] = wrapping_add(end[dimensions - 1], 1, n - 1);
  for (std::size_t o = 0; o < outputs_.size(); ++o)
    end[dimensions + o] = wrapping_add(run.labels[o], run.steps[o], n - 1);
  add(end.data(), end.data() + dimensions);
  points_ += n - 2;
  return n;
}

void Extent::add(const LabelledPolyhedron& piece) {
  for (std::size_t k = 0; k < coordinates_.size(); ++k) {
    const std::size_t b = coordinates_.size() - 1 - k;
    extend(coordinates_[k], piece.polyhedron.minimum(b), piece.polyhedron.maximum(b));
  }
  for (std::size_t o = 0; o < outputs_.size(); ++o)
    extend(outputs_[o], piece.labels[o].minimum, piece.labels[o].maximum);
  for (std::size_t o = 0; o < distances_.size(); ++o)
    extend(distances_[o], piece.labels[o].distance_minimum, piece.labels[o].distance_maximum);
  points_ += piece.points;
}

Piece Extent::piece() const {
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
  return piece;
}

std::size_t Extent::bytes() const {
  return sizeof(Interval) * (coordinates_.size() + outputs_.size() + distances_.size());
}

std::size_t RetiredPieces::words_per_piece() const {
  const std::size_t d = shape_.dimensions;
  return d + 1 + range_words(d) + shape_.outputs * (d + 4 + (shape_.shared > 0 ? 2 : 0));
}

void RetiredPieces::clear() {
  count_ = 0;
  words_ = {};
}

void RetiredPieces::add(const LabelledPolyhedron& piece) {
  if (!exact_) return;
  const std::int64_t* anchor = piece.polyhedron.anchor();
  for (std::size_t b = shape_.dimensions; b-- > 0;) words_.push_back(anchor[b]);
  words_.push_back(static_cast<std::int64_t>(piece.points));
  exact_ = write_ranges(piece.polyhedron, piece.points);
  if (!exact_) return clear();
  for (const LabelFunction& label : piece.labels) write_output(label, piece.polyhedron);
  ++count_;
}

/// False if the polyhedron cannot be written as ranges.
bool RetiredPieces::write_ranges(const Polyhedron& polyhedron, std::uint64_t points) {
  const std::size_t begin = words_.size();
  for (std::size_t b = shape_.dimensions; b-- > 0;) {
    for (const bool upper : {false, true}) {
      Bound bound;
      if (!polyhedron.bound(b, upper, bound)) return false;
      for (std::size_t j = shape_.dimensions; j-- > b + 1;) words_.push_back(bound.coefficients[j]);
      words_.push_back(bound.constant);
    }
  }
  if (polyhedron.vertices() == 1) return true;
  const std::int64_t* words = words_.data() + begin;
  return has_points(read_ranges(words, shape_.dimensions), points);
}

/// A function whose constant does not fit is TOP along all dimensions.
void RetiredPieces::write_output(const LabelFunction& label, const Polyhedron& polyhedron) {
  const std::size_t d = shape_.dimensions;
  std::int64_t constant = 0;
  const bool fits = constant_term(label, polyhedron.anchor(), d, constant);
  for (std::size_t b = d; b-- > 0;) words_.push_back(fits ? label.coefficients.value[b] : 0);
  words_.push_back(fits ? constant : 0);
  words_.push_back(fits ? label.coefficients.top : (std::int64_t{1} << d) - 1);
  words_.push_back(label.minimum);
  words_.push_back(label.maximum);
  if (shape_.shared == 0) return;
  words_.push_back(label.distance_minimum);
  words_.push_back(label.distance_maximum);
}

Piece RetiredPieces::read(std::size_t at) const {
  const std::size_t d = shape_.dimensions;
  const std::int64_t* words = words_.data() + at + d;
  Piece piece;
  piece.points = static_cast<std::uint64_t>(*words++);
  piece.ranges = read_ranges(words, d);
  piece.outputs.resize(shape_.outputs);
  for (Output& output : piece.outputs) {
    output.value = read_affine(words, d);
    const std::int64_t top = *words++;
    for (std::size_t k = 0; k < d; ++k) output.top.push_back((top >> (d - 1 - k) & 1) != 0);
    output.minimum = *words++;
    output.maximum = *words++;
    if (shape_.shared == 0) continue;
    output.distance_minimum = *words++;
    output.distance_maximum = *words++;
  }
  return piece;
}

std::vector<Piece> RetiredPieces::unpack() const {
  const std::size_t d = shape_.dimensions;
  std::vector<std::size_t> order(count_);
  for (std::size_t i = 0; i < count_; ++i) order[i] = i * words_per_piece();
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::int64_t* words = words_.data();
    return std::lexicographical_compare(words + a, words + a + d, words + b, words + b + d);
  });
  std::vector<Piece> pieces;
  pieces.reserve(count_);
  for (const std::size_t at : order) pieces.push_back(read(at));
  return pieces;
}

}  // namespace loopfold::fold
