// `loopfold analyze`: from a trace to DIR/profile.json, with a summary of what is known of the run.
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "cli/analysis.h"
#include "cli/analyze_options.h"
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

class AnalyzeCommand : public Command {
 public:
  std::string name() const override { return "analyze"; }
  std::string summary() const override { return "Find statements, dependences and their shapes; write profile.json"; }

  void describe(CLI::App& app) override {
    add_directory(app, directory_);
    analysis_.describe(app);
    app.add_option("-o,--output", output_,
                   "Write the profile to this file (default DIR/profile.json); - is standard "
                   "output, without a summary");
    app.add_flag("-q,--quiet", quiet_, "No progress, no summary");
    app.add_flag("--stats", stats_, "Counts, times and memory at the end");
    app.add_option("--stats-json", stats_json_, "The same for scripts, to this file");
  }

  int run(const CLI::App&) override {
    const Result<AnalyzeOptions> asked = analysis_.options();
    if (!asked) return report(asked.error());
    AnalyzeOptions options = *asked;
    options.quiet = quiet_;
    const Result<Analysed> analysed = analyse_trace(directory_, options);
    if (!analysed) return report(analysed.error());
    const std::string text = profile::to_json_text(analysed->profile, jobs_of(options));
    const std::string path = output_.empty() ? profile_path(directory_) : output_;
    if (path == kStandardOutput) {
      std::fwrite(text.data(), 1, text.size(), stdout);
    } else if (const Result<void> written = write_whole_file(path, text); !written) {
      return report(written.error());
    }
    if (!stats_json_.empty()) {
      const Result<void> written = write_whole_file(stats_json_, costs_json(*analysed, options));
      if (!written) return report(written.error());
    }
    if (!quiet_ && path != kStandardOutput) print_summary(analysed->profile);
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
  AnalysisOptions analysis_;
  std::string output_;
  std::string stats_json_;
  bool quiet_ = false;
  bool stats_ = false;
};

}  // namespace

std::unique_ptr<Command> make_analyze() { return std::make_unique<AnalyzeCommand>(); }

}  // namespace loopfold::cli
