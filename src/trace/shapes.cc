// The rules that blocks and exits obey, checked once per description.
//
// For every prefix of a block's lists the largest slot that it refers to, directly or through expressions, is worked
// out when the block comes, so that an exit, which is four prefix lengths, is checked with four lookups. An expression
// refers to slots and to expressions before it, so its needs are known when it is met; what evaluating it costs is
// bounded, since a chain of expressions that each use the one before four times would take forever.
#include "trace/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "trace/format.h"

namespace loopfold::trace {
namespace {

/// Lists in a description are counted in 16 bits.
constexpr std::size_t kMaxList = 0xffff;

tl::unexpected<Error> malformed(std::string reason) { return fail(ErrorKind::kBadInput, std::move(reason)); }

bool sound_result(const IntegerResult& result) {
  const bool width = result.width == 1 || result.width == 2 || result.width == 4 || result.width == 8;
  return width && result.reg < 16 && result.byte <= 1;
}

}  // namespace

std::size_t CodeAges::place(std::uint64_t address) const {
  const std::size_t mask = entries_.size() - 1;
  std::size_t at = (address * 0x9e3779b97f4a7c15 >> 20) & mask;
  while (entries_[at].age != 0 && entries_[at].address != address) at = (at + 1) & mask;
  return at;
}

void CodeAges::grow() {
  std::vector<Entry> old(std::max<std::size_t>(1024, 2 * entries_.size()));
  old.swap(entries_);
  for (const Entry& entry : old) {
    if (entry.age != 0) entries_[place(entry.address)] = entry;
  }
}

std::uint32_t CodeAges::add(const Block& block) {
  std::uint32_t first = 0;
  std::uint64_t address = block.address;
  for (const std::uint8_t length : block.lengths) {
    if (std::size_t{2} * last_ >= entries_.size()) grow();
    Entry& entry = entries_[place(address)];
    if (entry.age == 0) entry = {address, ++last_};
    if (first == 0) first = entry.age;
    address += length;
  }
  return first;
}

void CodeAges::clear() {
  entries_.clear();
  entries_.shrink_to_fit();
}

/// How many slots an event needs so that `value` can be evaluated; more than kMaxSlots if none can have it.
std::uint32_t Shapes::slots_needed(const BlockShape& shape, const Value& value) {
  constexpr std::uint32_t kImpossible = kMaxSlots + 1;
  if (value.kind == Value::Kind::kSlot)
    return value.data < kMaxSlots ? static_cast<std::uint32_t>(value.data) + 1 : kImpossible;
  if (value.kind == Value::Kind::kExpression)
    return value.data < shape.expressions.size() ? shape.expressions[value.data].slots : kImpossible;
  return 0;
}

/// Fills in what each expression needs; false if one refers to what is not before it, or is too costly.
bool Shapes::measure_expressions(const Block& block, BlockShape& shape) {
  for (const Expression& expression : block.expressions) {
    ExpressionShape measured;
    measured.first_operand = static_cast<std::uint32_t>(shape.operands.size());
    measured.operands = static_cast<std::uint32_t>(expression.terms.size());
    if (expression.terms.size() > kMaxTerms) return false;
    for (const Expression::Term& term : expression.terms) {
      const bool derived = term.operand.kind == Value::Kind::kExpression;
      if (!derived && term.operand.kind != Value::Kind::kSlot) return false;
      measured.slots = std::max(measured.slots, slots_needed(shape, term.operand));
      if (measured.slots > kMaxSlots) return false;
      measured.terms += 1 + (derived ? shape.expressions[term.operand.data].terms : 0);
      shape.operands.push_back(term.operand);
    }
    if (measured.terms > kMaxExpressionTerms) return false;
    shape.expressions.push_back(measured);
  }
  return block.expressions.size() <= kMaxList;
}

/// Checks a list of accesses or results, and fills in what each prefix of it needs.
template <typename T>
bool Shapes::measure_prefixes(const BlockShape& shape, const std::vector<T>& list, const Value T::*value,
                              std::vector<std::uint32_t>& needed) {
  needed.assign(1, 0);
  for (const T& element : list) {
    needed.push_back(std::max(needed.back(), slots_needed(shape, element.*value)));
    if (element.instruction >= shape.instructions || needed.back() > kMaxSlots) return false;
  }
  return list.size() <= kMaxList;
}

/// Adds the slots that `value` is computed from to `to`.
void Shapes::collect_slots(const BlockShape& shape, const Value& value, std::vector<std::uint16_t>& to) {
  if (value.kind == Value::Kind::kSlot) to.push_back(static_cast<std::uint16_t>(value.data));
  if (value.kind != Value::Kind::kExpression) return;
  const ExpressionShape& expression = shape.expressions[value.data];
  for (std::uint32_t i = 0; i < expression.operands; ++i)
    collect_slots(shape, shape.operands[expression.first_operand + i], to);
}

Result<void> Shapes::add_block(const Block& block) {
  if (block.id != blocks_.size()) return malformed(fmt::format("block {} where {} is due", block.id, blocks_.size()));
  std::size_t bytes = 0;
  for (const std::uint8_t length : block.lengths) bytes += length;
  if (bytes != block.bytes.size() || block.lengths.size() > kMaxList)
    return malformed(fmt::format("block {}: its instructions do not add up to its bytes", block.id));
  BlockShape shape;
  shape.address = block.address;
  shape.age = ages_.add(block);
  shape.instructions = static_cast<std::uint32_t>(block.lengths.size());
  if (!measure_expressions(block, shape))
    return malformed(
        fmt::format("block {}: an expression has too many terms or names what is not before it", block.id));
  shape.ftop_slots = slots_needed(shape, block.ftop);
  if (shape.ftop_slots > kMaxSlots || !measure_prefixes(shape, block.accesses, &Access::address, shape.access_slots))
    return malformed(fmt::format("block {}: an access names an instruction or a slot that is not there", block.id));
  if (!measure_prefixes(shape, block.results, &IntegerResult::value, shape.result_slots) ||
      !std::all_of(block.results.begin(), block.results.end(), sound_result))
    return malformed(fmt::format("block {}: a result names something that is not there", block.id));
  blocks_.push_back(std::move(shape));
  return {};
}

Result<void> Shapes::add_exit(const Exit& exit) {
  if (exit.id != exits_.size()) return malformed(fmt::format("exit {} where {} is due", exit.id, exits_.size()));
  if (exit.block >= blocks_.size()) return malformed(fmt::format("exit {}: no block {}", exit.id, exit.block));
  const BlockShape& block = blocks_[exit.block];
  if (exit.instructions > block.instructions || exit.accesses >= block.access_slots.size() ||
      exit.results >= block.result_slots.size())
    return malformed(fmt::format("exit {}: more of something than block {} has", exit.id, exit.block));
  const std::uint32_t ftop_slots = exit.instructions == 0 ? 0 : block.ftop_slots;
  const std::uint32_t needed = std::max({block.access_slots[exit.accesses], block.result_slots[exit.results],
                                         slots_needed(block, exit.stack_pointer), ftop_slots});
  if (needed > exit.slots)
    return malformed(fmt::format("exit {}: {} slots, but slot {} is used", exit.id, exit.slots, needed - 1));

  std::vector<std::uint16_t> control;
  collect_slots(block, exit.stack_pointer, control);
  std::sort(control.begin(), control.end());
  control.erase(std::unique(control.begin(), control.end()), control.end());
  ExitShape shape;
  shape.block = exit.block;
  shape.slots = exit.slots;
  shape.instructions = exit.instructions;
  shape.age = block.age;
  shape.address = block.address;
  shape.direct = exit.kind == ExitKind::kNext;
  if (shape.direct && exit.target && *exit.target <= block.address) shape.back_target = *exit.target;
  shape.calls = exit.kind == ExitKind::kCall || exit.kind == ExitKind::kIndirectCall;
  shape.returns = exit.kind == ExitKind::kReturn;
  shape.control_slots = static_cast<std::uint16_t>(control.size());
  shape.first_control = static_cast<std::uint32_t>(control_slots_.size());
  control_slots_.insert(control_slots_.end(), control.begin(), control.end());
  exits_.push_back(shape);
  return {};
}

void Shapes::shrink(std::size_t blocks, std::size_t exits) {
  blocks_.resize(std::min(blocks, blocks_.size()));
  exits_.resize(std::min(exits, exits_.size()));
}

void Shapes::forget_blocks() {
  for (BlockShape& block : blocks_) block = {};
  ages_.clear();
}

}  // namespace loopfold::trace
