#include "views/report_markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "support/units.h"
#include "views/advice_words.h"
#include "views/report_advice.h"
#include "views/report_shares.h"
#include "views/report_words.h"
#include "views/table5.h"

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

/// One row per region: what can be done to it.
std::string transformations_table(const AdviceWords& advice, std::span<const Region* const> regions) {
  if (!has_schedules(regions)) return "";
  std::string text =
      "\n## What can be done to each region\n\n"
      "| region | loop | ops % | parallel | SIMD | interchange | tile | skew | fuse | why not |\n"
      "|--:|---|--:|---|---|---|---|---|---|---|\n";
  for (const Region* const region : regions) {
    const Transformations row = advice.transformations(*region);
    std::vector<std::string> cells;
    for (const std::string& cell : {advice.region(*region), percent_text(region->ops_percent), row.parallel, row.simd,
                                    row.interchange, row.tile, row.skew, row.fuse})
      cells.push_back(markdown_escaped(cell));
    std::vector<std::string> reasons;
    for (const std::string& reason : row.why_not) reasons.push_back(markdown_escaped(reason));
    text += fmt::format("| {} | {} | {} |\n", region->id, fmt::join(cells, " | "), fmt::join(reasons, "<br>"));
  }
  return text;
}

std::string suggestions_table(const AdviceWords& advice, std::span<const Region* const> regions, std::size_t most) {
  const std::vector<RankedSuggestion> ranked = ranked_suggestions(regions);
  if (ranked.empty()) return has_schedules(regions) ? "\n" + nothing_to_gain(regions) + "\n" : "";
  std::string text =
      "\n## Suggestions\n\n"
      "| | rule | what | region | lines | gain | estimate | requires | legal "
      "|\n|--:|---|---|--:|---|--:|---|---|---|\n";
  const Words& words = advice.words();
  for (std::size_t i = 0; i < std::min(most, ranked.size()); i++) {
    const profile::Suggestion& suggestion = *ranked[i].suggestion;
    std::vector<std::string> needs;
    for (const profile::Requirement& requirement : suggestion.requirements)
      needs.push_back(markdown_escaped(advice.requirement(requirement)));
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", i + 1,
                        markdown_escaped(words.text(suggestion.rule)), markdown_escaped(words.text(suggestion.title)),
                        ranked[i].region->id, markdown_escaped(advice.lines(suggestion)),
                        AdviceWords::gain(suggestion.gain), markdown_escaped(words.text(suggestion.estimate)),
                        needs.empty() ? "nothing" : fmt::format("{}", fmt::join(needs, "<br>")),
                        AdviceWords::legal(suggestion.legal));
  }
  if (most < ranked.size()) text += fmt::format("\n… {} more.\n", ranked.size() - most);
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
  const AdviceWords advice(words);
  const std::vector<const Region*> shown = shown_regions(profile, options);
  std::string text = head(profile, words.words());
  if (options.table5) return text + "\n" + table5_markdown(words, shown);
  text += transformations_table(advice, shown);
  bool footnote = false;
  for (const Region* const region : shown) {
    text += table(*region, words, options.min_percent);
    for (const Loop& loop : region->loops) footnote = footnote || ReportWords::has_footnote(loop);
  }
  text += suggestions_table(advice, shown, options.suggestions);
  text += shares_table(profile);
  if (footnote && options.legend) text += "\n" + markdown_escaped(ReportWords::footnote()) + "\n";
  if (has_schedules(shown) && options.legend) text += "\n" + markdown_escaped(AdviceWords::legend()) + "\n";
  return text;
}

}  // namespace loopfold::views
