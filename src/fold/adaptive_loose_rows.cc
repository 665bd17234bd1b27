// Several points at once where exactness was given up.
//
// Points that only move the ends of ranges are told from others all together: they come in order, no watched coordinate
// changes in any of them, and every label stays in the range that its form allows. Then the least and the greatest
// label of all of them is what counts, found without a branch for each. If one of them is not like that, nothing has
// happened, and they go one by one.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "fold/adaptive_loose.h"

namespace loopfold::fold::adaptive {

namespace {

constexpr std::size_t kMostOutputs = 16;

/// Of one number of each row.
Ends ends_of(const std::int64_t* first, std::size_t stride, std::size_t n) {
  Ends ends;
  for (std::size_t i = 0; i < n; ++i, first += stride) ends.include(*first);
  return ends;
}

}  // namespace

/// Whether they come behind the last point, in order, and no watched coordinate changes.
bool Loose::rows_are_usual(const Rows& rows) const {
  const std::size_t dimensions = shape_.dimensions;
  if (!rows.ordered || !ordered_ || points_ == 0 || fitting_ != 0 || dimensions == 0 || dimensions > kMostAtOnce ||
      followed_ > kMostOutputs)
    return false;
  const std::int64_t* const last = last_.data();
  std::size_t first = 0;
  while (first < dimensions && rows.points[first] == last[first]) ++first;
  if (first == dimensions || rows.points[first] < last[first]) return false;
  // In order: coordinates from the first on that are the same at the end are the same in between.
  const std::int64_t* const end = rows.points + (rows.n - 1) * dimensions;
  std::size_t same = 0;
  while (same < dimensions && end[same] == last[same]) ++same;
  const std::uint32_t all = dimensions == kMostAtOnce ? ~std::uint32_t{0} : (std::uint32_t{1} << dimensions) - 1;
  for (std::uint32_t rest = (watched_ & all) >> same << same; rest != 0; rest &= rest - 1) {
    const auto k = static_cast<std::size_t>(std::countr_zero(rest));
    const Ends ends = rows.ends != nullptr ? rows.ends[k] : ends_of(rows.points + k, dimensions, rows.n);
    if (ends.low != last[k] || ends.high != last[k]) return false;
  }
  return true;
}

/// Of a domain that covers: ends of coordinates, of their differences and sums. False, with nothing changed, if numbers
/// are large.
bool Loose::cover_rows(const Rows& rows) {
  const std::size_t dimensions = shape_.dimensions;
  std::array<Ends, kMostAtOnce> found;
  const Ends* const ends = rows.ends != nullptr ? rows.ends : found.data();
  for (std::size_t k = 0; k < dimensions; ++k) {
    if (rows.ends == nullptr) found[k] = ends_of(rows.points + k, dimensions, rows.n);
    if (!is_small(ends[k].low) || !is_small(ends[k].high)) return false;
  }
  for (std::size_t k = 0; k < dimensions; ++k) {
    coordinates_[k].range.include(ends[k].low);
    coordinates_[k].range.include(ends[k].high);
  }
  if (pairs_.empty()) return true;
  for (std::size_t inner = lead_ + std::size_t{1}; inner < dimensions; ++inner)
    for (std::size_t outer = lead_; outer < inner; ++outer) {
      Ends difference;
      Ends sum;
      if (ends[outer].constant()) {
        difference = {ends[inner].low - ends[outer].low, ends[inner].high - ends[outer].low};
        sum = {ends[inner].low + ends[outer].low, ends[inner].high + ends[outer].low};
      } else {
        for (std::size_t i = 0; i < rows.n; ++i) {
          const std::int64_t* const point = rows.points + i * dimensions;
          difference.include(point[inner] - point[outer]);
          sum.include(point[inner] + point[outer]);
        }
      }
      Pair& pair = pairs_[inner * (inner - 1) / 2 + outer];
      pair.difference.include(difference.low);
      pair.difference.include(difference.high);
      pair.sum.include(sum.low);
      pair.sum.include(sum.high);
    }
  return true;
}

/// What the labels of one output are in all rows.
struct Loose::OutputEnds {
  std::int64_t low, high, least, greatest;  // of labels and of distances
};

inline bool Loose::find_ends(const Rows& rows, const Tracked& output, OutputEnds& into) const {
  const std::size_t dimensions = shape_.dimensions;
  const std::size_t stride = shape_.outputs;
  const std::size_t number = output.number;
  const bool same = number < rows.same;
  const Ends labels = same && rows.ends != nullptr ? rows.ends[number] : ends_of(rows.labels + number, stride, rows.n);
  into = {labels.low, labels.high, 0, 0};
  if (output.form == Form::kConstant && !(output.labels.includes(labels.low) && output.labels.includes(labels.high)))
    return false;
  if (number >= shape_.shared) return true;
  if (!same) {
    Ends distances;
    bool overflow = false;
    const std::int64_t* point = rows.points + number;
    const std::int64_t* label = rows.labels + number;
    for (std::size_t i = 0; i < rows.n; ++i, point += dimensions, label += stride) {
      std::int64_t distance = 0;
      overflow |= __builtin_sub_overflow(*point, *label, &distance);
      distances.include(distance);
    }
    if (overflow) return false;
    into.least = distances.low;
    into.greatest = distances.high;
  }
  return output.form != Form::kShifted ||
         (output.distance.includes(into.least) && output.distance.includes(into.greatest));
}

bool Loose::add_rows(const Rows& rows) {
  if (!rows_are_usual(rows)) return false;
  const std::size_t dimensions = shape_.dimensions;
  const std::size_t followed = followed_;
  Tracked* const outputs = outputs_.data();
  OutputEnds ends[kMostOutputs];
  for (std::size_t o = 0; o < followed; ++o)
    if (!find_ends(rows, outputs[o], ends[o])) return false;
  if (covers_ && !cover_rows(rows)) return false;
  for (std::size_t o = 0; o < followed; ++o) {
    Tracked& output = outputs[o];
    output.labels.include(ends[o].low);
    output.labels.include(ends[o].high);
    if (output.number >= shape_.shared) continue;
    output.distance.include(ends[o].least);
    output.distance.include(ends[o].greatest);
  }
  points_ += rows.n;
  const std::int64_t* const end = rows.points + (rows.n - 1) * dimensions;
  std::int64_t* const last = last_.data();
  for (std::size_t k = 0; k < dimensions; ++k) last[k] = end[k];
  return true;
}

}  // namespace loopfold::fold::adaptive
