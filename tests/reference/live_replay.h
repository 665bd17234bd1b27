// Runs another order of a run's steps, with copies of variables as told, and looks what each read gets.
//
// The order is right if every read gets the value of the definition that it got as the program was run, and no two
// iterations of a parallel loop touch one place, one of them writing. That is all live ranges are about, by brute
// force: a value that is overwritten before its last use, in whatever order, is found because that use gets another
// one.
//
// Copies. A *private* variable has a place in each iteration of the parallel loop; what was there before it is seen
// only if it is `first`, and behind the loop there is what the last iteration leaves if it is `last` (in all of the
// variable). An *expanded* one has a place for each iteration of loops as written, by the counters of whoever defines;
// what comes from before the nest stays where it was. A value of a *reduction* is not looked at. What the compiler
// keeps in registers without a variable of the source gets a place for each value: only whether it is there in time
// counts. Variables are known by the lines of the nest that assign to them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "live_order.h"
#include "live_trace.h"

namespace loopfold::reference {

struct Treatment {
  enum class Kind { kNone, kPrivate, kExpanded, kReduction };
  Kind kind = Kind::kNone;
  bool first = false;
  bool last = false;
  std::vector<std::uint32_t> along;  // expanded: lines of loops
};

struct LiveVariable {
  std::vector<std::uint32_t> lines;  // in which it is assigned to
  bool scalar = false;               // so it may be in a register
  Treatment treatment;
};

struct LiveAnswer {
  std::uint64_t reads = 0;       // that were looked at
  std::uint64_t flow = 0;        // reads that come before the definition that they need
  std::uint64_t overlaps = 0;    // reads whose value was overwritten, or has no place where it is needed
  std::uint64_t collisions = 0;  // accesses to one place by two iterations of a parallel loop
  std::string example;
  bool right() const { return flow == 0 && overlaps == 0 && collisions == 0; }
};

/// `times` are by step of the trace (live_order.h), `nest` is the line of the outermost loop.
LiveAnswer replay(const LiveTrace& trace, const std::vector<Time>& times, std::uint32_t nest,
                  const std::map<std::string, LiveVariable>& variables);

}  // namespace loopfold::reference
