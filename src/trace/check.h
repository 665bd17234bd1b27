// Is a trace sound? Walks all of it and tests what must hold of any recording of a real execution.
//
// No printing: `loopfold trace check` and tests show what is found here. A sound partial trace is sound: what is there
// obeys every rule. Damage (a wrong checksum, a chunk that cannot be decoded) is a problem; a file that merely ends
// early, as after kill -9, is not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/reader.h"

namespace loopfold::trace {

/// One broken rule. `thread` is empty where the problem belongs to the file, not to a point of the execution.
struct Problem {
  std::optional<ThreadId> thread;
  std::uint64_t position = 0;  // ordinal of the event among the thread's, or number of events before a side event
  std::string text;            // what is wrong, without the place

  /// "thread 0, event 17: text", or the text alone.
  std::string describe() const;
};

struct CheckReport {
  std::vector<Problem> problems;    // the first ones, in the order of execution
  std::uint64_t problem_count = 0;  // all of them
  bool partial = false;             // no end record

  // What was counted on the way.
  std::uint64_t instructions = 0;
  std::uint64_t hidden_instructions = 0;
  std::uint64_t events = 0;
  std::uint64_t side_events = 0;
  std::uint64_t threads = 0;

  bool sound() const { return problem_count == 0; }
};

/// One pass over the trace. Keeps at most `most_problems` of the problems; memory grows with the live heap blocks and
/// the depth of the call stacks, not with the length of the run.
CheckReport check(const Reader& reader, std::size_t most_problems = 10);

}  // namespace loopfold::trace
