#include "fold/polyhedron.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "support/wide.h"

namespace loopfold::fold {

namespace {

bool fits(Wide value) { return value == static_cast<Wide>(static_cast<std::int64_t>(value)); }

Wide value_at(const Affine& function, std::span<const std::int64_t> point) {
  Wide sum = function.constant;
  for (std::size_t k = 0; k < function.coefficients.size(); ++k)
    sum += static_cast<Wide>(function.coefficients[k]) * point[k];
  return sum;
}

bool depends_on(std::span<const Range> ranges, std::size_t coordinate) {
  for (std::size_t k = coordinate + 1; k < ranges.size(); ++k)
    if (ranges[k].lower.coefficients[coordinate] != 0 || ranges[k].upper.coefficients[coordinate] != 0) return true;
  return false;
}

/// Counts the points of coordinates k, k + 1 ... for fixed coordinates before k. Where nothing inside depends on a
/// coordinate, one of its values is enough.
class Counter {
 public:
  Counter(std::span<const Range> ranges, std::uint64_t budget)
      : ranges_(ranges), budget_(budget), point_(ranges.size()), repeats_(ranges.size()) {
    for (std::size_t k = 0; k < ranges.size(); ++k) repeats_[k] = !depends_on(ranges, k);
  }

  bool count(std::size_t k, Wide& into) {
    into = 1;
    if (k == ranges_.size()) return true;
    if (budget_-- == 0) return false;
    const Wide low = rounded_up(value_at(ranges_[k].lower, point_), ranges_[k].divisor);
    const Wide high = rounded_down(value_at(ranges_[k].upper, point_), ranges_[k].divisor);
    into = 0;
    if (high < low) return true;
    if (!fits(low) || !fits(high)) return false;
    const Wide values = (high - low) / ranges_[k].stride + 1;
    return repeats_[k] ? multiply(k, low, values, into) : add_up(k, low, values, into);
  }

 private:
  bool multiply(std::size_t k, Wide low, Wide values, Wide& into) {
    point_[k] = static_cast<std::int64_t>(low);
    Wide inside = 0;
    return count(k + 1, inside) && !__builtin_mul_overflow(inside, values, &into);
  }

  bool add_up(std::size_t k, Wide low, Wide values, Wide& into) {
    for (Wide i = 0; i < values; ++i) {
      point_[k] = static_cast<std::int64_t>(low + i * ranges_[k].stride);
      Wide inside = 0;
      if (!count(k + 1, inside) || __builtin_add_overflow(into, inside, &into)) return false;
    }
    return true;
  }

