#include "cli/analyze_options.h"

#include <fmt/format.h>

#include <optional>

#include "support/units.h"

namespace loopfold::cli {

namespace {

constexpr unsigned kMostJobs = 1024;

}  // namespace

void AnalysisOptions::describe(CLI::App& app) {
  app.add_option("--jobs", options_.jobs, "Use so many threads (default: one per processor); the result is the same")
      ->check(CLI::Range(1u, kMostJobs));
  app.add_option("--max-memory", max_memory_,
                 "Keep shadow memory and streams below this (500MB, 4G); what has to be approximated is named");
  app.add_option("--max-statements", options_.max_statements,
                 "Keep about so many statements, of the contexts that ran most; 0 keeps all")
      ->capture_default_str();
  app.add_flag("!--no-advice", options_.advice, "Verdicts only: no schedules and no suggestions");
  app.add_flag("!--no-verdicts", options_.verdicts,
               "Do not judge loops: quicker, for exports; values are not followed through copies");
  app.add_option("--min-percent", options_.min_percent,
                 "Judge the loops of outermost loops with at least this share of the operations; 0 judges all")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_option("--pure", options_.pure,
                 "Calls of this function may be reordered: what they do to each other counts for no verdict "
                 "(may be given several times)")
      ->type_name("FUNC")
      ->allow_extra_args(false);
  app.add_option("--exclude", options_.exclude,
                 "Leave out this function, or this library, with all that it calls: no regions, no advice there "
                 "(may be given several times)")
      ->type_name("FUNC|LIB")
      ->allow_extra_args(false);
  app.add_flag("!--by-events", options_.by_runs,
               "Follow loops event by event instead of many iterations at a time: slower, the result is the same");
  app.add_option("--fold", options_.fold,
                 "How to fold: F, FW, FGG, FGGW as published (exact; with label widening; with geometric give-up; "
                 "both), or auto")
      ->check(CLI::IsMember({"F", "FW", "FGG", "FGGW", "auto"}))
      ->capture_default_str();
}

Result<AnalyzeOptions> AnalysisOptions::options() const {
  AnalyzeOptions options = options_;
  if (max_memory_.empty()) return options;
  const std::optional<std::uint64_t> bytes = parse_count(max_memory_);
  if (!bytes || *bytes == 0)
    return fail(ErrorKind::kUsage, fmt::format("--max-memory {}: not a size; say 500MB or 4G", max_memory_));
  options.max_memory = *bytes;
  return options;
}

}  // namespace loopfold::cli
