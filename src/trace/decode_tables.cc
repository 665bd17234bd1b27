// The meaning of instructions by mnemonic: which ones copy, which ones zero, which ones are associative and over what
// elements, which ones belong to which class.
//
// Zydis knows names, encodings and operands, not meanings, and its element sizes are the encoding's (pxor: one of 128
// bits, paddd mm: one of 64), so element sizes of associative operations are listed here. Legacy and VEX forms share a
// line. What is not listed is a plain computation, which is always safe: it is neither looked through nor reordered.
#include "trace/decode_tables.h"

#include <string_view>

// The legacy SSE and the VEX form of a name, behind `case`.
#define LOOPFOLD_BOTH(name) ZYDIS_MNEMONIC_##name : case ZYDIS_MNEMONIC_V##name

namespace loopfold::trace {
namespace {

/// xor a,a and the like: every result bit is the same whatever a is.
bool is_constant_of_equal_sources(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_SUB:
    case LOOPFOLD_BOTH(PXOR):
    case LOOPFOLD_BOTH(XORPS):
    case LOOPFOLD_BOTH(XORPD):
    case LOOPFOLD_BOTH(PANDN):
    case LOOPFOLD_BOTH(ANDNPS):
    case LOOPFOLD_BOTH(ANDNPD):
    case LOOPFOLD_BOTH(PSUBB):
    case LOOPFOLD_BOTH(PSUBW):
    case LOOPFOLD_BOTH(PSUBD):
    case LOOPFOLD_BOTH(PSUBQ):
    case LOOPFOLD_BOTH(PSUBSB):
    case LOOPFOLD_BOTH(PSUBSW):
    case LOOPFOLD_BOTH(PSUBUSB):
    case LOOPFOLD_BOTH(PSUBUSW):
    case LOOPFOLD_BOTH(PCMPEQB):
    case LOOPFOLD_BOTH(PCMPEQW):
    case LOOPFOLD_BOTH(PCMPEQD):
    case LOOPFOLD_BOTH(PCMPEQQ):
    case LOOPFOLD_BOTH(PCMPGTB):
    case LOOPFOLD_BOTH(PCMPGTW):
    case LOOPFOLD_BOTH(PCMPGTD):
    case LOOPFOLD_BOTH(PCMPGTQ):
      return true;
    default:
      return false;
  }
}

/// The two sources are operands 0 and 1 of a two-operand form, 1 and 2 of a three-operand form.
bool has_equal_sources(const Decoded& decoded) {
  const int first = decoded.is_vex() ? 1 : 0;
  return decoded.same_register(first, first + 1);
}

/// and x,0 and or x,-1, as compilers write them to save code bytes.
bool is_constant_by_immediate(const Decoded& decoded) {
  const bool is_and = decoded.mnemonic() == ZYDIS_MNEMONIC_AND;
  if (!is_and && decoded.mnemonic() != ZYDIS_MNEMONIC_OR) return false;
  if (decoded.operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return false;
  const unsigned bits = decoded.operands[0].size;
  const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  return (decoded.operands[1].imm.value.u & mask) == (is_and ? 0 : mask);
}

/// Full-width vector moves, typed by name but used for any data.
bool is_untyped_vector_move(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case LOOPFOLD_BOTH(MOVAPS):
    case LOOPFOLD_BOTH(MOVAPD):
    case LOOPFOLD_BOTH(MOVUPS):
    case LOOPFOLD_BOTH(MOVUPD):
    case LOOPFOLD_BOTH(MOVDQA):
    case LOOPFOLD_BOTH(MOVDQU):
    case LOOPFOLD_BOTH(LDDQU):
    case LOOPFOLD_BOTH(MOVNTDQ):
    case LOOPFOLD_BOTH(MOVNTDQA):
    case LOOPFOLD_BOTH(MOVNTPS):
    case LOOPFOLD_BOTH(MOVNTPD):
    case ZYDIS_MNEMONIC_MOVNTQ:
      return true;
    default:
      return false;
  }
}

bool is_untyped_vector_logic(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case LOOPFOLD_BOTH(ANDPS):
    case LOOPFOLD_BOTH(ANDPD):
    case LOOPFOLD_BOTH(ANDNPS):
    case LOOPFOLD_BOTH(ANDNPD):
    case LOOPFOLD_BOTH(ORPS):
    case LOOPFOLD_BOTH(ORPD):
    case LOOPFOLD_BOTH(XORPS):
    case LOOPFOLD_BOTH(XORPD):
      return true;
    default:
      return false;
  }
}

