// `loopfold layout search`: which layouts of the arrays, and which order of the loops, would suit each other best?
#include <fmt/format.h>

#include <cstdio>
#include <limits>

#include "advise/layout_report.h"
#include "advise/liveness/loop_reuse.h"
#include "advise/suggest.h"
#include "cli/analysis.h"
#include "cli/layout_commands.h"
#include "cli/trace_commands.h"

namespace loopfold::cli {

namespace {

class LayoutSearchCommand : public Command {
 public:
  std::string name() const override { return "search"; }
  std::string summary() const override {
    return "Which layouts of arrays and which order of loops would suit each other best, for a recorded run";
  }

  void describe(CLI::App& app) override {
    add_directory(app, directory_);
    app.add_option("--region", region_, "Only this region (default: all)");
    app.add_option("--cores", cores_, "Cores to divide the work among")
        ->check(CLI::Range(1.0, 65536.0))
        ->capture_default_str();
    app.add_option("--scale", scale_, "As if every loop ran so many times as long as it did")
        ->check(CLI::Range(1.0, 1e6))
        ->capture_default_str();
    app.add_flag("--beyond-caches", beyond_, "As if the data were much larger than any cache");
    app.add_option("--orders", orders_, "Try so many orders of the loops at the most")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    app.add_option("--top", top_, "Show so many combinations of layouts")->capture_default_str();
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}))->capture_default_str();
    app.add_flag("-q,--quiet", quiet_, "No progress");
  }

  int run(const CLI::App&) override {
    advise::LayoutOptions options;
    options.region = region_;
    options.machine = advise::Machine::common(cores_);
    if (beyond_) options.machine.caches = advise::Machine::beyond_caches().caches;
    options.machine.scale = scale_;
    options.orders = orders_;
    std::vector<advise::NestLayouts> found;
    std::size_t regions = 0;
    AnalyzeOptions analyze;
    analyze.quiet = quiet_;
    analyze.advise = [&](const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                         profile::Profile& profile) {
      advise::liveness::find_reuse(graph, context, flow, profile);
      regions = profile.regions.size();
      found = advise::find_layouts(graph, context, flow, profile, options);
    };
    const Result<Analysed> analysed = analyse_trace(directory_, analyze);
    if (!analysed) return report(analysed.error());
    if (region_ && *region_ >= regions)
      return report({ErrorKind::kUsage,
                     fmt::format("--region {}: there are {}, from 0 on; see loopfold report", *region_, regions)});
    const std::string text =
        format_ == "json" ? advise::layouts_json(found, options) : advise::layouts_text(found, options, top_);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return finish_output();
  }

 private:
  std::string directory_ = "loopfold.out";
  std::optional<std::uint32_t> region_;
  double cores_ = advise::kCores;
  double scale_ = 1;
  bool beyond_ = false;
  std::size_t orders_ = 60;
  std::size_t top_ = 8;
  std::string format_ = "text";
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_layout_search() { return std::make_unique<LayoutSearchCommand>(); }

}  // namespace loopfold::cli
