#include "cli/html.h"

#include <sys/stat.h>

#include <cstdio>

#include "cli/trace_commands.h"
#include "support/atomic_file.h"
#include "support/print.h"
#include "views/html_report.h"

namespace loopfold::cli {

namespace {

constexpr std::string_view kStandardOutput = "-";

}  // namespace

void HtmlOption::describe_page(CLI::App& app, const std::string& help) {
  app.add_option("--html", path_, help + "; - is standard output")->type_name("FILE");
}

void HtmlOption::describe(CLI::App& app, const std::string& help) {
  describe_page(app, help);
  app.add_option("--source", source_, "For --html: look for source files below this directory")
      ->type_name("DIR")
      ->capture_default_str();
}

Result<void> HtmlOption::ready() const {
  if (!wanted() || !views::page_template().empty()) return {};
  return tl::unexpected(views::html_page("", {}).error());
}

Result<void> HtmlOption::write(const profile::Profile& profile, const std::string& directory, bool quiet) const {
  if (!wanted()) return {};
  views::HtmlOptions options;
  options.source_directory = source_;
  struct stat info {};
  if (::stat((directory + "/trace.lft").c_str(), &info) == 0) options.recorded = info.st_mtim.tv_sec;
  const Result<std::string> page = views::html_report(profile, options);
  if (!page) return tl::unexpected(page.error());
  return write(*page, quiet);
}

Result<void> HtmlOption::write(std::string_view page, bool quiet) const {
  if (path_ == kStandardOutput) {
    std::fwrite(page.data(), 1, page.size(), stdout);
    if (finish_output() != kSuccess) return fail(ErrorKind::kEnvironment, "--html: standard output cannot be written");
    return {};
  }
  Result<void> written = write_whole_file(path_, page);
  if (written && !quiet) print_stderr("loopfold: wrote {}; open it in a browser\n", path_);
  return written;
}

}  // namespace loopfold::cli
