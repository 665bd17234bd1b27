// Register and flag operands of one decoded instruction. Internal to src/trace.
#pragma once

#include "trace/decode.h"
#include "trace/decode_tables.h"

namespace loopfold::trace {

/// Fills reads, writes, flags_read, flags_written and x87_pops. `facts.kinds` and `facts.associative` are set already.
void add_operands(const Decoded& decoded, InstructionFacts& facts);

}  // namespace loopfold::trace
