// What an instruction means, by its name: the tables behind decode(). Internal to src/trace.
#pragma once

#include <Zydis/Zydis.h>

#include <cstdint>

#include "trace/decode.h"

namespace loopfold::trace {

/// An instruction with its operands, as Zydis delivers them.
struct Decoded {
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

  ZydisMnemonic mnemonic() const { return instruction.mnemonic; }
  bool is_vex() const { return instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX; }
  bool is_register(int i) const {
    return i < instruction.operand_count && operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER;
  }
  bool is_memory(int i) const { return i < instruction.operand_count && operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY; }
  bool same_register(int i, int j) const {
    return is_register(i) && is_register(j) && operands[i].reg.value == operands[j].reg.value;
  }
  /// The value of the last visible operand if that is an immediate, else 0.
  std::uint64_t immediate() const;
};

/// The associative operation of an instruction.
struct Operation {
  Associative associative = Associative::kNone;
  bool floating = false;
  std::uint8_t element_bytes = 0;  // 0: as wide as the general-register operand
};
Operation operation_of(const Decoded& decoded);

/// Which operand of a fused multiply-add is the addend: 0, 1, 2; -1 if the instruction is none, or subtracts its
/// addend.
int addend_of(ZydisMnemonic mnemonic);

Transfer transfer_of(const Decoded& decoded);

/// Whether the registers that are named twice in xor r,r and its like do not matter: transfer is kZero, or sbb r,r.
bool ignores_sources(const Decoded& decoded);

/// kInteger, kFloatScalar, kFloatVector, kIntegerVector, kX87 and kNop.
std::uint32_t class_of(const Decoded& decoded);

/// Whether a kCompute instruction moves, or manages state, rather than calculates.
bool is_housekeeping(const Decoded& decoded);

/// Registers popped from the x87 stack.
int x87_pops_of(ZydisMnemonic mnemonic);

/// Whether the condition bits that the instruction leaves in the x87 status word are a result.
bool sets_x87_status(ZydisMnemonic mnemonic);

}  // namespace loopfold::trace
