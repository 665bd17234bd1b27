// What the recording process tells the tool on its command line.
#pragma once

#include "valgrind.h"

namespace loopfold::tool {

struct Options {
  Int ring_fd = -1;
  Int alive_fd = -1;
  Int log_fd = -1;  // inherited for Valgrind's messages; the core has its own copy
  Bool follow_children = False;
  Bool naive = False;
  Bool verify = False;        // naive, and the recording process compares every derived value with the slot
  Bool keep_preload = False;  // leave Valgrind's LD_PRELOAD in the program's environment (comparisons with other tools)
  const HChar* scope = nullptr;          // function of --from or --only
  const HChar* launcher = nullptr;       // the loopfold binary, for recording forked children
  const HChar* out = nullptr;            // trace directory; children get OUT.PID
  const HChar* child_options = nullptr;  // further options for the recording process of a child
  const HChar* child_program = nullptr;
};

}  // namespace loopfold::tool
