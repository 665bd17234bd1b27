// What a run did with its data, piece by piece: every execution of a straight piece of code (a *step*), where in the
// loops it was, and which cells it read and wrote.
//
// From what: the trace and the loops (src/structure), nothing of the analysis that is tested. Data are the values that
// floating-point instructions make or load, and copies of them; counters and addresses are integers and do not count.
// Kernels that are looked at with this must keep to that.
//
// A *cell* is a byte of memory, as long as it belongs to the same block or frame (what is allocated or called anew has
// new cells), or a *web* of a register: all definitions of registers that reach a common use in another step, and all
// uses of these, in one call of the function that defines. What stays within a step is nobody's business.
//
// Cost: all accesses of the run are kept, some hundred bytes per instruction. For small runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "structure/loop_tree.h"
#include "support/result.h"

namespace loopfold::reference {

inline constexpr std::uint32_t kNoLine = 0;
inline constexpr std::uint32_t kNothing = 0xffffffff;

/// One entry of a time: a static index, or the counter of a loop.
struct TimeEntry {
  std::int64_t value = 0;
  std::uint32_t loop = kNothing;  // the line of the loop that it counts
  bool tile = false;
  bool parallel = false;
};
using Time = std::vector<TimeEntry>;

struct LiveAccess {
  std::uint32_t cell = kNothing;  // if it is none of data
  std::uint32_t step = 0;
  bool write = false;
  std::uint32_t line = kNoLine;
  std::uint32_t source = kNothing;  // of a read: the access that has written what it gets, as the program was run
};

struct LiveStep {
  Time time;                            // increases from step to step
  std::uint32_t line = kNoLine;         // of the first instruction of the kernel's file
  std::vector<std::uint32_t> accesses;  // in order
};

struct LiveCell {
  bool is_register = false;
  std::string variable;  // of the program's data that it is in
};

struct LiveTrace {
  std::vector<LiveStep> steps;  // that have accesses, in the order of the run
  std::vector<LiveAccess> accesses;
  std::vector<LiveCell> cells;
};

/// `file`: the name of the source whose lines count. The main thread only.
Result<LiveTrace> read_live_trace(const std::string& directory, const std::string& file);

}  // namespace loopfold::reference