/// Copies of one register or cell, apart from string instructions and x87. Three-operand VEX forms merge two sources
/// and are computations.
bool is_plain_copy(const Decoded& decoded) {
  if (is_untyped_vector_move(decoded.mnemonic())) return true;
  switch (decoded.mnemonic()) {
    case ZYDIS_MNEMONIC_MOV: {
      const ZydisDecodedOperand& source = decoded.operands[1];
      if (source.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) return false;
      for (int i = 0; i < 2; ++i) {
        if (!decoded.is_register(i)) continue;
        const ZydisRegisterClass kind = ZydisRegisterGetClass(decoded.operands[i].reg.value);
        if (kind == ZYDIS_REGCLASS_SEGMENT || kind == ZYDIS_REGCLASS_CONTROL || kind == ZYDIS_REGCLASS_DEBUG)
          return false;
      }
      return true;
    }
    case ZYDIS_MNEMONIC_PUSH:
      return decoded.operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE;
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_LEAVE:
    case ZYDIS_MNEMONIC_XCHG:
    case ZYDIS_MNEMONIC_MOVNTI:
    case ZYDIS_MNEMONIC_MOVDIRI:
    case ZYDIS_MNEMONIC_MOVQ2DQ:
    case ZYDIS_MNEMONIC_MOVDQ2Q:
    case LOOPFOLD_BOTH(MOVD):
    case LOOPFOLD_BOTH(MOVQ):
      return true;
    case LOOPFOLD_BOTH(MOVSS):
    case LOOPFOLD_BOTH(MOVSD):
    case LOOPFOLD_BOTH(MOVLPS):
    case LOOPFOLD_BOTH(MOVLPD):
    case LOOPFOLD_BOTH(MOVHPS):
    case LOOPFOLD_BOTH(MOVHPD):
    case LOOPFOLD_BOTH(MOVLHPS):
    case LOOPFOLD_BOTH(MOVHLPS):
      return decoded.instruction.operand_count_visible == 2;
    case ZYDIS_MNEMONIC_VEXTRACTF128:
    case ZYDIS_MNEMONIC_VEXTRACTI128:
      return true;
    default:
      return false;
  }
}

/// x87 loads and stores that change no bits: between registers and with 80-bit memory.
bool is_x87_copy(const Decoded& decoded) {
  switch (decoded.mnemonic()) {
    case ZYDIS_MNEMONIC_FXCH:
      return true;
    case ZYDIS_MNEMONIC_FLD:
    case ZYDIS_MNEMONIC_FST:
    case ZYDIS_MNEMONIC_FSTP:
    case ZYDIS_MNEMONIC_FSTPNCE:
      return !decoded.is_memory(0) || decoded.operands[0].size == 80;
    default:
      return false;
  }
}

bool is_string_copy(const Decoded& decoded) {
  if (decoded.instruction.meta.category != ZYDIS_CATEGORY_STRINGOP) return false;
  switch (decoded.mnemonic()) {
    case ZYDIS_MNEMONIC_MOVSB:
    case ZYDIS_MNEMONIC_MOVSW:
    case ZYDIS_MNEMONIC_MOVSD:
    case ZYDIS_MNEMONIC_MOVSQ:
    case ZYDIS_MNEMONIC_STOSB:
    case ZYDIS_MNEMONIC_STOSW:
    case ZYDIS_MNEMONIC_STOSD:
    case ZYDIS_MNEMONIC_STOSQ:
    case ZYDIS_MNEMONIC_LODSB:
    case ZYDIS_MNEMONIC_LODSW:
    case ZYDIS_MNEMONIC_LODSD:
    case ZYDIS_MNEMONIC_LODSQ:
      return true;
    default:
      return false;
  }
}

bool is_nop(const Decoded& decoded) {
  switch (decoded.instruction.meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_CLDEMOTE:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
      return true;
    default:
      break;
  }
  switch (decoded.mnemonic()) {
    case ZYDIS_MNEMONIC_ENDBR64:
    case ZYDIS_MNEMONIC_ENDBR32:
    case ZYDIS_MNEMONIC_RDSSPD:  // without shadow stacks, which Valgrind does not have, these do nothing
    case ZYDIS_MNEMONIC_RDSSPQ:
    case ZYDIS_MNEMONIC_PAUSE:
    case ZYDIS_MNEMONIC_LFENCE:
    case ZYDIS_MNEMONIC_MFENCE:
    case ZYDIS_MNEMONIC_SFENCE:
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_FNOP:
    case ZYDIS_MNEMONIC_FWAIT:
      return true;
    default:
      return false;
  }
}

bool starts_with_p(std::string_view name) { return name.starts_with("p") || name.starts_with("vp"); }

