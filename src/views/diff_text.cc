#include "views/diff_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/units.h"
#include "views/advice_words.h"
#include "views/diff_story.h"
#include "views/report_loops.h"

namespace loopfold::views {

namespace {

constexpr std::size_t kLabel = 32;
constexpr std::size_t kNumber = 12;
constexpr std::size_t kMostSuggestions = 8;
constexpr std::size_t kMostStories = 6;

/// Arrows and times signs for terminals that have none.
std::string in_charset(std::string text, Charset charset) {
  if (charset == Charset::kUnicode) return text;
  for (const auto& [sign, word] : {std::pair{"→", "->"}, std::pair{"×", "x"}})
    for (std::size_t at = 0; (at = text.find(sign, at)) != std::string::npos;)
      text.replace(at, std::string_view(sign).size(), word);
  return text;
}

class DiffText {
 public:
  DiffText(const Diff& diff, const ReportWords& before, const ReportWords& after, const DiffTextOptions& options)
      : diff_(diff),
        before_(before),
        after_(after),
        options_(options),
        page_(options.width, options.color, options.charset) {}

  std::string text() {
    page_.line(fmt::format("before  {}", before_.words().command_line()));
    page_.line(fmt::format("after   {}", after_.words().command_line()));
    totals();
    stories();
    loops();
    suggestions("No longer suggested", diff_.gone);
    suggestions("Suggested now", diff_.fresh);
    return page_.take();
  }

 private:
  std::string say(const std::string& text) const { return in_charset(text, options_.charset); }

  void row(std::string_view label, const std::string& a, const std::string& b, const std::string& change) {
    page_.line(fmt::format("  {:<{}}{:>{}}{:>{}}  {}", label, kLabel, a, kNumber, b, kNumber, say(change)));
  }

  void totals() {
    const std::uint64_t a = before_.profile().program.instructions;
    const std::uint64_t b = after_.profile().program.instructions;
    page_.line();
    page_.line(fmt::format("  {:<{}}{:>{}}{:>{}}", "", kLabel, "before", kNumber, "after", kNumber));
    row("instructions", short_count(a), short_count(b), change_text(a, b));
    const auto share = [&](std::string_view label, double x, double y) {
      row(label, aligned(x) + " %", aligned(y) + " %", "");
    };
    share("in parallel loops as written", diff_.shares_before.parallel, diff_.shares_after.parallel);
    share("parallel after transformation", diff_.shares_before.transformed, diff_.shares_after.transformed);
    share("sequential", diff_.shares_before.sequential, diff_.shares_after.sequential);
    share("not modelled", diff_.shares_before.unknown, diff_.shares_after.unknown);
  }

  bool small(const LoopPair& pair) const {
    const auto share = [](const std::optional<LoopSide>& side, const ReportWords& words) {
      return side ? percent_of(side->ops, words.profile().program.instructions) : 0;
    };
    return std::max(share(pair.before, before_), share(pair.after, after_)) < options_.min_percent;
  }

  void stories() {
    std::vector<NestStory> stories = stories_of(diff_);
    const double most = static_cast<double>(std::max(before_.profile().program.instructions, std::uint64_t{1}));
    std::erase_if(stories, [&](const NestStory& story) {
      return 100 * static_cast<double>(story.ops) / most < options_.min_percent;
    });
    if (stories.empty()) return;
    page_.heading("In short");
    for (std::size_t i = 0; i < std::min(stories.size(), kMostStories); i++) {
      const NestStory& story = stories[i];
      const std::string where = story.before == story.after ? story.before : story.before + " → " + story.after;
      page_.item("", say(fmt::format("{}, {}", story.function, where)), 2);
      for (const std::string& sentence : story.sentences) page_.item("- ", say(sentence), 4);
    }
  }

  void loops() {
    page_.heading("Loops that changed");
    std::size_t same = 0;
    std::size_t little = 0;
    bool any = false;
    for (const LoopPair& pair : diff_.loops) {
      if (pair.changes.empty()) {
        same++;
      } else if (small(pair)) {
        little++;
      } else {
        add(pair);
        any = true;
      }
    }
    if (!any) page_.paragraph("none", 2);
    if (same > 0)
      page_.paragraph(fmt::format("{} as before.", same == 1 ? "1 loop is" : plural(same, "loop") + " are"), 2);
    if (little > 0)
      page_.paragraph(fmt::format("{} with less than {:g} % of the operations changed too.", plural(little, "loop"),
                                  options_.min_percent),
                      2);
  }

  void add(const LoopPair& pair) {
    const LoopSide& named = pair.after ? *pair.after : *pair.before;
    std::string title = pair.before && pair.after && pair.before->where != pair.after->where
                            ? fmt::format("{} → {}", pair.before->where, pair.after->where)
                            : named.where;
    page_.paragraph(say(title + " in " + named.function), 2, Style::kStrong);
    for (const std::string& change : pair.changes) page_.item("- ", say(change), 4);
    if (!pair.before || !pair.after)
      page_.item(
          "- ", say(fmt::format("{} operations, {} trips, {}", short_count(named.ops), named.trips, named.verdict)), 4);
  }

  void suggestions(const std::string& heading, const std::vector<SuggestionChange>& list) {
    if (list.empty()) return;
    page_.heading(heading);
    for (std::size_t i = 0; i < std::min(list.size(), kMostSuggestions); i++)
      page_.item(
          "- ",
          fmt::format("{} {} ({}, in {})", list[i].suggestion->rule, before_.words().text(list[i].suggestion->title),
                      AdviceWords::gain(list[i].suggestion->gain), before_.words().text(list[i].function)),
          2);
    if (list.size() > kMostSuggestions) page_.paragraph(fmt::format("and {} more", list.size() - kMostSuggestions), 2);
  }

  const Diff& diff_;
  const ReportWords& before_;
  const ReportWords& after_;
  const DiffTextOptions& options_;
  Page page_;
};

}  // namespace

std::string diff_text(const Diff& diff, const ReportWords& before, const ReportWords& after,
                      const DiffTextOptions& options) {
  return DiffText(diff, before, after, options).text();
}

}  // namespace loopfold::views
