// `loopfold diff`: two runs side by side, as text, JSON or a page.
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "cli/analysis.h"
#include "cli/html.h"
#include "cli/terminal.h"
#include "cli/trace_commands.h"
#include "views/diff_text.h"
#include "views/html_diff.h"

namespace loopfold::cli {

namespace {

class DiffCommand : public Command {
 public:
  std::string name() const override { return "diff"; }
  std::string summary() const override { return "Two runs side by side: which loops changed, and how"; }

  void describe(CLI::App& app) override {
    app.add_option("A", before_, "The directory of the first run")->required();
    app.add_option("B", after_, "That of the second one")->required();
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}))->capture_default_str();
    html_.describe_page(app, "Write a page for a browser to this file instead");
    app.add_option("--min-percent", min_percent_, "As text: leave out loops with less of the operations in both runs")
        ->check(CLI::Range(0.0, 100.0))
        ->capture_default_str();
    app.add_option("--color", color_, "auto, always or never")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->capture_default_str();
    app.add_flag("-q,--quiet", quiet_, "No progress");
    app.footer(
        "Loops are paired by function, source line and the shape of their nests; a guess where the source changed.\n\n"
        "  loopfold diff before.out after.out\n"
        "  loopfold diff before.out after.out --html diff.html");
  }

  int run(const CLI::App&) override {
    if (const Result<void> ready = html_.ready(); !ready) return report(ready.error());
    const Result<profile::Profile> before = whole_profile_of(before_, quiet_);
    if (!before) return report(before.error());
    const Result<profile::Profile> after = whole_profile_of(after_, quiet_);
    if (!after) return report(after.error());
    if (html_.wanted() || format_ == "json") return write_page(*before, *after);
    const views::ReportWords a(*before, output_charset());
    const views::ReportWords b(*after, output_charset());
    views::DiffTextOptions options;
    options.width = output_width(views::Page::kMostWidth);
    options.color = use_color(color_);
    options.charset = output_charset();
    options.min_percent = min_percent_;
    return print(views::diff_text(views::compare(a, b), a, b, options));
  }

 private:
  static int print(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return finish_output();
  }

  int write_page(const profile::Profile& before, const profile::Profile& after) const {
    const views::ReportWords a(before);
    const views::ReportWords b(after);
    const views::Diff diff = views::compare(a, b);
    if (html_.wanted()) {
      const Result<std::string> page = views::html_diff(diff, a, b);
      if (!page) return report(page.error());
      const Result<void> written = html_.write(*page, quiet_);
      if (!written) return report(written.error());
    }
    return format_ == "json" ? print(views::diff_json(diff, a, b)) : int{kSuccess};
  }

  std::string before_;
  std::string after_;
  std::string format_ = "text";
  std::string color_ = "auto";
  HtmlOption html_;
  double min_percent_ = 1;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_diff() { return std::make_unique<DiffCommand>(); }

}  // namespace loopfold::cli
