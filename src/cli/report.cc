// `loopfold report`: what can be said of each hot loop, and why: as text, JSON, Markdown or a page.
#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>

#include "cli/analysis.h"
#include "cli/html.h"
#include "cli/report_text.h"
#include "cli/trace_commands.h"
#include "profile/json.h"
#include "support/print.h"
#include "views/report_markdown.h"

namespace loopfold::cli {

namespace {

constexpr double kMinPercent = 1.0;

class ReportCommand : public Command {
 public:
  std::string name() const override { return "report"; }
  std::string summary() const override {
    return "What can be said of each hot loop: may its iterations run in parallel?";
  }

  void describe(CLI::App& app) override {
    add_directory(app, directory_);
    app.add_option("--format", format_, "text, json or markdown")
        ->check(CLI::IsMember({"text", "json", "markdown"}))
        ->capture_default_str();
    app.add_option("--top", top_, "Show so many regions only, those with most operations")->check(whole_number());
    app.add_option("--min-percent", min_percent_,
                   "Leave out regions and loops with less of the operations (default 1; with --format json loops are "
                   "not left out)")
        ->check(CLI::Range(0.0, 100.0));
    app.add_flag("--table5", table5_, "The numbers of POLY-PROF's Table 5 instead: one row per region, and the total");
    html_.describe(app,
                   "Write the report as a page for a browser to this file instead: one file that needs nothing else");
    app.add_option("--color", color_, "auto, always or never")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->capture_default_str();
    app.add_flag("-q,--quiet", quiet_, "The report only: no progress, no legend");
  }

  int run(const CLI::App&) override {
    if (table5_ && format_ == "json")
      return report({ErrorKind::kUsage, "--table5: a table is text or markdown; JSON has its numbers without it"});
    if (html_.wanted()) return write_page();
    const double min_percent = min_percent_.value_or(kMinPercent);
    const Result<profile::Profile> profile = judged_profile_of(directory_, min_percent, quiet_);
    if (!profile) return report(profile.error());
    if (min_percent_ && *min_percent_ < profile->regions_min_percent)
      warn(fmt::format("{}: has regions from {:g} % on only; for smaller ones: loopfold analyze {}--min-percent {:g}",
                       profile_path(directory_), profile->regions_min_percent, directory_argument(directory_),
                       *min_percent_));
    const std::string text = text_of(*profile, min_percent);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return finish_output();
  }

 private:
  int write_page() const {
    if (const Result<void> ready = html_.ready(); !ready) return report(ready.error());
    const Result<profile::Profile> profile = whole_profile_of(directory_, quiet_);
    if (!profile) return report(profile.error());
    const Result<void> written = html_.write(*profile, directory_, quiet_);
    return written ? int{kSuccess} : report(written.error());
  }

  std::string text_of(const profile::Profile& profile, double min_percent) const {
    views::ReportOptions options = report_options(profile, directory_, color_);
    options.min_percent = min_percent;
    if (top_) options.top = *top_;
    options.legend = !quiet_;
    options.table5 = table5_;
    if (format_ == "json") return profile::report_json_text(profile, options.top, min_percent);
    return format_ == "markdown" ? views::report_markdown(profile, options) : views::report_text(profile, options);
  }

  std::string directory_ = "loopfold.out";
  std::string format_ = "text";
  std::string color_ = "auto";
  HtmlOption html_;
  std::optional<std::size_t> top_;
  std::optional<double> min_percent_;
  bool table5_ = false;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_report() { return std::make_unique<ReportCommand>(); }

}  // namespace loopfold::cli
