#include "fold/label.h"

#include <algorithm>
#include <bit>

#include "support/wide.h"

namespace loopfold::fold {

namespace {

constexpr std::uint32_t bit(std::size_t dimension) { return std::uint32_t{1} << dimension; }
constexpr bool has(std::uint32_t set, std::size_t dimension) { return (set >> dimension & 1) != 0; }
std::size_t outermost(std::uint32_t set) { return static_cast<std::size_t>(std::bit_width(set)) - 1; }

bool fits(Wide value) { return value == static_cast<Wide>(static_cast<std::int64_t>(value)); }

/// sum -= coefficient * length; false if that overflows.
bool take_out(Wide& sum, std::int64_t coefficient, Wide length) {
  Wide product = 0;
  return !__builtin_mul_overflow(static_cast<Wide>(coefficient), length, &product) &&
         !__builtin_sub_overflow(sum, product, &sum);
}

/// A flat dimension of `p` gets a coefficient; those further out change where coordinate `b` moves with them. `moved`
/// is set then.
bool adopt(Coefficients& coefficients, const Polyhedron& p, std::size_t b, std::int64_t value, bool& moved) {
  Coordinates changed = coefficients.value;
  if (!p.constant_bounds(b)) {
    Bound moves;
    if (!p.bound(b, false, moves)) return false;
    moved = true;
    for (std::size_t j = b + 1; j < p.dimensions(); ++j) {
      if (!has(coefficients.known, j)) continue;
      Wide coefficient = coefficients.value[j];
      if (!take_out(coefficient, value, moves.coefficients[j]) || !fits(coefficient)) return false;
      changed[j] = static_cast<std::int64_t>(coefficient);
    }
  }
  changed[b] = value;
  coefficients.value = changed;
  coefficients.known |= bit(b);
  return true;
}

/// The coefficients of two functions inside `d`, made the same where only one of them has any.
struct Reconciled {
  Coefficients f;
  Coefficients g;
  bool f_moved = false;
  bool g_moved = false;
  std::uint32_t different = 0;  // or TOP on one side
};

Reconciled reconcile(const LabelFunction& f, const Polyhedron& p, const LabelFunction& g, const Polyhedron& slice,
                     std::size_t d) {
  Reconciled both{f.coefficients, g.coefficients};
  for (std::size_t b = 0; b < d; ++b) {
    const bool f_knows = has(both.f.known, b);
    const bool g_knows = has(both.g.known, b);
    bool same = !has(both.f.top | both.g.top, b);
    if (same && f_knows && g_knows) same = both.f.value[b] == both.g.value[b];
    if (same && f_knows && !g_knows) same = adopt(both.g, slice, b, both.f.value[b], both.g_moved);
    if (same && !f_knows && g_knows) same = adopt(both.f, p, b, both.g.value[b], both.f_moved);
    if (!same) both.different |= bit(b);
  }
  return both;
}

/// The step of the label from p's anchor to the slice's, without the contributions of dimensions inside `d` that are
/// not in `without`.
bool step_between(const LabelFunction& f, const Polyhedron& p, const LabelFunction& g, const Polyhedron& slice,
                  std::size_t d, const Coefficients& coefficients, std::uint32_t without, Wide& step) {
  step = static_cast<Wide>(g.first) - f.first;
  for (std::size_t b = 0; b < d; ++b) {
    if (has(without, b) || !has(coefficients.known, b)) continue;
    if (!take_out(step, coefficients.value[b], static_cast<Wide>(slice.anchor()[b]) - p.anchor()[b])) return false;
  }
  return true;
}

/// Whether `step` is what `coefficients` say of dimension `d`; if they say nothing yet, they do so afterwards.
bool matches_along(Coefficients& coefficients, const Polyhedron& p, const Polyhedron& slice, std::size_t d, Wide step) {
  if (!has(coefficients.known, d)) {
    if (!fits(step)) return false;
    coefficients.known |= bit(d);
    coefficients.value[d] = static_cast<std::int64_t>(step);
    return true;
  }
  return take_out(step, coefficients.value[d], static_cast<Wide>(slice.anchor()[d]) - p.anchor()[d]) && step == 0;
}

/// Fingerprints of an affine function over a polyhedron, along dimensions whose bounds depend on each other only.
class Regenerator {
 public:
  Regenerator(const Coefficients& coefficients, const Polyhedron& p, std::uint32_t along)
      : coefficients_(coefficients), along_(along), at_{} {
    std::copy(p.anchor(), p.anchor() + p.dimensions(), anchor_.begin());
    for (std::uint32_t rest = along; rest != 0 && possible_; rest &= rest - 1) {
      const std::size_t b = static_cast<std::size_t>(std::countr_zero(rest));
      possible_ = p.bound(b, false, lower_[b]) && p.bound(b, true, upper_[b]);
      for (std::size_t j = 0; j < p.dimensions(); ++j)
        if (!has(along, j) && (lower_[b].coefficients[j] != 0 || upper_[b].coefficients[j] != 0)) possible_ = false;
    }
  }

