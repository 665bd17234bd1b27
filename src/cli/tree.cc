// `loopfold tree`: the loop tree of a run, indented, with counts; or as JSON.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "cli/structure.h"
#include "cli/terminal.h"
#include "cli/trace_commands.h"
#include "profile/json.h"
#include "support/print.h"
#include "views/tree_text.h"

namespace loopfold::cli {

namespace {

constexpr double kMinPercent = 1.0;
constexpr std::size_t kUsualWidth = 120;

class TreeCommand : public Command {
 public:
  std::string name() const override { return "tree"; }
  std::string summary() const override { return "The loops and calls of a run as a tree, with counts"; }

  void describe(CLI::App& app) override {
    add_directory(app, directory_);
    app.add_option("--depth", depth_, "Show so many levels only")->check(whole_number());
    app.add_option("--min-percent", min_percent_,
                   "Leave out what has less of the instructions (default 1; with --format json nothing is left out)")
        ->check(CLI::Range(0.0, 100.0));
    app.add_option("--function", function_, "Show only what is below functions with this in their name");
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}))->capture_default_str();
    app.add_option("--color", color_, "auto, always or never")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->capture_default_str();
    app.add_flag("-q,--quiet", quiet_, "The tree only: no progress, no legend");
    app.add_flag("--stats", stats_, "Counts and times at the end");
  }

  int run(const CLI::App&) override {
    const auto start = std::chrono::steady_clock::now();
    const Result<profile::Profile> profile = profile_of(directory_, {quiet_, stats_, format_ == "json"});
    if (!profile) return report(profile.error());
    const auto loaded = std::chrono::steady_clock::now();
    const std::string text = format_ == "json" ? json(*profile) : views::tree_text(*profile, text_options());
    std::fwrite(text.data(), 1, text.size(), stdout);
    const int written = finish_output();
    if (stats_) {
      const auto seconds = [](auto from, auto to) { return std::chrono::duration<double>(to - from).count(); };
      print_stderr("loopfold: stats: {} nodes ready in {:.3f} s, shown in {:.3f} s\n", profile->tree.size(),
                   seconds(start, loaded), seconds(loaded, std::chrono::steady_clock::now()));
    }
    return written;
  }

 private:
  std::string json(const profile::Profile& profile) const {
    const std::vector<views::Fate> fates = views::select(profile, {depth_, min_percent_.value_or(0.0), function_});
    std::vector<bool> shown(fates.size());
    for (std::size_t i = 0; i < fates.size(); i++) shown[i] = views::is_shown(fates[i]);
    return profile::to_json_text(profile, shown);
  }

  views::TreeTextOptions text_options() const {
    views::TreeTextOptions options;
    options.filter = {depth_, min_percent_.value_or(kMinPercent), function_};
    options.width = output_width(kUsualWidth);
    options.color = use_color(color_);
    options.charset = output_charset();
    options.legend = !quiet_;
    const std::string directory = directory_ == kDefaultDirectory ? "" : views::shell_word(directory_) + " ";
    options.next_command = fmt::format("loopfold flame {}--svg flame.svg", directory);
    return options;
  }

  static constexpr const char* kDefaultDirectory = "loopfold.out";

  std::string directory_ = kDefaultDirectory;
  std::optional<std::uint32_t> depth_;
  std::optional<double> min_percent_;
  std::string function_;
  std::string format_ = "text";
  std::string color_ = "auto";
  bool quiet_ = false;
  bool stats_ = false;
};

}  // namespace

std::unique_ptr<Command> make_tree() { return std::make_unique<TreeCommand>(); }

}  // namespace loopfold::cli
