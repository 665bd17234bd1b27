// `loopfold flame`: the loop tree as a flame graph, for a browser (SVG) or for other people's viewers.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "cli/structure.h"
#include "cli/trace_commands.h"
#include "support/print.h"
#include "views/collapsed.h"
#include "views/flame_svg.h"
#include "views/speedscope.h"
#include "views/writer.h"

namespace loopfold::cli {

namespace {

using View = bool (*)(const profile::Profile&, const views::Writer&);

constexpr std::string_view kStandardOutput = "-";

Error cannot_write(const std::string& path, int error) {
  return {ErrorKind::kEnvironment, fmt::format("{}: cannot be written: {}", path, std::strerror(error))};
}

/// Nothing is left behind of a file that could not be written to its end, unless it is a device or a pipe.
void remove_regular(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) std::remove(path.c_str());
}

int write_file(const profile::Profile& profile, View view, const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) return report(cannot_write(path, errno));
  bool good = view(
      profile, [&](std::string_view text) { return std::fwrite(text.data(), 1, text.size(), file) == text.size(); });
  int error = errno;
  if (std::fclose(file) != 0 && good) {
    error = errno;
    good = false;
  }
  if (good) return kSuccess;
  remove_regular(path);
  return report(cannot_write(path, error));
}

int write_standard_output(const profile::Profile& profile, View view) {
  view(profile, [](std::string_view text) { return std::fwrite(text.data(), 1, text.size(), stdout) == text.size(); });
  return finish_output();
}

class FlameCommand : public Command {
 public:
  std::string name() const override { return "flame"; }
  std::string summary() const override { return "A flame graph of loops and calls"; }

  void describe(CLI::App& app) override {
    add_directory(app, directory_);
    app.add_option("--svg", svg_.path, "Write an interactive SVG for a browser to this file; - is standard output");
    app.add_option("--collapsed", collapsed_.path, "Write collapsed stacks, as flamegraph.pl takes them");
    app.add_option("--speedscope", speedscope_.path, "Write a file for https://www.speedscope.app");
    app.add_flag("-q,--quiet", quiet_, "Say nothing unless something goes wrong");
    app.add_flag("--stats", stats_, "Counts and times at the end");
  }

  int run(const CLI::App&) override {
    int to_standard_output = 0;
    bool any = false;
    for (const Target* target : {&svg_, &collapsed_, &speedscope_}) {
      any = any || !target->path.empty();
      if (target->path == kStandardOutput) to_standard_output++;
    }
    if (!any)
      return report({ErrorKind::kUsage, "flame: nothing to write; give --svg, --collapsed or --speedscope FILE"});
    if (to_standard_output > 1)
      return report({ErrorKind::kUsage, "flame: only one of the outputs can go to standard output"});
    const auto start = std::chrono::steady_clock::now();
    const Result<profile::Profile> profile = profile_of(directory_, {quiet_, stats_, true});
    if (!profile) return report(profile.error());
    const auto loaded = std::chrono::steady_clock::now();
    for (const Target* target : {&svg_, &collapsed_, &speedscope_}) {
      const int status = write(*profile, *target);
      if (status != kSuccess) return status;
    }
    if (stats_) {
      const auto seconds = [](auto from, auto to) { return std::chrono::duration<double>(to - from).count(); };
      print_stderr("loopfold: stats: {} nodes ready in {:.3f} s, written in {:.3f} s\n", profile->tree.size(),
                   seconds(start, loaded), seconds(loaded, std::chrono::steady_clock::now()));
    }
    return kSuccess;
  }

 private:
  struct Target {
    View view;
    const char* advice;
    std::string path;
  };

  int write(const profile::Profile& profile, const Target& target) const {
    if (target.path.empty()) return kSuccess;
    if (target.path == kStandardOutput) return write_standard_output(profile, target.view);
    const int status = write_file(profile, target.view, target.path);
    if (status == kSuccess && !quiet_) print_stderr("loopfold: wrote {}; {}\n", target.path, target.advice);
    return status;
  }

  std::string directory_ = "loopfold.out";
  Target svg_{views::write_flame_svg, "open it in a browser", ""};
  Target collapsed_{views::write_collapsed, "flamegraph.pl and many viewers read it", ""};
  Target speedscope_{views::write_speedscope, "open it at https://www.speedscope.app", ""};
  bool quiet_ = false;
  bool stats_ = false;
};

}  // namespace

std::unique_ptr<Command> make_flame() { return std::make_unique<FlameCommand>(); }

}  // namespace loopfold::cli
