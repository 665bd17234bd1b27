#include "views/report_markdown.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "support/units.h"
#include "views/report_shares.h"
#include "views/report_words.h"

namespace loopfold::views {

namespace {

using profile::Loop;
using profile::Region;

std::string indentation(std::uint32_t depth) {
  std::string text;
  for (std::uint32_t i = 0; i < depth; i++) text += "&nbsp;&nbsp;";
  return text;
}

std::string head(const profile::Profile& profile, const Words& words) {
  std::string text = fmt::format("# Loops of {}\n\n", markdown_escaped(words.command_line()));
  text += fmt::format("{} instructions in {} thread{}", short_count(profile.program.instructions),
                      profile.program.threads, profile.program.threads == 1 ? "" : "s");
  if (profile.program.exit_status) text += fmt::format(", exit status {}", *profile.program.exit_status);
  text += ".\n\n";
  for (const profile::Quality& entry : profile.quality) {
    text +=
        fmt::format("- **{}**: {}", markdown_escaped(words.text(entry.kind)), markdown_escaped(words.text(entry.text)));
    const double share = 100 * entry.share;
    text += share > 0 && share < 100 ? fmt::format(" ({} % of the operations)\n", percent_text(share)) : "\n";
  }
  text += "- **one run**: what follows holds for what this run did; another input may do something else\n";
  return text;
}

std::string row(const Loop& loop, const ReportWords& words) {
  std::vector<std::string> reasons;
  for (const std::string& reason : words.reasons(loop)) reasons.push_back(markdown_escaped(reason));
  return fmt::format("| {}{} | {} | {} | {} | {} | {} |\n", indentation(loop.depth),
                     markdown_escaped(words.where(loop)), markdown_escaped(words.function(loop)),
                     percent_text(loop.ops_percent), words.trips(loop), markdown_escaped(words.verdict(loop)),
                     fmt::join(reasons, "<br>"));
}

std::string table(const Region& region, const ReportWords& words, double min_percent) {
  std::string text =
      fmt::format("\n## Region {}: {} in {}\n\n", region.id, markdown_escaped(words.where(region.loops.front())),
                  markdown_escaped(words.function(region.loops.front())));
  text += fmt::format("{} % of the operations: {} % memory accesses, {} % floating point, {} % folded exactly.\n\n",
                      percent_text(region.ops_percent), percent_text(region.mem_percent),
                      percent_text(region.fp_percent), percent_text(region.affine_percent));
  text += "| loop | function | ops % | trips | verdict | why |\n|---|---|--:|--:|---|---|\n";
  for (const Loop& loop : region.loops)
    if (loop.ops_percent >= min_percent) text += row(loop, words);
  return text;
}

std::string shares_table(const profile::Profile& profile) {
  static constexpr std::string_view kNames[] = {"parallel", "reduction", "no", "unknown", "not judged", "in no loop"};
  const Shares shares = shares_of(profile);
  std::string text = "\n## Operations by verdict\n\n| % of the operations | outermost loop | innermost loop |\n";
  text += "|---|--:|--:|\n";
  for (std::size_t i = 0; i < Shares::kGroups; i++)
    text += fmt::format("| {} | {} | {} |\n", kNames[i], percent_text(shares.outermost[i]),
                        percent_text(shares.innermost[i]));
  return text + fmt::format("\n{} % of the operations are in loops whose verdict is unknown.\n",
                            percent_text(shares.innermost[Shares::kUnknown]));
}

}  // namespace

std::string markdown_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '&')
      result += "&amp;";
    else if (std::string_view("\\`*_{}[]()#+!|~>").find(c) != std::string_view::npos)
      (result += '\\') += c;
    else
      result += c;
  }
  return result;
}

std::string report_markdown(const profile::Profile& profile, const ReportOptions& options) {
  const ReportWords words(profile, options.charset);
  std::string text = head(profile, words.words());
  std::size_t shown = 0;
  bool footnote = false;
  for (const Region& region : profile.regions) {
    if (region.ops_percent < options.min_percent || shown++ >= options.top) continue;
    text += table(region, words, options.min_percent);
    for (const Loop& loop : region.loops) footnote = footnote || ReportWords::has_footnote(loop);
  }
  text += shares_table(profile);
  if (footnote && options.legend) text += "\n" + markdown_escaped(ReportWords::footnote()) + "\n";
  return text;
}

}  // namespace loopfold::views
