// Which instructions are associative operations, and over what elements: what reductions are recognised by.
//
// inc and dec are additions and subtractions of one. One-operand mul and imul are multiplications for their low half.
// A fused multiply-add is an addition to its addend; forms that negate the product still add to it, forms that subtract
// the addend are none. adc and sbb add and subtract one more, if the carry says so: whoever takes them for an addition
// must look at where the flags come from. lea adds, unless both registers are one or all are scaled. bts, btr and btc
// are or, and, xor with one bit. Saturating and widening vector operations are none, nor are x87 subtractions that
// reverse their operands.
#include "trace/decode_tables.h"

// The legacy SSE and the VEX form of a name, behind `case`.
#define LOOPFOLD_BOTH(name) ZYDIS_MNEMONIC_##name : case ZYDIS_MNEMONIC_V##name

// The four element types of a VEX fused multiply-add, behind `case`.
#define LOOPFOLD_FMA(name)                                                                    \
  ZYDIS_MNEMONIC_##name##SS : case ZYDIS_MNEMONIC_##name##SD : case ZYDIS_MNEMONIC_##name##PS \
      : case ZYDIS_MNEMONIC_##name##PD

namespace loopfold::trace {
namespace {

Operation general_operation_of(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_XADD:
    case ZYDIS_MNEMONIC_ADC:
      return {Associative::kAdd};
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_SBB:
    case ZYDIS_MNEMONIC_DEC:
      return {Associative::kSubtract};
    case ZYDIS_MNEMONIC_IMUL:
    case ZYDIS_MNEMONIC_MUL:
    case ZYDIS_MNEMONIC_MULX:
      return {Associative::kMultiply};
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_BTR:
      return {Associative::kAnd};
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_BTS:
      return {Associative::kOr};
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_BTC:
      return {Associative::kXor};
    default:
      return {};
  }
}

Operation x87_operation_of(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_FADD:
    case ZYDIS_MNEMONIC_FADDP:
    case ZYDIS_MNEMONIC_FIADD:
      return {Associative::kAdd, true, 10};
    case ZYDIS_MNEMONIC_FSUB:
    case ZYDIS_MNEMONIC_FSUBP:
    case ZYDIS_MNEMONIC_FISUB:
      return {Associative::kSubtract, true, 10};
    case ZYDIS_MNEMONIC_FMUL:
    case ZYDIS_MNEMONIC_FMULP:
    case ZYDIS_MNEMONIC_FIMUL:
      return {Associative::kMultiply, true, 10};
    default:
      return {};
  }
}

Operation floating_operation_of(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case LOOPFOLD_BOTH(ADDSS):
    case LOOPFOLD_BOTH(ADDPS):
      return {Associative::kAdd, true, 4};
    case LOOPFOLD_BOTH(ADDSD):
    case LOOPFOLD_BOTH(ADDPD):
      return {Associative::kAdd, true, 8};
    case LOOPFOLD_BOTH(SUBSS):
    case LOOPFOLD_BOTH(SUBPS):
      return {Associative::kSubtract, true, 4};
    case LOOPFOLD_BOTH(SUBSD):
    case LOOPFOLD_BOTH(SUBPD):
      return {Associative::kSubtract, true, 8};
    case LOOPFOLD_BOTH(MULSS):
    case LOOPFOLD_BOTH(MULPS):
      return {Associative::kMultiply, true, 4};
    case LOOPFOLD_BOTH(MULSD):
    case LOOPFOLD_BOTH(MULPD):
      return {Associative::kMultiply, true, 8};
    case LOOPFOLD_BOTH(MINSS):
    case LOOPFOLD_BOTH(MINPS):
      return {Associative::kMin, true, 4};
    case LOOPFOLD_BOTH(MINSD):
    case LOOPFOLD_BOTH(MINPD):
      return {Associative::kMin, true, 8};
    case LOOPFOLD_BOTH(MAXSS):
    case LOOPFOLD_BOTH(MAXPS):
      return {Associative::kMax, true, 4};
    case LOOPFOLD_BOTH(MAXSD):
    case LOOPFOLD_BOTH(MAXPD):
      return {Associative::kMax, true, 8};
    case LOOPFOLD_BOTH(ANDPS):
      return {Associative::kAnd, false, 4};
    case LOOPFOLD_BOTH(ANDPD):
      return {Associative::kAnd, false, 8};
    case LOOPFOLD_BOTH(ORPS):
      return {Associative::kOr, false, 4};
    case LOOPFOLD_BOTH(ORPD):
      return {Associative::kOr, false, 8};
    case LOOPFOLD_BOTH(XORPS):
      return {Associative::kXor, false, 4};
    case LOOPFOLD_BOTH(XORPD):
      return {Associative::kXor, false, 8};
    default:
      return {};
  }
}

