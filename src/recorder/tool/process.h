// What the tool does about the program's environment and its child processes.
#pragma once

#include "options.h"

namespace loopfold::tool {

/// Takes out of the program's initial environment what Valgrind and its launcher put there, before its first
/// instruction runs.
void restore_environment(ThreadId tid);

/// In a forked child: a ring and a recording process of its own, writing to OUT.PID. False if that cannot be had.
bool record_forked_child(const Options& options);

}  // namespace loopfold::tool
