// The value of an expression over slots.
//
// extend(constant + sum of coefficient * operand), modulo 2^64. Operands are slots or expressions with a smaller index,
// and a block whose expressions cost more than kMaxExpressionTerms terms is refused when it is read, so the recursion
// is shallow and the work bounded.
#include "trace/reader.h"

namespace loopfold::trace {
namespace {

std::uint64_t extended(std::uint64_t value, Expression::Extend how) {
  using Extend = Expression::Extend;
  switch (how) {
    case Extend::kZero8:
      return static_cast<std::uint8_t>(value);
    case Extend::kZero16:
      return static_cast<std::uint16_t>(value);
    case Extend::kZero32:
      return static_cast<std::uint32_t>(value);
    case Extend::kSign8:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int8_t>(value)));
    case Extend::kSign16:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int16_t>(value)));
    case Extend::kSign32:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(value)));
    case Extend::kNone:
      break;
  }
  return value;
}

}  // namespace

std::uint64_t evaluate(const Block& block, const Expression& expression, std::span<const std::uint64_t> slots) {
  std::uint64_t sum = expression.constant;
  for (const Expression::Term& term : expression.terms) sum += term.coefficient * evaluate(block, term.operand, slots);
  return extended(sum, expression.extend);
}

}  // namespace loopfold::trace
