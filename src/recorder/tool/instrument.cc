// From VEX IR to recording IR, one superblock at a time.
//
// With chasing and unrolling off a superblock is a straight run of instructions: side exits (conditional branches, rep
// loops, traps) and a final exit. The instrumented block does this:
//
//   at entry:       if the segment has no room for the whole record: call loopfold_segment_full
//                   header := the id of the exit that may be taken first
//   at each slot:   word k := value                               one store at a fixed offset from the write pointer
//   at a side exit: header := exit id; write pointer := behind the words so far; leave if the condition holds
//   at the end:     header := base exit id; write pointer := behind all words
//
// and what is in place already is not stored again.
//
// A fault in the middle leaves the write pointer in front of a header that is not zero: ring_close_interrupted() turns
// that into a record of what ran. Nothing is called unless the segment is full, a watched function is entered, or a
// return passes the watch.
//
// What must be known of an execution, in order: x87 top at entry (if used), every address of a load, store,
// compare-and- swap or helper with a memory effect, every value put to a general register, and the stack pointer at
// calls, returns and indirect jumps. Each is a slot of its own with --naive; else what follows from earlier slots of
// the block is described as an expression instead (linear.h). An access under a guard stores its address or 0. A
// gather's masked lanes are loads from the stack pointer behind an ITE on the address: they are recorded as guarded by
// that ITE's condition.
//
// A block is cut where another one starts (leaders.h). That is sound because all registers are up to date at each
// instruction (VexRegUpdAllregsAtEachInsn), whatever the optimiser did with what follows.
#include "instrument.h"

#include "dead_puts.h"
#include "description.h"
#include "leaders.h"
#include "linear.h"
#include "modules.h"

namespace loopfold::tool {

namespace {

constinit SlotMode mode = SlotMode::kDerived;
constinit UInt next_exit = wire::kFirstExit;
struct ExitSlots {
  UInt base_exit;  // of the exit's block; 0 if there is no such exit
  UInt slots;      // of the block
};

constinit ExitSlots* exit_slots = nullptr;  // by exit id
constinit UInt exit_slots_size = 0;

void remember_slots(UInt base_exit, UInt exits, UInt slots) {
  if (base_exit + exits > exit_slots_size) {
    const UInt old_size = exit_slots_size;
    exit_slots_size = 2 * (base_exit + exits) + 4096;
    exit_slots = static_cast<ExitSlots*>(
        VG_(realloc)("loopfold.exit_slots", exit_slots, SizeT{exit_slots_size} * sizeof(ExitSlots)));
    VG_(memset)(exit_slots + old_size, 0, SizeT{exit_slots_size - old_size} * sizeof(ExitSlots));
  }
  for (UInt i = 0; i < exits; i++) exit_slots[base_exit + i] = {base_exit, slots};
}

bool is_general_register(Int offset) {
  return offset >= static_cast<Int>(offsetof(VexGuestAMD64State, guest_RAX)) &&
         offset < static_cast<Int>(offsetof(VexGuestAMD64State, guest_R15) + 8);
}

/// Is there a VEX-encoded vpgather or vgather at `address`?
bool is_gather(Addr address, UInt length) {
  const UChar* code = reinterpret_cast<const UChar*>(address);
  const UChar* end = code + length;
  while (code < end && (*code == 0x64 || *code == 0x65 || *code == 0x67 || *code == 0x2e || *code == 0x3e)) code++;
  return end - code >= 5 && code[0] == 0xc4 && (code[1] & 0x1f) == 2 && code[3] >= 0x90 && code[3] <= 0x93;
}

class Instrumenter {
 public:
  explicit Instrumenter(IRSB* in) : in_(in), out_(deepCopyIRSBExceptStmts(in)) {}

