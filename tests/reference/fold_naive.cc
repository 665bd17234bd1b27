// The naive folders of fold_reference.h: longest rows, and the fewest pieces by trying all partitions.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "reference/fold_reference.h"
#include "support/wide.h"

namespace loopfold::fold::reference {

namespace {

using Point = std::vector<std::int64_t>;

bool fits(Wide value) { return static_cast<std::int64_t>(value) == value; }

/// One row: consecutive points along the innermost dimension with labels that are affine in it.
class Row {
 public:
  Row(const Shape& shape, const Labelled& first) : shape_(shape), first_(first), last_(first), steps_(shape.outputs) {}

  bool accepts(const Labelled& next) const {
    if (shape_.dimensions == 0) return false;
    if (!std::equal(next.point.begin(), next.point.end() - 1, last_.point.begin())) return false;
    if (static_cast<Wide>(last_.point.back()) + 1 != next.point.back()) return false;
    for (std::size_t o = 0; o < shape_.outputs; ++o) {
      const Wide step = static_cast<Wide>(next.labels[o]) - last_.labels[o];
      if (points_ > 1 && step != steps_[o]) return false;
      if (!fits(step) || !fits(first_.labels[o] - step * first_.point.back())) return false;
    }
    return true;
  }

  void add(const Labelled& next) {
    for (std::size_t o = 0; o < shape_.outputs; ++o)
      steps_[o] = static_cast<std::int64_t>(static_cast<Wide>(next.labels[o]) - last_.labels[o]);
    last_ = next;
    ++points_;
  }

  Piece piece() const {
    Piece piece;
    piece.points = points_;
    for (std::size_t k = 0; k < shape_.dimensions; ++k) {
      const Point none(k);
      piece.ranges.push_back({{first_.point[k], none}, {last_.point[k], none}, 1});
    }
    for (std::size_t o = 0; o < shape_.outputs; ++o) piece.outputs.push_back(output(o));
    return piece;
  }

 private:
  Output output(std::size_t o) const {
    Output output;
    output.top.assign(shape_.dimensions, false);
    output.value.coefficients.assign(shape_.dimensions, 0);
    output.value.constant = first_.labels[o];
    if (points_ > 1) {
      output.value.coefficients.back() = steps_[o];
      output.value.constant =
          static_cast<std::int64_t>(first_.labels[o] - static_cast<Wide>(steps_[o]) * first_.point.back());
    }
    std::tie(output.minimum, output.maximum) = std::minmax(first_.labels[o], last_.labels[o]);
    if (o >= shape_.shared) return output;
    std::tie(output.distance_minimum, output.distance_maximum) = std::minmax(distance(first_, o), distance(last_, o));
    return output;
  }

  static std::int64_t distance(const Labelled& labelled, std::size_t o) {
    constexpr Wide kLow = std::numeric_limits<std::int64_t>::min();
    constexpr Wide kHigh = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(
        std::clamp(static_cast<Wide>(labelled.point[o]) - labelled.labels[o], kLow, kHigh));
  }

  const Shape& shape_;
  const Labelled& first_;
  Labelled last_;
  std::vector<std::int64_t> steps_;
  std::uint64_t points_ = 1;
};

/// Whether some affine function with small coefficients takes the values at the points.
bool is_affine(const std::vector<Point>& points, const std::vector<std::int64_t>& values) {
  const std::size_t dimensions = points.front().size();
  Point coefficients(dimensions, -4);
  for (;;) {
    const auto rest = [&](std::size_t i) {
      return values[i] - std::inner_product(points[i].begin(), points[i].end(), coefficients.begin(), std::int64_t{0});
    };
    bool fit = true;
    for (std::size_t i = 1; i < points.size() && fit; ++i) fit = rest(i) == rest(0);
    if (fit) return true;
    std::size_t k = 0;
    while (k < dimensions && coefficients[k] == 4) coefficients[k++] = -4;
    if (k == dimensions) return false;
    ++coefficients[k];
  }
}

/// Whether coordinate k of these points is a range with bounds that are affine in the coordinates before it.
bool is_range(const std::vector<Labelled>& points, std::size_t k) {
  std::map<Point, std::vector<std::int64_t>> rows;
  for (const Labelled& labelled : points) {
    std::vector<std::int64_t>& row =
        rows[Point(labelled.point.begin(), labelled.point.begin() + static_cast<std::ptrdiff_t>(k))];
    if (row.empty() || row.back() != labelled.point[k]) row.push_back(labelled.point[k]);
  }
  std::vector<Point> prefixes;
  std::vector<std::int64_t> lower;
  std::vector<std::int64_t> upper;
  std::int64_t stride = 0;
  for (const auto& [prefix, row] : rows) {
    prefixes.push_back(prefix);
    lower.push_back(row.front());
    upper.push_back(row.back());
    for (const std::int64_t x : row) stride = std::gcd(stride, x - row.front());
  }
  for (const auto& [prefix, row] : rows)
    if (row.size() > 1 && row.back() - row.front() != stride * static_cast<std::int64_t>(row.size() - 1)) return false;
  return is_affine(prefixes, lower) && is_affine(prefixes, upper);
}

bool is_one_piece(const Shape& shape, const std::vector<Labelled>& points) {
  std::vector<Point> where;
  for (const Labelled& labelled : points) where.push_back(labelled.point);
  for (std::size_t k = 0; k < shape.dimensions; ++k)
    if (!is_range(points, k)) return false;
  for (std::size_t o = 0; o < shape.outputs; ++o) {
    std::vector<std::int64_t> labels;
    for (const Labelled& labelled : points) labels.push_back(labelled.labels[o]);
    if (!is_affine(where, labels)) return false;
  }
  return true;
}

}  // namespace

Folded fold_naively(const Stream& stream) {
  Folded folded;
  folded.points = stream.points.size();
  std::optional<Row> row;
  for (const Labelled& labelled : stream.points) {
    if (row && row->accepts(labelled)) {
      row->add(labelled);
      continue;
    }
    if (row) folded.pieces.push_back(row->piece());
    row.emplace(stream.shape, labelled);
  }
  if (row) folded.pieces.push_back(row->piece());
  folded.max_intermediate = folded.pieces.size();
  return folded;
}

std::size_t fewest_pieces(const Stream& stream) {
  const std::size_t sets = std::size_t{1} << stream.points.size();
  std::vector<bool> one(sets);
  for (std::size_t set = 1; set < sets; ++set) {
    std::vector<Labelled> points;
    for (std::size_t i = 0; i < stream.points.size(); ++i)
      if ((set >> i & 1) != 0) points.push_back(stream.points[i]);
    one[set] = is_one_piece(stream.shape, points);
  }
  std::vector<std::size_t> fewest(sets, stream.points.size());
  fewest[0] = 0;
  for (std::size_t set = 1; set < sets; ++set)
    for (std::size_t part = set; part != 0; part = (part - 1) & set)
      if (one[part]) fewest[set] = std::min(fewest[set], fewest[set ^ part] + 1);
  return fewest[sets - 1];
}

}  // namespace loopfold::fold::reference
