// Values of a block, ready to be computed from slots.
//
// Nearly all are a slot, or a multiple of a slot and a constant, cut to some bits: these need no expression to be
// looked up. Exact: whatever else there is goes to trace::evaluate().
#pragma once

#include <cstdint>
#include <span>

#include "trace/reader.h"

namespace loopfold::ddg {

class Formula {
 public:
  Formula() = default;
  /// `block` must stay where it is.
  Formula(const trace::Block& block, const trace::Value& value) : block_(&block), value_(value) {
    if (value.kind == trace::Value::Kind::kSlot) {
      kind_ = Kind::kSlot;
      slot_ = value.data;
    } else if (value.kind == trace::Value::Kind::kExpression) {
      take(block.expressions[value.data]);
    }
  }

  std::uint64_t at(const std::uint64_t* slots) const {
    if (kind_ == Kind::kSlot) return slots[slot_];
    if (kind_ == Kind::kOther) return trace::evaluate(*block_, value_, {slots, kAll});
    return cut(slots[slot_]);
  }

  /// Of values that need one slot: the slot, and what they are if it has this.
  bool needs_one_slot() const { return kind_ != Kind::kOther; }
  std::uint64_t slot() const { return slot_; }
  std::uint64_t of(std::uint64_t slot) const { return kind_ == Kind::kSlot ? slot : cut(slot); }

 private:
  enum class Kind : std::uint8_t { kSlot, kUnsigned, kSigned, kOther };
  static constexpr std::size_t kAll = std::size_t{1} << 32;  // more slots than there are

  std::uint64_t cut(std::uint64_t slot) const {
    const std::uint64_t sum = (constant_ + coefficient_ * slot) << shift_;
    return kind_ == Kind::kSigned ? static_cast<std::uint64_t>(static_cast<std::int64_t>(sum) >> shift_)
                                  : sum >> shift_;
  }
  void take(const trace::Expression& expression) {
    using Extend = trace::Expression::Extend;
    if (expression.terms.size() != 1 || expression.terms[0].operand.kind != trace::Value::Kind::kSlot) return;
    slot_ = expression.terms[0].operand.data;
    coefficient_ = expression.terms[0].coefficient;
    constant_ = expression.constant;
    const Extend extend = expression.extend;
    if (extend == Extend::kZero8 || extend == Extend::kSign8) shift_ = 56;
    if (extend == Extend::kZero16 || extend == Extend::kSign16) shift_ = 48;
    if (extend == Extend::kZero32 || extend == Extend::kSign32) shift_ = 32;
    const bool is_signed = extend == Extend::kSign8 || extend == Extend::kSign16 || extend == Extend::kSign32;
    kind_ = is_signed ? Kind::kSigned : Kind::kUnsigned;
  }

  Kind kind_ = Kind::kOther;
  std::uint8_t shift_ = 0;
  std::uint64_t slot_ = 0;
  std::uint64_t coefficient_ = 0;
  std::uint64_t constant_ = 0;
  const trace::Block* block_ = nullptr;
  trace::Value value_;
};

}  // namespace loopfold::ddg