  IRSB* run() {
    Int i = copy_preamble();
    if (i == in_->stmts_used) return in_;
    const Int end = find_end(i);
    count(i, end);
    entry(in_->stmts[i]->Ist.IMark.addr);
    for (; i < end; i++) {
      statement(in_->stmts[i]);
      if (in_->stmts[i]->tag == Ist_Exit && may_fault(i + 1, end)) reopen();
    }
    final_exit();
    description_.publish(base_exit_);
    remember_slots(base_exit_, exits_, slots_);
    drop_dead_puts(out_, in_->tyenv->types_used);
    return out_;
  }

 private:
  // ---- IR building ----
  void add(IRStmt* statement) { addStmtToIRSB(out_, statement); }

  IRExpr* bind(IRType type, IRExpr* expression) {
    const IRTemp temp = newIRTemp(out_->tyenv, type);
    add(IRStmt_WrTmp(temp, expression));
    return IRExpr_RdTmp(temp);
  }

  static IRExpr* constant(ULong value) { return IRExpr_Const(IRConst_U64(value)); }
  IRExpr* get_shadow(Int offset) { return bind(Ity_I64, IRExpr_Get(kShadowBase + offset, Ity_I64)); }
  void put_shadow(Int offset, IRExpr* value) { add(IRStmt_Put(kShadowBase + offset, value)); }

  /// A call of `helper(guest state[, argument])` that may change the shadow registers and reads the integer registers.
  IRDirty* helper_call(const HChar* name, void* function, IRExpr* argument) {
    IRExpr** arguments = argument == nullptr ? mkIRExprVec_1(IRExpr_GSPTR()) : mkIRExprVec_2(IRExpr_GSPTR(), argument);
    IRDirty* call = unsafeIRDirty_0_N(0, name, VG_(fnptr_to_fnentry)(function), arguments);
    call->nFxState = 2;
    VG_(memset)(&call->fxState, 0, sizeof call->fxState);
    call->fxState[0].fx = Ifx_Modify;
    call->fxState[0].offset = static_cast<UShort>(kShadowBase + kShadowCursor);
    call->fxState[0].size = 24;
    call->fxState[1].fx = Ifx_Read;
    call->fxState[1].offset = offsetof(VexGuestAMD64State, guest_RAX);
    call->fxState[1].size = 128;
    return call;
  }

  IRExpr* to_word(IRExpr* value) {
    if (value->tag == Iex_Const) {
      const IRConst* c = value->Iex.Const.con;
      switch (c->tag) {
        case Ico_U1:
          return constant(c->Ico.U1);
        case Ico_U8:
          return constant(c->Ico.U8);
        case Ico_U16:
          return constant(c->Ico.U16);
        case Ico_U32:
          return constant(c->Ico.U32);
        default:
          return value;
      }
    }
    switch (typeOfIRExpr(out_->tyenv, value)) {
      case Ity_I8:
        return bind(Ity_I64, IRExpr_Unop(Iop_8Uto64, value));
      case Ity_I16:
        return bind(Ity_I64, IRExpr_Unop(Iop_16Uto64, value));
      case Ity_I32:
        return bind(Ity_I64, IRExpr_Unop(Iop_32Uto64, value));
      default:
        return value;
    }
  }

  /// Stores `word` as the next slot and returns its index.
  UInt slot(IRExpr* word) {
    const UInt index = slots_++;
    IRExpr* address = bind(Ity_I64, IRExpr_Binop(Iop_Add64, cursor_, constant(8 * (ULong{index} + 1))));
    add(IRStmt_Store(Iend_LE, address, word));
    return index;
  }

  /// A value of the block's own as it will be found in the description: derived if possible, else a slot.
  UInt value(IRExpr* atom) {
    if (mode == SlotMode::kNaive) return stored(slot(to_word(atom)));
    const UInt derived = forms_.find(atom);
    if (derived != wire::kNoValue && mode == SlotMode::kDerived) return derived;
    const UInt index = slot(to_word(atom));
    if (derived == wire::kNoValue) {
      forms_.stored(atom, index);
    } else {
      description_.check(index, derived);
    }
    return stored(index);
  }

  static UInt stored(UInt slot) { return wire::make_value(wire::kValueSlot, slot); }

