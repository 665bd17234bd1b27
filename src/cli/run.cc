// `loopfold run`: record, analyse and report in one. What it leaves behind is what `record` and `analyze` do.
#include <array>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "cli/analysis.h"
#include "cli/analyze_options.h"
#include "cli/command.h"
#include "cli/html.h"
#include "cli/record_options.h"
#include "cli/report_text.h"
#include "cli/trace_commands.h"
#include "recorder/host/session.h"
#include "views/report_text.h"

namespace loopfold::cli {

namespace {

/// Recording takes signals over, since they are meant for the program. Behind it they are this process's again.
class Signals {
 public:
  Signals() {
    for (std::size_t i = 0; i < kTaken.size(); i++) ::sigaction(kTaken[i], nullptr, &before_[i]);
  }
  ~Signals() {
    for (std::size_t i = 0; i < kTaken.size(); i++) ::sigaction(kTaken[i], &before_[i], nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  static constexpr std::array kTaken{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
  std::array<struct sigaction, kTaken.size()> before_{};
};

class RunCommand : public Command {
 public:
  std::string name() const override { return "run"; }
  std::string summary() const override { return "Record a program, analyse it and report, all in one"; }

  void describe(CLI::App& app) override {
    recording_.describe(app, name());
    analysis_.describe(app);
    html_.describe(app, "Also write the report as a page for a browser to this file");
    app.add_option("--color", color_, "Of the report: auto, always or never")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->capture_default_str();
    app.footer(
        "The program's input, output and environment are its own; the report follows on standard output. Exit\n"
        "status: the program's; 128+n if signal n killed it; 127 not found; 126 cannot be run; 125 Loopfold failed.\n\n"
        "  loopfold run -- ./heat 100 100\n"
        "  loopfold run --only solve -o solve.out -- ./heat 100 100");
  }

  void set_program(std::vector<std::string> argv) override { recording_.set_program(std::move(argv)); }

  int run(const CLI::App& app) override {
    const std::optional<std::vector<std::string>> argv = recording_.program(app);
    if (!argv) return kRecorderFailed;
    std::optional<recorder::RecordOptions> record = recording_.options();
    Result<AnalyzeOptions> analysis = analysis_.options();
    if (!analysis) report(analysis.error());
    const Result<void> page = html_.ready();
    if (!page) report(page.error());
    if (!record || !analysis || !page) return kRecorderFailed;
    record->hint = false;
    analysis->quiet = record->quiet;
    const recorder::Recording recording = record_program(*record, *argv);
    if (!recording.there) return recording.status;
    return analyse_and_report(*record, *analysis) ? recording.status : int{kRecorderFailed};
  }

 private:
  static recorder::Recording record_program(const recorder::RecordOptions& options,
                                            const std::vector<std::string>& argv) {
    const Signals signals;
    return recorder::record(options, argv);
  }

  /// False if it failed, which then is said.
  bool analyse_and_report(const recorder::RecordOptions& record, const AnalyzeOptions& analysis) const {
    const Result<Analysed> analysed = analyse_and_keep(record.out, analysis);
    if (!analysed) {
      report(analysed.error());
      return false;
    }
    views::ReportOptions options = report_options(analysed->profile, record.out, color_);
    options.min_percent = analysis.min_percent;
    options.legend = !record.quiet;
    const std::string text = views::report_text(analysed->profile, options);
    std::fwrite(text.data(), 1, text.size(), stdout);
    const bool written = finish_output() == kSuccess;
    if (record.stats) print_costs(*analysed);
    const Result<void> page = html_.write(analysed->profile, record.out, record.quiet);
    if (!page) report(page.error());
    return written && page;
  }

  RecordingOptions recording_;
  AnalysisOptions analysis_;
  HtmlOption html_;
  std::string color_ = "auto";
};

}  // namespace

std::unique_ptr<Command> make_run() { return std::make_unique<RunCommand>(); }

}  // namespace loopfold::cli