  std::span<const Range> ranges_;
  std::uint64_t budget_;
  std::vector<std::int64_t> point_;
  std::vector<bool> repeats_;
};

}  // namespace

bool is_search_vector(const std::int64_t* from, const std::int64_t* to, std::size_t d, std::size_t dimensions) {
  for (std::size_t b = 0; b < dimensions; ++b) {
    const Wide step = static_cast<Wide>(to[b]) - from[b];
    const bool good = b < d ? step >= -1 && step <= 1 : step == (b == d ? 1 : 0);
    if (!good) return false;
  }
  return true;
}

bool count_points(std::span<const Range> ranges, std::uint64_t budget, std::uint64_t& into) {
  Wide count = 0;
  if (!Counter(ranges, budget).count(0, count)) return false;
  into = static_cast<std::uint64_t>(count);
  return static_cast<Wide>(into) == count;
}

void Polyhedron::assign_row(std::span<const std::int64_t> start, std::uint64_t length) {
  dimensions_ = start.size();
  mask_ = length > 1 ? 1 : 0;
  bits_ = mask_;
  coordinates_.assign(start.begin(), start.end());
  slopes_.clear();
  if (length == 1) return;
  coordinates_.insert(coordinates_.end(), start.begin(), start.end());
  coordinates_[dimensions_] += static_cast<std::int64_t>(length - 1);
  slopes_.assign(dimensions_, 0);
  slopes_[0] = 1;
}

bool Polyhedron::next_anchor(std::size_t d, Coordinates& into) const {
  const std::int64_t* from = corner(d);
  for (std::size_t b = 0; b < dimensions_; ++b)
    if (__builtin_add_overflow(from[b], slopes_[b], &into[b])) return false;
  return true;
}

/// The number that vertex `number` has in a polyhedron which is flat along all dimensions that are not in `onto`.
std::size_t Polyhedron::project(std::size_t number, std::uint32_t onto) const {
  if (onto == mask_) return number;
  std::size_t projected = 0;
  unsigned to = 0;
  for (std::uint32_t rest = mask_; rest != 0; rest &= rest - 1, number >>= 1) {
    if ((onto & rest & -rest) == 0) continue;
    projected |= (number & 1) << to++;
  }
  return projected;
}

bool Polyhedron::merge(const Polyhedron& slice, std::size_t d, Polyhedron& merged) const {
  if (!is_search_vector(anchor(), slice.anchor(), d, dimensions_)) return false;
  merged.dimensions_ = dimensions_;
  merged.mask_ = mask_ | slice.mask_;
  merged.bits_ = static_cast<unsigned>(std::popcount(merged.mask_));
  const std::size_t half = merged.vertices();
  merged.coordinates_.resize(2 * half * dimensions_);
  merged.slopes_.resize(half * dimensions_);
  std::int64_t* lower = merged.coordinates_.data();
  std::int64_t* upper = lower + half * dimensions_;
  std::int8_t* slope = merged.slopes_.data();
  bool copies = mask_ == slice.mask_;
  for (std::size_t number = 0; number < half; ++number) {
    const std::int64_t* from = vertex(merged.project(number, mask_));
    const std::int64_t* to = slice.vertex(merged.project(number, slice.mask_));
    if (!is_search_vector(from, to, d, dimensions_)) return false;
    for (std::size_t b = 0; b < dimensions_; ++b) {
      *lower++ = from[b];
      *upper++ = to[b];
      *slope++ = static_cast<std::int8_t>(to[b] - from[b]);
      copies = copies && slope[-1] == merged.slopes_[b];
    }
  }
  merged.mask_ |= std::uint32_t{1} << d;
  merged.bits_++;
  return copies || merged.side_faces_are_flat(d);
}

bool Polyhedron::can_extend(const Polyhedron& slice, std::size_t d) const {
  const std::uint32_t inside = mask_ & ((std::uint32_t{1} << d) - 1);
  if ((slice.mask_ & ~inside) != 0) return false;
  const std::size_t half = vertices() / 2;
  for (std::size_t number = 0; number < half; ++number) {
    const std::int64_t* from = vertex(half + number);
    const std::int64_t* to = slice.vertex(project(number, slice.mask_));
    for (std::size_t b = 0; b < dimensions_; ++b)
      if (static_cast<Wide>(to[b]) - from[b] != slopes_[number * dimensions_ + b]) return false;
  }
  return true;
}

void Polyhedron::extend(const Polyhedron& slice) {
  const std::size_t half = vertices() / 2;
  for (std::size_t number = 0; number < half; ++number) {
    const std::int64_t* to = slice.vertex(project(number, slice.mask_));
    std::copy(to, to + dimensions_, coordinates_.data() + (half + number) * dimensions_);
  }
}

bool Polyhedron::side_faces_are_flat(std::size_t d) const {
  Bound bound;
  for (std::size_t b = 0; b < d; ++b) {
    if (!this->bound(b, false, bound)) return false;
    if (!flat(b) && !this->bound(b, true, bound)) return false;
  }
  return true;
}

/// How far apart the numbers of vertices are that differ in the first dimension outside `b` that is not flat.
std::size_t Polyhedron::face_step(std::size_t b) const {
  const std::uint32_t through = (std::uint32_t{2} << b) - 1;
  return std::size_t{1} << std::popcount(mask_ & through);
}

/// Gives `bound` its coefficient of x_j, from an edge along j of the face that starts with vertex `face`. Edges change
/// coordinates inside j as well, whose coefficients are known already.
bool Polyhedron::slope_along(std::size_t b, std::size_t face, std::size_t j, Bound& bound) const {
  const std::size_t bit = face_step(j) / 2;
  for (std::size_t number = face; number < vertices(); number += 2 * bit) {
    const std::int64_t* low = vertex(number);
    const std::int64_t* high = vertex(number + bit);
    const Wide length = static_cast<Wide>(high[j]) - low[j];
    if (length == 0) continue;
    Wide slope = static_cast<Wide>(high[b]) - low[b];
    for (std::size_t i = b + 1; i < j; ++i) slope -= bound.coefficients[i] * (static_cast<Wide>(high[i]) - low[i]);
    if (slope % length != 0 || !fits(slope / length)) return false;
    bound.coefficients[j] = static_cast<std::int64_t>(slope / length);
    return true;
  }
  return true;
}

bool Polyhedron::bound(std::size_t b, bool upper, Bound& into) const {
  into.coefficients.fill(0);
  const std::size_t step = face_step(b);
  const std::size_t face = upper && !flat(b) ? step / 2 : 0;
  for (std::size_t j = b + 1; j < dimensions_; ++j)
    if (!flat(j) && !slope_along(b, face, j, into)) return false;
  for (std::size_t number = face; number < vertices(); number += step) {
    const std::int64_t* at = vertex(number);
    Wide constant = at[b];
    for (std::size_t j = b + 1; j < dimensions_; ++j) constant -= static_cast<Wide>(into.coefficients[j]) * at[j];
    if (!fits(constant)) return false;
    if (number == face) into.constant = static_cast<std::int64_t>(constant);
    if (into.constant != constant) return false;
  }
  return true;
}

std::int64_t Polyhedron::minimum(std::size_t b) const {
  std::int64_t least = anchor()[b];
  for (std::size_t number = 1; number < vertices(); ++number) least = std::min(least, vertex(number)[b]);
  return least;
}

std::int64_t Polyhedron::maximum(std::size_t b) const {
  std::int64_t most = anchor()[b];
  for (std::size_t number = 1; number < vertices(); ++number) most = std::max(most, vertex(number)[b]);
  return most;
}

bool Polyhedron::constant_bounds(std::size_t b) const {
  const std::size_t step = face_step(b);
  const std::size_t upper = flat(b) ? 0 : step / 2;
  for (std::size_t number = 0; number < vertices(); number += step)
    if (vertex(number)[b] != vertex(0)[b] || vertex(number + upper)[b] != vertex(upper)[b]) return false;
  return true;
}

}  // namespace loopfold::fold