  IRExpr* if_else_zero(IRExpr* guard, IRExpr* value) { return bind(Ity_I64, IRExpr_ITE(guard, value, constant(0))); }

  // ---- the parts of a block ----
  Int copy_preamble() {
    Int i = 0;
    for (; i < in_->stmts_used && in_->stmts[i]->tag != Ist_IMark; i++) add(in_->stmts[i]);
    return i;
  }

  /// Where this block ends: at the first instruction that is a leader. The block's own branches make leaders, too.
  Int find_end(Int first) {
    const Addr start = in_->stmts[first]->Ist.IMark.addr;
    leader_found(start);
    Addr end = start;
    for (Int i = first; i < in_->stmts_used; i++) {
      const IRStmt* s = in_->stmts[i];
      if (s->tag == Ist_IMark) end = s->Ist.IMark.addr + s->Ist.IMark.len;
    }
    const auto own_target = [&](Addr target) {
      if (target > start && target < end) leader_known(target);
    };
    for (Int i = first; i < in_->stmts_used; i++) {
      if (in_->stmts[i]->tag == Ist_Exit) own_target(in_->stmts[i]->Ist.Exit.dst->Ico.U64);
    }
    if (in_->next->tag == Iex_Const) own_target(in_->next->Iex.Const.con->Ico.U64);
    for (Int i = first + 1; i < in_->stmts_used; i++) {
      if (in_->stmts[i]->tag != Ist_IMark) continue;
      const Addr address = in_->stmts[i]->Ist.IMark.addr;
      if (is_leader(address)) {
        out_->next = constant(address);
        out_->jumpkind = Ijk_Boring;
        return i;
      }
      instruction_inside(address);
    }
    return in_->stmts_used;
  }

  /// A first look at the statements: how large the record can get, and what has to be known at entry.
  void count(Int first, Int end) {
    forms_.begin(static_cast<UInt>(in_->tyenv->types_used), in_->tyenv);
    definitions_ =
        static_cast<IRExpr**>(VG_(calloc)("loopfold.definitions", in_->tyenv->types_used + 1, sizeof(IRExpr*)));
    for (Int i = first; i < end; i++) {
      const IRStmt* s = in_->stmts[i];
      most_words_ += 2;
      if (s->tag == Ist_PutI) uses_x87_ = true;
      if (s->tag == Ist_Exit) has_side_exit_ = true;
      if (s->tag == Ist_Dirty) most_words_ += 2 * s->Ist.Dirty.details->nFxState;
      if (s->tag != Ist_WrTmp) continue;
      definitions_[s->Ist.WrTmp.tmp] = s->Ist.WrTmp.data;
      if (s->Ist.WrTmp.data->tag == Iex_GetI) uses_x87_ = true;
    }
  }

  void entry(Addr address) {
    description_.begin(address);
    note_module(address);
    const UInt function = function_at(address);
    if (function != 0) {
      add(IRStmt_Dirty(helper_call("loopfold_function_enter", reinterpret_cast<void*>(&loopfold_function_enter),
                                   constant(function))));
    }
    program_entry_ = wants_program_entry(address);
    const ULong need = 8 * (ULong{most_words_} + 4);
    IRExpr* behind = bind(Ity_I64, IRExpr_Binop(Iop_Add64, get_shadow(kShadowCursor), constant(need)));
    IRExpr* full = bind(Ity_I1, IRExpr_Binop(Iop_CmpLT64U, get_shadow(kShadowEnd), behind));
    IRDirty* switch_segment =
        helper_call("loopfold_segment_full", reinterpret_cast<void*>(&loopfold_segment_full), nullptr);
    switch_segment->guard = full;
    add(IRStmt_Dirty(switch_segment));
    cursor_ = get_shadow(kShadowCursor);
    base_exit_ = next_exit;
    set_header(base_exit_ + (has_side_exit_ ? 1 : 0));
    if (uses_x87_) {
      IRExpr* top = bind(Ity_I32, IRExpr_Get(offsetof(VexGuestAMD64State, guest_FTOP), Ity_I32));
      description_.ftop(slot(to_word(top)));
    }
  }

