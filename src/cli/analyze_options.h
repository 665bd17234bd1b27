// The options of the analysis, for every command that analyses: `analyze` and `run`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/analysis.h"
#include "support/result.h"

namespace loopfold::cli {

class AnalysisOptions {
 public:
  /// Adds the options that say how to analyse, not from where, where to and how loud.
  void describe(CLI::App& app);

  /// What was asked for, once it is parsed.
  Result<AnalyzeOptions> options() const;

 private:
  AnalyzeOptions options_;
  std::string max_memory_;
};

}  // namespace loopfold::cli
