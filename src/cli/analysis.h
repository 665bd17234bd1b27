// The whole analysis of a trace, for commands: options, progress, costs, and where the profile goes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "poly/analysis.h"
#include "profile/profile.h"
#include "support/result.h"

namespace loopfold::cli {

struct AnalyzeOptions {
  std::string fold = "auto";
  std::uint64_t max_memory = poly::AnalysisOptions{}.max_memory;
  std::uint64_t max_statements = poly::AnalysisOptions{}.max_statements;
  bool verdicts = true;
  bool advice = true;  // orders and suggestions, if there are verdicts
  bool by_runs = true;
  double min_percent = poly::AnalysisOptions{}.min_percent;
  std::vector<std::string> pure;
  std::vector<std::string> exclude;
  unsigned jobs = 0;   // 0: as many as there are processors
  bool quiet = false;  // no progress, no remarks
  /// Instead of orders and suggestions: what to do with the judged graph.
  decltype(poly::AnalysisOptions::advise) advise;
};

struct Analysed {
  profile::Profile profile;
  poly::AnalysisCosts costs;
  double seconds = 0;  // that passed
  std::uint64_t instructions = 0;
};

/// The number of threads to use.
unsigned jobs_of(const AnalyzeOptions& options);

/// Analyses DIR/trace.lft (or the trace file that DIR is).
Result<Analysed> analyse_trace(const std::string& directory, const AnalyzeOptions& options);

/// Where the profile of DIR belongs: DIR/profile.json, or beside the trace file that DIR is.
std::string profile_path(const std::string& directory);

/// The same, and the profile is kept where it belongs; if it cannot be kept there, a warning says so.
Result<Analysed> analyse_and_keep(const std::string& directory, const AnalyzeOptions& options);

/// The profile of DIR with its dependence graph. If there is none that is fresh and whole, the trace is analysed and
/// the profile kept in DIR/profile.json; if it cannot be kept there, a warning says so.
Result<profile::Profile> folded_profile_of(const std::string& directory, bool quiet);

/// What a report needs of the profile of DIR: its tree and its regions. If there is no profile with regions that is
/// fresh and whole, the trace is analysed and the profile kept, as above, with regions from `min_percent` on.
Result<profile::Profile> judged_profile_of(const std::string& directory, double min_percent, bool quiet);

/// The profile of DIR with everything in it: dependence graph and regions. As above.
Result<profile::Profile> whole_profile_of(const std::string& directory, bool quiet);

/// Is it a directory that holds a trace or a profile?
bool holds_recording(const std::string& path);

/// Times, rates, memory and quality of folding on standard error.
void print_costs(const Analysed& analysed);

/// The same for scripts, as a JSON document.
std::string costs_json(const Analysed& analysed, const AnalyzeOptions& options);

}  // namespace loopfold::cli
