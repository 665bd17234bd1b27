// One recording, from the first byte of the trace to the last.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "recorder/host/options.h"
#include "recorder/host/ring_reader.h"

namespace loopfold::recorder {

/// Records `argv` as `options` say and returns the exit status of `loopfold record`. Says on stderr what went wrong,
/// and at the end what was recorded.
int record(const RecordOptions& options, const std::vector<std::string>& argv);

/// The recording process of a child (of a followed fork or exec): reads `ring` until `target` ends. Silent.
int serve(RingReader& ring, const RecordOptions& options, const std::vector<std::string>& argv, pid_t target);

}  // namespace loopfold::recorder
