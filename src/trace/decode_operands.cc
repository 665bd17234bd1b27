// Which bytes of which registers an instruction reads and writes.
//
// Zydis lists the operands of an instruction, hidden ones included, each with a register, a size in bits and whether it
// is read and written, perhaps conditionally. Most of the answer is that list, translated: registers to (file, index,
// first byte, width), memory operands to reads of their address registers, and the widening of writes (32-bit general
// registers, VEX vectors). A conditional write of a register also reads it, since the old contents may survive.
//
// The rest are the places where the list describes the encoding and not the data flow, corrected here by name:
// string pointers, leave, xlat, bit strings, scalar VEX operations (upper part passed through), lane insertions,
// extractions and shuffles (which lanes), the x87 stack (pushes, status word), state saving, syscall.
//
// Exactness: bytes are exact for general registers and for the vector instructions named below; other vector
// shuffles read their sources whole, an over-approximation. bsf and bsr leave their destination alone when the source
// is 0; compilers treat that as undefined, so the old value is not a read. MMX registers are not aliased to x87
// registers.
#include "trace/decode_operands.h"

#include <algorithm>

namespace loopfold::trace {
namespace {

constexpr std::uint8_t kRax = 0;
constexpr std::uint8_t kRsp = 4;
constexpr std::uint8_t kRbp = 5;
constexpr std::uint8_t kVectorBytes = 32;
constexpr std::uint8_t kX87Bytes = 10;

RegisterUse general(std::uint8_t index, std::uint8_t width = 8) {
  return {.file = RegisterFile::kGeneral, .index = index, .width = width};
}

RegisterUse vector_bytes(std::uint8_t index, std::uint8_t byte, std::uint8_t width, bool merge = false) {
  return {.file = RegisterFile::kVector, .index = index, .byte = byte, .width = width, .merge = merge};
}

RegisterUse control_word(std::uint8_t index) { return {.file = RegisterFile::kX87Control, .index = index, .width = 2}; }

/// A register by its Zydis name: file, index, first byte and full width. Width 0: not one that carries data (rip,
/// flags).
RegisterUse translate(ZydisRegister reg) {
  RegisterUse use;
  const auto id = static_cast<std::uint8_t>(std::max<int>(ZydisRegisterGetId(reg), 0));
  switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_GPR8:
      if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH) {
        return {.index = static_cast<std::uint8_t>(reg - ZYDIS_REGISTER_AH), .byte = 1, .width = 1};
      }
      if (reg >= ZYDIS_REGISTER_SPL)
        return {.index = static_cast<std::uint8_t>(reg - ZYDIS_REGISTER_SPL + 4), .width = 1};
      return {.index = static_cast<std::uint8_t>(reg - ZYDIS_REGISTER_AL), .width = 1};
    case ZYDIS_REGCLASS_GPR16:
      return general(id, 2);
    case ZYDIS_REGCLASS_GPR32:
      return general(id, 4);
    case ZYDIS_REGCLASS_GPR64:
      return general(id, 8);
    case ZYDIS_REGCLASS_X87:
      return {.file = RegisterFile::kX87, .index = id, .width = kX87Bytes};
    case ZYDIS_REGCLASS_MMX:
      return {.file = RegisterFile::kMmx, .index = id, .width = 8};
    case ZYDIS_REGCLASS_XMM:
      return vector_bytes(id, 0, 16);
    case ZYDIS_REGCLASS_YMM:
      return vector_bytes(id, 0, 32);
    case ZYDIS_REGCLASS_FLAGS:
    case ZYDIS_REGCLASS_IP:
      return use;
    default:
      break;
  }
  switch (reg) {
    case ZYDIS_REGISTER_NONE:
    case ZYDIS_REGISTER_X87CONTROL:  // listed with every x87 instruction; add_x87 knows which ones mean it
    case ZYDIS_REGISTER_X87STATUS:
    case ZYDIS_REGISTER_X87TAG:
      return use;
    case ZYDIS_REGISTER_MXCSR:
      return {.file = RegisterFile::kMxcsr, .width = 4};
    default:
      return {.file = RegisterFile::kOther, .index = id, .width = 8};
  }
}

