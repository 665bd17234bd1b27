// The structure stage as a whole: from a trace to the program, quality and tree of a profile.
#pragma once

#include <cstdint>
#include <functional>

#include "profile/profile.h"
#include "trace/reader.h"

namespace loopfold::structure {

/// What the stage cost, in seconds of CPU time.
struct Costs {
  double code = 0;    // cutting blocks, finding functions
  double pass1 = 0;   // reading control, building graphs
  double loops = 0;   // forests and recursive components
  double pass2 = 0;   // reading control again, loop events, iteration vectors, the tree
  double naming = 0;  // source lines
  std::uint64_t instructions = 0;
  std::uint64_t functions = 0;
  std::uint64_t places = 0;
  std::uint64_t static_loops = 0;
  std::uint64_t contexts = 0;
};

struct AnalysisOptions {
  std::function<void(double)> progress;  // called now and then with the share that is done, 0..1
};

/// Of what can be read: a trace that is cut off or damaged gives what comes before, and the profile says so.
profile::Profile analyse(const trace::Reader& reader, const AnalysisOptions& options, Costs& costs);

}  // namespace loopfold::structure
