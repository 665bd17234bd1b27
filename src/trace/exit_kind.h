// How control leaves a block: the one enumeration that the freestanding recorder shares with the trace.
#pragma once

#include <cstdint>

namespace loopfold::trace {

enum class ExitKind : std::uint8_t {
  kNext,           // falls into, or jumps directly to, `target`; also either side of a conditional branch
  kIndirectJump,   // jmp *x: tail call, switch, longjmp, PLT
  kCall,           // direct call; `target` is the callee
  kIndirectCall,   // call *x
  kReturn,         // ret
  kSyscall,        // syscall instruction
  kClientRequest,  // the marker preamble
  kTrap,           // an instruction that raises a signal or that Valgrind cannot decode
  kInterrupted,    // a fault in the middle: only the first `instructions` instructions ran
  kOther,          // left for a reason of Valgrind's own; control goes on at `target`
};

}  // namespace loopfold::trace
