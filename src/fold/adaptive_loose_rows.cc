// Several points at once where exactness was given up.
//
// Points that only move the ends of ranges are told from others all together: they come in order, no watched coordinate
// changes in any of them, and every label stays in the range that its form allows. Then the least and the greatest
// label of all of them is what counts, found without a branch for each. Functions of labels that are still looked for
// are followed through all of them by themselves (adaptive_fit_rows.cc). Points are taken together up to one that is
// not like that, or behind which it is looked whether labels are simple.
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
#pragma GCC unroll 4
  for (std::size_t i = 0; i < n; ++i, first += stride) ends.include(*first);
  return ends;
}

}  // namespace

/// So many of the first come behind the last point, in order, without a change of a watched coordinate, nor a look at
/// what labels are like in between.
std::size_t Loose::usual_rows(const Rows& rows) const {
  const std::size_t dimensions = shape_.dimensions;
  if (!rows.ordered || !ordered_ || points_ == 0 || dimensions == 0 || dimensions > kMostAtOnce ||
      followed_ > kMostOutputs)
    return 0;
  const std::int64_t* const last = last_.data();
  std::size_t first = 0;
  while (first < dimensions && rows.points[first] == last[first]) ++first;
  if (first == dimensions || rows.points[first] < last[first]) return 0;
  std::size_t n = std::min(rows.n, Moves::kMost);
  if (fitting_ != 0) {
    if (dimensions > LabelFit::kMostDimensions) return 0;
    n = std::min<std::uint64_t>(n, std::bit_ceil(std::max(points_ + 1, kSettled)) - points_);
  }
  // In order: coordinates from the first on that are the same at the end are the same in between.
  const std::int64_t* const end = rows.points + (n - 1) * dimensions;
  std::size_t same = 0;
  while (same < dimensions && end[same] == last[same]) ++same;
  const std::uint32_t all = dimensions == kMostAtOnce ? ~std::uint32_t{0} : (std::uint32_t{1} << dimensions) - 1;
  for (std::uint32_t rest = (watched_ & all) >> same << same; rest != 0; rest &= rest - 1) {
    const auto k = static_cast<std::size_t>(std::countr_zero(rest));
    if (rows.around != nullptr && rows.around[k].low == last[k] && rows.around[k].high == last[k]) continue;
    n = first_where(n, [&](std::size_t i) { return rows.points[i * dimensions + k] != last[k]; });
  }
  return n;
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
  const auto includes = [](const Interval& range, const Ends& ends) {
    return range.includes(ends.low) && range.includes(ends.high);
  };
  Ends labels{output.labels.low, output.labels.high};
  if (same && rows.ends != nullptr)
    labels = rows.ends[number];
  else if (!same || rows.around == nullptr || !includes(output.labels, rows.around[number]))
    labels = ends_of(rows.labels + number, stride, rows.n);
  into = {labels.low, labels.high, 0, 0};
  if (output.form == Form::kConstant && !includes(output.labels, labels)) return false;
  if (number >= shape_.shared) return true;
  if (!same) {
    const auto small = [](const Ends& ends) { return is_small(ends.low) && is_small(ends.high); };
    const std::int64_t* point = rows.points + number;
    const std::int64_t* label = rows.labels + number;
    Ends distances;
    if (rows.around != nullptr && small(rows.around[number]) && small(labels)) {
#pragma GCC unroll 4
      for (std::size_t i = 0; i < rows.n; ++i, point += dimensions, label += stride) distances.include(*point - *label);
    } else {
      bool overflow = false;
      for (std::size_t i = 0; i < rows.n; ++i, point += dimensions, label += stride) {
        std::int64_t distance = 0;
        overflow |= __builtin_sub_overflow(*point, *label, &distance);
        distances.include(distance);
      }
      if (overflow) return false;
    }
    into.least = distances.low;
    into.greatest = distances.high;
  }
  return output.form != Form::kShifted ||
         (output.distance.includes(into.least) && output.distance.includes(into.greatest));
}

/// So many of the first leave the form of an output as it is. As find_ends(), which says whether all do.
std::size_t Loose::simple_rows(const Rows& rows, const Tracked& output) const {
  const std::size_t number = output.number;
  return first_where(rows.n, [&](std::size_t i) {
    const std::int64_t label = rows.labels[i * shape_.outputs + number];
    if (output.form == Form::kConstant && !output.labels.includes(label)) return true;
    if (number >= shape_.shared) return false;
    std::int64_t distance = 0;
    return __builtin_sub_overflow(rows.points[i * shape_.dimensions + number], label, &distance) ||
           (output.form == Form::kShifted && !output.distance.includes(distance));
  });
}

/// Outputs whose function is still looked for.
void Loose::fit_rows(const Moves& moves, const std::int64_t* labels) {
  for (std::size_t o = 0; o < followed_; ++o) {
    Tracked& output = outputs_[o];
    if (output.form != Form::kFit) continue;
    fits_[o].add_rows(moves, labels + output.number, shape_.outputs);
    if (fits_[o].refuted()) set_form(output, Form::kHopeless);
  }
}

std::size_t Loose::add_rows(const Rows& all) {
  const std::size_t dimensions = shape_.dimensions;
  const std::size_t followed = followed_;
  Tracked* const outputs = outputs_.data();
  Rows rows = all;
  const auto cut = [&](std::size_t n) {
    if (n != rows.n) rows.ends = nullptr;
    rows.n = n;
    return n != 0;
  };
  if (!cut(usual_rows(rows))) return 0;
  OutputEnds ends[kMostOutputs];
  for (std::size_t o = 0; o < followed;) {
    if (find_ends(rows, outputs[o], ends[o])) {
      ++o;
      continue;
    }
    if (!cut(simple_rows(rows, outputs[o]))) return 0;
    o = 0;
  }
  Moves moves;
  if (fitting_ != 0 && !moves.set(rows.points, last_.data(), dimensions, rows.n, rows.follows)) return 0;
  if (covers_ && !cover_rows(rows)) return 0;
  for (std::size_t o = 0; o < followed; ++o) {
    Tracked& output = outputs[o];
    output.labels.include(ends[o].low);
    output.labels.include(ends[o].high);
    if (output.number >= shape_.shared) continue;
    output.distance.include(ends[o].least);
    output.distance.include(ends[o].greatest);
  }
  points_ += rows.n;
  if (fitting_ != 0) fit_rows(moves, rows.labels);
  const std::int64_t* const end = rows.points + (rows.n - 1) * dimensions;
  std::int64_t* const last = last_.data();
  for (std::size_t k = 0; k < dimensions; ++k) last[k] = end[k];
  if (fitting_ != 0 && points_ >= kSettled && (points_ & (points_ - 1)) == 0) settle();
  return rows.n;
}

}  // namespace loopfold::fold::adaptive
