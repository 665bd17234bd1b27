#include "views/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "support/units.h"
#include "views/report_shares.h"
#include "views/report_words.h"
#include "views/row.h"

namespace loopfold::views {

namespace {

using profile::Loop;
using profile::Region;

constexpr std::size_t kLeastWidth = 60;
constexpr std::size_t kLeastName = 12;    // columns of a name, if it must be shortened
constexpr std::size_t kLeastPlace = 32;   // columns for the loop's place and function
constexpr std::size_t kMostIndent = 20;   // columns
constexpr std::size_t kLeastReason = 36;  // columns for why
constexpr std::size_t kMostVerdict = 18;  // columns
constexpr std::size_t kReasonIndent = 2;  // from the loop's place
constexpr std::string_view kGroupNames[] = {"parallel", "reduction", "no", "unknown", "not judged", "in no loop"};

std::string plural(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

/// One digit behind the point, so that a column of them is in line; what is not zero does not look like it.
std::string aligned(double percent) { return percent > 0 && percent < 0.05 ? "<0.1" : fmt::format("{:.1f}", percent); }

class ReportText {
 public:
  ReportText(const profile::Profile& profile, const ReportOptions& options)
      : profile_(profile),
        options_(options),
        report_(profile, options.charset),
        words_(report_.words()),
        width_(std::clamp(options.width, kLeastWidth, ReportOptions::kMostWidth)) {
    for (const Region& region : profile.regions) {
      if (region.ops_percent >= options.min_percent && shown_.size() < options.top) shown_.push_back(&region);
      footnote_ = footnote_ || std::any_of(region.loops.begin(), region.loops.end(), ReportWords::has_footnote);
    }
  }

  std::string text() {
    head();
    quality();
    for (const Region* region : shown_) add_region(*region);
    if (shown_.empty()) no_regions();
    if (shown_.size() < profile_.regions.size()) left_out();
    shares();
    if (options_.legend) legend();
    return std::move(out_);
  }

 private:
  std::string paint(std::string_view text, Style style) const { return styled(text, style, options_.color); }
  std::string_view dots() const { return options_.charset == Charset::kAscii ? "..." : "…"; }

  void line(const std::string& text = "") {
    out_ += text;
    out_ += '\n';
  }
  void paragraph(const std::string& text, std::size_t indent, Style style = Style::kPlain) {
    for (const std::string& part : wrapped(text, width_ - indent, options_.charset))
      line(std::string(indent, ' ') + paint(part, style));
  }

  void head();
  void quality();
  void add_region(const Region& region);
  void add_row(const Loop& loop, std::size_t verdict_columns);
  void no_regions();
  void left_out();
  void shares();
  void legend();

  const profile::Profile& profile_;
  const ReportOptions& options_;
  ReportWords report_;
  const Words& words_;
  std::size_t width_;
  std::vector<const Region*> shown_;
  bool footnote_ = false;  // some verdict has an asterisk
  std::string out_;
};

void ReportText::head() {
  const profile::Program& program = profile_.program;
  std::string facts =
      fmt::format(": {} instructions in {}", short_count(program.instructions), plural(program.threads, "thread"));
  facts += program.exit_status ? fmt::format(", exit status {}", *program.exit_status) : ", exit status not known";
  Row row;
  row.add("Loops of ");
  row.add_name(words_.command_line(), Style::kStrong, kLeastName);
  row.add(facts);
  line(row.fitted(width_, options_.color, options_.charset));
}

/// One entry each, the kind in front; what does not fit goes on below it.
void ReportText::quality() {
  bool partial_said = !profile_.program.partial;
  const auto remark = [&](const std::string& kind, const std::string& text) {
    const std::vector<std::string> lines = wrapped(fmt::format("{}: {}", kind, text), width_ - 2, options_.charset);
    for (std::size_t i = 0; i < lines.size(); i++) {
      const bool has_kind = i == 0 && lines[i].starts_with(kind + ":");
      const std::string front = has_kind ? paint(kind + ":", Style::kCaution) : "";
      line((i == 0 ? "" : "  ") + front + lines[i].substr(has_kind ? kind.size() + 1 : 0));
    }
  };
  for (const profile::Quality& entry : profile_.quality) {
    partial_said = partial_said || entry.kind == "partial";
    const double share = 100 * entry.share;
    const std::string of = share > 0 && share < 100 ? fmt::format(" ({} % of ops)", percent_text(share)) : "";
    remark(words_.text(entry.kind), words_.text(entry.text) + of);
  }
  if (!partial_said) remark("partial", "the end of the run is missing");
  remark("one run", "what follows holds for what this run did; another input may do something else");
}

void ReportText::add_region(const Region& region) {
  line();
  Row title;
  title.add(fmt::format("Region {}: ", region.id), Style::kStrong);
  const Loop& outermost = region.loops.front();
  title.add_name(report_.where(outermost), Style::kStrong, kLeastName);
  title.add(" in ");
  title.add_name(report_.function(outermost), Style::kCall, kLeastName);
  line(title.fitted(width_, options_.color, options_.charset));
  paragraph(fmt::format("{} % of the operations: {} % memory accesses, {} % floating point, {} % folded exactly",
                        percent_text(region.ops_percent), percent_text(region.mem_percent),
                        percent_text(region.fp_percent), percent_text(region.affine_percent)),
            2, Style::kFaint);
  std::size_t columns = std::string_view("verdict").size();
  std::size_t hidden = 0;
  for (const Loop& loop : region.loops) {
    if (loop.ops_percent < options_.min_percent)
      hidden++;
    else
      columns = std::clamp(views::columns(report_.verdict(loop)), columns, kMostVerdict);
  }
  line(paint(fmt::format("{:>7} {:>9}  {:<{}}  loop", "ops %", "trips", "verdict", columns), Style::kFaint));
  for (const Loop& loop : region.loops)
    if (loop.ops_percent >= options_.min_percent) add_row(loop, columns);
  if (hidden > 0)
    line(paint(fmt::format("{:{}}{} {} below {:g} %", "", 7 + 1 + 9 + 2 + columns + 2, dots(),
                           plural(hidden, "more loop"), options_.min_percent),
               Style::kFaint));
}

void ReportText::add_row(const Loop& loop, std::size_t verdict_columns) {
  const std::string verdict = clipped(report_.verdict(loop), verdict_columns, options_.charset);
  const std::string padding(verdict_columns - columns(verdict), ' ');
  const std::string front = fmt::format("{:>7} {:>9}  ", aligned(loop.ops_percent), report_.trips(loop));
  const std::size_t start = columns(front) + verdict_columns + 2;
  const std::size_t room = width_ - start;
  const std::size_t most_indent = std::min(kMostIndent, room - std::min(room, kLeastPlace));
  const std::size_t indent = std::min<std::size_t>(2 * loop.depth, most_indent);
  Row row;
  row.add(std::string(indent, ' '));
  if (2 * loop.depth > indent) row.add(fmt::format("({}) ", loop.depth), Style::kFaint);
  row.add_name(report_.where(loop), Style::kPlain, kLeastName);
  row.add("  ");
  row.add_name(report_.function(loop), Style::kFaint, kLeastName);
  line(front + paint(verdict, ReportWords::style(loop)) + padding + "  " +
       row.fitted(room, options_.color, options_.charset));
  const std::size_t wanted = start + indent + kReasonIndent;
  const std::size_t reason_start = std::min(wanted, width_ - kLeastReason);
  for (const std::string& reason : report_.reasons(loop)) {
    const std::vector<std::string> lines = wrapped(reason, width_ - reason_start - 2, options_.charset);
    for (std::size_t i = 0; i < lines.size(); i++)
      line(std::string(reason_start, ' ') + paint((i == 0 ? "- " : "  ") + lines[i], Style::kFaint));
  }
}

void ReportText::no_regions() {
  line();
  paragraph(profile_.regions.empty() && profile_.regions_min_percent == 0
                ? "No loops ran."
                : fmt::format("No loop has {:g} % of the operations.",
                              std::max(options_.min_percent, profile_.regions_min_percent)),
            0);
}

void ReportText::left_out() {
  double rest = 0;
  std::size_t number = 0;
  for (const Region& region : profile_.regions) {
    if (std::find(shown_.begin(), shown_.end(), &region) != shown_.end()) continue;
    rest += region.ops_percent;
    number++;
  }
  line();
  paragraph(
      fmt::format("{} {}, with {} % of the operations", dots(), plural(number, "more region"), percent_text(rest)), 0,
      Style::kFaint);
}

void ReportText::shares() {
  const Shares shares = shares_of(profile_);
  line();
  line(paint(fmt::format("{:<28}{:>16}{:>16}", "Operations by verdict of", "outermost loop", "innermost loop"),
             Style::kFaint));
  for (std::size_t i = 0; i < Shares::kGroups; i++) {
    if (i >= Shares::kNotJudged && shares.outermost[i] == 0 && shares.innermost[i] == 0) continue;
    std::string name(kGroupNames[i]);
    if (i <= Shares::kReduction && footnote_) name += "*";
    if (i == Shares::kNotJudged) name += fmt::format(" (below {:g} %)", profile_.regions_min_percent);
    line(fmt::format("  {:<26}{:>14} %{:>14} %", name, aligned(shares.outermost[i]), aligned(shares.innermost[i])));
  }
  paragraph(fmt::format("{} % of the operations are in loops whose verdict is unknown.",
                        percent_text(shares.innermost[Shares::kUnknown])),
            0);
}

void ReportText::legend() {
  line();
  if (footnote_) paragraph(ReportWords::footnote(), 0, Style::kFaint);
  paragraph("trips: iterations each time the loop is entered, ~ on average.", 0, Style::kFaint);
  if (!options_.next_command.empty())
    line(fmt::format("Next: {}", paint(words_.text(options_.next_command), Style::kStrong)));
}

/// A percent sign belongs to the number before it.
std::size_t end_of_word(std::string_view text) {
  constexpr std::string_view kPercent = " %";
  const std::size_t end = std::min(text.find(' '), text.size());
  if (end == 0 || !text.substr(end).starts_with(kPercent)) return end;
  return std::min(text.find(' ', end + kPercent.size()), text.size());
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, std::size_t width, Charset charset) {
  std::vector<std::string> lines;
  std::string line;
  const auto add_word = [&](std::string_view word) {
    const bool fits = line.empty() || columns(line) + 1 + columns(word) <= width;
    if (!fits) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
    if (columns(line) > width) line = clipped(line, width, charset);
  };
  while (!text.empty()) {
    const std::size_t end = end_of_word(text);
    if (end > 0) add_word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string report_text(const profile::Profile& profile, const ReportOptions& options) {
  return ReportText(profile, options).text();
}

}  // namespace loopfold::views
