// Which values of a block follow from others: linear forms over the block's temporaries.
//
// Every integer temporary has a form: constant + sum of coefficient * root, modulo 2^bits. A *root* is something opaque
// (a register at entry, a loaded value, the result of any other operation) or an extension of a form from fewer bits.
// + - << by a constant, * by a constant, narrowing and moves keep a form; everything else makes a new root.
//
// A value that must be known is given as a constant, as an expression over slots that the block has stored already, or,
// if neither is possible, as a new slot. Storing a value also makes known the one root of its form that was not, if
// its coefficient is 1 or -1: `[rdi + 8*rcx]` after rcx gives rdi. So a block stores one slot per independent linear
// part, and everything else is computed from these by the reader, exactly: all arithmetic wraps as the machine's does.
#pragma once

#include "recorder/wire.h"
#include "valgrind.h"

namespace loopfold::tool {

class LinearForms {
 public:
  /// Starts a block whose temporaries are numbered below `temporaries`.
  void begin(UInt temporaries, const IRTypeEnv* types);

  // The statements of the block, in order.
  void define(IRTemp temp, const IRExpr* value);
  void define_opaque(IRTemp temp);
  void put_register(Int offset, const IRExpr* value);
  void forget_register(Int offset, Int size);

  /// How `atom` (a temporary or constant of an integer type) can be had without storing it; wire::kNoValue if it can't.
  UInt find(const IRExpr* atom);
  /// `atom` is stored in `slot` from now on.
  void stored(const IRExpr* atom, UInt slot);

  /// What a general register holds now, as a slot or slot + constant; wire::kNoValue if it can't be had like that.
  UInt find_register(Int offset);
};

}  // namespace loopfold::tool
