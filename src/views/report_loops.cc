#include "views/report_loops.h"

#include <fmt/format.h>

#include <algorithm>

#include "views/row.h"

namespace loopfold::views {

namespace {

using profile::Loop;
using profile::Region;

constexpr std::size_t kLeastName = 12;    // columns of a name, if it must be shortened
constexpr std::size_t kLeastPlace = 32;   // columns for the loop's place and function
constexpr std::size_t kMostIndent = 20;   // columns
constexpr std::size_t kLeastReason = 36;  // columns for why
constexpr std::size_t kMostVerdict = 18;  // columns
constexpr std::size_t kReasonIndent = 2;  // from the loop's place

void add_row(Page& page, const ReportWords& words, const Loop& loop, std::size_t verdict_columns) {
  const std::string verdict = clipped(words.verdict(loop), verdict_columns, page.charset());
  const std::string padding(verdict_columns - columns(verdict), ' ');
  const std::string front = fmt::format("{:>7} {:>9}  ", aligned(loop.ops_percent), words.trips(loop));
  const std::size_t start = columns(front) + verdict_columns + 2;
  const std::size_t room = page.width() - start;
  const std::size_t most_indent = std::min(kMostIndent, room - std::min(room, kLeastPlace));
  const std::size_t indent = std::min<std::size_t>(2 * loop.depth, most_indent);
  Row row;
  row.add(std::string(indent, ' '));
  if (2 * loop.depth > indent) row.add(fmt::format("({}) ", loop.depth), Style::kFaint);
  row.add_name(words.where(loop), Style::kPlain, kLeastName);
  row.add("  ");
  row.add_name(words.function(loop), Style::kFaint, kLeastName);
  page.line(front + page.paint(verdict, ReportWords::style(loop)) + padding + "  " + page.fitted(row, room));
  const std::size_t wanted = start + indent + kReasonIndent;
  const std::size_t reason_start = std::min(wanted, page.width() - kLeastReason);
  for (const std::string& reason : words.reasons(loop)) {
    const std::vector<std::string> lines = wrapped(reason, page.width() - reason_start - 2, page.charset());
    for (std::size_t i = 0; i < lines.size(); i++)
      page.line(std::string(reason_start, ' ') + page.paint((i == 0 ? "- " : "  ") + lines[i], Style::kFaint));
  }
}

}  // namespace

std::string plural(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

std::string aligned(double percent) { return percent > 0 && percent < 0.05 ? "<0.1" : fmt::format("{:.1f}", percent); }

void add_region(Page& page, const ReportWords& words, const Region& region, double min_percent) {
  page.line();
  Row title;
  title.add(fmt::format("Region {}: ", region.id), Style::kStrong);
  const Loop& outermost = region.loops.front();
  title.add_name(words.where(outermost), Style::kStrong, kLeastName);
  title.add(" in ");
  title.add_name(words.function(outermost), Style::kCall, kLeastName);
  page.line(title);
  page.paragraph(fmt::format("{} % of the operations: {} % memory accesses, {} % floating point, {} % folded exactly",
                             percent_text(region.ops_percent), percent_text(region.mem_percent),
                             percent_text(region.fp_percent), percent_text(region.affine_percent)),
                 2, Style::kFaint);
  std::size_t columns = std::string_view("verdict").size();
  std::size_t hidden = 0;
  for (const Loop& loop : region.loops) {
    if (loop.ops_percent < min_percent)
      hidden++;
    else
      columns = std::clamp(views::columns(words.verdict(loop)), columns, kMostVerdict);
  }
  page.line(page.paint(fmt::format("{:>7} {:>9}  {:<{}}  loop", "ops %", "trips", "verdict", columns), Style::kFaint));
  for (const Loop& loop : region.loops)
    if (loop.ops_percent >= min_percent) add_row(page, words, loop, columns);
  if (hidden > 0)
    page.line(page.paint(fmt::format("{:{}}{} {} below {:g} %", "", 7 + 1 + 9 + 2 + columns + 2, page.dots(),
                                     plural(hidden, "more loop"), min_percent),
                         Style::kFaint));
}

}  // namespace loopfold::views
