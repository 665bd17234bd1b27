#include "fold/fraction.h"

#include <algorithm>

namespace loopfold::fold {

namespace {

bool multiply(Wide& number, Wide by) { return !__builtin_mul_overflow(number, by, &number); }

/// Divides if the result fits.
bool divide(Wide number, Wide by, std::int64_t& into) {
  const Wide result = quotient(number, by);
  into = static_cast<std::int64_t>(result);
  return into == result;
}

}  // namespace

Fraction::Fraction(const Affine& value, Wide divided_by)
    : coefficients(value.coefficients.begin(), value.coefficients.end()),
      constant(value.constant),
      divisor(divided_by) {}

bool Fraction::extend(Wide by) {
  if (by == 1) return true;
  return multiply(constant, by) && multiply(divisor, by) &&
         std::all_of(coefficients.begin(), coefficients.end(), [by](Wide& c) { return multiply(c, by); });
}

bool Fraction::set(std::size_t k, Wide numerator, Wide denominator) {
  Wide common = gcd(numerator, denominator);
  if (denominator < 0) common = -common;
  numerator = quotient(numerator, common);
  denominator = quotient(denominator, common);
  if (!extend(quotient(denominator, gcd(denominator, divisor)))) return false;
  coefficients[k] = numerator;
  return multiply(coefficients[k], quotient(divisor, denominator));
}

bool Fraction::reduced(Affine& into, std::int64_t& into_divisor) const {
  Wide common = divisor;
  if (common != 1) {
    common = gcd(common, constant);
    for (const Wide c : coefficients) common = gcd(common, c);
  }
  into.coefficients.resize(coefficients.size());
  for (std::size_t k = 0; k < coefficients.size(); ++k)
    if (!divide(coefficients[k], common, into.coefficients[k])) return false;
  return divide(constant, common, into.constant) && divide(divisor, common, into_divisor);
}

bool set_divisor(Range& range, std::int64_t of_lower, std::int64_t of_upper) {
  if (of_lower == 1 && of_upper == 1) {
    range.divisor = 1;
    return true;
  }
  const Wide common = gcd(of_lower, of_upper);
  Fraction lower(range.lower, of_lower);
  Fraction upper(range.upper, of_upper);
  if (!lower.extend(quotient(of_upper, common)) || !upper.extend(quotient(of_lower, common))) return false;
  Wide factor = lower.divisor;
  for (const Fraction* bound : {&lower, &upper}) {
    factor = gcd(factor, bound->constant);
    for (const Wide c : bound->coefficients) factor = gcd(factor, c);
  }
  const auto put = [factor](const Fraction& bound, Affine& into) {
    for (std::size_t k = 0; k < bound.coefficients.size(); ++k)
      if (!divide(bound.coefficients[k], factor, into.coefficients[k])) return false;
    return divide(bound.constant, factor, into.constant);
  };
  return put(lower, range.lower) && put(upper, range.upper) && divide(lower.divisor, factor, range.divisor);
}

}  // namespace loopfold::fold