/// Class of an instruction with vector operands, by how Intel names them: p... is packed integer, ...ss and ...sd are
/// scalar, ...ps and ...pd packed floating point.
std::uint32_t vector_class_of(const Decoded& decoded) {
  const ZydisMnemonic mnemonic = decoded.mnemonic();
  if (is_untyped_vector_move(mnemonic) || is_untyped_vector_logic(mnemonic)) return kIntegerVector;
  const char* text = ZydisMnemonicGetString(mnemonic);
  const std::string_view name = text != nullptr ? text : "";
  const bool packed_name = name.ends_with("ps") || name.ends_with("pd");
  if (starts_with_p(name)) return packed_name && name.starts_with("vperm") ? kFloatVector : kIntegerVector;
  const bool is_broadcast = name.starts_with("vbroadcast") && !name.ends_with("i128");
  if (is_broadcast) return kFloatVector;
  if (name.ends_with("ss") || name.ends_with("sd") || name.ends_with("ss2si") || name.ends_with("sd2si")) {
    return kFloatScalar;
  }
  const bool is_conversion = name.starts_with("cvt") || name.starts_with("vcvt");
  const bool is_duplication = name.ends_with("dup");
  if (packed_name || is_conversion || is_duplication || name.ends_with("f128")) return kFloatVector;
  return kIntegerVector;
}

bool is_x87(const Decoded& decoded) {
  const ZydisInstructionCategory category = decoded.instruction.meta.category;
  return category == ZYDIS_CATEGORY_X87_ALU || category == ZYDIS_CATEGORY_FCMOV;
}

bool is_vector_register(ZydisRegister reg) {
  const ZydisRegisterClass kind = ZydisRegisterGetClass(reg);
  return kind == ZYDIS_REGCLASS_XMM || kind == ZYDIS_REGCLASS_YMM || kind == ZYDIS_REGCLASS_MMX;
}

bool has_vector_operand(const Decoded& decoded) {
  if (decoded.mnemonic() == ZYDIS_MNEMONIC_VZEROALL || decoded.mnemonic() == ZYDIS_MNEMONIC_VZEROUPPER) return true;
  for (int i = 0; i < decoded.instruction.operand_count; ++i) {
    if (decoded.is_register(i) && is_vector_register(decoded.operands[i].reg.value)) return true;
  }
  return false;
}

}  // namespace

std::uint64_t Decoded::immediate() const {
  const int last = instruction.operand_count_visible - 1;
  if (last < 0 || operands[last].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return 0;
  return operands[last].imm.value.u;
}

Transfer transfer_of(const Decoded& decoded) {
  const ZydisMnemonic mnemonic = decoded.mnemonic();
  if (mnemonic == ZYDIS_MNEMONIC_VZEROALL || mnemonic == ZYDIS_MNEMONIC_VZEROUPPER) return Transfer::kZero;
  if (is_constant_of_equal_sources(mnemonic) && has_equal_sources(decoded)) return Transfer::kZero;
  if (is_constant_by_immediate(decoded)) return Transfer::kZero;
  // The string instruction movsd and the SSE one share a mnemonic; so do cmpsd's.
  if (decoded.instruction.meta.category == ZYDIS_CATEGORY_STRINGOP) {
    return is_string_copy(decoded) ? Transfer::kCopy : Transfer::kCompute;
  }
  return is_plain_copy(decoded) || is_x87_copy(decoded) ? Transfer::kCopy : Transfer::kCompute;
}

bool ignores_sources(const Decoded& decoded) {
  if (transfer_of(decoded) == Transfer::kZero) return true;
  return decoded.mnemonic() == ZYDIS_MNEMONIC_SBB && has_equal_sources(decoded);
}

std::uint32_t class_of(const Decoded& decoded) {
  if (is_nop(decoded)) return kNop;
  if (is_x87(decoded)) return kX87;
  if (has_vector_operand(decoded)) return vector_class_of(decoded);
  switch (decoded.instruction.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_MMX:  // emms
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
      return 0;
    default:
      break;
  }
  switch (decoded.mnemonic()) {
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
    case LOOPFOLD_BOTH(LDMXCSR):
    case LOOPFOLD_BOTH(STMXCSR):
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
      return 0;
    default:
      return kInteger;
  }
}

bool is_housekeeping(const Decoded& decoded) {
  switch (decoded.instruction.meta.category) {
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_POP:
    case ZYDIS_CATEGORY_FLAGOP:
    case ZYDIS_CATEGORY_SEGOP:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_RDWRFSGS:
      return true;
    default:
      break;
  }
  switch (decoded.mnemonic()) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
    case ZYDIS_MNEMONIC_CBW:
    case ZYDIS_MNEMONIC_CWDE:
    case ZYDIS_MNEMONIC_CDQE:
    case LOOPFOLD_BOTH(MOVSS):
    case LOOPFOLD_BOTH(MOVSD):
    case LOOPFOLD_BOTH(MOVLPS):
    case LOOPFOLD_BOTH(MOVLPD):
    case LOOPFOLD_BOTH(MOVHPS):
    case LOOPFOLD_BOTH(MOVHPD):
    case LOOPFOLD_BOTH(MOVLHPS):
    case LOOPFOLD_BOTH(MOVHLPS):
    case ZYDIS_MNEMONIC_ENTER:
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_FLD:
    case ZYDIS_MNEMONIC_FLD1:
    case ZYDIS_MNEMONIC_FLDZ:
    case ZYDIS_MNEMONIC_FLDPI:
    case ZYDIS_MNEMONIC_FLDL2E:
    case ZYDIS_MNEMONIC_FLDL2T:
    case ZYDIS_MNEMONIC_FLDLG2:
    case ZYDIS_MNEMONIC_FLDLN2:
    case ZYDIS_MNEMONIC_FST:
    case ZYDIS_MNEMONIC_FSTP:
    case ZYDIS_MNEMONIC_FLDCW:
    case ZYDIS_MNEMONIC_FNSTCW:
    case ZYDIS_MNEMONIC_FNSTSW:
    case ZYDIS_MNEMONIC_FLDENV:
    case ZYDIS_MNEMONIC_FNSTENV:
    case ZYDIS_MNEMONIC_FNSAVE:
    case ZYDIS_MNEMONIC_FRSTOR:
    case ZYDIS_MNEMONIC_FNCLEX:
    case ZYDIS_MNEMONIC_FNINIT:
    case ZYDIS_MNEMONIC_FFREE:
    case ZYDIS_MNEMONIC_FFREEP:
    case ZYDIS_MNEMONIC_FINCSTP:
    case ZYDIS_MNEMONIC_FDECSTP:
      return true;
    default:
      return false;
  }
}

