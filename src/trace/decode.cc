// Decodes the instructions of a block into facts.
//
// From what: the block's bytes and the lengths that Valgrind found. Each instruction is decoded by itself with Zydis;
// if Zydis disagrees about its length, or does not know it, it is kUnknown, and so is everything that Valgrind 3.19
// cannot run (EVEX). Then, per instruction: its class and meaning by name (decode_tables.cc, decode_operations.cc), its
// registers and flags by operand (decode_operands.cc), and what follows from both here: kinds, elements and lanes,
// which operand a reduction may run through. A last walk over the block connects readers of flags to their writers.
//
// Why not from the IR: a tool sees it optimised, with operands folded into constants and whole instructions gone. The
// bytes say what the program says.
//
// A marker (19 bytes: Valgrind's preamble of four rotations of rdi and an exchange of a register with itself) is one
// instruction. The preamble itself does nothing; a client request reads its arguments through rax and writes rdx.
//
// Cost: a microsecond or two per instruction, once per static instruction. Exactness: see decode.h and the essay in
// decode_operands.cc; everything unlisted errs towards more reads and towards kCompute.
#include "trace/decode.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "trace/decode_operands.h"
#include "trace/decode_tables.h"
#include "trace/decode_zero.h"

namespace loopfold::trace {
namespace {

// rol rdi,3; rol rdi,13; rol rdi,61; rol rdi,51; then xchg of a register with itself, whose last byte tells which
// request.
constexpr std::array<std::uint8_t, 18> kPreamble = {0x48, 0xC1, 0xC7, 0x03, 0x48, 0xC1, 0xC7, 0x0D, 0x48,
                                                    0xC1, 0xC7, 0x3D, 0x48, 0xC1, 0xC7, 0x33, 0x48, 0x87};
constexpr std::uint8_t kClientRequest = 0xDB;  // xchg rbx,rbx
constexpr std::uint8_t kGetContext = 0xC9;     // xchg rcx,rcx: rax = address of the function being replaced
constexpr std::uint8_t kCallUnwrapped = 0xD2;  // xchg rdx,rdx: call *rax
constexpr std::uint8_t kInjectCode = 0xFF;     // xchg rdi,rdi

using Bytes = std::span<const std::uint8_t>;

bool is_marker(Bytes bytes) {
  if (bytes.size() != kPreamble.size() + 1 || !std::equal(kPreamble.begin(), kPreamble.end(), bytes.begin()))
    return false;
  const std::uint8_t last = bytes.back();
  return last == kClientRequest || last == kGetContext || last == kCallUnwrapped || last == kInjectCode;
}

InstructionFacts marker_facts(std::uint8_t last) {
  InstructionFacts facts;
  facts.kinds = kMarker;
  const RegisterUse rax = {.index = 0, .width = 8};
  const RegisterUse rdx = {.index = 2, .width = 8};
  if (last == kClientRequest || last == kCallUnwrapped) facts.reads = {rax};
  if (last == kClientRequest) facts.writes = {rdx};
  if (last == kGetContext) facts.writes = {rax};
  return facts;
}

/// The bytes of instruction `index`, empty if the block is malformed there.
Bytes bytes_of(const Block& block, std::size_t index) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < index; ++i) begin += block.lengths[i];
  const std::size_t length = block.lengths[index];
  if (begin > block.bytes.size() || length > block.bytes.size() - begin) return {};
  return Bytes(block.bytes).subspan(begin, length);
}

bool decode_one(const ZydisDecoder& decoder, Bytes bytes, Decoded& decoded) {
  if (bytes.empty()) return false;
  const ZyanStatus status =
      ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(), &decoded.instruction, decoded.operands);
  return ZYAN_SUCCESS(status) && decoded.instruction.length == bytes.size();
}

bool runs_under_valgrind(const Decoded& decoded) {
  switch (decoded.instruction.encoding) {
    case ZYDIS_INSTRUCTION_ENCODING_EVEX:
    case ZYDIS_INSTRUCTION_ENCODING_MVEX:
    case ZYDIS_INSTRUCTION_ENCODING_XOP:
    case ZYDIS_INSTRUCTION_ENCODING_3DNOW:
      return false;
    default:
      break;
  }
  switch (decoded.instruction.meta.category) {
    case ZYDIS_CATEGORY_KMASK:
    case ZYDIS_CATEGORY_AMX_TILE:
      return false;
    default:
      return true;
  }
}

