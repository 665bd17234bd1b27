// Which files the code comes from.
#pragma once

#include "ring.h"

namespace loopfold::tool {

/// Reports the mapped file that holds `address`, once per mapping.
void note_module(Addr address);

/// A range was unmapped: what is mapped there later is another module.
void forget_modules(Addr start, SizeT size);

/// Appends a record of `words` and the string at `text` behind them.
void append_with_text(UInt id, std::span<const ULong> words, const HChar* text, SizeT characters);

/// Characters of the program's string at `address` up to its end, or to the end of what can be read.
SizeT readable_length(Addr address);

/// As append_with_text(), for a string of the program's, which may not be there.
void append_client_text(UInt id, std::span<const ULong> words, Addr text);

}  // namespace loopfold::tool
