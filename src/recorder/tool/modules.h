// Which files the code comes from.
#pragma once

#include "ring.h"

namespace loopfold::tool {

/// Reports the mapped file that holds `address`, once per mapping.
void note_module(Addr address);

/// A range was unmapped: what is mapped there later is another module.
void forget_modules(Addr start, SizeT size);

/// Appends a record of `words` and a string behind them.
void append_with_text(UInt id, std::span<const ULong> words, const HChar* text);

}  // namespace loopfold::tool
