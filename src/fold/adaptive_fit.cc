#include "fold/adaptive_fit.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "fold/adaptive_block.h"

namespace loopfold::fold::adaptive {

namespace {

constexpr std::size_t kMostNumbers = 32;

std::uint64_t hash_from(std::size_t dimension, const std::int64_t* point, std::size_t dimensions) {
  std::uint64_t hash = dimension;
  for (std::size_t k = dimension; k < dimensions; ++k) hash += hash_of(k, point[k]);
  return mixed(0, hash);
}

/// One equation that is being worked on: v, r.
struct Numbers {
  std::array<Wide, kMostNumbers> all;
  std::size_t count;

  /// Divides by what all numbers have in common and makes the first one positive; false if they do not fit then.
  bool normalise() {
    Wide common = 0;
    bool large = false;
    bool negative = false;  // the first one
    for (std::size_t k = 0; k < count; ++k) {
      if (all[k] == 0) continue;
      if (common == 0) negative = all[k] < 0;
      if (common != 1) common = gcd(common, all[k]);
      large |= !fits(all[k]);
    }
    if (common == 0 || (common == 1 && !negative)) return !large;
    if (negative) common = -common;
    for (std::size_t k = 0; k < count; ++k) {
      if (all[k] == 0) continue;
      all[k] = quotient(all[k], common);
      if (!fits(all[k])) return false;
    }
    return true;
  }

  /// Makes number `pivot` zero, by an equation where it is not.
  bool eliminate(const Wide* by, std::size_t pivot) {
    if (all[pivot] == 0) return true;
    const Wide common = gcd(by[pivot], all[pivot]);
    const Wide keep = quotient(by[pivot], common);
    const Wide subtract = quotient(all[pivot], common);
    for (std::size_t k = 0; k < count; ++k) all[k] = keep * all[k] - subtract * by[k];
    return normalise();
  }
};

/// The same in 64 bits, as far as that goes: then all of it is the same.
class SmallNumbers {
 public:
  SmallNumbers(const std::int64_t* from, std::size_t count, std::int64_t last) : count_(count + 1) {
    std::copy_n(from, count, all_.begin());
    all_[count] = last;
    normalise();
  }
  std::int64_t operator[](std::size_t k) const { return all_[k]; }
  const std::int64_t* begin() const { return all_.data(); }
  bool large() const { return large_; }

  void eliminate(const std::int64_t* by, std::size_t pivot) {
    const std::int64_t common = std::gcd(by[pivot], all_[pivot]);
    const std::int64_t keep = by[pivot] / common;
    const std::int64_t subtract = all_[pivot] / common;
    for (std::size_t k = 0; k < count_; ++k) {
      std::int64_t kept = 0;
      std::int64_t product = 0;
      large_ |= __builtin_mul_overflow(keep, all_[k], &kept);
      large_ |= __builtin_mul_overflow(subtract, by[k], &product);
      large_ |= __builtin_sub_overflow(kept, product, &all_[k]);
    }
    normalise();
  }

 private:
  void normalise() {
    std::uint64_t common = 0;
    bool negative = false;
    for (std::size_t k = 0; k < count_; ++k) {
      const std::int64_t number = all_[k];
      if (number == 0) continue;
      if (common == 0) negative = number < 0;
      large_ |= number == std::numeric_limits<std::int64_t>::min();
      const std::uint64_t size = number < 0 ? -static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
      if (common != 1) common = size == 1 ? 1 : std::gcd(common, size);
    }
    if (large_ || common == 0 || (common == 1 && !negative)) return;
    const auto by = negative ? -static_cast<std::int64_t>(common) : static_cast<std::int64_t>(common);
    for (std::size_t k = 0; k < count_; ++k) all_[k] = by == -1 ? -all_[k] : all_[k] / by;
  }