int x87_pops_of(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_FLD:
    case ZYDIS_MNEMONIC_FLD1:
    case ZYDIS_MNEMONIC_FLDZ:
    case ZYDIS_MNEMONIC_FLDPI:
    case ZYDIS_MNEMONIC_FLDL2E:
    case ZYDIS_MNEMONIC_FLDL2T:
    case ZYDIS_MNEMONIC_FLDLG2:
    case ZYDIS_MNEMONIC_FLDLN2:
    case ZYDIS_MNEMONIC_FILD:
    case ZYDIS_MNEMONIC_FBLD:
    case ZYDIS_MNEMONIC_FPTAN:
    case ZYDIS_MNEMONIC_FSINCOS:
    case ZYDIS_MNEMONIC_FXTRACT:
    case ZYDIS_MNEMONIC_FDECSTP:
      return -1;
    case ZYDIS_MNEMONIC_FADDP:
    case ZYDIS_MNEMONIC_FMULP:
    case ZYDIS_MNEMONIC_FSUBP:
    case ZYDIS_MNEMONIC_FSUBRP:
    case ZYDIS_MNEMONIC_FDIVP:
    case ZYDIS_MNEMONIC_FDIVRP:
    case ZYDIS_MNEMONIC_FSTP:
    case ZYDIS_MNEMONIC_FSTPNCE:
    case ZYDIS_MNEMONIC_FISTP:
    case ZYDIS_MNEMONIC_FISTTP:
    case ZYDIS_MNEMONIC_FBSTP:
    case ZYDIS_MNEMONIC_FCOMP:
    case ZYDIS_MNEMONIC_FUCOMP:
    case ZYDIS_MNEMONIC_FICOMP:
    case ZYDIS_MNEMONIC_FCOMIP:
    case ZYDIS_MNEMONIC_FUCOMIP:
    case ZYDIS_MNEMONIC_FPATAN:
    case ZYDIS_MNEMONIC_FYL2X:
    case ZYDIS_MNEMONIC_FYL2XP1:
    case ZYDIS_MNEMONIC_FFREEP:
    case ZYDIS_MNEMONIC_FINCSTP:
      return 1;
    case ZYDIS_MNEMONIC_FCOMPP:
    case ZYDIS_MNEMONIC_FUCOMPP:
      return 2;
    default:
      return 0;
  }
}

bool sets_x87_status(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_FCOM:
    case ZYDIS_MNEMONIC_FCOMP:
    case ZYDIS_MNEMONIC_FCOMPP:
    case ZYDIS_MNEMONIC_FUCOM:
    case ZYDIS_MNEMONIC_FUCOMP:
    case ZYDIS_MNEMONIC_FUCOMPP:
    case ZYDIS_MNEMONIC_FICOM:
    case ZYDIS_MNEMONIC_FICOMP:
    case ZYDIS_MNEMONIC_FTST:
    case ZYDIS_MNEMONIC_FXAM:
    case ZYDIS_MNEMONIC_FPREM:
    case ZYDIS_MNEMONIC_FPREM1:
    case ZYDIS_MNEMONIC_FSIN:
    case ZYDIS_MNEMONIC_FCOS:
    case ZYDIS_MNEMONIC_FSINCOS:
    case ZYDIS_MNEMONIC_FPTAN:
      return true;
    default:
      return false;
  }
}

}  // namespace loopfold::trace