/// Collects the operands of one instruction.
class Collector {
 public:
  Collector(const Decoded& decoded, InstructionFacts& facts) : decoded_(decoded), facts_(facts) {}

  void run() {
    if ((facts_.kinds & kNop) != 0) return;
    add_listed();
    add_flags();
    add_memory_extras();
    add_stack_and_strings();
    add_vector_lanes();
    add_x87();
    add_state();
  }

 private:
  bool is_string() const { return decoded_.instruction.meta.category == ZYDIS_CATEGORY_STRINGOP; }

  /// Reads are kept apart where the number of equal operands matters (a+a is not a+b).
  void read(const RegisterUse& use) {
    const bool repeats_matter = facts_.associative != Associative::kNone && !use.address && !use.step && !use.merge;
    if (repeats_matter || !contains(facts_.reads, use)) facts_.reads.push_back(use);
  }
  void write(const RegisterUse& use) {
    if (!contains(facts_.writes, use)) facts_.writes.push_back(use);
  }
  static bool contains(const std::vector<RegisterUse>& uses, const RegisterUse& use) {
    return std::find(uses.begin(), uses.end(), use) != uses.end();
  }
  template <typename Predicate>
  static void drop(std::vector<RegisterUse>& uses, Predicate predicate) {
    uses.erase(std::remove_if(uses.begin(), uses.end(), predicate), uses.end());
  }

