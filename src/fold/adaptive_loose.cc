#include "fold/adaptive_loose.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "fold/adaptive_block.h"

namespace loopfold::fold::adaptive {

Loose::Loose(Shape shape, std::vector<std::uint16_t> select, Domain domain)
    : shape_(shape),
      covers_(domain == Domain::kCover),
      lead_(shape.dimensions),
      watched_(~std::uint32_t{0}),
      last_(shape.dimensions),
      outputs_(shape.outputs),
      coordinates_(shape.dimensions) {
  fits_.reserve(select.size());
  fitting_ = static_cast<std::uint16_t>(select.size());
  for (const std::uint16_t number : select) {
    outputs_[followed_++].number = number;
    fits_.emplace_back(shape.dimensions);
  }
}

void Loose::add_first(const std::int64_t* point, const std::int64_t* labels) {
  const std::span<const std::int64_t> all(point, shape_.dimensions);
  std::copy(all.begin(), all.end(), last_.begin());
  for (std::size_t k = 0; k < all.size(); ++k) coordinates_[k] = {{all[k], all[k]}, 0};
  for (std::size_t i = 0; i < followed_; ++i) {
    Tracked& output = outputs_[i];
    const std::int64_t label = labels[output.number];
    output.labels = {label, label};
    if (output.number < shape_.shared) {
      const std::int64_t d = distance(point[output.number], label);
      output.distance = {d, d};
    }
    fits_[i].add_first(point, label);
  }
  const bool small = std::all_of(all.begin(), all.end(), is_small);
  if (wants_pairs() && small && all.size() > 1) pairs_.resize(all.size() * (all.size() - 1) / 2);
}

/// `step` is a difference of two coordinates, modulo 2^64 if that is too large.
void Loose::add_difference(Coordinate& coordinate, std::int64_t step, bool upwards) {
  const auto size = static_cast<std::uint64_t>(step);
  coordinate.common = std::gcd(coordinate.common, upwards ? size : -size);
}

/// Only pairs with a coordinate that changed: `first` or later.
void Loose::add_pairs(const std::int64_t* point, std::size_t first) {
  for (std::size_t inner = std::max<std::size_t>(first, lead_ + std::size_t{1}); inner < shape_.dimensions; ++inner)
    for (std::size_t outer = lead_; outer < inner; ++outer) {
      Pair& pair = pairs_[inner * (inner - 1) / 2 + outer];
      pair.difference.include(point[inner] - point[outer]);
      pair.sum.include(point[inner] + point[outer]);
    }
}

/// A coordinate that was the same in all points so far changes.
void Loose::start_pairs(std::size_t outer) {
  const std::int64_t x = last_[outer];
  for (std::size_t inner = outer + 1; inner < shape_.dimensions; ++inner) {
    const Interval& range = coordinates_[inner].range;
    pairs_[inner * (inner - 1) / 2 + outer] = {{range.low - x, range.high - x}, {range.low + x, range.high + x}};
  }
}

/// Adds a point to a domain that covers, where no watched coordinate changes; `first` is the first one that does. False
/// if numbers are large.
bool Loose::cover_point(const std::int64_t* point, std::size_t first) {
  Coordinate* const coordinates = coordinates_.data();
  for (std::size_t k = first; k < shape_.dimensions; ++k) {
    if (coordinates[k].range.includes(point[k])) continue;
    if (!is_small(point[k])) return false;
    coordinates[k].range.include(point[k]);
  }
  if (!pairs_.empty()) add_pairs(point, first);
  return true;
}

/// The rest of add_simply() for such a domain.
void Loose::add_covered(const std::int64_t* point, const std::int64_t* labels, std::size_t first) {
  if (!cover_point(point, first)) return add_other(point, labels);
  ++points_;
  std::int64_t* const last = last_.data();
  for (std::size_t k = first; k < shape_.dimensions; ++k) last[k] = point[k];
}

/// If no output is kFit, but some coordinates from `first` on, the first one that changes, are watched.
void Loose::add_watched(const std::int64_t* point, const std::int64_t* labels, std::size_t first) {
  if (changes_watched(point, first)) return add_other(point, labels);
  add_simply<false>(point, labels, first, shape_.dimensions, followed_);
}

/// `first` is the first coordinate that changes.
bool Loose::changes_watched(const std::int64_t* point, std::size_t first) const {
  const std::int64_t* const last = last_.data();
  for (std::uint32_t rest = watched_ >> first << first; rest != 0; rest &= rest - 1) {
    const auto k = static_cast<std::size_t>(std::countr_zero(rest));
    if (k < shape_.dimensions && point[k] != last[k]) return true;
  }
  return false;
}

/// While outputs are kFit: adds a point if no watched coordinate changes, nor the form of an output that is not kFit.
/// Else false, as add_simply().
template <std::size_t kDimensions>
inline bool Loose::try_fitting(const std::int64_t* point, const std::int64_t* labels) {
  const std::size_t dimensions = kDimensions != 0 ? kDimensions : shape_.dimensions;
  const std::size_t followed = followed_;
  if (points_ == 0 || dimensions > LabelFit::kMostDimensions || followed > 32) return false;
  std::int64_t* const last = last_.data(dimensions);
  const std::size_t first = first_where(
      dimensions, [&](std::size_t k) __attribute__((always_inline)) { return point[k] != last[k]; });
  if (first == dimensions || point[first] < last[first]) return false;
  if (watched_ >> first != 0 && changes_watched(point, first)) return false;
  std::array<std::int64_t, LabelFit::kMostDimensions> steps;
  std::uint64_t hash = first;
  const std::size_t small = first_where(
      dimensions, [&](std::size_t k) __attribute__((always_inline)) {
        if (__builtin_sub_overflow(point[k], last[k], &steps[k])) return true;
        hash += hash_of(k, steps[k]);
        return false;
      });
  if (small != dimensions) return false;
  Tracked* const outputs = outputs_.data();
  std::uint32_t fitting = 0;
  for (std::size_t i = 0; i < followed; ++i) {
    Tracked& output = outputs[i];
    if (!take_simply(output, output.number, point, labels[output.number])) return false;
    if (output.form == Form::kFit) fitting |= std::uint32_t{1} << i;
  }
  if (covers_ && !cover_point(point, first)) return false;
  const Move move{point, steps.data(), first, hash, true, 0};
  LabelFit* const fits = fits_.data();
  for (; fitting != 0; fitting &= fitting - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(fitting));
    LabelFit& fit = fits[i];
    fit.add(move, labels[outputs[i].number]);
    if (fit.refuted()) set_form(outputs[i], Form::kHopeless);
  }
  for_all(
      dimensions, [&](std::size_t k) __attribute__((always_inline)) { last[k] = point[k]; });
  const std::uint64_t points = ++points_;
  if ((points & (points - 1)) == 0 && points >= kSettled && fitting_ != 0) settle();
  return true;
}

