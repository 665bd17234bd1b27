// The description's own bytes, without the ids that Valgrind's translation order decides, hashed to 128 bits, are the
// canonical key: two translations are the same block if nothing about them differs. Trace ids are given at the first
// recorded execution, so that the code before main costs nothing.
#include "recorder/host/block_table.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "trace/reader.h"

namespace loopfold::recorder {

namespace {

using trace::Value;

/// Reads PODs and byte arrays, each padded to whole words.
class WordReader {
 public:
  explicit WordReader(std::span<const std::uint64_t> words) : words_(words) {}

  template <typename T>
  bool read(T* to, std::size_t count) {
    const std::size_t bytes = sizeof(T) * count;
    const std::size_t needed = (bytes + 7) / 8;
    if (needed > words_.size()) return false;
    if (bytes > 0) std::memcpy(to, words_.data(), bytes);
    words_ = words_.subspan(needed);
    return true;
  }

 private:
  std::span<const std::uint64_t> words_;
};

Value slot_value(std::uint16_t slot) { return slot == wire::kNoSlot ? Value{} : Value::slot(slot); }

Value to_value(std::uint32_t value, const std::vector<std::uint64_t>& constants) {
  const std::uint32_t index = wire::value_index(value);
  switch (wire::value_kind(value)) {
    case wire::kValueSlot:
      return Value::slot(index);
    case wire::kValueExpression:
      return Value::expression(index);
    case wire::kValueConstant:
      return index < constants.size() ? Value::constant(constants[index]) : Value{};
    case wire::kValueNone:
      break;
  }
  return {};
}

trace::Exit to_exit(const wire::DescribedExit& from) {
  trace::Exit exit;
  exit.kind = static_cast<trace::ExitKind>(from.kind);
  exit.instructions = from.instructions;
  exit.accesses = from.accesses;
  exit.results = from.results;
  exit.slots = from.slots;
  if (from.has_target != 0) exit.target = from.target;
  exit.stack_pointer = to_value(from.sp, {});
  return exit;
}

trace::Expression to_expression(const wire::DescribedExpression& from) {
  trace::Expression expression;
  expression.constant = from.constant;
  expression.extend = static_cast<trace::Expression::Extend>(from.extend);
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(from.terms, wire::kMaxTerms); i++) {
    expression.terms.push_back({to_value(from.term[i].operand, {}), from.term[i].coefficient});
  }
  return expression;
}

trace::Access to_access(const wire::DescribedAccess& from, const std::vector<std::uint64_t>& constants) {
  trace::Access access;
  access.instruction = from.instruction;
  access.kind = from.store != 0 ? trace::Access::Kind::kStore : trace::Access::Kind::kLoad;
  access.guarded = from.guarded != 0;
  access.atomic = from.atomic != 0;
  access.size = from.size;
  access.address = to_value(from.address, constants);
  return access;
}

trace::IntegerResult to_result(const wire::DescribedResult& from, const std::vector<std::uint64_t>& constants) {
  trace::IntegerResult result;
  result.instruction = from.instruction;
  result.reg = from.reg;
  result.byte = from.byte_width >> 4;
  result.width = from.byte_width & 15;
  result.value = to_value(from.value, constants);
  return result;
}

/// Slots that a value of the block needs: it is computed from the first so many.
std::uint64_t slots_needed(const trace::Block& block, const Value& value) {
  if (value.kind == Value::Kind::kSlot) return value.data + 1;
  if (value.kind != Value::Kind::kExpression) return 0;
  std::uint64_t needed = 0;
  for (const trace::Expression::Term& term : block.expressions[value.data].terms) {
    needed = std::max(needed, slots_needed(block, term.operand));
  }
  return needed;
}

/// Sets how rsp follows from a slot: the recorder describes it as a slot, or a slot and a constant.
void set_stack_pointer(WireExit& exit, const trace::Block& block, const Value& value) {
  if (value.kind == Value::Kind::kSlot) {
    exit.sp_slot = static_cast<std::uint16_t>(value.data);
  } else if (value.kind == Value::Kind::kExpression) {
    const trace::Expression& sum = block.expressions[value.data];
    exit.sp_slot = static_cast<std::uint16_t>(sum.terms[0].operand.data);
    exit.sp_offset = sum.constant;
  }
}

/// A 128-bit hash of everything in the description but its exit ids.
std::pair<std::uint64_t, std::uint64_t> key_of(std::span<const std::uint64_t> words, wire::Description description) {
  description.base_exit = 0;
  const std::size_t head = sizeof description / 8;
  const XXH128_hash_t rest = XXH3_128bits(words.data() + head, 8 * (words.size() - head));
  const XXH128_hash_t all = XXH3_128bits_withSeed(&description, sizeof description, rest.low64);
  return {all.low64, all.high64 ^ rest.high64};
}

}  // namespace