  void add_listed() {
    const bool skip_sources = ignores_sources(decoded_);
    for (int i = 0; i < decoded_.instruction.operand_count; ++i) {
      const ZydisDecodedOperand& operand = decoded_.operands[i];
      if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) add_register(operand, skip_sources);
      if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) add_address(operand);
    }
  }

  void add_register(const ZydisDecodedOperand& operand, bool skip_sources) {
    RegisterUse use = translate(operand.reg.value);
    if (use.width == 0) return;
    const bool hidden = operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    if (use.file == RegisterFile::kOther && hidden) return;
    if (use.file == RegisterFile::kVector) {
      use.width = static_cast<std::uint8_t>(std::min<int>(operand.size / 8, kVectorBytes));
    }
    use.step = hidden && is_step(use);
    const bool conditional_write = (operand.actions & ZYDIS_OPERAND_ACTION_CONDWRITE) != 0 && !is_string();
    const bool is_read = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0 || conditional_write;
    if (is_read && !skip_sources) {
      RegisterUse source = use;
      // A failed exchange of 4 bytes leaves the upper 4 alone.
      const bool keeps_upper = decoded_.instruction.meta.category == ZYDIS_CATEGORY_SEMAPHORE && conditional_write;
      if (keeps_upper && use.file == RegisterFile::kGeneral && use.width == 4) source.width = 8;
      read(source);
    }
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) {
      use.zero_extended = use.file == RegisterFile::kGeneral && use.width == 4;
      if (use.zero_extended) use.width = 8;
      if (use.file == RegisterFile::kVector && decoded_.is_vex()) use.width = kVectorBytes;
      write(use);
    }
  }

  /// Whether a hidden operand is a pointer or counter that the instruction advances on the side.
  bool is_step(const RegisterUse& use) const {
    if (use.file != RegisterFile::kGeneral) return false;
    switch (decoded_.instruction.meta.category) {
      case ZYDIS_CATEGORY_PUSH:
      case ZYDIS_CATEGORY_POP:
      case ZYDIS_CATEGORY_CALL:
      case ZYDIS_CATEGORY_RET:
        return use.index == kRsp;
      case ZYDIS_CATEGORY_STRINGOP:
        return use.index == 1 || use.index == 6 || use.index == 7;
      default:
        return false;
    }
  }

  /// Address registers of a memory operand; for lea they are its data, no wider than its result.
  void add_address(const ZydisDecodedOperand& operand) {
    const bool is_data = operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN;
    for (const ZydisRegister reg : {operand.mem.base, operand.mem.index}) {
      RegisterUse use = translate(reg);
      if (use.width == 0) continue;
      use.address = !is_data;
      if (is_data) use.width = static_cast<std::uint8_t>(std::min<int>(use.width, decoded_.operands[0].size / 8));
      read(use);
    }
    if (is_data) return;
    if (operand.mem.segment == ZYDIS_REGISTER_FS || operand.mem.segment == ZYDIS_REGISTER_GS) {
      read({.file = RegisterFile::kSegmentBase,
            .index = static_cast<std::uint8_t>(operand.mem.segment == ZYDIS_REGISTER_GS ? 1 : 0),
            .width = 8,
            .address = true});
    }
  }

  void add_flags() {
    const ZydisAccessedFlags* flags = decoded_.instruction.cpu_flags;
    if (flags == nullptr || (facts_.kinds & kSyscall) != 0) return;  // the kernel restores the flags
    facts_.flags_read = flag_bits(flags->tested);
    facts_.flags_written = flag_bits(flags->modified | flags->set_0 | flags->set_1 | flags->undefined);
    // A repeated comparison tests the flag it has just set.
    if (is_string()) facts_.flags_read &= kDirection;
  }

  static std::uint8_t flag_bits(ZydisAccessedFlagsMask mask) {
    std::uint8_t bits = 0;
    if ((mask & ZYDIS_CPUFLAG_CF) != 0) bits |= kCarry;
    if ((mask & ZYDIS_CPUFLAG_PF) != 0) bits |= kParity;
    if ((mask & ZYDIS_CPUFLAG_AF) != 0) bits |= kAdjust;
    if ((mask & ZYDIS_CPUFLAG_ZF) != 0) bits |= kZeroFlag;
    if ((mask & ZYDIS_CPUFLAG_SF) != 0) bits |= kSign;
    if ((mask & ZYDIS_CPUFLAG_OF) != 0) bits |= kOverflow;
    if ((mask & ZYDIS_CPUFLAG_DF) != 0) bits |= kDirection;
    return bits;
  }

  /// Registers that take part in an address without being its base or index.
  void add_memory_extras() {
    switch (decoded_.mnemonic()) {
      case ZYDIS_MNEMONIC_XLAT: {
        RegisterUse al = general(kRax, 1);
        al.address = true;
        read(al);
        break;
      }
      case ZYDIS_MNEMONIC_BT:
      case ZYDIS_MNEMONIC_BTS:
      case ZYDIS_MNEMONIC_BTR:
      case ZYDIS_MNEMONIC_BTC:
        if (decoded_.is_memory(0) && decoded_.is_register(1)) {
          RegisterUse bit = translate(decoded_.operands[1].reg.value);
          bit.address = true;
          read(bit);
        }
        break;
      default:
        break;
    }
  }

  void add_stack_and_strings() {
    if (is_string()) {
      for (int i = 0; i < decoded_.instruction.operand_count; ++i) {
        if (!decoded_.is_memory(i)) continue;
        RegisterUse pointer = translate(decoded_.operands[i].mem.base);
        pointer.step = true;
        read(pointer);
        pointer.width = 8;
        write(pointer);
      }
    }
    if (decoded_.mnemonic() == ZYDIS_MNEMONIC_LEAVE) {
      // rsp = rbp + 8, rbp = what was saved there.
      RegisterUse frame = general(kRbp);
      frame.address = true;
      RegisterUse step = general(kRbp);
      step.step = true;
      facts_.reads = {frame, step};
      RegisterUse stack = general(kRsp);
      stack.step = true;
      facts_.writes = {general(kRbp), stack};
    }
    if (decoded_.mnemonic() == ZYDIS_MNEMONIC_POP && contains(facts_.writes, general(kRsp))) {
      drop(facts_.writes, [](const RegisterUse& use) { return use.step; });
    }
  }

  // ---- Vector lanes ----------------------------------------------------------------------------------------------

  bool is_vector(int operand) const {
    return decoded_.is_register(operand) &&
           translate(decoded_.operands[operand].reg.value).file == RegisterFile::kVector;
  }
  std::uint8_t vector_index(int operand) const { return translate(decoded_.operands[operand].reg.value).index; }

  /// Replaces what is read of the vector registers by the given bytes; address registers stay.
  void replace_vector_reads(std::initializer_list<RegisterUse> uses) {
    drop(facts_.reads, [](const RegisterUse& use) { return use.file == RegisterFile::kVector && !use.address; });
    for (const RegisterUse& use : uses) read(use);
  }

  /// Reads of the lanes of `reg` that `mask` selects, neighbours joined.
  void read_lanes(std::uint8_t reg, unsigned mask, unsigned lane_bytes) {
    for (unsigned lane = 0; lane * lane_bytes < 16; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      unsigned end = lane + 1;
      while ((mask >> end & 1) != 0) ++end;
      read(vector_bytes(reg, static_cast<std::uint8_t>(lane * lane_bytes),
                        static_cast<std::uint8_t>((end - lane) * lane_bytes)));
      lane = end;
    }
  }

  void add_vector_lanes() {
    if ((facts_.kinds & (kFloatScalar | kFloatVector | kIntegerVector)) == 0) return;
    if ((facts_.kinds & kFloatScalar) != 0) add_scalar();
    add_moves();
    add_inserts_and_extracts();
    if (is_vector(0) && translate(decoded_.operands[0].reg.value).width == 16) add_shuffles();
    if (decoded_.instruction.meta.category == ZYDIS_CATEGORY_AVX2GATHER) {
      for (RegisterUse& use : facts_.reads) {
        if (!use.address && use.index == vector_index(0)) use.merge = true;
      }
    }
  }

  /// VEX scalar operations pass the upper part of one source through; some legacy ones are listed as reading a
  /// destination that they only overwrite.
  void add_scalar() {
    const std::uint8_t element = facts_.element_bytes;
    const auto upper = static_cast<std::uint8_t>(16 - element);
    switch (decoded_.mnemonic()) {
      case ZYDIS_MNEMONIC_CVTSI2SS:
      case ZYDIS_MNEMONIC_CVTSI2SD:
        drop(facts_.reads, [](const RegisterUse& use) { return use.file == RegisterFile::kVector; });
        return;
      default:
        break;
    }
    if (!decoded_.is_vex()) return;
    if (!is_vector(0) || !is_vector(1) || decoded_.instruction.operand_count_visible < 3) {
      // Comparisons, stores and conversions to integers, whose source may be listed whole.
      for (RegisterUse& use : facts_.reads) {
        if (use.file == RegisterFile::kVector) use.width = std::min(use.width, element);
      }
      return;
    }
    const bool fused = decoded_.instruction.meta.category == ZYDIS_CATEGORY_VFMA;
    const std::uint8_t kept = vector_index(fused ? 0 : 1);
    std::vector<RegisterUse> reads;
    for (RegisterUse use : facts_.reads) {
      const bool whole = use.file == RegisterFile::kVector && !use.address && use.width == 16;
      if (!whole) {
        reads.push_back(use);
        continue;
      }
      if (fused || computes_with_first_source()) {
        use.width = element;
        reads.push_back(use);
      }
    }
    reads.push_back(vector_bytes(kept, element, upper, true));
    facts_.reads = std::move(reads);
  }

  bool computes_with_first_source() const {
    switch (decoded_.mnemonic()) {
      case ZYDIS_MNEMONIC_VSQRTSS:
      case ZYDIS_MNEMONIC_VSQRTSD:
      case ZYDIS_MNEMONIC_VRSQRTSS:
      case ZYDIS_MNEMONIC_VRCPSS:
      case ZYDIS_MNEMONIC_VROUNDSS:
      case ZYDIS_MNEMONIC_VROUNDSD:
      case ZYDIS_MNEMONIC_VCVTSI2SS:
      case ZYDIS_MNEMONIC_VCVTSI2SD:
      case ZYDIS_MNEMONIC_VCVTSS2SD:
      case ZYDIS_MNEMONIC_VCVTSD2SS:
      case ZYDIS_MNEMONIC_VMOVSS:
      case ZYDIS_MNEMONIC_VMOVSD:
        return false;
      default:
        return true;
    }
  }

  /// Moves of 8-byte halves.
  void add_moves() {
    switch (decoded_.mnemonic()) {
      case ZYDIS_MNEMONIC_MOVHPS:
      case ZYDIS_MNEMONIC_MOVHPD:
        if (is_vector(0)) facts_.writes = {vector_bytes(vector_index(0), 8, 8)};
        if (is_vector(1)) replace_vector_reads({vector_bytes(vector_index(1), 8, 8)});
        break;
      case ZYDIS_MNEMONIC_MOVLHPS:
        facts_.writes = {vector_bytes(vector_index(0), 8, 8)};
        break;
      case ZYDIS_MNEMONIC_MOVHLPS:
        replace_vector_reads({vector_bytes(vector_index(1), 8, 8)});
        break;
      case ZYDIS_MNEMONIC_VMOVHPS:
      case ZYDIS_MNEMONIC_VMOVHPD:
        if (is_vector(0)) replace_vector_reads({vector_bytes(vector_index(1), 0, 8, true)});
        if (decoded_.is_memory(0)) replace_vector_reads({vector_bytes(vector_index(1), 8, 8)});
        break;
      case ZYDIS_MNEMONIC_VMOVLPS:
      case ZYDIS_MNEMONIC_VMOVLPD:
        if (is_vector(0)) replace_vector_reads({vector_bytes(vector_index(1), 8, 8, true)});
        break;
      case ZYDIS_MNEMONIC_VMOVHLPS:
        replace_vector_reads({vector_bytes(vector_index(2), 8, 8), vector_bytes(vector_index(1), 8, 8, true)});
        break;
      case ZYDIS_MNEMONIC_VMOVLHPS:
        replace_vector_reads({vector_bytes(vector_index(2), 0, 8), vector_bytes(vector_index(1), 0, 8, true)});
        break;
      default:
        break;
    }
  }

  /// The lane size of pinsr and pextr, else 0.
  static std::uint8_t lane_bytes_of(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
      case ZYDIS_MNEMONIC_PINSRB:
      case ZYDIS_MNEMONIC_VPINSRB:
      case ZYDIS_MNEMONIC_PEXTRB:
      case ZYDIS_MNEMONIC_VPEXTRB:
        return 1;
      case ZYDIS_MNEMONIC_PINSRW:
      case ZYDIS_MNEMONIC_VPINSRW:
      case ZYDIS_MNEMONIC_PEXTRW:
      case ZYDIS_MNEMONIC_VPEXTRW:
        return 2;
      case ZYDIS_MNEMONIC_PINSRD:
      case ZYDIS_MNEMONIC_VPINSRD:
      case ZYDIS_MNEMONIC_PEXTRD:
      case ZYDIS_MNEMONIC_VPEXTRD:
      case ZYDIS_MNEMONIC_EXTRACTPS:
      case ZYDIS_MNEMONIC_VEXTRACTPS:
        return 4;
      case ZYDIS_MNEMONIC_PINSRQ:
      case ZYDIS_MNEMONIC_VPINSRQ:
      case ZYDIS_MNEMONIC_PEXTRQ:
      case ZYDIS_MNEMONIC_VPEXTRQ:
        return 8;
      default:
        return 0;
    }
  }

  void add_inserts_and_extracts() {
    const std::uint64_t immediate = decoded_.immediate();
    const auto half = static_cast<std::uint8_t>((immediate & 1) != 0 ? 16 : 0);
    switch (decoded_.mnemonic()) {
      case ZYDIS_MNEMONIC_VEXTRACTF128:
      case ZYDIS_MNEMONIC_VEXTRACTI128:
        replace_vector_reads({vector_bytes(vector_index(1), half, 16)});
        return;
      case ZYDIS_MNEMONIC_VINSERTF128:
      case ZYDIS_MNEMONIC_VINSERTI128:
        drop(facts_.reads, [](const RegisterUse& use) { return !use.address && use.width == 32; });
        read(vector_bytes(vector_index(1), static_cast<std::uint8_t>(16 - half), 16, true));
        return;
      case ZYDIS_MNEMONIC_VZEROALL:
      case ZYDIS_MNEMONIC_VZEROUPPER: {
        const auto first = static_cast<std::uint8_t>(decoded_.mnemonic() == ZYDIS_MNEMONIC_VZEROALL ? 0 : 16);
        for (std::uint8_t i = 0; i < 16; ++i) {
          write(vector_bytes(i, first, static_cast<std::uint8_t>(kVectorBytes - first)));
        }
        return;
      }
      default:
        break;
    }
    const std::uint8_t lane_bytes = lane_bytes_of(decoded_.mnemonic());
    // MMX forms of pinsrw and pextrw stay as listed.
    if (lane_bytes == 0 || (!is_vector(0) && !is_vector(1))) return;
    const auto byte = static_cast<std::uint8_t>(immediate % (16 / lane_bytes) * lane_bytes);
    if (!is_vector(0)) {
      replace_vector_reads({vector_bytes(vector_index(1), byte, lane_bytes)});
      return;
    }
    for (RegisterUse& use : facts_.reads) {
      if (use.file == RegisterFile::kGeneral && !use.address) use.width = lane_bytes;
    }
    if (decoded_.is_vex()) {
      const unsigned kept = ~(1u << byte / lane_bytes) & ((1u << 16 / lane_bytes) - 1);
      replace_vector_reads({});
      read_lanes(vector_index(1), kept, lane_bytes);
      for (RegisterUse& use : facts_.reads) use.merge = use.file == RegisterFile::kVector;
    } else {
      replace_vector_reads({});
      facts_.writes = {vector_bytes(vector_index(0), byte, lane_bytes)};
    }
  }

  /// 128-bit shuffles whose lanes the opcode or the immediate names.
  void add_shuffles() {
    const int first = decoded_.is_vex() ? 1 : 0;
    const auto bits = static_cast<unsigned>(decoded_.immediate());
    const auto lane_pair = [bits](unsigned shift) {
      return 1u << (bits >> shift & 3) | 1u << (bits >> (shift + 2) & 3);
    };
    switch (decoded_.mnemonic()) {
      case ZYDIS_MNEMONIC_PSHUFD:
      case ZYDIS_MNEMONIC_VPSHUFD:
        read_shuffled(1, lane_pair(0) | lane_pair(4), -1, 0, 4);
        break;
      case ZYDIS_MNEMONIC_SHUFPS:
      case ZYDIS_MNEMONIC_VSHUFPS:
        read_shuffled(first, lane_pair(0), first + 1, lane_pair(4), 4);
        break;
      case ZYDIS_MNEMONIC_SHUFPD:
      case ZYDIS_MNEMONIC_VSHUFPD:
        read_shuffled(first, 1u << (bits & 1), first + 1, 1u << (bits >> 1 & 1), 8);
        break;
      case ZYDIS_MNEMONIC_UNPCKLPS:
      case ZYDIS_MNEMONIC_VUNPCKLPS:
      case ZYDIS_MNEMONIC_UNPCKLPD:
      case ZYDIS_MNEMONIC_VUNPCKLPD:
      case ZYDIS_MNEMONIC_PUNPCKLBW:
      case ZYDIS_MNEMONIC_VPUNPCKLBW:
      case ZYDIS_MNEMONIC_PUNPCKLWD:
      case ZYDIS_MNEMONIC_VPUNPCKLWD:
      case ZYDIS_MNEMONIC_PUNPCKLDQ:
      case ZYDIS_MNEMONIC_VPUNPCKLDQ:
      case ZYDIS_MNEMONIC_PUNPCKLQDQ:
      case ZYDIS_MNEMONIC_VPUNPCKLQDQ:
        read_shuffled(first, 1, first + 1, 1, 8);
        break;
      case ZYDIS_MNEMONIC_UNPCKHPS:
      case ZYDIS_MNEMONIC_VUNPCKHPS:
      case ZYDIS_MNEMONIC_UNPCKHPD:
      case ZYDIS_MNEMONIC_VUNPCKHPD:
      case ZYDIS_MNEMONIC_PUNPCKHBW:
      case ZYDIS_MNEMONIC_VPUNPCKHBW:
      case ZYDIS_MNEMONIC_PUNPCKHWD:
      case ZYDIS_MNEMONIC_VPUNPCKHWD:
      case ZYDIS_MNEMONIC_PUNPCKHDQ:
      case ZYDIS_MNEMONIC_VPUNPCKHDQ:
      case ZYDIS_MNEMONIC_PUNPCKHQDQ:
      case ZYDIS_MNEMONIC_VPUNPCKHQDQ:
        read_shuffled(first, 2, first + 1, 2, 8);
        break;
      default:
        break;
    }
  }

  /// Lanes of one or two operands, of those that are registers.
  void read_shuffled(int first, unsigned first_mask, int second, unsigned second_mask, unsigned lane_bytes) {
    replace_vector_reads({});
    if (is_vector(first)) read_lanes(vector_index(first), first_mask, lane_bytes);
    if (second >= 0 && is_vector(second)) read_lanes(vector_index(second), second_mask, lane_bytes);
  }

  // ---- x87 and state ---------------------------------------------------------------------------------------------

  void add_x87() {
    if ((facts_.kinds & kX87) == 0) return;
    const ZydisMnemonic mnemonic = decoded_.mnemonic();
    facts_.x87_pops = static_cast<std::int8_t>(x87_pops_of(mnemonic));
    if (sets_x87_status(mnemonic)) write(control_word(1));
    const RegisterUse top = {.file = RegisterFile::kX87, .index = 0, .width = kX87Bytes};
    const RegisterUse pushed = {.file = RegisterFile::kX87, .index = 7, .width = kX87Bytes};
    switch (mnemonic) {
      case ZYDIS_MNEMONIC_FPTAN:
      case ZYDIS_MNEMONIC_FSINCOS:
      case ZYDIS_MNEMONIC_FXTRACT:
        drop(facts_.writes, [](const RegisterUse& use) { return use.file == RegisterFile::kX87; });
        write(top);
        write(pushed);
        break;
      case ZYDIS_MNEMONIC_FTST:
      case ZYDIS_MNEMONIC_FXAM:
        drop(facts_.writes, [](const RegisterUse& use) { return use.file == RegisterFile::kX87; });
        break;
      case ZYDIS_MNEMONIC_FFREE:
      case ZYDIS_MNEMONIC_FFREEP:
        facts_.reads.clear();
        facts_.writes.clear();
        break;
      case ZYDIS_MNEMONIC_FNSTSW:
        read(control_word(1));
        break;
      case ZYDIS_MNEMONIC_FNSTCW:
        read(control_word(0));
        break;
      case ZYDIS_MNEMONIC_FLDCW:
        write(control_word(0));
        break;
      case ZYDIS_MNEMONIC_FNSTENV:
      case ZYDIS_MNEMONIC_FNSAVE:
        for (const std::uint8_t word : {0, 1, 2}) read(control_word(word));
        break;
      case ZYDIS_MNEMONIC_FLDENV:
      case ZYDIS_MNEMONIC_FRSTOR:
      case ZYDIS_MNEMONIC_FNINIT:
        for (const std::uint8_t word : {0, 1, 2}) write(control_word(word));
        break;
      default:
        if (facts_.x87_pops == -1) {
          for (RegisterUse& use : facts_.writes) {
            if (use == top) use = pushed;
          }
        }
        break;
    }
  }

  void for_all_x87(std::vector<RegisterUse>& uses) {
    for (std::uint8_t i = 0; i < 8; ++i) uses.push_back({.file = RegisterFile::kX87, .index = i, .width = kX87Bytes});
  }
  void for_all_vectors(std::vector<RegisterUse>& uses, std::uint8_t width) {
    for (std::uint8_t i = 0; i < 16; ++i) uses.push_back(vector_bytes(i, 0, width));
    uses.push_back({.file = RegisterFile::kMxcsr, .width = 4});
    for (const std::uint8_t word : {0, 1, 2}) uses.push_back(control_word(word));
    for_all_x87(uses);
  }

  /// Instructions that touch registers which no operand names.
  void add_state() {
    const RegisterUse fs{.file = RegisterFile::kSegmentBase, .index = 0, .width = 8};
    const RegisterUse gs{.file = RegisterFile::kSegmentBase, .index = 1, .width = 8};
    switch (decoded_.mnemonic()) {
      case ZYDIS_MNEMONIC_SYSCALL:
        for (const std::uint8_t reg : {0, 7, 6, 2, 10, 8, 9}) read(general(reg));
        write(general(kRax));
        break;
      case ZYDIS_MNEMONIC_RDFSBASE:
        read(fs);
        break;
      case ZYDIS_MNEMONIC_RDGSBASE:
        read(gs);
        break;
      case ZYDIS_MNEMONIC_WRFSBASE:
        write(fs);
        break;
      case ZYDIS_MNEMONIC_WRGSBASE:
        write(gs);
        break;
      case ZYDIS_MNEMONIC_FNSAVE:
        for_all_x87(facts_.reads);
        break;
      case ZYDIS_MNEMONIC_FRSTOR:
        for_all_x87(facts_.writes);
        break;
      case ZYDIS_MNEMONIC_FXSAVE:
      case ZYDIS_MNEMONIC_FXSAVE64:
        for_all_vectors(facts_.reads, 16);
        break;
      case ZYDIS_MNEMONIC_FXRSTOR:
      case ZYDIS_MNEMONIC_FXRSTOR64:
        for_all_vectors(facts_.writes, 16);
        break;
      case ZYDIS_MNEMONIC_XSAVE:
      case ZYDIS_MNEMONIC_XSAVE64:
      case ZYDIS_MNEMONIC_XSAVEC:
      case ZYDIS_MNEMONIC_XSAVEC64:
      case ZYDIS_MNEMONIC_XSAVEOPT:
      case ZYDIS_MNEMONIC_XSAVEOPT64:
        for_all_vectors(facts_.reads, kVectorBytes);
        break;
      case ZYDIS_MNEMONIC_XRSTOR:
      case ZYDIS_MNEMONIC_XRSTOR64:
        for_all_vectors(facts_.writes, kVectorBytes);
        break;
      default:
        break;
    }
  }

  const Decoded& decoded_;
  InstructionFacts& facts_;
};

}  // namespace

void add_operands(const Decoded& decoded, InstructionFacts& facts) { Collector(decoded, facts).run(); }

}  // namespace loopfold::trace
