// Instructions whose result is zero, whatever their operands hold.
#pragma once

#include "trace/decode.h"

namespace loopfold::trace {

/// xor r,r; pxor x,x; sub r,r: not vpcmpeq, which gives all ones. May say no wrongly.
bool makes_zero(const InstructionFacts& facts);

/// mov m,0. May say no wrongly.
bool stores_zero(const InstructionFacts& facts);

}  // namespace loopfold::trace