  bool make(Fingerprint& into) {
    Wide first = 0;
    into.clear();
    return possible_ && make(along_, 0, into, first);
  }

 private:
  bool evaluate(const Bound& bound, std::int64_t& into) const {
    Wide sum = bound.constant;
    for (std::size_t j = 0; j < kMaxDimensions; ++j) sum += static_cast<Wide>(bound.coefficients[j]) * at_[j];
    into = static_cast<std::int64_t>(sum);
    return fits(sum);
  }

  /// `first` is the function at the first point, where it is `value` in all that is fixed already.
  bool make(std::uint32_t along, Wide value, Fingerprint& into, Wide& first) {
    const std::size_t b = outermost(along);
    const std::uint32_t inside = along ^ bit(b);
    std::int64_t low = 0;
    std::int64_t high = 0;
    if (!evaluate(lower_[b], low) || !evaluate(upper_[b], high) || low > high) return false;
    for (std::int64_t x = low;; ++x) {
      at_[b] = x;
      Wide here = value;
      if (!take_out(here, coefficients_.value[b], static_cast<Wide>(anchor_[b]) - x)) return false;
      Fingerprint slice;
      if (inside != 0 && !make(inside, here, slice, here)) return false;
      std::int64_t start = 0;
      if (inside != 0 && !evaluate(lower_[outermost(inside)], start)) return false;
      if (x == low) first = here;
      Wide difference = 0;
      if (__builtin_sub_overflow(here, first, &difference)) return false;
      into.append(inside == 0 ? Fingerprint::element(difference) : Fingerprint::element(difference, start, slice));
      if (x == high) return true;
    }
  }

