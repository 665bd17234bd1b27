// How regular a trace is: which share of it lies in long runs, and how fast it can be read for that.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "support/result.h"
#include "trace/reader.h"

namespace loopfold::cli {

struct RunCensus {
  std::uint64_t instructions = 0;
  std::uint64_t literals = 0;
  std::uint64_t loops = 0;       // runs of loops
  std::uint64_t iterations = 0;  // of these
  std::uint64_t columns = 0;
  std::uint64_t regular_columns = 0;
  std::uint64_t at_least_4 = 0;  // instructions in runs of at least so many iterations
  std::uint64_t at_least_16 = 0;
  std::uint64_t at_least_64 = 0;
  double seconds_runs = 0;     // CPU time of one reading: run by run with all columns,
  double seconds_control = 0;  // control only,
  double seconds_events = 0;   // event by event
};

/// Reads the trace three times.
Result<RunCensus> take_run_census(const trace::Reader& reader);

nlohmann::json to_json(const RunCensus& census);
/// Lines for a person, indented by two.
std::string describe_runs(const RunCensus& census);

}  // namespace loopfold::cli
