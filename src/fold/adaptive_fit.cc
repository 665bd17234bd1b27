#include "fold/adaptive_fit.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "fold/adaptive_block.h"

namespace loopfold::fold::adaptive {

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  hash *= 0xbf58476d1ce4e5b9;
  hash ^= hash >> 29;
  hash *= 0x94d049bb133111eb;
  return hash ^ hash >> 32;
}

std::uint64_t mix_all(std::uint64_t hash, const std::int64_t* from, const std::int64_t* to) {
  for (; from != to; ++from) hash = mix(hash, static_cast<std::uint64_t>(*from));
  return hash;
}

}  // namespace

/// Divides by what all numbers have in common and makes the first one positive; the last is the value.
bool Equations::normalise(std::vector<Wide>& numbers, Equation& into) {
  Wide common = 0;
  for (const Wide number : numbers) common = gcd(common, number);
  into.pivot = 0;
  while (into.pivot + 1 < numbers.size() && numbers[into.pivot] == 0) ++into.pivot;
  if (common == 0) common = 1;
  if (numbers[into.pivot] < 0) common = -common;
  into.vector.resize(numbers.size() - 1);
  for (std::size_t k = 0; k + 1 < numbers.size(); ++k) {
    if (!fits(numbers[k] / common)) return false;
    into.vector[k] = static_cast<std::int64_t>(numbers[k] / common);
  }
  into.value = static_cast<std::int64_t>(numbers.back() / common);
  return fits(numbers.back() / common);
}

/// Makes the coefficient of the pivot of `by` zero.
bool Equations::eliminate(Equation& from, const Equation& by) {
  const std::int64_t b = from.vector[by.pivot];
  if (b == 0) return true;
  const Wide common = gcd(by.vector[by.pivot], b);
  const Wide keep = by.vector[by.pivot] / common;
  const Wide subtract = b / common;
  std::vector<Wide> numbers;
  for (std::size_t k = 0; k < from.vector.size(); ++k)
    numbers.push_back(keep * from.vector[k] - subtract * by.vector[k]);
  numbers.push_back(keep * from.value - subtract * by.value);
  return normalise(numbers, from);
}

bool Equations::add(const std::int64_t* vector, std::int64_t value) {
  Equation fresh;
  std::vector<Wide> numbers(vector, vector + unknowns_);
  numbers.push_back(value);
  if (!normalise(numbers, fresh)) return false;
  for (const Equation& equation : equations_)
    if (!eliminate(fresh, equation)) return false;
  if (std::all_of(fresh.vector.begin(), fresh.vector.end(), [](std::int64_t v) { return v == 0; }))
    return fresh.value == 0;
  for (Equation& equation : equations_)
    if (!eliminate(equation, fresh)) return false;
  equations_.insert(std::find_if(equations_.begin(), equations_.end(),
                                 [&](const Equation& equation) { return equation.pivot > fresh.pivot; }),
                    fresh);
  find_determined();
  return true;
}

void Equations::find_determined() {
  determined_ = 0;
  solution_.assign(unknowns_, 0);
  for (const Equation& equation : equations_) {
    const std::int64_t own = equation.vector[equation.pivot];
    const auto others = std::count_if(equation.vector.begin(), equation.vector.end(), [](auto v) { return v != 0; });
    if (others != 1 || equation.value % own != 0) continue;
    determined_ |= std::uint32_t{1} << equation.pivot;
    solution_[equation.pivot] = equation.value / own;
  }
}

bool Equations::explains(const std::int64_t* vector, std::int64_t value) const {
  if (solution_.empty()) return false;
  Wide sum = 0;
  for (std::size_t k = 0; k < unknowns_; ++k) {
    if (vector[k] == 0) continue;
    if ((determined_ >> k & 1) == 0) return false;
    sum += static_cast<Wide>(solution_[k]) * vector[k];
  }
  return sum == value;
}

bool Equations::solve(Fraction& into) const {
  return std::all_of(equations_.begin(), equations_.end(), [&](const Equation& equation) {
    return into.set(equation.pivot, equation.value, equation.vector[equation.pivot]);
  });
}

std::size_t Equations::bytes() const {
  return sizeof(*this) + sizeof(std::int64_t) * solution_.size() +
         equations_.size() * (sizeof(Equation) + sizeof(std::int64_t) * unknowns_);
}

void LabelFit::add_first(const std::int64_t* point, std::int64_t label) {
  label_ = label;
  if (dimensions_ == 0) return;
  point_ = std::make_unique<std::vector<std::int64_t>>(point, point + dimensions_);
  claims_ = std::make_unique<Claims>();
  claims_->suffix.assign(dimensions_, Equations(dimensions_));
  for (std::size_t q = 1; q < dimensions_; ++q) {
    const std::uint64_t hash = mix_all(q, point + q, point + dimensions_);
    claims_->prefix.push_back({q, hash, 0, false, label, Equations(q)});
  }
}

/// The end of a row: whether it is like the first one.
bool LabelFit::ends_equal(Prefix& prefix) const {
  if (!prefix.complete) prefix.reference = prefix.hash;
  prefix.complete = true;
  return prefix.hash == prefix.reference;
}