std::uint32_t memory_kinds(const Decoded& decoded) {
  std::uint32_t kinds = 0;
  for (int i = 0; i < decoded.instruction.operand_count; ++i) {
    const ZydisDecodedOperand& operand = decoded.operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    if (operand.mem.type != ZYDIS_MEMOP_TYPE_MEM && operand.mem.type != ZYDIS_MEMOP_TYPE_VSIB) continue;
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) kinds |= kLoad;
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) kinds |= kStore;
  }
  return kinds;
}

std::uint32_t control_kinds(const Decoded& decoded) {
  const bool direct = decoded.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  switch (decoded.instruction.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      return kBranch | kConditional;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return direct ? kBranch : kBranch | kIndirect;
    case ZYDIS_CATEGORY_CALL:
      return direct ? kCall : kCall | kIndirect;
    case ZYDIS_CATEGORY_RET:
      return kReturn;
    case ZYDIS_CATEGORY_SYSCALL:
      return kSyscall;
    case ZYDIS_CATEGORY_INTERRUPT:
      return decoded.mnemonic() == ZYDIS_MNEMONIC_INT && decoded.immediate() == 0x80 ? kSyscall : 0u;
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_FCMOV:
    case ZYDIS_CATEGORY_SETCC:
      return kConditional;
    default:
      return 0;
  }
}