bool BlockTable::describe(std::span<const std::uint64_t> words, bool main_program) {
  WordReader reader(words);
  wire::Description description{};
  if (!reader.read(&description, 1) || description.base_exit < wire::kFirstExit) return false;
  const auto [known, added] = canonical_.try_emplace(key_of(words, description), blocks_.size());
  if (added) {
    std::vector<wire::DescribedExit> exits(description.exits);
    std::vector<wire::DescribedAccess> accesses(description.accesses);
    std::vector<wire::DescribedResult> results(description.results);
    std::vector<std::uint64_t> constants(std::min<std::size_t>(description.constants, words.size()));
    std::vector<wire::DescribedExpression> expressions(std::min<std::size_t>(description.expressions, words.size()));
    std::vector<wire::DescribedCheck> checks(std::min<std::size_t>(description.checks, words.size()));
    Entry entry;
    entry.block.address = description.address;
    entry.block.lengths.resize(description.instructions);
    entry.block.bytes.resize(std::min<std::uint32_t>(description.bytes, wire::kSegmentBytes));
    entry.trap_bytes.resize(std::min<std::uint32_t>(description.trap_bytes, 64));
    const bool whole = reader.read(exits.data(), exits.size()) && reader.read(accesses.data(), accesses.size()) &&
                       reader.read(results.data(), results.size()) && reader.read(constants.data(), constants.size()) &&
                       reader.read(expressions.data(), expressions.size()) &&
                       reader.read(checks.data(), checks.size()) &&
                       reader.read(entry.block.lengths.data(), entry.block.lengths.size()) &&
                       reader.read(entry.block.bytes.data(), entry.block.bytes.size()) &&
                       reader.read(entry.trap_bytes.data(), entry.trap_bytes.size());
    if (!whole || exits.empty()) {
      canonical_.erase(known);
      return false;
    }
    std::transform(exits.begin(), exits.end(), std::back_inserter(entry.exits), to_exit);
    for (const auto& access : accesses) entry.block.accesses.push_back(to_access(access, constants));
    for (const auto& result : results) entry.block.results.push_back(to_result(result, constants));
    std::transform(expressions.begin(), expressions.end(), std::back_inserter(entry.block.expressions), to_expression);
    for (const auto& check : checks) entry.checks.emplace_back(check.slot, to_value(check.derived, constants));
    entry.block.ftop = slot_value(description.ftop_slot);
    blocks_.push_back(std::move(entry));
  }
  const Entry& entry = blocks_[known->second];
  const std::size_t end = std::size_t{description.base_exit} + entry.exits.size();
  if (exits_.size() < end) exits_.resize(std::max(end, exits_.size() * 2));
  plain_exits_.resize(exits_.size());
  for (std::size_t i = 0; i < entry.exits.size(); i++) {
    const trace::Exit& from = entry.exits[i];
    WireExit& to = exits_[description.base_exit + i];
    to = WireExit{};
    to.trace_exit = entry.written ? from.id : WireExit::kUnassigned;
    to.block = known->second;
    to.slots = from.slots;
    to.instructions = from.instructions;
    set_stack_pointer(to, entry.block, from.stack_pointer);
    to.kind = from.kind;
    to.main_program = main_program;
    to.block_end = entry.block.address + entry.block.bytes.size();
    to.known = true;
    list_plain(static_cast<std::uint32_t>(description.base_exit + i));
  }
  // Which of the block's exits an id is follows from its distance to the base; remember the base.
  if (first_exit_of_.size() < exits_.size()) first_exit_of_.resize(exits_.size());
  for (std::size_t id = description.base_exit; id < end; id++) first_exit_of_[id] = description.base_exit;
  return true;
}

