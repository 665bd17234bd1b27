// The whole analysis: from a trace to a profile with its loop tree, statements, accesses, values, dependences, objects,
// and what can be said of each loop.
//
// Structure (pass 1: graphs and loops), ddg (pass 2: iteration vectors, dependences, folding), and their description;
// then the loops of the source, and a verdict for each that is in a region. If there are loops that the binary hides
// (hidden_loops.h), pass 2 is done again with these split, and what is said of iteration vectors is about that.
// Deterministic: the same trace and options give the same profile, byte for byte, for any number of jobs. A trace that
// is cut off or damaged gives what comes before, and the profile says so.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ddg/analysis.h"
#include "ddg/graph.h"
#include "poly/describe.h"
#include "poly/region_flow.h"
#include "poly/statistics.h"
#include "profile/profile.h"
#include "trace/reader.h"

namespace loopfold::poly {

struct AnalysisOptions {
  fold::Options fold;
  std::uint64_t max_memory = ddg::Options{}.max_memory;
  unsigned jobs = 1;
  bool by_runs = true;                   // iterations of loops many at a time; the result is the same
  bool hidden_loops = true;              // look for them (hidden_loops.h)
  std::uint64_t max_statements = 20000;  // the contexts that ran most have them; 0: all
  bool verdicts = true;                  // judge loops; without, values are not followed through copies
  double min_percent = 1;                // of the operations: outermost loops with less are not judged
  std::vector<std::string> pure;         // functions whose calls may be reordered (pure_calls.h)
  std::vector<std::string> exclude;      // functions and files that are left out (excluded.h)
  /// Adds advice to a profile that has everything else: called at the end, if loops are judged.
  std::function<void(const ddg::Graph&, const Context&, RegionFlow&, profile::Profile&)> advise;
  /// Called now and then: the share of the whole that is done, and the instructions that the dependence pass has seen.
  std::function<void(double share, std::uint64_t instructions)> progress;
};

/// Seconds of each stage.
struct StageSeconds {
  double code = 0;        // cutting blocks, finding functions
  double pass1 = 0;       // reading control, building graphs
  double loops = 0;       // forests and recursive components
  double choosing = 0;    // reading control again, for the contexts that ran most
  double pass2 = 0;       // reading everything: iteration vectors, dependences, folding
  double hidden = 0;      // looking for hidden loops; if there are some, pass 2 is done twice
  double naming = 0;      // source lines
  double describing = 0;  // the graph as profile
  double judging = 0;     // loops of the source, verdicts
  double advising = 0;    // schedules, suggestions
};

/// What it cost, and how well it went. With several jobs, some of choosing goes on during pass 2, and counts there.
struct AnalysisCosts {
  StageSeconds cpu;   // of all threads
  StageSeconds wall;  // that passed
  std::uint64_t functions = 0;
  std::uint64_t places = 0;
  std::uint64_t static_loops = 0;
  std::uint64_t contexts = 0;
  ddg::Costs ddg;
  FoldStatistics fold;
  std::uint64_t max_intermediate = 0;       // Graph::max_intermediate
  std::vector<std::string> unmatched_pure;      // of AnalysisOptions::pure: no such function ran
  std::vector<std::string> unmatched_excluded;  // the same of AnalysisOptions::exclude
};

profile::Profile analyse(const trace::Reader& reader, const AnalysisOptions& options, AnalysisCosts& costs);

}  // namespace loopfold::poly
