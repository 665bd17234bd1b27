// `loopfold analyze`: from a trace to DIR/profile.json, with a summary of what is known of the run.
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "cli/analysis.h"
#include "cli/terminal.h"
#include "cli/trace_commands.h"
#include "profile/json.h"
#include "support/atomic_file.h"
#include "support/print.h"
#include "views/summary.h"
#include "views/text.h"

namespace loopfold::cli {

namespace {

constexpr const char* kDefaultDirectory = "loopfold.out";
constexpr std::string_view kStandardOutput = "-";
constexpr unsigned kMostJobs = 1024;

class AnalyzeCommand : public Command {
 public:
  std::string name() const override { return "analyze"; }
  std::string summary() const override { return "Find statements, dependences and their shapes; write profile.json"; }

  void describe(CLI::App& app) override {
    add_directory(app, directory_);
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
    app.add_flag("!--by-events", options_.by_runs,
                 "Follow loops event by event instead of many iterations at a time: slower, the result is the same");
    app.add_option("--fold", options_.fold,
                   "How to fold: F, FW, FGG, FGGW as published (exact; with label widening; with geometric give-up; "
                   "both), or auto")
        ->check(CLI::IsMember({"F", "FW", "FGG", "FGGW", "auto"}))
        ->capture_default_str();
    app.add_option("-o,--output", output_,
                   "Write the profile to this file (default DIR/profile.json); - is standard "
                   "output, without a summary");
    app.add_flag("-q,--quiet", options_.quiet, "No progress, no summary");
    app.add_flag("--stats", stats_, "Counts, times and memory at the end");
    app.add_option("--stats-json", stats_json_, "The same for scripts, to this file");
  }

  int run(const CLI::App&) override {
    if (!max_memory_.empty()) {
      const std::optional<std::uint64_t> bytes = parse_count(max_memory_);
      if (!bytes || *bytes == 0)
        return report({ErrorKind::kUsage, fmt::format("--max-memory {}: not a size; say 500MB or 4G", max_memory_)});
      options_.max_memory = *bytes;
    }
    const Result<Analysed> analysed = analyse_trace(directory_, options_);
    if (!analysed) return report(analysed.error());
    const std::string text = profile::to_json_text(analysed->profile, jobs_of(options_));
    const std::string path = output_.empty() ? profile_path(directory_) : output_;
    if (path == kStandardOutput) {
      std::fwrite(text.data(), 1, text.size(), stdout);
    } else if (const Result<void> written = write_whole_file(path, text); !written) {
      return report(written.error());
    }
    if (!stats_json_.empty()) {
      const Result<void> written = write_whole_file(stats_json_, costs_json(*analysed, options_));
      if (!written) return report(written.error());
    }
    if (!options_.quiet && path != kStandardOutput) print_summary(analysed->profile);
    const int status = finish_output();
    if (stats_) {
      print_costs(*analysed);
      print_stderr("loopfold: stats: {} bytes of profile\n", grouped(text.size()));
    }
    return status;
  }

 private:
  void print_summary(const profile::Profile& profile) const {
    views::SummaryOptions options;
    options.charset = output_charset();
    const std::string directory = directory_ == kDefaultDirectory ? "" : views::shell_word(directory_) + " ";
    options.next_command = fmt::format("loopfold report {0}or loopfold export {0}--format isl", directory);
    const std::string text = views::summary_text(profile, options);
    std::fwrite(text.data(), 1, text.size(), stdout);
  }

  std::string directory_ = kDefaultDirectory;
  AnalyzeOptions options_;
  std::string max_memory_;
  std::string output_;
  std::string stats_json_;
  bool stats_ = false;
};

}  // namespace

std::unique_ptr<Command> make_analyze() { return std::make_unique<AnalyzeCommand>(); }

}  // namespace loopfold::cli