  void set_header(UInt exit) {
    if (header_ == exit) return;
    header_ = exit;
    add(IRStmt_Store(Iend_LE, cursor_, constant(exit)));
  }

  void set_cursor(UInt words) {
    if (words_behind_ == words) return;
    words_behind_ = words;
    IRExpr* behind = words == 0 ? cursor_ : bind(Ity_I64, IRExpr_Binop(Iop_Add64, cursor_, constant(8 * ULong{words})));
    put_shadow(kShadowCursor, behind);
  }

  void statement(IRStmt* s) {
    switch (s->tag) {
      case Ist_IMark:
        add(s);
        if (s->Ist.IMark.len > 0) description_.instruction(s->Ist.IMark.addr, s->Ist.IMark.len);
        gather_ = is_gather(s->Ist.IMark.addr, s->Ist.IMark.len);
        break;
      case Ist_WrTmp:
        if (s->Ist.WrTmp.data->tag == Iex_Load) load(s->Ist.WrTmp.data);
        forms_.define(s->Ist.WrTmp.tmp, s->Ist.WrTmp.data);
        add(s);
        break;
      case Ist_Store:
        description_.access(value(s->Ist.Store.addr), size_of(s->Ist.Store.data), {.store = true});
        add(s);
        break;
      case Ist_LoadG:
        guarded_load(s);
        break;
      case Ist_StoreG: {
        const IRStoreG* store = s->Ist.StoreG.details;
        guarded_access(store->guard, store->addr, size_of(store->data), {.store = true, .guarded = true});
        add(s);
        break;
      }
      case Ist_CAS:
        compare_and_swap(s);
        break;
      case Ist_Dirty:
        dirty(s);
        break;
      case Ist_Put:
        add(s);
        if (is_general_register(s->Ist.Put.offset)) {
          result(s->Ist.Put.offset, value(s->Ist.Put.data), size_of(s->Ist.Put.data));
          forms_.put_register(s->Ist.Put.offset, s->Ist.Put.data);
        }
        break;
      case Ist_Exit:
        side_exit(s);
        break;
      default:
        add(s);
        break;
    }
  }

  UInt size_of(IRExpr* data) const { return static_cast<UInt>(sizeofIRType(typeOfIRExpr(out_->tyenv, data))); }

  void guarded_access(IRExpr* guard, IRExpr* address, UInt size, AccessTraits traits) {
    description_.access(stored(slot(if_else_zero(guard, address))), size, traits);
  }

  /// What a temporary is, behind plain copies; null if it is not known.
  const IRExpr* definition_of(const IRExpr* atom) const {
    while (atom != nullptr && atom->tag == Iex_RdTmp) atom = definitions_[atom->Iex.RdTmp.tmp];
    return atom;
  }

  void load(const IRExpr* load) {
    IRExpr* address = load->Iex.Load.addr;
    const UInt size = static_cast<UInt>(sizeofIRType(load->Iex.Load.ty));
    const IRExpr* definition = definition_of(address);
    if (gather_ && definition != nullptr && definition->tag == Iex_ITE) {
      guarded_access(definition->Iex.ITE.cond, definition->Iex.ITE.iftrue, size, {.guarded = true});
    } else {
      description_.access(value(address), size, {});
    }
  }

  void guarded_load(IRStmt* s) {
    const IRLoadG* load = s->Ist.LoadG.details;
    IRType result_type;
    IRType loaded_type;
    typeOfIRLoadGOp(load->cvt, &result_type, &loaded_type);
    guarded_access(load->guard, load->addr, static_cast<UInt>(sizeofIRType(loaded_type)), {.guarded = true});
    forms_.define_opaque(load->dst);
    add(s);
  }