  const Coefficients& coefficients_;
  std::uint32_t along_;
  bool possible_ = true;
  Coordinates anchor_{};
  Coordinates at_;
  std::array<Bound, kMaxDimensions> lower_{};
  std::array<Bound, kMaxDimensions> upper_{};
};

/// `fingerprint`, along the dimensions `along` of `p`, becomes one along `along` and `q`, further out, along which the
/// function is affine.
void add_affine_dimension(Fingerprint& fingerprint, std::uint32_t along, const Coefficients& coefficients,
                          const Polyhedron& p, std::size_t q) {
  const std::int64_t low = p.minimum(q);
  if (!fingerprint.known() || p.anchor()[q] != low) return fingerprint.forget();
  const std::uint64_t length = static_cast<std::uint64_t>(p.maximum(q)) - static_cast<std::uint64_t>(low) + 1;
  const Fingerprint slice = fingerprint;
  fingerprint.clear();
  for (std::uint64_t i = 0; i < length; ++i) {
    Wide difference = 0;
    if (!take_out(difference, coefficients.value[q], -static_cast<Wide>(i))) return fingerprint.forget();
    fingerprint.append(along == 0 ? Fingerprint::element(difference)
                                  : Fingerprint::element(difference, p.anchor()[outermost(along)], slice));
  }
}

/// The fingerprint of `f` along `along`, which holds all dimensions in which `f` is TOP.
void make_fingerprint(const LabelFunction& f, const Coefficients& coefficients, const Polyhedron& p,
                      std::uint32_t along, Fingerprint& into) {
  std::uint32_t done = f.coefficients.top;
  if (done == 0 && std::popcount(along) > 1 && Regenerator(coefficients, p, along).make(into)) return;
  into = f.fingerprint;
  if (done == 0) into.clear();
  const std::uint32_t missing = along & ~done;
  if (done != 0 && missing != 0 && (missing & (bit(outermost(done)) - 1)) != 0) return into.forget();
  for (std::uint32_t rest = missing; rest != 0; rest &= rest - 1) {
    const std::size_t q = static_cast<std::size_t>(std::countr_zero(rest));
    add_affine_dimension(into, done, coefficients, p, q);
    done |= bit(q);
  }
}

bool same_start(const Polyhedron& p, const Polyhedron& slice, std::uint32_t along) {
  for (std::uint32_t rest = along; rest != 0; rest &= rest - 1) {
    const std::size_t q = static_cast<std::size_t>(std::countr_zero(rest));
    if (p.anchor()[q] != slice.anchor()[q]) return false;
  }
  return true;
}

/// Clears what `coefficients` know about dimensions that have become TOP.
void set_top(Coefficients& coefficients, std::uint32_t top) {
  coefficients.top |= top;
  coefficients.known &= ~top;
  for (std::size_t b = 0; b < kMaxDimensions; ++b)
    if (has(top, b)) coefficients.value[b] = 0;
}

}  // namespace

bool join(const LabelFunction& f, const Polyhedron& p, const LabelFunction& g, const Polyhedron& slice, std::size_t d,
          Coefficients& into) {
  const Reconciled both = reconcile(f, p, g, slice, d);
  Wide step = 0;
  if (both.different != 0 || !step_between(f, p, g, slice, d, both.f, 0, step)) return false;
  into = both.f;
  return matches_along(into, p, slice, d, step);
}

void widen(LabelFunction& f, const Polyhedron& p, const LabelFunction& g, const Polyhedron& slice, std::size_t d) {
  Reconciled both = reconcile(f, p, g, slice, d);
  const std::uint32_t inside = both.different;
  const bool widened_already = has(f.coefficients.top, d);
  Wide step = 0;
  const bool step_fits = step_between(f, p, g, slice, d, both.f, inside, step);

  const std::uint32_t f_along = inside | (f.coefficients.top & bit(d));
  if (f.coefficients.top == 0 || f.coefficients.top != f_along) {
    Fingerprint made;
    make_fingerprint(f, both.f, p, f_along, made);
    if (both.f_moved && f.coefficients.top != 0) made.forget();
    f.fingerprint = std::move(made);
  } else if (both.f_moved) {
    f.fingerprint.forget();
  }
  Fingerprint made;
  const bool same_dimensions = g.coefficients.top == inside && inside != 0;
  if (!same_dimensions) make_fingerprint(g, both.g, slice, inside, made);
  if (both.g_moved && g.coefficients.top != 0) made.forget();
  const Fingerprint& its = same_dimensions && !both.g_moved ? g.fingerprint : made;

  Coefficients joined = both.f;
  set_top(joined, inside);
  if (!widened_already && step_fits && same_start(p, slice, inside) && f.fingerprint.agrees_with(its) &&
      matches_along(joined, p, slice, d, step)) {
    if (f.fingerprint.count() < its.count()) f.fingerprint = its;
    f.coefficients = joined;
    return;
  }
  if (!widened_already) add_affine_dimension(f.fingerprint, inside, both.f, p, d);
  if (f.fingerprint.known() && its.known() && step_fits) {
    f.fingerprint.append(inside == 0 ? Fingerprint::element(step)
                                     : Fingerprint::element(step, slice.anchor()[outermost(inside)], its));
  } else {
    f.fingerprint.forget();
  }
  set_top(joined, bit(d));
  f.coefficients = joined;
}

void cover(LabelFunction& f, const LabelFunction& g) {
  f.minimum = std::min(f.minimum, g.minimum);
  f.maximum = std::max(f.maximum, g.maximum);
  f.distance_minimum = std::min(f.distance_minimum, g.distance_minimum);
  f.distance_maximum = std::max(f.distance_maximum, g.distance_maximum);
}

bool constant_term(const LabelFunction& f, const std::int64_t* anchor, std::size_t dimensions, std::int64_t& into) {
  Wide sum = f.first;
  for (std::size_t b = 0; b < dimensions; ++b)
    if (has(f.coefficients.known, b) && !take_out(sum, f.coefficients.value[b], anchor[b])) return false;
  into = static_cast<std::int64_t>(sum);
  return fits(sum);
}

}  // namespace loopfold::fold
