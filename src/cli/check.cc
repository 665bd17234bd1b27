// `loopfold check`: is an order of loops that somebody thought of right, for this run?
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "advise/check.h"
#include "advise/liveness/loop_reuse.h"
#include "cli/analysis.h"
#include "cli/terminal.h"
#include "cli/trace_commands.h"
#include "support/print.h"
#include "support/stopwatch.h"

namespace loopfold::cli {

namespace {

class CheckCommand : public Command {
 public:
  std::string name() const override { return "check"; }
  std::string summary() const override { return "Whether a schedule of your own is legal, and what it needs"; }

  void describe(CLI::App& app) override {
    add_directory(app, directory_);
    app.add_option("--schedule", schedule_, "Steps, or isl maps; - reads standard input")->type_name("FILE");
    app.add_option("--region", region_, "The region that it is about (default: that of the lines named)");
    app.add_option("--min-percent", min_percent_, "Loops in outermost loops with at least this share of the operations")
        ->check(CLI::Range(0.0, 100.0))
        ->capture_default_str();
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}))->capture_default_str();
    app.add_flag("--no-expansion", no_expansion_, "Private copies are fine, larger arrays are not");
    app.add_flag("--print-template", template_, "Write the order as written, to be changed, and stop");
    app.add_flag("--lambda", lambda_, "Write the live ranges, each definition with its last use, and stop");
    app.add_flag("--stats", stats_, "What the check cost, at the end");
    app.add_flag("-q,--quiet", quiet_, "No progress, nothing on standard output: the status tells");
    app.footer(
        "  echo 'interchange 12 13; parallel 12' | loopfold check --schedule -\n"
        "Exit status: 0 legal, perhaps after what it names; 1 illegal or unknown.");
  }

  int run(const CLI::App&) override {
    if (schedule_.empty() && !template_ && !lambda_)
      return report(
          {ErrorKind::kUsage, "check: which schedule? --schedule FILE, or --print-template to begin with one"});
    advise::ScheduleText schedule;
    if (!schedule_.empty()) {
      const Result<std::string> text = read_schedule();
      if (!text) return report(text.error());
      Result<advise::ScheduleText> parsed = advise::parse_schedule(*text);
      if (!parsed) return report({parsed.error().kind, fmt::format("{}: {}", schedule_name(), parsed.error().message)});
      schedule = std::move(*parsed);
    }
    advise::CheckOptions options;
    options.region = region_;
    options.expansion = !no_expansion_;
    std::optional<Result<advise::CheckAnswer>> answer;
    std::optional<Result<std::string>> printed;
    double seconds = 0;
    AnalyzeOptions analyze;
    analyze.quiet = quiet_;
    analyze.min_percent = min_percent_;
    analyze.advise = [&](const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                         profile::Profile& profile) {
      Stopwatch watch;
      advise::liveness::find_reuse(graph, context, flow, profile);
      if (lambda_)
        printed = advise::live_range_text(graph, context, flow, profile, schedule, options);
      else if (template_)
        printed = advise::schedule_template(graph, context, flow, profile, options);
      else
        answer = advise::check(graph, context, flow, profile, schedule, options);
      seconds = watch.lap();
    };
    const Result<Analysed> analysed = analyse_trace(directory_, analyze);
    if (!analysed) return report(analysed.error());
    if (stats_) print_stderr("loopfold: stats: check {:.3f} s of CPU time, without the analysis\n", seconds);
    if (printed) return print_template(*printed);
    if (!answer) return report({ErrorKind::kInternal, "check: nothing was judged"});
    if (!*answer)
      return report({answer->error().kind, fmt::format("{}: {}", schedule_name(), answer->error().message)});
    return print(**answer);
  }

 private:
  Result<std::string> read_schedule() const {
    std::ifstream file;
    if (schedule_ != "-") file.open(schedule_);
    std::istream& in = schedule_ == "-" ? std::cin : file;
    if (!in) return fail(ErrorKind::kBadInput, fmt::format("{}: cannot be read", schedule_));
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  int print_template(const Result<std::string>& text) const {
    if (!text) return report({text.error().kind, fmt::format("{}: {}", directory_, text.error().message)});
    std::fwrite(text->data(), 1, text->size(), stdout);
    return finish_output();
  }

  int print(const advise::CheckAnswer& answer) const {
    const std::string text = format_ == "json" ? advise::answer_json(answer) : advise::answer_text(answer);
    if (!quiet_ || format_ == "json") std::fwrite(text.data(), 1, text.size(), stdout);
    const int status = finish_output();
    if (status != kSuccess) return status;
    const bool legal = answer.verdict == advise::CheckAnswer::Verdict::kLegal ||
                       answer.verdict == advise::CheckAnswer::Verdict::kLegalAfter;
    return legal ? kSuccess : kAnswerIsNo;
  }

  std::string schedule_name() const { return schedule_ == "-" ? "standard input" : schedule_; }

  std::string directory_ = "loopfold.out";
  double min_percent_ = 1;
  std::string schedule_;
  std::optional<std::uint32_t> region_;
  std::string format_ = "text";
  bool no_expansion_ = false;
  bool template_ = false;
  bool lambda_ = false;
  bool stats_ = false;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_check() { return std::make_unique<CheckCommand>(); }

}  // namespace loopfold::cli