template <std::size_t kDimensions>
void Loose::add_fitting(const std::int64_t* point, const std::int64_t* labels) {
  if (!try_fitting<kDimensions>(point, labels)) add_other(point, labels);
}

template void Loose::add_fitting<0>(const std::int64_t* point, const std::int64_t* labels);
template void Loose::add_fitting<1>(const std::int64_t* point, const std::int64_t* labels);
template void Loose::add_fitting<2>(const std::int64_t* point, const std::int64_t* labels);
template void Loose::add_fitting<3>(const std::int64_t* point, const std::int64_t* labels);
template void Loose::add_fitting<4>(const std::int64_t* point, const std::int64_t* labels);
template void Loose::add_fitting<5>(const std::int64_t* point, const std::int64_t* labels);
template void Loose::add_fitting<6>(const std::int64_t* point, const std::int64_t* labels);
template void Loose::add_fitting<7>(const std::int64_t* point, const std::int64_t* labels);

void Loose::add_other(const std::int64_t* point, const std::int64_t* labels) {
  if (points_++ == 0) {
    add_first(point, labels);
    return;
  }
  const std::size_t dimensions = coordinates_.size();
  Coordinate* const coordinates = coordinates_.data();
  std::int64_t* const last = last_.data();
  std::array<std::int64_t, LabelFit::kMostDimensions> steps;
  std::size_t first = 0;
  for (; first < dimensions && point[first] == last[first]; ++first)
    if (first < steps.size()) steps[first] = 0;
  const bool ordered = first < dimensions && point[first] > last[first];
  if (first < lead_) {
    for (std::size_t k = first; k < lead_ && !pairs_.empty(); ++k) start_pairs(k);
    lead_ = static_cast<std::uint16_t>(first);
  }
  if (!ordered) {
    ordered_ = false;
    watched_ = ~std::uint32_t{0};
  }
  bool small = true;
  std::uint64_t hash = first;
  std::uint32_t fresh = 0;
  for (std::size_t k = first; k < dimensions; ++k) {
    const std::int64_t x = point[k];
    std::int64_t step = 0;
    small = !__builtin_sub_overflow(x, last[k], &step) && small;
    if (k < steps.size()) steps[k] = step;
    if (step == 0) continue;
    Coordinate& coordinate = coordinates[k];
    if (fitting_ != 0) hash += hash_of(k, step);  // only rows that are followed from the beginning need it
    if (coordinate.common != 1 && covers_) add_difference(coordinate, step, x > last[k]);
    if (coordinate.range.constant() && k < steps.size()) fresh |= std::uint32_t{1} << k;
    last[k] = x;
    coordinate.range.include(x);
    if (!pairs_.empty() && !is_small(x)) pairs_ = {};
  }
  const Move move{point, steps.data(), first, hash, small, fresh};
  Tracked* const outputs = outputs_.data();
  for (std::size_t i = 0; i < followed_; ++i) {
    Tracked& output = outputs[i];
    const std::int64_t label = labels[output.number];
    const std::int64_t before = output.form == Form::kConstant ? output.labels.low : output.distance.low;
    output.labels.include(label);
    if (output.number < shape_.shared) output.distance.include(distance(point[output.number], label));
    if (output.form == Form::kHopeless || (output.form != Form::kFit && still(output))) continue;
    if (output.form == Form::kFit && small && ordered_) {
      fits_[i].add(move, label);
      if (fits_[i].refuted()) set_form(output, Form::kHopeless);
    } else {
      add_label(i, move, label, before);
    }
  }
  if (!pairs_.empty()) add_pairs(point, first);
  if (ordered_) watch();
  if (fitting_ != 0 && points_ >= kSettled && (points_ & (points_ - 1)) == 0) settle();
}

