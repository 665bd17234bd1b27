// One recording, from the first byte of the trace to the last.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "recorder/host/options.h"
#include "recorder/host/ring_reader.h"

namespace loopfold::recorder {

struct Recording {
  int status = 0;      // exit status of `loopfold record`
  bool there = false;  // the program ran, and options.out has its trace
};

/// Records `argv` as `options` say. Says on stderr what went wrong, and at the end what was recorded.
Recording record(const RecordOptions& options, const std::vector<std::string>& argv);

/// The recording process of a child: reads `ring` until `target` ends. Silent. After an exec, `argv` is what was run;
/// after a fork, it is empty and `program` is the binary. The trace goes to options.out, or options.out.1, .2, ... if
/// the process has left traces there already (it forked and then execs, perhaps more than once).
int serve(RingReader& ring, const RecordOptions& options, const std::vector<std::string>& argv,
          const std::string& program, pid_t target);

}  // namespace loopfold::recorder
