// Cuts blocks into parts and counts what is in them: once per trace, linear in the size of its code.
#include "structure/code_map.h"

#include <algorithm>

#include "trace/decode.h"

namespace loopfold::structure {

namespace {

bool computes_in_floating_point(const trace::InstructionFacts& facts) {
  constexpr std::uint32_t kFloating = trace::kFloatScalar | trace::kFloatVector | trace::kX87;
  return (facts.kinds & kFloating) != 0 && (facts.kinds & trace::kArithmetic) != 0;
}

bool moves_registers(const trace::InstructionFacts& facts) {
  constexpr std::uint32_t kElsewhere = trace::kLoad | trace::kStore | trace::kCall | trace::kReturn | trace::kSyscall |
                                       trace::kBranch | trace::kConditional | trace::kUnknown;
  if ((facts.kinds & kElsewhere) != 0) return false;
  return facts.transfer != trace::Transfer::kCompute || (facts.kinds & trace::kNop) != 0;
}

/// Per instruction of a block.
struct Traits {
  bool memory = false;
  bool floating = false;
  bool move = false;
  bool jump = false;  // direct, and always taken
};

std::vector<Traits> traits_of(const trace::Block& block) {
  std::vector<Traits> traits(block.lengths.size());
  const std::vector<trace::InstructionFacts> facts = trace::decode(block);
  for (std::size_t i = 0; i < traits.size() && i < facts.size(); ++i) {
    traits[i].floating = computes_in_floating_point(facts[i]);
    traits[i].move = moves_registers(facts[i]);
    constexpr std::uint32_t kOther = trace::kConditional | trace::kIndirect | trace::kCall | trace::kReturn;
    traits[i].jump = (facts[i].kinds & trace::kBranch) != 0 && (facts[i].kinds & kOther) == 0;
  }
  for (const trace::Access& access : block.accesses)
    if (access.instruction < facts.size() && trace::accesses_memory(facts[access.instruction]))
      traits[access.instruction].memory = true;
  return traits;
}

/// Finds the form slot + constant, if the stack pointer has it.
void set_stack_pointer(const trace::Block& block, const trace::Value& value, ExitCode& code) {
  code.has_stack_pointer = value.kind != trace::Value::Kind::kNone;
  std::uint64_t slot = value.data;
  if (value.kind == trace::Value::Kind::kExpression) {
    const trace::Expression& expression = block.expressions[value.data];
    if (expression.terms.size() != 1 || expression.extend != trace::Expression::Extend::kNone) return;
    const trace::Expression::Term& term = expression.terms[0];
    if (term.operand.kind != trace::Value::Kind::kSlot || term.coefficient != 1) return;
    slot = term.operand.data;
    code.stack_pointer_offset = expression.constant;
  } else if (value.kind != trace::Value::Kind::kSlot) {
    return;
  }
  code.plain_stack_pointer = true;
  code.stack_pointer_slot = static_cast<std::uint16_t>(slot);
}

}  // namespace

CodeMap::CodeMap(const trace::Reader& reader, const FunctionFacts& facts)
    : CodeMap(reader.blocks(), reader.exits(), facts) {}

CodeMap::CodeMap(std::span<const trace::Block> blocks, std::span<const trace::Exit> exits, const FunctionFacts& facts)
    : blocks_(blocks), trace_exits_(exits) {
  find_places();
  cut_blocks();
  find_starts(facts);
}

PlaceId CodeMap::place_at(std::uint64_t address) const {
  const auto end = address_.end() - 1;
  const auto found = std::lower_bound(address_.begin(), end, address);
  return found != end && *found == address ? static_cast<PlaceId>(found - address_.begin()) : kNoPlace;
}

void CodeMap::find_places() {
  for (const trace::Block& block : blocks_) address_.push_back(block.address);
  std::sort(address_.begin(), address_.end());
  address_.erase(std::unique(address_.begin(), address_.end()), address_.end());
  address_.push_back(0);
}

void CodeMap::cut_blocks() {
  std::vector<std::vector<trace::ExitId>> exits_of(blocks_.size());
  exits_.resize(trace_exits_.size());
  last_instruction_.assign(address_.size(), 0);
  only_moves_.assign(address_.size(), true);
  only_moves_and_jumps_.assign(address_.size(), true);
  for (const trace::Exit& exit : trace_exits_) exits_of[exit.block].push_back(exit.id);
  for (const trace::Block& block : blocks_) {
    const std::vector<Traits> traits = traits_of(block);
    for (const trace::ExitId id : exits_of[block.id]) {
      const trace::Exit& exit = trace_exits_[id];
      ExitCode& code = exits_[id];
      code.first_part = static_cast<std::uint32_t>(parts_.size());
      code.kind = exit.kind;
      code.slots = exit.slots;
      code.target = exit.target.value_or(0);
      set_stack_pointer(block, exit.stack_pointer, code);
      std::uint64_t address = block.address;
      std::uint64_t last = address;
      const std::size_t count = std::min<std::size_t>(exit.instructions, block.lengths.size());
      for (std::size_t i = 0; i < count; ++i) {
        const PlaceId place =
            i == 0 || std::binary_search(address_.begin(), address_.end() - 1, address) ? place_at(address) : kNoPlace;
        if (place != kNoPlace) {
          parts_.push_back({place, static_cast<std::uint16_t>(i), 0, 0, 0});
          ++code.parts;
        }
        Part& part = parts_.back();
        ++part.instructions;
        part.memory += traits[i].memory;
        part.floating += traits[i].floating;
        if (!traits[i].move) only_moves_[part.place] = false;
        if (!traits[i].move && !traits[i].jump) only_moves_and_jumps_[part.place] = false;
        last = address;
        last_instruction_[part.place] = std::max(last_instruction_[part.place], address);
        address += block.lengths[i];
      }
      code.behind = count == 0 ? last : address;
    }
  }
}

void CodeMap::find_starts(const FunctionFacts& facts) {
  start_.assign(address_.size(), 0);
  function_.assign(address_.size(), 0);
  for (PlaceId place = 0; place + 1 < address_.size(); ++place) {
    if (facts.is_start) start_[place] = facts.is_start(address_[place]);
    if (facts.function_of) function_[place] = facts.function_of(address_[place]);
  }
  for (ExitCode& exit : exits_) {
    if (exit.kind == trace::ExitKind::kNext && exit.target != 0) exit.next = place_at(exit.target);
    if (exit.kind != trace::ExitKind::kCall || exit.target == exit.behind) continue;
    if (const PlaceId place = place_at(exit.target); place != kNoPlace) start_[place] = 1;
  }
}

}  // namespace loopfold::structure