  void compare_and_swap(IRStmt* s) {
    const IRCAS* cas = s->Ist.CAS.details;
    const UInt size = size_of(cas->dataLo) * (cas->dataHi != nullptr ? 2 : 1);
    const UInt address = value(cas->addr);
    description_.access(address, size, {.atomic = true});
    description_.access(address, size, {.store = true, .atomic = true});
    forms_.define_opaque(cas->oldLo);
    if (cas->oldHi != IRTemp_INVALID) forms_.define_opaque(cas->oldHi);
    add(s);
  }

  void dirty(IRStmt* s) {
    const IRDirty* d = s->Ist.Dirty.details;
    const bool always = d->guard->tag == Iex_Const;
    if (d->mFx != Ifx_None) {
      const UInt address = always ? value(d->mAddr) : stored(slot(if_else_zero(d->guard, d->mAddr)));
      const UInt size = static_cast<UInt>(d->mSize);
      if (d->mFx != Ifx_Write) description_.access(address, size, {.guarded = !always});
      if (d->mFx != Ifx_Read) description_.access(address, size, {.store = true, .guarded = !always});
    }
    if (d->tmp != IRTemp_INVALID) forms_.define_opaque(d->tmp);
    add(s);
    for (Int i = 0; i < d->nFxState; i++) {
      if (d->fxState[i].fx == Ifx_Read || !is_general_register(d->fxState[i].offset)) continue;
      forms_.forget_register(d->fxState[i].offset, d->fxState[i].size);
      for (Int at = 0; at < d->fxState[i].size; at += 8) {
        const Int offset = d->fxState[i].offset + at;
        result(offset, stored(slot(bind(Ity_I64, IRExpr_Get(offset, Ity_I64)))), 8);
      }
    }
  }

  void result(Int offset, UInt value, UInt width) {
    const Int from_rax = offset - static_cast<Int>(offsetof(VexGuestAMD64State, guest_RAX));
    if (from_rax / 8 == kStackPointer) sp_ = width == 8 ? value : UInt{wire::kNoValue};
    description_.result(value, static_cast<UInt>(from_rax / 8), static_cast<UInt>(from_rax % 8), width);
  }

  /// The stack pointer when the block is left, as a slot or slot + constant.
  UInt stack_pointer(IRExpr* sp) {
    if (mode != SlotMode::kDerived && sp_ != wire::kNoValue) return sp_;
    const UInt found = mode == SlotMode::kDerived ? forms_.find_register(kStackPointerOffset) : UInt{wire::kNoValue};
    return found != wire::kNoValue ? found : stored(slot(sp));
  }

  void side_exit(IRStmt* s) {
    set_header(base_exit_ + exits_);
    set_cursor(slots_ + 1);
    add(s);
    exits_++;
    const IRConst* target = s->Ist.Exit.dst;
    description_.exit(exit_kind(s->Ist.Exit.jk, true), slots_, true, target->Ico.U64, wire::kNoValue);
  }

  static bool accesses_memory(const IRStmt* s) {
    return s->tag == Ist_Store || s->tag == Ist_StoreG || s->tag == Ist_LoadG || s->tag == Ist_CAS ||
           s->tag == Ist_Dirty || (s->tag == Ist_WrTmp && s->Ist.WrTmp.data->tag == Iex_Load);
  }

  /// Can one of these statements stop the block by a fault? Divisions can, too, so any further instruction counts.
  bool may_fault(Int first, Int end) const {
    for (Int i = first; i < end; i++) {
      if (in_->stmts[i]->tag == Ist_IMark || accesses_memory(in_->stmts[i])) return true;
    }
    return false;
  }

  /// A side exit was not taken: the record is unfinished again, or a fault further on would be taken for that exit.
  void reopen() { set_cursor(0); }

