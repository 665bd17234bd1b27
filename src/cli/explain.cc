// `loopfold explain`: all that is known of one loop or one region.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdio>
#include <string>
#include <vector>

#include "cli/analysis.h"
#include "cli/terminal.h"
#include "cli/trace_commands.h"
#include "views/explain.h"
#include "views/loop_finder.h"

namespace loopfold::cli {

namespace {

class ExplainCommand : public Command {
 public:
  std::string name() const override { return "explain"; }
  std::string summary() const override { return "Why, why not, and what to do: all about one loop or region"; }

  void describe(CLI::App& app) override {
    app.add_option("WHAT", words_, "[DIR] and FILE:LINE, or a region's number; FILE may be a name or the end of a path")
        ->expected(0, 2)
        ->type_name("");
    app.add_option("--source", source_, "Look for source files below this directory")
        ->type_name("DIR")
        ->capture_default_str();
    app.add_option("--color", color_, "auto, always or never")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->capture_default_str();
    app.add_flag("-q,--quiet", quiet_, "No progress");
    app.footer(
        "  loopfold explain heat.c:17\n"
        "  loopfold explain 0\n"
        "  loopfold explain other.out src/heat.c:17\n"
        "Exit status: 2 if there is no such loop; the nearest ones are named.");
  }

  int run(const CLI::App&) override {
    const Result<std::string> target = take_words();
    if (!target) return report(target.error());
    const Result<profile::Profile> profile = whole_profile_of(directory_, quiet_);
    if (!profile) return report(profile.error());
    const views::ReportWords words(*profile, output_charset());
    const Result<views::Found> found = views::find_loops(words, *target);
    if (!found) return report(found.error());
    views::ExplainOptions options;
    options.width = output_width(views::Page::kMostWidth);
    options.color = use_color(color_);
    options.source_directory = source_;
    struct stat info {};
    if (::stat((directory_ + "/trace.lft").c_str(), &info) == 0) options.recorded = info.st_mtim.tv_sec;
    const std::string text = views::explain_text(words, *found, options);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return finish_output();
  }

 private:
  /// The directory, if one was given, and what is to be explained.
  Result<std::string> take_words() {
    if (!words_.empty() && (words_.size() == 2 || holds_recording(words_.front()))) {
      directory_ = words_.front();
      words_.erase(words_.begin());
    }
    if (words_.empty())
      return fail(ErrorKind::kUsage,
                  "explain: which loop? write FILE:LINE or a region's number; loopfold report shows them");
    return words_.front();
  }

  std::vector<std::string> words_;
  std::string directory_ = "loopfold.out";
  std::string source_ = ".";
  std::string color_ = "auto";
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_explain() { return std::make_unique<ExplainCommand>(); }

}  // namespace loopfold::cli
