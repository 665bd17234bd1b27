// Another order of a run's steps: what the steps of a schedule (`loopfold check --schedule`) do to each time.
//
// Here a time is a vector of numbers, static indices and counters in turn, and a schedule's step changes numbers, one
// execution at a time. No sets, no maps: what it does to one execution is all there is to see.
#pragma once

#include <string>
#include <vector>

#include "live_trace.h"
#include "support/result.h"

namespace loopfold::reference {

struct OrderStep {
  std::string what;                  // "interchange", "reverse", "parallel", "tile", "skew", "fuse", "distribute"
  std::vector<std::uint32_t> lines;  // of loops; of distribute: also that of the place
  std::int64_t number = 0;
};

/// By step of the trace. `nest` is the line of the outermost loop: what is not in it stays as it is.
Result<std::vector<Time>> reordered(const LiveTrace& trace, std::uint32_t nest, const std::vector<OrderStep>& steps);

/// The counter of a loop in a step's own time; none if it is not in the loop.
std::optional<std::int64_t> counter_of(const LiveStep& step, std::uint32_t line);

}  // namespace loopfold::reference
