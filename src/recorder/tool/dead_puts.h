// Removes stores to the guest state that nobody can see.
#pragma once

#include "valgrind.h"

namespace loopfold::tool {

/// Removes from `block` every PUT of the instruction pointer or of the flags' thunk that is overwritten before anything
/// could look: a memory access of the program's (it may fault, and a handler sees all registers), an exit, a helper or
/// a GET. Temporaries from `first_own` on are the recorder's: what it stores through them cannot fault.
void drop_dead_puts(IRSB* block, Int first_own);

}  // namespace loopfold::tool
