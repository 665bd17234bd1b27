// Which system calls of x86-64 Linux touch the world outside. Their names are in trace/system_calls.h.
//
// A system call has an *effect outside* if other processes, files, devices, or the time that passes can tell whether it
// happened or in which order: it reads or changes something that is not the memory, the threads and the signal state of
// the process itself. Such calls read and write the environment, so that none can be moved past another. Calls that
// only manage the process (memory, threads, masks) or only look at what does not change while it runs (its ids, its
// limits) or at a clock do not. In doubt, and for numbers that are not known, the answer is yes.
#pragma once

#include <cstdint>

namespace loopfold::ddg {

bool has_outside_effect(std::uint32_t number);

}  // namespace loopfold::ddg
