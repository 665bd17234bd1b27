// `loopfold export`: the folded program for other tools: isl, CSV, JSON, Graphviz, SARIF, OpenScop.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "cli/analysis.h"
#include "cli/trace_commands.h"
#include "profile/json.h"
#include "support/atomic_file.h"
#include "support/print.h"
#include "views/export_csv.h"
#include "views/export_dot.h"
#include "views/export_isl.h"
#include "views/export_openscop.h"
#include "views/export_sarif.h"

namespace loopfold::cli {

namespace {

constexpr std::string_view kStandardOutput = "-";

bool is_directory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

class ExportCommand : public Command {
 public:
  std::string name() const override { return "export"; }
  std::string summary() const override { return "Statements, accesses, dependences and suggestions for other tools"; }

  void describe(CLI::App& app) override {
    add_directory(app, directory_);
    app.add_option(
           "--format", format_,
           "isl (sets and maps, as iscc reads them), csv (tables; several files if -o is a directory), json (the "
           "profile), dot (a graph for Graphviz), sarif (suggestions, for code hosts and editors) or openscop (regions "
           "that are affine, for polyhedral tools)")
        ->check(CLI::IsMember({"isl", "csv", "json", "dot", "sarif", "openscop"}))
        ->required();
    app.add_option("-o,--output", output_, "Write to this file instead of standard output");
    app.add_flag("-q,--quiet", quiet_, "Say nothing unless something goes wrong");
  }

  int run(const CLI::App&) override {
    const bool needs_regions = format_ == "sarif" || format_ == "openscop";
    const Result<profile::Profile> profile =
        needs_regions ? whole_profile_of(directory_, quiet_) : folded_profile_of(directory_, quiet_);
    if (!profile) return report(profile.error());
    if (format_ == "csv" && is_directory(output_)) return write_tables(*profile);
    if (output_.empty() || output_ == kStandardOutput) {
      write(*profile,
            [](std::string_view text) { return std::fwrite(text.data(), 1, text.size(), stdout) == text.size(); });
      return finish_output();
    }
    std::string text;
    write(*profile, appender(text));
    return keep(output_, text);
  }

 private:
  static views::Writer appender(std::string& text) {
    return [&text](std::string_view part) {
      text += part;
      return true;
    };
  }

  void write(const profile::Profile& profile, const views::Writer& writer) const {
    if (format_ == "isl")
      views::write_isl(profile, writer);
    else if (format_ == "csv")
      views::write_csv(profile, writer);
    else if (format_ == "dot")
      views::write_dot(profile, writer);
    else if (format_ == "sarif")
      writer(views::sarif_text(profile));
    else if (format_ == "openscop")
      write_scops(profile, writer);
    else
      writer(profile::to_json_text(profile));
  }

  void write_scops(const profile::Profile& profile, const views::Writer& writer) const {
    const views::OpenScopCounts counts = views::write_openscop(profile, writer);
    if (counts.left_out > 0 && !quiet_)
      warn(fmt::format("{} of {} regions are left out: the reasons are in the file", counts.left_out,
                       counts.left_out + counts.written));
  }

  int write_tables(const profile::Profile& profile) const {
    for (const std::string& table : views::csv_tables()) {
      std::string text;
      views::write_csv_table(profile, table, appender(text));
      if (const int status = keep(fmt::format("{}/{}.csv", output_, table), text); status != kSuccess) return status;
    }
    return kSuccess;
  }

  int keep(const std::string& path, const std::string& text) const {
    if (const Result<void> written = write_whole_file(path, text); !written) return report(written.error());
    if (!quiet_) print_stderr("loopfold: wrote {}\n", path);
    return kSuccess;
  }

  std::string directory_ = "loopfold.out";
  std::string format_;
  std::string output_;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_export() { return std::make_unique<ExportCommand>(); }

}  // namespace loopfold::cli
