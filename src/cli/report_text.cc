#include "cli/report_text.h"

#include <fmt/format.h>

#include "cli/terminal.h"
#include "views/loop_finder.h"
#include "views/text.h"

namespace loopfold::cli {

std::string directory_argument(const std::string& directory) {
  return directory == "loopfold.out" ? "" : views::shell_word(directory) + " ";
}

views::ReportOptions report_options(const profile::Profile& profile, const std::string& directory,
                                    const std::string& color) {
  views::ReportOptions options;
  options.width = output_width(views::ReportOptions::kMostWidth);
  options.color = use_color(color);
  options.charset = output_charset();
  const std::string next = views::worth_explaining(views::ReportWords(profile));
  options.next_command = fmt::format("loopfold {} {}{}", next.empty() ? "tree" : "explain",
                                     directory_argument(directory), next.empty() ? "" : views::shell_word(next));
  while (options.next_command.ends_with(' ')) options.next_command.pop_back();
  return options;
}

}  // namespace loopfold::cli
