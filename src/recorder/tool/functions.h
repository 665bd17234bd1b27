// Functions whose entry and return matter to recording: main, the function of --from or --only, the allocator, and the
// dynamic linker's lazy resolver.
//
// An entry is known when a block is translated (by symbol, or for main by what _start passes on, which works in
// stripped binaries); a call to loopfold_function_enter is put in front of the block. The return is known by the stack
// pointer: every `ret` and indirect jump compares it, inline, with the thread's *watch*, the value it will have when
// the innermost entered function has returned. Exceptions and longjmp out of a function pass the watch as well.
#pragma once

#include "options.h"
#include "ring.h"

namespace loopfold::tool {

/// No function is entered: no stack pointer reaches this.
inline constexpr ULong kNoWatch = ~ULong{0};

void functions_init(const Options& options);

/// What a block at `address` is the entry of, or 0.
UInt function_at(Addr address);

/// True if the block at `address` is the program's entry point and main is not known yet: loopfold_program_entered is
/// then to be called before its final exit.
bool wants_program_entry(Addr address);

// The watch of each thread.
void watch_thread_start(ThreadId tid);
void watch_signal_enter(ThreadId tid, bool alternate_stack);
void watch_signal_return(ThreadId tid);
ULong watch_of(ThreadId tid);

}  // namespace loopfold::tool

extern "C" {
void loopfold_program_entered(loopfold::tool::GuestState* guest);
void loopfold_function_enter(loopfold::tool::GuestState* guest, ULong function);
void loopfold_function_leave(loopfold::tool::GuestState* guest, ULong target);
}