/// Of a domain that covers, a coordinate that changes says something about its stride, as long as that may be more than
/// 1; else only the first change says something.
void Loose::watch() {
  watched_ = 0;
  for (std::size_t k = 0; k < std::min(coordinates_.size(), kMostAtOnce); ++k)
    if (covers_ ? coordinates_[k].common != 1 : coordinates_[k].range.constant()) watched_ |= std::uint32_t{1} << k;
}

/// A label whose function has to be looked at. `before` is what was constant until now, if it was.
void Loose::add_label(std::size_t index, const Move& move, std::int64_t label, std::int64_t before) {
  Tracked& output = outputs_[index];
  LabelFit& fit = fits_[index];
  if (output.form != Form::kFit) {
    std::uint32_t varied = 0;
    for (std::size_t k = lead_; k < coordinates_.size() && k < LabelFit::kMostDimensions; ++k)
      if (!coordinates_[k].range.constant()) varied |= std::uint32_t{1} << k;
    const bool shifted = output.form == Form::kShifted;
    const Wide at = shifted ? static_cast<Wide>(move.point[output.number]) - move.step[output.number] - before : before;
    Affine value{0, std::vector<std::int64_t>(coordinates_.size())};
    if (shifted) value.coefficients[output.number] = 1;
    fit.restart(static_cast<std::int64_t>(at), value, 1, varied & ~move.fresh);
    set_form(output, Form::kFit);
  }
  if (!move.small) fit.refute();
  if (!ordered_) fit.unorder();
  fit.add(move, label);
  if (fit.refuted()) set_form(output, Form::kHopeless);
}