  std::array<std::int64_t, kMostNumbers> all_;
  std::size_t count_;
  bool large_ = false;
};

Numbers numbers_of(const std::int64_t* from, std::size_t count) {
  Numbers numbers;
  numbers.count = count;
  std::copy_n(from, count, numbers.all.begin());
  return numbers;
}

}  // namespace

std::size_t Equations::pivot(std::size_t i) const {
  const std::int64_t* numbers = row(i);
  return static_cast<std::size_t>(std::find_if(numbers, numbers + unknowns_, [](auto n) { return n != 0; }) - numbers);
}

bool Equations::add(const std::int64_t* vector, std::int64_t value, bool& says_more) {
  SmallNumbers small(vector, unknowns_, value);
  for (std::size_t i = 0; i < rows() && !small.large(); ++i)
    if (const std::size_t at = pivot(i); small[at] != 0) small.eliminate(row(i), at);
  if (small.large()) return add_large(vector, value, says_more);
  if (std::all_of(small.begin(), small.begin() + unknowns_, [](std::int64_t number) { return number == 0; }))
    return small[unknowns_] == 0;
  return insert(small.begin(), says_more);
}

bool Equations::add_large(const std::int64_t* vector, std::int64_t value, bool& says_more) {
  Numbers fresh = numbers_of(vector, unknowns_);
  fresh.all[fresh.count++] = value;
  if (!fresh.normalise()) return false;
  for (std::size_t i = 0; i < rows(); ++i) {
    const std::size_t at = pivot(i);
    if (fresh.all[at] == 0) continue;
    const Numbers by = numbers_of(row(i), unknowns_ + 1);
    if (!fresh.eliminate(by.all.data(), at)) return false;
  }
  std::array<std::int64_t, kMostNumbers> numbers;
  for (std::size_t k = 0; k < fresh.count; ++k) numbers[k] = static_cast<std::int64_t>(fresh.all[k]);
  return insert(numbers.data(), says_more);
}

/// What the others say has been taken out of it.
bool Equations::insert(const std::int64_t* numbers, bool& says_more) {
  Numbers fresh = numbers_of(numbers, unknowns_ + 1);
  std::size_t own = 0;
  while (own < unknowns_ && fresh.all[own] == 0) ++own;
  if (own == unknowns_) return fresh.all[unknowns_] == 0;
  says_more = true;
  std::size_t place = 0;
  for (std::size_t i = 0; i < rows(); ++i) {
    if (pivot(i) < own) place = i + 1;
    if (row(i)[own] == 0) continue;
    Numbers other = numbers_of(row(i), unknowns_ + 1);
    if (!other.eliminate(fresh.all.data(), own)) return false;
    for (std::size_t k = 0; k <= unknowns_; ++k)
      numbers_[i * (unknowns_ + 1) + k] = static_cast<std::int64_t>(other.all[k]);
  }
  const auto at = numbers_.begin() + static_cast<std::ptrdiff_t>(place * (unknowns_ + 1));
  numbers_.insert(at, fresh.all.begin(), fresh.all.begin() + static_cast<std::ptrdiff_t>(fresh.count));
  return true;
}

std::uint32_t Equations::determined(std::int64_t* numerators, std::int64_t& divisor) const {
  std::uint32_t bits = 0;
  bool whole = true;
  std::array<std::size_t, kMostNumbers> found;  // rows that determine the unknowns in `bits`, by unknown
  for (std::size_t i = 0; i < rows(); ++i) {
    const std::int64_t* numbers = row(i);
    const std::size_t own = pivot(i);
    if (std::any_of(numbers + own + 1, numbers + unknowns_, [](auto n) { return n != 0; })) continue;
    found[own] = i;
    whole = whole && numbers[own] == 1;
    bits |= std::uint32_t{1} << own;
  }
  if (whole) {
    divisor = 1;
    for (std::size_t k = 0; k < unknowns_; ++k) numerators[k] = (bits >> k & 1) != 0 ? row(found[k])[unknowns_] : 0;
    return bits;
  }
  Fraction solution(unknowns_);
  for (std::size_t k = 0; k < unknowns_; ++k)
    if ((bits >> k & 1) != 0 && !solution.set(k, row(found[k])[unknowns_], row(found[k])[k])) return 0;
  Affine reduced;
  if (!solution.reduced(reduced, divisor)) return 0;
  std::copy(reduced.coefficients.begin(), reduced.coefficients.end(), numerators);
  return bits;
}

bool Equations::solve(Fraction& into) const {
  for (std::size_t i = 0; i < rows(); ++i)
    if (!into.set(pivot(i), row(i)[unknowns_], row(i)[pivot(i)])) return false;
  return true;
}

std::size_t Equations::bytes() const { return sizeof(*this) + sizeof(std::int64_t) * numbers_.size(); }

void LabelFit::add_first(const std::int64_t* point, std::int64_t label) {
  label_ = label;
  if (dimensions_ == 0 || dimensions_ > kMostDimensions) return;
  claims_ = std::make_unique<Claims>(dimensions_);
  ready_ = SmallArray<std::int64_t, 10>(std::size_t{2} * dimensions_);
  claims_->prefix.reserve(dimensions_ - std::size_t{1});
  for (std::size_t q = 1; q < dimensions_; ++q) {
    claims_->prefix.push_back({0, false, label, 0, 0, Equations(q)});
    hashes()[q] = static_cast<std::int64_t>(hash_from(q, point, dimensions_));
    prefixes_ |= std::uint32_t{1} << q;
  }
}

void LabelFit::restart(std::int64_t label, const Affine& value, std::int64_t divisor, std::uint32_t varied) {
  label_ = label;
  if (dimensions_ == 0 || dimensions_ > kMostDimensions) return;
  first_ = 0;
  prefixes_ = 0;
  claims_ = std::make_unique<Claims>(dimensions_);
  ready_ = SmallArray<std::int64_t, 10>(std::size_t{2} * dimensions_);
  std::array<std::int64_t, kMostDimensions> one{};
  bool fresh = false;
  for (std::size_t k = 0; k < dimensions_; ++k) {
    if ((varied >> k & 1) == 0) continue;
    one[k] = divisor;
    for (std::size_t m = 0; m <= k; ++m) claims_->suffix[m].add(one.data(), value.coefficients[k], fresh);
    one[k] = 0;
  }
  make_ready();
}

/// A difference that is not understood yet.
void LabelFit::learn(std::size_t inner, const Move& move, std::int64_t difference) {
  bool fresh = false;
  const std::uint16_t before = first_;
  if (move.first == dimensions_) {
    if (difference != 0) first_ = dimensions_;
  } else {
    fresh = add_to_suffixes(inner, move.step, difference);
    if (!ordered_ && first_ > 0) first_ = dimensions_;
  }
  for (std::size_t m = before; m < first_; ++m) claims_->suffix[m] = Equations(dimensions_);
  if (fresh || first_ != before) make_ready();
  refute_if_done();
}

/// An equation for suffixes first_ .. inner; those up to the last one that it contradicts do not hold any more. True if
/// it says more. From the inside out: what is outside of one that does not hold need not be looked at. Each suffix has
/// all equations of those behind it, and mostly no others: then what became of the one behind it is what becomes of it.
bool LabelFit::add_to_suffixes(std::size_t inner, const std::int64_t* vector, std::int64_t value) {
  std::vector<Equations>& suffix = claims_->suffix;
  std::uint32_t like = 0;  // the one behind it, as bits
  for (std::size_t m = first_; m < inner; ++m) like |= std::uint32_t{suffix[m].same(suffix[m + 1])} << m;
  bool fresh = false;
  for (std::size_t m = inner + 1; m-- > first_;) {
    if ((like >> m & 1) != 0) {
      suffix[m].copy(suffix[m + 1]);
    } else if (!suffix[m].add(vector, value, fresh)) {
      first_ = static_cast<std::uint16_t>(m + 1);
      break;
    }
  }
  return fresh;
}

/// Suffix m has the equations of all suffixes behind it, and maybe more: what one of those determines, it does too.
void LabelFit::make_ready() {
  known_until_.fill(0);
  std::int64_t ignored = 1;
  std::array<std::int64_t, kMostDimensions> others{};
  std::uint32_t bits = 0;
  for (std::size_t m = first_; m < dimensions_; ++m) {
    const bool best = m == first_;
    if (best || !claims_->suffix[m].same(claims_->suffix[m - 1]))
      bits = claims_->suffix[m].determined(best ? numerators() : others.data(), best ? divisor_ : ignored);
    if (best && bits == 0) return;
    for (std::size_t k = 0; k < dimensions_; ++k)
      if ((bits >> k & 1) != 0) known_until_[k] = static_cast<std::uint8_t>(m + 1);
  }
}

/// Rows that agree in so many dimensions, as bits, end and must have been like the first one.
void LabelFit::start_rows(const Move& move, std::uint32_t prefixes) {
  for (; prefixes != 0; prefixes &= prefixes - 1) {
    const auto q = static_cast<std::size_t>(std::countr_zero(prefixes));
    if (!start_row(q, move)) prefixes_ &= ~(std::uint32_t{1} << q);
  }
  if (prefixes_ == 0) refute_if_done();
}

bool LabelFit::start_row(std::size_t dimension, const Move& move) {
  Prefix& prefix = claims_->prefix[dimension - 1];
  const auto hash = static_cast<std::uint64_t>(hashes()[dimension]);
  if (!prefix.complete) prefix.reference = hash;
  prefix.complete = true;
  std::int64_t jump = 0;
  bool fresh = false;
  if (hash != prefix.reference || __builtin_sub_overflow(label_, prefix.label, &jump)) return false;
  prefix.label = label_;
  hashes()[dimension] = static_cast<std::int64_t>(hash_from(dimension, move.point, dimensions_));
  const std::int64_t step = move.step[dimension - 1];
  const bool alone = move.first == dimension - 1;
  if (alone && step == prefix.step && jump == prefix.jump) return true;
  if (!prefix.equations.add(move.step, jump, fresh)) return false;
  if (alone) {
    prefix.step = step;
    prefix.jump = jump;
  }
  return true;
}

void LabelFit::refute() { claims_.reset(); }

void LabelFit::refute_if_done() {
  if (first_ == dimensions_ && prefixes_ == 0) refute();
}

void LabelFit::unorder() {
  if (!ordered_) return;
  ordered_ = false;
  if (!claims_) return;
  prefixes_ = 0;
  if (first_ > 0) first_ = dimensions_;
  refute_if_done();
}

void LabelFit::forget_rows(std::size_t dimensions) {
  if (!claims_) return;
  prefixes_ &= ~((std::uint32_t{2} << dimensions) - 1);
  refute_if_done();
}

void LabelFit::shrink() {
  if (!claims_) return;
  prefixes_ = 0;
  claims_->prefix = {};
  refute_if_done();
}

/// The label at the last point says what the constant is.
bool LabelFit::claim_affine(const std::vector<std::int64_t>& last, Output& into) const {
  Fraction function(dimensions_);
  if (!claims_->suffix[0].solve(function)) return false;
  Wide constant = 0;
  if (__builtin_mul_overflow(function.divisor, static_cast<Wide>(label_), &constant)) return false;
  for (std::size_t k = 0; k < dimensions_; ++k) {
    Wide along = 0;
    if (__builtin_mul_overflow(function.coefficients[k], static_cast<Wide>(last[k]), &along) ||
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
  for (std::size_t q = suffix; q-- > 1;) {
    if ((prefixes_ >> q & 1) == 0) continue;
    const Prefix& prefix = claims_->prefix[q - 1];
    Fraction function(into.value, into.divisor);
    const auto hash = static_cast<std::uint64_t>(ready_[dimensions_ + q]);
    if ((prefix.complete && hash != prefix.reference) || !prefix.equations.solve(function)) continue;
    Output both = into;
    if (!function.reduced(both.value, both.divisor)) continue;
    std::fill_n(both.top.begin(), q, false);
    into = std::move(both);
    return;
  }
}

void LabelFit::claim(const std::vector<bool>& constant, const std::vector<std::int64_t>& last, Output& into) const {
  const Affine nothing{dimensions_ == 0 ? label_ : 0, std::vector<std::int64_t>(dimensions_)};
  into.value = nothing;
  into.divisor = 1;
  into.top.assign(dimensions_, true);
  if (claims_) {
    std::size_t suffix = first_;
    if (suffix == 0) {
      if (claim_affine(last, into)) return;
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
  if (!claims_) return bytes;
  bytes += sizeof(Claims) + ready_.bytes();
  for (const Equations& suffix : claims_->suffix) bytes += suffix.bytes();
  for (const Prefix& prefix : claims_->prefix) bytes += sizeof(Prefix) - sizeof(Equations) + prefix.equations.bytes();
  return bytes;
}

}  // namespace loopfold::fold::adaptive