std::uint32_t prefix_kinds(const Decoded& decoded) {
  constexpr ZydisInstructionAttributes kAnyRepeat =
      ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
  const ZydisInstructionAttributes attributes = decoded.instruction.attributes;
  std::uint32_t kinds = 0;
  if ((attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0) kinds |= kAtomic;
  if (decoded.mnemonic() == ZYDIS_MNEMONIC_XCHG && decoded.is_memory(0)) kinds |= kAtomic;
  if (decoded.instruction.meta.category == ZYDIS_CATEGORY_STRINGOP && (attributes & kAnyRepeat) != 0) kinds |= kRepeat;
  return kinds;
}

std::uint32_t kinds_of(const Decoded& decoded, Transfer transfer) {
  const std::uint32_t type = class_of(decoded);
  if (type == kNop) return kNop;
  const std::uint32_t control = control_kinds(decoded);
  std::uint32_t kinds = type | control | memory_kinds(decoded) | prefix_kinds(decoded);
  if (addend_of(decoded.mnemonic()) >= 0) kinds |= kFused;
  if (type != 0 && transfer == Transfer::kCompute && !is_housekeeping(decoded)) kinds |= kArithmetic;
  return kinds;
}

/// Width in bytes of the vector register that an instruction works on: its first one.
unsigned vector_width(const Decoded& decoded, const ZydisDecodedOperand*& operand) {
  for (int i = 0; i < decoded.instruction.operand_count; ++i) {
    if (!decoded.is_register(i)) continue;
    operand = &decoded.operands[i];
    switch (ZydisRegisterGetClass(operand->reg.value)) {
      case ZYDIS_REGCLASS_MMX:
        return 8;
      case ZYDIS_REGCLASS_XMM:
        return 16;
      case ZYDIS_REGCLASS_YMM:
        return 32;
      default:
        break;
    }
  }
  operand = nullptr;
  return 0;
}

/// element_bytes and lanes, from the operation if it has a size of its own, else from the operands.
void set_elements(const Decoded& decoded, const Operation& operation, InstructionFacts& facts) {
  const bool packed = (facts.kinds & (kFloatVector | kIntegerVector)) != 0;
  const bool scalar = (facts.kinds & kFloatScalar) != 0;
  const ZydisDecodedOperand* operand = nullptr;
  const unsigned width = packed || scalar ? vector_width(decoded, operand) : 0;
  unsigned element = operation.element_bytes;
  if (element == 0 && operand != nullptr) element = operand->element_size / 8u;
  if (element == 0 && operation.associative != Associative::kNone) element = decoded.operands[0].size / 8u;
  facts.element_bytes = static_cast<std::uint8_t>(element);
  if (packed && element != 0 && width > element) facts.lanes = static_cast<std::uint8_t>(width / element);
}

bool is_bit_operation(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_BTS || mnemonic == ZYDIS_MNEMONIC_BTR || mnemonic == ZYDIS_MNEMONIC_BTC;
}

/// Which read a reduction may run through: the minuend, or the addend of a fused operation.
std::int8_t accumulator_of(const Decoded& decoded, const InstructionFacts& facts) {
  if (decoded.mnemonic() == ZYDIS_MNEMONIC_LEA) return facts.scale > 1 ? std::int8_t{0} : kAnyOperand;
  int operand = is_bit_operation(decoded.mnemonic()) ? 0 : addend_of(decoded.mnemonic());
  if (operand < 0) {
    if (facts.associative != Associative::kSubtract) return kAnyOperand;
    const bool implicit_top = (facts.kinds & kX87) != 0 && decoded.is_memory(0);
    operand = implicit_top || decoded.is_vex() ? 1 : 0;
  }
  if (decoded.is_memory(operand)) return kMemoryOperand;
  // Data reads stand in the order of the operands.
  int position = 0;
  for (int i = 0; i < operand; ++i) {
    if (decoded.is_register(i) && (decoded.operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) ++position;
  }
  for (std::size_t i = 0; i < facts.reads.size(); ++i) {
    if (facts.reads[i].address || facts.reads[i].merge) continue;
    if (position-- == 0) return static_cast<std::int8_t>(i);
  }
  return kAnyOperand;
}

/// The condition of jcc, cmovcc and setcc: the last four bits of the opcode.
std::uint8_t condition_of(const Decoded& decoded) {
  const ZyanU8 opcode = decoded.instruction.opcode;
  const bool second = decoded.instruction.opcode_map == ZYDIS_OPCODE_MAP_0F;
  switch (decoded.instruction.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      return (opcode & 0xF0) == (second ? 0x80 : 0x70) ? opcode & 15 : kNoCondition;
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_SETCC:
      return second ? opcode & 15 : kNoCondition;
    default:
      return kNoCondition;
  }
}

/// The left operand of a comparison. Where that is a register, it is the first read that is no address: the registers
/// of the address, if there is one, stand behind it.
std::int8_t compared_of(const Decoded& decoded) {
  switch (decoded.mnemonic()) {
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_COMISS:
    case ZYDIS_MNEMONIC_COMISD:
    case ZYDIS_MNEMONIC_UCOMISS:
    case ZYDIS_MNEMONIC_UCOMISD:
    case ZYDIS_MNEMONIC_VCOMISS:
    case ZYDIS_MNEMONIC_VCOMISD:
    case ZYDIS_MNEMONIC_VUCOMISS:
    case ZYDIS_MNEMONIC_VUCOMISD:
      return decoded.is_memory(0) ? kMemoryOperand : std::int8_t{0};
    default:
      return kNoOperand;
  }
}

std::uint32_t mix(std::uint32_t hash, std::uint64_t value) {
  for (int byte = 0; byte < 8; ++byte) hash = (hash ^ static_cast<std::uint8_t>(value >> 8 * byte)) * 16777619u;
  return hash;
}

/// The accumulator is made wider as movsx and movsxd do it; which is why both are of one form.
std::optional<std::uint32_t> form_of_widening(const Decoded& decoded) {
  const auto form = [](ZydisMnemonic mnemonic, unsigned to, unsigned from) {
    std::uint32_t hash = mix(2166136261u, mnemonic);
    for (const unsigned size : {to, from}) hash = mix(mix(hash, ZYDIS_OPERAND_TYPE_REGISTER), size);
    return hash;
  };
  if (decoded.mnemonic() == ZYDIS_MNEMONIC_CDQE) return form(ZYDIS_MNEMONIC_MOVSXD, 64, 32);
  if (decoded.mnemonic() == ZYDIS_MNEMONIC_CWDE) return form(ZYDIS_MNEMONIC_MOVSX, 32, 16);
  return std::nullopt;
}

/// Everything about how the operands are written: addresses, immediates, jumps, and the two hashes.
void set_form(const Decoded& decoded, InstructionFacts& facts) {
  facts.length = decoded.instruction.length;
  facts.condition = condition_of(decoded);
  std::uint32_t form = mix(2166136261u, decoded.instruction.mnemonic);
  std::uint32_t constants = kNoConstants;
  for (int i = 0; i < decoded.instruction.operand_count_visible; ++i) {
    const ZydisDecodedOperand& operand = decoded.operands[i];
    form = mix(mix(form, operand.type), operand.size);
    if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
      if (operand.imm.is_relative) {
        facts.jump = static_cast<std::int32_t>(operand.imm.value.s);
      } else {
        constants = mix(constants, operand.imm.value.u);
      }
    }
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    facts.based = operand.mem.base != ZYDIS_REGISTER_NONE;
    facts.scale = operand.mem.index == ZYDIS_REGISTER_NONE ? std::uint8_t{0} : operand.mem.scale;
    facts.displacement = operand.mem.disp.has_displacement ? operand.mem.disp.value : 0;
    form = mix(mix(form, facts.scale), operand.mem.base == ZYDIS_REGISTER_RIP ? 2 : facts.based);
  }
  facts.form = form_of_widening(decoded).value_or(form);
  facts.constants = constants;
}

/// xor r,r and its like: as if a zero had been written down.
bool clears_by_itself(const Decoded& decoded, Transfer transfer) {
  if (transfer != Transfer::kZero) return false;
  switch (decoded.mnemonic()) {
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_PXOR:
    case ZYDIS_MNEMONIC_VPXOR:
    case ZYDIS_MNEMONIC_XORPS:
    case ZYDIS_MNEMONIC_VXORPS:
    case ZYDIS_MNEMONIC_XORPD:
    case ZYDIS_MNEMONIC_VXORPD:
      return true;
    default:
      return false;
  }
}

InstructionFacts facts_of(const Decoded& decoded) {
  InstructionFacts facts;
  facts.transfer = transfer_of(decoded);
  facts.kinds = kinds_of(decoded, facts.transfer);
  Operation operation;
  if (!ignores_sources(decoded)) operation = operation_of(decoded);
  facts.associative = operation.associative;
  facts.floating = operation.floating;
  set_elements(decoded, operation, facts);
  set_form(decoded, facts);
  if (clears_by_itself(decoded, facts.transfer)) facts.constants = mix(kNoConstants, 0);
  add_operands(decoded, facts);
  facts.compared = compared_of(decoded);
  if (facts.associative != Associative::kNone) facts.accumulator = accumulator_of(decoded, facts);
  return facts;
}

InstructionFacts unknown_facts() {
  InstructionFacts facts;
  facts.kinds = kUnknown;
  return facts;
}

/// Connects each reader of status flags to the last instruction before it that wrote one of them.
void connect_conditions(std::vector<InstructionFacts>& all) {
  for (std::size_t reader = 0; reader < all.size(); ++reader) {
    const unsigned wanted = all[reader].flags_read & ~static_cast<unsigned>(kDirection);
    if (wanted == 0) continue;
    for (std::size_t writer = reader; writer-- > 0;) {
      if ((all[writer].flags_written & wanted) == 0 && (all[writer].kinds & kUnknown) == 0) continue;
      all[reader].condition_from = static_cast<std::int16_t>(writer);
      break;
    }
  }
}

ZydisDecoder make_decoder() {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  return decoder;
}

}  // namespace