Operation packed_operation_of(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case LOOPFOLD_BOTH(PADDB):
      return {Associative::kAdd, false, 1};
    case LOOPFOLD_BOTH(PADDW):
      return {Associative::kAdd, false, 2};
    case LOOPFOLD_BOTH(PADDD):
      return {Associative::kAdd, false, 4};
    case LOOPFOLD_BOTH(PADDQ):
      return {Associative::kAdd, false, 8};
    case LOOPFOLD_BOTH(PSUBB):
      return {Associative::kSubtract, false, 1};
    case LOOPFOLD_BOTH(PSUBW):
      return {Associative::kSubtract, false, 2};
    case LOOPFOLD_BOTH(PSUBD):
      return {Associative::kSubtract, false, 4};
    case LOOPFOLD_BOTH(PSUBQ):
      return {Associative::kSubtract, false, 8};
    case LOOPFOLD_BOTH(PMULLW):
      return {Associative::kMultiply, false, 2};
    case LOOPFOLD_BOTH(PMULLD):
      return {Associative::kMultiply, false, 4};
    case LOOPFOLD_BOTH(PMINSB):
    case LOOPFOLD_BOTH(PMINUB):
      return {Associative::kMin, false, 1};
    case LOOPFOLD_BOTH(PMINSW):
    case LOOPFOLD_BOTH(PMINUW):
      return {Associative::kMin, false, 2};
    case LOOPFOLD_BOTH(PMINSD):
    case LOOPFOLD_BOTH(PMINUD):
      return {Associative::kMin, false, 4};
    case LOOPFOLD_BOTH(PMAXSB):
    case LOOPFOLD_BOTH(PMAXUB):
      return {Associative::kMax, false, 1};
    case LOOPFOLD_BOTH(PMAXSW):
    case LOOPFOLD_BOTH(PMAXUW):
      return {Associative::kMax, false, 2};
    case LOOPFOLD_BOTH(PMAXSD):
    case LOOPFOLD_BOTH(PMAXUD):
      return {Associative::kMax, false, 4};
      // Bitwise operations have no lanes of their own.
    case LOOPFOLD_BOTH(PAND):
      return {Associative::kAnd, false, 8};
    case LOOPFOLD_BOTH(POR):
      return {Associative::kOr, false, 8};
    case LOOPFOLD_BOTH(PXOR):
      return {Associative::kXor, false, 8};
    default:
      return {};
  }
}

std::uint8_t fused_element_bytes(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_VFMADD132SS:
    case ZYDIS_MNEMONIC_VFMADD213SS:
    case ZYDIS_MNEMONIC_VFMADD231SS:
    case ZYDIS_MNEMONIC_VFMADD132PS:
    case ZYDIS_MNEMONIC_VFMADD213PS:
    case ZYDIS_MNEMONIC_VFMADD231PS:
    case ZYDIS_MNEMONIC_VFNMADD132SS:
    case ZYDIS_MNEMONIC_VFNMADD213SS:
    case ZYDIS_MNEMONIC_VFNMADD231SS:
    case ZYDIS_MNEMONIC_VFNMADD132PS:
    case ZYDIS_MNEMONIC_VFNMADD213PS:
    case ZYDIS_MNEMONIC_VFNMADD231PS:
      return 4;
    default:
      return 8;
  }
}

/// Whether an address is a sum of a register as it is and of something else.
bool adds(const ZydisDecodedOperandMem& address) {
  if (address.base == ZYDIS_REGISTER_NONE || address.base == ZYDIS_REGISTER_RIP) return false;
  return address.base != address.index;
}

}  // namespace

int addend_of(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case LOOPFOLD_FMA(VFMADD231):
    case LOOPFOLD_FMA(VFNMADD231):
      return 0;
    case LOOPFOLD_FMA(VFMADD132):
    case LOOPFOLD_FMA(VFNMADD132):
      return 1;
    case LOOPFOLD_FMA(VFMADD213):
    case LOOPFOLD_FMA(VFNMADD213):
      return 2;
    default:
      return -1;
  }
}

Operation operation_of(const Decoded& decoded) {
  const ZydisMnemonic mnemonic = decoded.mnemonic();
  if (mnemonic == ZYDIS_MNEMONIC_LEA && adds(decoded.operands[1].mem)) return {Associative::kAdd};
  if (addend_of(mnemonic) >= 0) return {Associative::kAdd, true, fused_element_bytes(mnemonic)};
  for (const auto& lookup : {general_operation_of, floating_operation_of, packed_operation_of, x87_operation_of}) {
    const Operation operation = lookup(mnemonic);
    if (operation.associative != Associative::kNone) return operation;
  }
  return {};
}

}  // namespace loopfold::trace
