// VEX is asked to keep every register up to date at each instruction, because the recorder needs the values put to
// general registers. That also keeps the flags and the instruction pointer, instruction by instruction, though they
// matter only where a block can be left. One backward pass takes those out again; it costs a bit per statement.
#include "dead_puts.h"

namespace loopfold::tool {

namespace {

constexpr Int kWatched[] = {
    offsetof(VexGuestAMD64State, guest_CC_OP),   offsetof(VexGuestAMD64State, guest_CC_DEP1),
    offsetof(VexGuestAMD64State, guest_CC_DEP2), offsetof(VexGuestAMD64State, guest_CC_NDEP),
    offsetof(VexGuestAMD64State, guest_RIP),
};
constexpr UInt kAll = 31;

UInt watched_at(Int offset) {
  for (UInt i = 0; i < 5; i++) {
    if (kWatched[i] == offset) return 1u << i;
  }
  return 0;
}

bool may_trap(IROp op) {
  return (op >= Iop_DivU32 && op <= Iop_DivS64) || (op >= Iop_DivU64E && op <= Iop_DivS32E) ||
         op == Iop_DivModU64to32 || op == Iop_DivModS64to32 || op == Iop_DivModU128to64 || op == Iop_DivModS128to64 ||
         op == Iop_DivModS64to64 || op == Iop_DivModU64to64 || op == Iop_DivModS32to32 || op == Iop_DivModU32to32;
}

bool is_own(const IRExpr* address, Int first_own) {
  return address->tag == Iex_RdTmp && static_cast<Int>(address->Iex.RdTmp.tmp) >= first_own;
}

/// Which of the watched registers this statement may show to somebody.
UInt seen_by(const IRStmt* s, Int first_own) {
  switch (s->tag) {
    case Ist_WrTmp: {
      const IRExpr* value = s->Ist.WrTmp.data;
      if (value->tag == Iex_Get) return watched_at(value->Iex.Get.offset);
      if (value->tag == Iex_Load || value->tag == Iex_GetI) return kAll;
      if (value->tag == Iex_Binop && may_trap(value->Iex.Binop.op)) return kAll;
      return 0;
    }
    case Ist_Store:
      return is_own(s->Ist.Store.addr, first_own) ? 0 : kAll;
    case Ist_Put:
    case Ist_NoOp:
    case Ist_IMark:
    case Ist_AbiHint:
      return 0;
    default:
      return kAll;
  }
}

}  // namespace

void drop_dead_puts(IRSB* block, Int first_own) {
  UInt live = kAll;
  for (Int i = block->stmts_used - 1; i >= 0; i--) {
    const IRStmt* s = block->stmts[i];
    const UInt written = s->tag == Ist_Put ? watched_at(s->Ist.Put.offset) : 0;
    if (written != 0) {
      if ((live & written) == 0) block->stmts[i] = IRStmt_NoOp();
      live &= ~written;
    }
    live |= seen_by(s, first_own);
  }
}

}  // namespace loopfold::tool