  void final_exit() {
    const bool direct = out_->next->tag == Iex_Const;
    const trace::ExitKind kind = exit_kind(out_->jumpkind, direct);
    const bool moves_stack = kind == trace::ExitKind::kCall || kind == trace::ExitKind::kIndirectCall ||
                             kind == trace::ExitKind::kReturn || kind == trace::ExitKind::kIndirectJump;
    UInt sp_value = wire::kNoValue;
    IRExpr* sp = nullptr;
    if (moves_stack) {
      sp = bind(Ity_I64, IRExpr_Get(kStackPointerOffset, Ity_I64));
      sp_value = stack_pointer(sp);
    }
    set_header(base_exit_);
    set_cursor(slots_ + 1);
    if (kind == trace::ExitKind::kReturn || kind == trace::ExitKind::kIndirectJump) {
      IRDirty* leave =
          helper_call("loopfold_function_leave", reinterpret_cast<void*>(&loopfold_function_leave), out_->next);
      leave->guard = bind(Ity_I1, IRExpr_Binop(Iop_CmpLE64U, get_shadow(kShadowWatch), sp));
      add(IRStmt_Dirty(leave));
    }
    if (program_entry_) {
      add(IRStmt_Dirty(
          helper_call("loopfold_program_entered", reinterpret_cast<void*>(&loopfold_program_entered), nullptr)));
    }
    description_.final_exit(kind, slots_, direct, direct ? out_->next->Iex.Const.con->Ico.U64 : 0, sp_value,
                            out_->jumpkind == Ijk_NoDecode);
    VG_(free)(definitions_);
    next_exit += exits_;
  }

  static trace::ExitKind exit_kind(IRJumpKind jump, bool direct) {
    using trace::ExitKind;
    switch (jump) {
      case Ijk_Boring:
        return direct ? ExitKind::kNext : ExitKind::kIndirectJump;
      case Ijk_Call:
        return direct ? ExitKind::kCall : ExitKind::kIndirectCall;
      case Ijk_Ret:
        return ExitKind::kReturn;
      case Ijk_ClientReq:
        return ExitKind::kClientRequest;
      case Ijk_Sys_syscall:
        return ExitKind::kSyscall;
      case Ijk_NoDecode:
      case Ijk_SigILL:
      case Ijk_SigTRAP:
      case Ijk_SigSEGV:
      case Ijk_SigBUS:
      case Ijk_SigFPE:
      case Ijk_SigFPE_IntDiv:
      case Ijk_SigFPE_IntOvf:
        return ExitKind::kTrap;
      default:
        return ExitKind::kOther;
    }
  }

  static constexpr Int kStackPointer = 4;
  static constexpr Int kStackPointerOffset = offsetof(VexGuestAMD64State, guest_RSP);

  IRSB* in_;
  IRSB* out_;
  IRExpr** definitions_ = nullptr;  // by temporary
  IRExpr* cursor_ = nullptr;        // where this execution's record starts
  DescriptionBuilder description_;
  LinearForms forms_;
  UInt base_exit_ = 0;
  UInt exits_ = 1;  // the final one
  UInt slots_ = 0;
  UInt most_words_ = 4;
  UInt sp_ = wire::kNoValue;  // the last value put to rsp
  UInt header_ = 0;           // what the record's header holds now
  UInt words_behind_ = 0;     // how far behind the record's start the write pointer stands now
  bool has_side_exit_ = false;
  bool uses_x87_ = false;
  bool gather_ = false;
  bool program_entry_ = false;
};

}  // namespace

void instrument_set_mode(SlotMode wanted) { mode = wanted; }

void instrument_init() {
  VexControl& control = VG_(clo_vex_control);
  control.guest_chase = False;
  control.iropt_unroll_thresh = 0;
  control.iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
}

void instrument_reset() { next_exit = wire::kFirstExit; }

IRSB* instrument(VgCallbackClosure*, IRSB* in, const VexGuestLayout*, const VexGuestExtents*, const VexArchInfo*,
                 IRType, IRType) {
  return ring_attached() ? Instrumenter(in).run() : in;
}

bool block_of_exit(UInt exit, UInt* base_exit, UInt* slots) {
  if (exit >= exit_slots_size || exit_slots[exit].base_exit == 0) return false;
  *base_exit = exit_slots[exit].base_exit;
  *slots = exit_slots[exit].slots;
  return true;
}

}  // namespace loopfold::tool
