#include "ddg/progression.h"

namespace loopfold::ddg {

namespace {

__extension__ using Wide = __int128;
using Extend = trace::Expression::Extend;

std::int64_t sign_extended_number(std::uint64_t value, unsigned bits) {
  const unsigned shift = 64 - bits;
  return static_cast<std::int64_t>(value << shift) >> shift;
}

/// The low bits of an even value, extended to 64.
Progression extended(const Progression& value, unsigned bits, bool is_signed, std::uint64_t n) {
  if (!value.even) return value;
  const std::int64_t step = sign_extended_number(value.step, bits);
  const Wide start = is_signed ? Wide{sign_extended_number(value.start, bits)}
                               : static_cast<Wide>(value.start & ((std::uint64_t{1} << bits) - 1));
  const Wide last = start + static_cast<Wide>(step) * static_cast<Wide>(n - 1);
  const Wide least = is_signed ? -(Wide{1} << (bits - 1)) : Wide{0};
  const Wide greatest = is_signed ? (Wide{1} << (bits - 1)) - 1 : (Wide{1} << bits) - 1;
  return {static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(step), last >= least && last <= greatest};
}

Progression extended(const Progression& value, Extend how, std::uint64_t n) {
  switch (how) {
    case Extend::kZero8:
      return extended(value, 8, false, n);
    case Extend::kZero16:
      return extended(value, 16, false, n);
    case Extend::kZero32:
      return extended(value, 32, false, n);
    case Extend::kSign8:
      return extended(value, 8, true, n);
    case Extend::kSign16:
      return extended(value, 16, true, n);
    case Extend::kSign32:
      return extended(value, 32, true, n);
    case Extend::kNone:
      break;
  }
  return value;
}

/// Values that are listed one by one.
Progression listed(const std::uint64_t* values, std::uint64_t n) {
  const std::uint64_t step = n > 1 ? values[1] - values[0] : 0;
  for (std::uint64_t k = 2; k < n; ++k)
    if (values[k] - values[k - 1] != step) return {values[0], 0, false};
  return {values[0], step, true};
}

}  // namespace

Progression progression_of(const trace::Block& block, const trace::Value& value, const trace::RunExpander& ahead,
                           std::size_t slot, std::uint64_t n) {
  if (value.kind == trace::Value::Kind::kSlot) {
    const trace::RunExpander::Ahead column = ahead.ahead(slot + value.data);
    return column.regular ? Progression{column.value, column.stride, true} : listed(column.values, n);
  }
  if (value.kind != trace::Value::Kind::kExpression) return {value.data, 0, true};
  const trace::Expression& expression = block.expressions[value.data];
  Progression sum{expression.constant, 0, true};
  for (const trace::Expression::Term& term : expression.terms) {
    const Progression operand = progression_of(block, term.operand, ahead, slot, n);
    sum.start += term.coefficient * operand.start;
    sum.step += term.coefficient * operand.step;
    sum.even = sum.even && operand.even;
  }
  return extended(sum, expression.extend, n);
}

Progression sign_extended(const Progression& value, unsigned bytes, std::uint64_t n) {
  return bytes == 8 ? value : extended(value, bytes * 8, true, n);
}

}  // namespace loopfold::ddg