std::vector<InstructionFacts> decode(const Block& block) {
  const ZydisDecoder decoder = make_decoder();
  std::vector<InstructionFacts> all;
  all.reserve(block.lengths.size());
  std::size_t begin = 0;
  Decoded decoded;
  for (const std::uint8_t length : block.lengths) {
    Bytes bytes;
    if (begin <= block.bytes.size() && length <= block.bytes.size() - begin)
      bytes = Bytes(block.bytes).subspan(begin, length);
    begin += length;
    if (is_marker(bytes)) {
      all.push_back(marker_facts(bytes.back()));
    } else if (decode_one(decoder, bytes, decoded) && runs_under_valgrind(decoded)) {
      all.push_back(facts_of(decoded));
    } else {
      all.push_back(unknown_facts());
    }
  }
  connect_conditions(all);
  return all;
}

std::string disassemble(const Block& block, std::size_t index) {
  if (index >= block.lengths.size()) return "(bad)";
  const Bytes bytes = bytes_of(block, index);
  if (is_marker(bytes)) return "(marker)";
  Decoded decoded;
  if (!decode_one(make_decoder(), bytes, decoded)) return "(bad)";
  ZydisFormatter formatter;
  ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
  for (const ZydisFormatterProperty padding :
       {ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE,
        ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_FORMATTER_PROP_IMM_PADDING}) {
    ZydisFormatterSetProperty(&formatter, padding, ZYDIS_PADDING_DISABLED);
  }
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
  std::array<char, 160> text{};
  const std::uint64_t address = block.address + static_cast<std::uint64_t>(bytes.data() - block.bytes.data());
  const ZyanStatus status = ZydisFormatterFormatInstruction(&formatter, &decoded.instruction, decoded.operands,
                                                            decoded.instruction.operand_count_visible, text.data(),
                                                            text.size(), address, nullptr);
  return ZYAN_SUCCESS(status) ? text.data() : "(bad)";
}

bool makes_zero(const InstructionFacts& facts) {
  return facts.transfer == Transfer::kZero && facts.constants == mix(kNoConstants, 0);
}

bool stores_zero(const InstructionFacts& facts) {
  const bool plain = (facts.kinds & kStore) != 0 && (facts.kinds & (kLoad | kArithmetic | kRepeat | kCall)) == 0;
  const bool nothing_read =
      std::all_of(facts.reads.begin(), facts.reads.end(), [](const RegisterUse& use) { return use.address; });
  return plain && nothing_read && facts.writes.empty() && facts.constants == mix(kNoConstants, 0);
}

}  // namespace loopfold::trace
