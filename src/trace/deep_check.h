// Are the runs of a trace what the encoder makes of its events, and do they survive being encoded again?
//
// `loopfold trace check --deep`. All runs are expanded to events, the events are turned into runs again and compared
// with the stored ones, and these are encoded, decoded and expanded once more. A difference means a broken encoder,
// decoder or file, or a trace written by another version of the encoder. Cost: about four readings of the trace.
#pragma once

#include <cstdint>
#include <string>

#include "trace/reader.h"

namespace loopfold::trace {

struct DeepReport {
  std::uint64_t events = 0;
  std::uint64_t instructions = 0;
  std::uint64_t literals = 0;
  std::uint64_t loops = 0;       // runs of loops
  std::uint64_t iterations = 0;  // of these
  std::string problem;           // empty, or the first difference: where and what, one line

  bool sound() const { return problem.empty(); }
};

DeepReport deep_check(const Reader& reader);

}  // namespace loopfold::trace