BlockTable::Entry& BlockTable::write(std::uint32_t block) {
  Entry& entry = blocks_[block];
  if (entry.written) return entry;
  entry.written = true;
  entry.block.id = next_block_++;
  writer_.add_block(entry.block);
  for (trace::Exit& exit : entry.exits) {
    exit.id = next_exit_++;
    exit.block = entry.block.id;
    writer_.add_exit(exit);
  }
  return entry;
}

void BlockTable::assign(std::uint32_t id) {
  const Entry& entry = write(exits_[id].block);
  exits_[id].trace_exit = entry.exits[id - first_exit_of_[id]].id;
  list_plain(id);
}

/// Keeps plain_exits() in step with the exit.
void BlockTable::list_plain(std::uint32_t id) {
  const WireExit& exit = exits_[id];
  trace::WordExit& plain = plain_exits_[id];
  plain = {};
  if (!exit.plain()) return;
  plain.exit = exit.trace_exit & trace::WordExit::kMostExits;
  plain.noted = exit.sp_slot != wire::kNoSlot ? 1 : 0;
  plain.slots = exit.slots;
  plain.instructions = exit.instructions;
}

std::optional<BlockTable::Interrupted> BlockTable::interrupt(std::uint32_t base_exit, std::uint64_t address) {
  if (!exit(base_exit).known) return std::nullopt;
  const std::uint32_t index = exits_[base_exit].block;
  const trace::Block& block = blocks_[index].block;
  std::uint64_t at = block.address;
  std::uint16_t done = 0;
  while (done < block.lengths.size() && at + block.lengths[done] <= address) at += block.lengths[done++];
  if (done == 0 || done == block.lengths.size()) return std::nullopt;

  Entry& entry = write(index);
  trace::Exit partial;
  partial.block = entry.block.id;
  partial.kind = trace::ExitKind::kInterrupted;
  partial.instructions = done;
  std::uint64_t slots = entry.block.ftop.kind == Value::Kind::kSlot ? entry.block.ftop.data + 1 : 0;
  for (const trace::Access& access : entry.block.accesses) {
    if (access.instruction >= done) break;
    partial.accesses++;
    slots = std::max(slots, slots_needed(entry.block, access.address));
  }
  for (const trace::IntegerResult& result : entry.block.results) {
    if (result.instruction >= done) break;
    partial.results++;
    slots = std::max(slots, slots_needed(entry.block, result.value));
  }
  partial.slots = static_cast<std::uint16_t>(slots);
  const auto [known, added] = entry.interrupted.try_emplace(done, next_exit_);
  if (added) {
    partial.id = next_exit_++;
    writer_.add_exit(partial);
  }
  return Interrupted{known->second, partial.slots, done};
}

std::uint64_t BlockTable::differing(std::uint32_t id, std::span<const std::uint64_t> slots) const {
  const Entry& entry = blocks_[exits_[id].block];
  std::uint64_t count = 0;
  for (const auto& [slot, derived] : entry.checks) {
    if (slot < slots.size() && trace::evaluate(entry.block, derived, slots) != slots[slot]) count++;
  }
  return count;
}

std::uint64_t BlockTable::address_of(std::uint32_t id) const { return blocks_[exits_[id].block].block.address; }

std::uint64_t BlockTable::end_of(std::uint32_t id) const {
  const trace::Block& block = blocks_[exits_[id].block].block;
  return block.address + block.bytes.size();
}

const std::vector<std::uint8_t>& BlockTable::trap_bytes(std::uint32_t id) const {
  return blocks_[exits_[id].block].trap_bytes;
}

}  // namespace loopfold::recorder
