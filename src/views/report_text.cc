#include "views/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "support/units.h"
#include "views/advice_words.h"
#include "views/page.h"
#include "views/report_advice.h"
#include "views/report_loops.h"
#include "views/report_shares.h"
#include "views/report_words.h"
#include "views/row.h"
#include "views/table5.h"

namespace loopfold::views {

namespace {

using profile::Region;

constexpr std::size_t kLeastName = 12;  // columns of a name, if it must be shortened
constexpr std::string_view kGroupNames[] = {"parallel", "reduction", "no", "unknown", "not judged", "in no loop"};

class ReportText {
 public:
  ReportText(const profile::Profile& profile, const ReportOptions& options)
      : profile_(profile),
        options_(options),
        report_(profile, options.charset),
        words_(report_.words()),
        advice_(report_),
        page_(options.width, options.color, options.charset),
        width_(page_.width()),
        shown_(shown_regions(profile, options)) {
    for (const Region& region : profile.regions) {
      footnote_ = footnote_ || std::any_of(region.loops.begin(), region.loops.end(), ReportWords::has_footnote);
    }
  }

  std::string text() {
    head();
    quality();
    if (options_.table5) return table5();
    add_transformations(page_, advice_, shown_);
    for (const Region* region : shown_) add_region(page_, report_, *region, options_.min_percent);
    if (shown_.empty()) no_regions();
    if (shown_.size() < profile_.regions.size()) left_out();
    add_suggestions(page_, advice_, shown_, options_.suggestions);
    shares();
    if (options_.legend) legend();
    return page_.take();
  }

 private:
  std::string paint(std::string_view text, Style style) const { return page_.paint(text, style); }
  void line(const std::string& text = "") { page_.line(text); }
  void paragraph(const std::string& text, std::size_t indent, Style style = Style::kPlain) {
    page_.paragraph(text, indent, style);
  }

  std::string table5() {
    add_table5(page_, report_, shown_);
    return page_.take();
  }
  void head();
  void quality();
  void no_regions();
  void left_out();
  void shares();
  void legend();

  const profile::Profile& profile_;
  const ReportOptions& options_;
  ReportWords report_;
  const Words& words_;
  AdviceWords advice_;
  Page page_;
  std::size_t width_;
  std::vector<const Region*> shown_;
  bool footnote_ = false;  // some verdict has an asterisk
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
  page_.line(row);
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

void ReportText::no_regions() {
  line();
  paragraph(!profile_.judged ? "Loops were not judged."
            : profile_.regions.empty() && profile_.regions_min_percent == 0
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
  paragraph(fmt::format("{} {}, with {} % of the operations", page_.dots(), plural(number, "more region"),
                        percent_text(rest)),
            0, Style::kFaint);
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
  if (has_schedules(shown_)) paragraph(AdviceWords::legend(), 0, Style::kFaint);
  paragraph("trips: iterations each time the loop is entered, ~ on average.", 0, Style::kFaint);
  if (!options_.next_command.empty())
    line(fmt::format("Next: {}", paint(words_.text(options_.next_command), Style::kStrong)));
}

}  // namespace

std::vector<const Region*> shown_regions(const profile::Profile& profile, const ReportOptions& options) {
  std::vector<const Region*> shown;
  for (const Region& region : profile.regions)
    if (region.ops_percent >= options.min_percent && shown.size() < options.top) shown.push_back(&region);
  return shown;
}

std::string report_text(const profile::Profile& profile, const ReportOptions& options) {
  return ReportText(profile, options).text();
}

}  // namespace loopfold::views