void LabelFit::add(const std::int64_t* point, const std::int64_t* step, std::size_t first, std::int64_t label) {
  if (!claims_) return;
  const Wide wide = static_cast<Wide>(label) - label_;
  label_ = label;
  point_->assign(point, point + dimensions_);
  if (!fits(wide)) {
    claims_.reset();
    return;
  }
  const auto difference = static_cast<std::int64_t>(wide);
  Claims& claims = *claims_;
  const std::size_t innermost = ordered_ ? std::min(first, dimensions_ - 1) : 0;
  if (claims.first <= innermost && !claims.suffix[innermost].explains(step, difference))
    for (std::size_t m = claims.first; m <= innermost; ++m)
      if (!claims.suffix[m].add(step, difference)) claims.first = m + 1;
  if (!ordered_ && claims.first > 0) claims.first = dimensions_;
  if (first == dimensions_ && difference != 0) claims.first = dimensions_;
  if (!claims.prefix.empty()) {
    const std::uint64_t here = mix(mix_all(first, step, step + dimensions_), static_cast<std::uint64_t>(difference));
    std::erase_if(claims.prefix, [&](Prefix& prefix) {
      if (first >= prefix.dimension) {
        prefix.hash = mix(prefix.hash, here);
        return false;
      }
      const Wide jump = static_cast<Wide>(label) - prefix.label;
      prefix.label = label;
      if (!ends_equal(prefix) || !fits(jump)) return true;
      prefix.hash = mix_all(prefix.dimension, point + prefix.dimension, point + dimensions_);
      const auto value = static_cast<std::int64_t>(jump);
      return !prefix.equations.explains(step, value) && !prefix.equations.add(step, value);
    });
  }
  refute_if_done();
}

void LabelFit::refute_if_done() {
  if (claims_->first < dimensions_ || !claims_->prefix.empty()) return;
  claims_.reset();
  point_.reset();
}

void LabelFit::unorder() {
  if (!ordered_) return;
  ordered_ = false;
  if (!claims_) return;
  claims_->prefix.clear();
  if (claims_->first > 0) claims_->first = dimensions_;
  refute_if_done();
}

void LabelFit::shrink() {
  if (!claims_) return;
  claims_->prefix.clear();
  claims_->prefix.shrink_to_fit();
  refute_if_done();
}

/// The label at the last point says what the constant is.
bool LabelFit::claim_affine(Output& into) const {
  Fraction function(dimensions_);
  if (!claims_->suffix[0].solve(function)) return false;
  Wide constant = 0;
  if (__builtin_mul_overflow(function.divisor, static_cast<Wide>(label_), &constant)) return false;
  for (std::size_t k = 0; k < dimensions_; ++k) {
    Wide along = 0;
    if (__builtin_mul_overflow(function.coefficients[k], static_cast<Wide>((*point_)[k]), &along) ||
        __builtin_sub_overflow(constant, along, &constant))
      return false;
  }
  function.constant = constant;
  if (!function.reduced(into.value, into.divisor)) return false;
  into.top.assign(dimensions_, false);
  return true;
}

/// Along the inner dimensions, and along the outer ones if that is known too.
bool LabelFit::claim_suffix(std::size_t suffix, Output& into) const {
  Fraction inside(dimensions_);
  if (!claims_->suffix[suffix].solve(inside)) return false;
  if (!inside.reduced(into.value, into.divisor)) return false;
  std::fill(into.top.begin() + static_cast<std::ptrdiff_t>(suffix), into.top.end(), false);
  return true;
}

void LabelFit::claim_prefix(std::size_t suffix, Output& into) const {
  for (auto prefix = claims_->prefix.rbegin(); prefix != claims_->prefix.rend(); ++prefix) {
    Prefix last = *prefix;
    Fraction function(into.value, into.divisor);
    if (prefix->dimension >= suffix || !ends_equal(last) || !prefix->equations.solve(function)) continue;
    Output both = into;
    if (!function.reduced(both.value, both.divisor)) continue;
    std::fill_n(both.top.begin(), prefix->dimension, false);
    into = std::move(both);
    return;
  }
}

void LabelFit::claim(const std::vector<bool>& constant, Output& into) const {
  const Affine nothing{dimensions_ == 0 ? label_ : 0, std::vector<std::int64_t>(dimensions_)};
  into.value = nothing;
  into.divisor = 1;
  into.top.assign(dimensions_, true);
  if (claims_) {
    std::size_t suffix = claims_->first;
    if (suffix == 0) {
      if (claim_affine(into)) return;
      suffix = ordered_ ? 1 : dimensions_;
    }
    while (suffix < dimensions_ && !claim_suffix(suffix, into)) ++suffix;
    if (suffix == dimensions_) {
      into.value = nothing;
      into.divisor = 1;
    }
    claim_prefix(suffix, into);
  }
  std::vector<bool> fewer = into.top;
  for (std::size_t k = 0; k < dimensions_; ++k)
    if (constant[k]) fewer[k] = false;
  if (std::find(fewer.begin(), fewer.end(), true) != fewer.end()) into.top = std::move(fewer);
}

std::size_t LabelFit::bytes() const {
  std::size_t bytes = sizeof(*this);
  if (point_) bytes += sizeof(*point_) + sizeof(std::int64_t) * dimensions_;
  if (!claims_) return bytes;
  bytes += sizeof(Claims);
  for (const Equations& equations : claims_->suffix) bytes += equations.bytes();
  for (const Prefix& prefix : claims_->prefix) bytes += sizeof(Prefix) + prefix.equations.bytes();
  return bytes;
}

}  // namespace loopfold::fold::adaptive