/// Labels that are simple are not looked at any more, nor are rows compared that are long and have had none to be
/// compared with.
void Loose::settle() {
  for (std::size_t i = 0; i < followed_; ++i) {
    Tracked& output = outputs_[i];
    if (output.form == Form::kFit && points_ >= kLongRow) {
      fits_[i].forget_rows(std::min<std::size_t>(lead_, LabelFit::kMostDimensions));
      if (fits_[i].refuted()) set_form(output, Form::kHopeless);
    }
    const bool shifted = output.number < std::min<std::size_t>(shape_.shared, LabelFit::kMostDimensions) &&
                         output.distance.constant() && output.distance.low > -kLargeCoordinate &&
                         output.distance.low < kLargeCoordinate;
    if (output.form != Form::kFit || !(output.labels.constant() || shifted)) continue;
    set_form(output, output.labels.constant() ? Form::kConstant : Form::kShifted);
    fits_[i].refute();
  }
}

void Loose::take_outputs(Loose&& other) {
  for (const Tracked& output : other.outputs()) outputs_[followed_++] = output;
  fitting_ = static_cast<std::uint16_t>(fitting_ + other.fitting_);
  for (LabelFit& fit : other.fits_) fits_.push_back(std::move(fit));
  sort_outputs();
}

/// By their numbers.
void Loose::sort_outputs() {
  for (std::size_t i = 1; i < followed_; ++i)
    for (std::size_t k = i; k > 0 && outputs_[k - 1].number > outputs_[k].number; --k) {
      std::swap(outputs_[k - 1], outputs_[k]);
      std::swap(fits_[k - 1], fits_[k]);
    }
}

void Loose::shrink() {
  settle();
  for (LabelFit& fit : fits_) fit.shrink();
}

void Loose::bound(Output& output, std::uint16_t number) const {
  for (const Tracked& tracked : outputs()) {
    if (tracked.number != number) continue;
    output.minimum = tracked.labels.low;
    output.maximum = tracked.labels.high;
    output.distance_minimum = tracked.distance.low;
    output.distance_maximum = tracked.distance.high;
  }
}

void Loose::claim(Output& output, std::uint16_t number) const {
  const std::size_t dimensions = coordinates_.size();
  for (std::size_t i = 0; i < followed_; ++i) {
    const Tracked& tracked = outputs_[i];
    if (tracked.number != number) continue;
    if (tracked.form == Form::kFit || tracked.form == Form::kHopeless) {
      std::vector<bool> constant;
      const std::vector<std::int64_t> last(last_.begin(), last_.end());
      for (const Coordinate& coordinate : coordinates_) constant.push_back(coordinate.range.constant());
      fits_[i].claim(constant, last, output);
      continue;
    }
    const bool shifted = tracked.form == Form::kShifted;
    output.value = {shifted ? -tracked.distance.low : tracked.labels.low, std::vector<std::int64_t>(dimensions)};
    if (shifted) output.value.coefficients[number] = 1;
    output.divisor = 1;
    output.top.assign(dimensions, false);
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
  if (!covers_) return piece;
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
  std::size_t bytes = sizeof(*this) + last_.bytes() + coordinates_.bytes() + sizeof(Pair) * pairs_.size();
  bytes += outputs_.bytes();
  for (const LabelFit& fit : fits_) bytes += fit.bytes();
  return bytes;
}

}  // namespace loopfold::fold::adaptive
