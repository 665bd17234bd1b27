#include "views/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "support/units.h"
#include "views/advice_words.h"
#include "views/loop_accesses.h"
#include "views/report_advice.h"
#include "views/report_loops.h"
#include "views/source_text.h"

namespace loopfold::views {

namespace {

using profile::Blocking;
using profile::Loop;
using profile::Region;
using profile::Suggestion;
using profile::TreeNode;

constexpr int kLinesBefore = 2;
constexpr int kLinesBehind = 6;
constexpr std::size_t kMostFrames = 14;
constexpr std::size_t kMostAccesses = 12;
constexpr std::size_t kMostBlocking = 12;
constexpr std::size_t kMostPlace = 24;   // columns
constexpr std::size_t kMostObject = 28;  // columns
constexpr std::size_t kLeastName = 12;
constexpr double kLeastShare = 0.1;  // percent of the operations: smaller loops of a region are only counted

class Explanation {
 public:
  Explanation(const ReportWords& words, const ExplainOptions& options)
      : report_(words),
        words_(words.words()),
        advice_(words),
        profile_(words.profile()),
        options_(options),
        page_(options.width, options.color, words.charset()) {}

  std::string text(const Found& found) {
    if (found.region != nullptr) {
      add_region(page_, report_, *found.region, std::min(kLeastShare, found.region->ops_percent));
      add_schedule(*found.region, nullptr);
      add_nests(*found.region);
      add_obstacles(*found.region);
      add_suggestions(*found.region, nullptr);
      add_caution();
      return page_.take().substr(1);
    }
    const std::size_t shown = std::min(options_.most_loops, found.loops.size());
    if (found.around) page_.paragraph("No loop starts on this line; this is the innermost loop around it.", 0);
    for (std::size_t i = 0; i < shown; i++) {
      if (i > 0 || found.around) page_.line();
      add_loop(*found.loops[i].region, *found.loops[i].loop);
    }
    add_others(found, shown);
    add_caution();
    return page_.take();
  }

 private:
  void add_loop(const Region& region, const Loop& loop) {
    add_title(region, loop);
    add_source(loop);
    add_path(loop);
    add_verdict(loop);
    add_accesses(loop, loop.block == 0
                           ? "What its loads and stores do from one iteration to the next"
                           : fmt::format("What its loads and stores do from one block of {} iterations to the next",
                                         grouped(loop.block)));
    add_levels(region, loop);
    add_schedule(region, &loop);
    add_nests(region);
    add_obstacles(region);
    add_suggestions(region, &loop);
    add_assumptions(loop);
  }

  void add_title(const Region& region, const Loop& loop);
  void add_source(const Loop& loop);
  void add_path(const Loop& loop);
  void add_verdict(const Loop& loop);
  void add_blocking(const Loop& loop);
  void add_accesses(const Loop& loop, const std::string& heading);
  void add_levels(const Region& region, const Loop& loop);
  void add_schedule(const Region& region, const Loop* loop);
  void add_nests(const Region& region);
  void add_obstacles(const Region& region);
  void add_suggestions(const Region& region, const Loop* loop);
  void add_assumptions(const Loop& loop);
  void add_others(const Found& found, std::size_t shown);
  void add_caution() {
    page_.line();
    page_.paragraph("All of this holds for what this run did; another input may do something else.", 0, Style::kFaint);
  }

  std::string place(const std::optional<profile::Source>& source) const {
    return shortened(source ? words_.place(*source) : "?", kMostPlace, page_.charset());
  }
  std::string object(const std::optional<std::uint32_t>& object) const {
    return shortened(report_.object(object), kMostObject, page_.charset());
  }
  void faint(const std::string& text) {
    page_.line(page_.paint(clipped(text, page_.width(), page_.charset()), Style::kFaint));
  }
  void row(const std::string& text) { page_.line(clipped(text, page_.width(), page_.charset())); }

  const ReportWords& report_;
  const Words& words_;
  AdviceWords advice_;
  const profile::Profile& profile_;
  const ExplainOptions& options_;
  Page page_;
  std::optional<profile::Source> shown_source_;  // of the loop before: not shown again
};

void Explanation::add_title(const Region& region, const Loop& loop) {
  Row title;
  title.add("Loop ", Style::kStrong);
  title.add_name(report_.where(loop), Style::kStrong, kLeastName);
  title.add(" in ");
  title.add_name(report_.function(loop), Style::kCall, kLeastName);
  title.add(fmt::format(", region {}", region.id));
  page_.line(title);
  std::string facts = fmt::format("{} % of the operations; ", percent_text(loop.ops_percent));
  const TreeNode& node = profile_.tree[loop.node];
  if (loop.trip.min == loop.trip.max)
    facts += fmt::format("{} each time it is entered", plural(loop.trip.max, "iteration"));
  else
    facts += fmt::format("{} to {} iterations each time it is entered, {} on average", grouped(loop.trip.min),
                         grouped(loop.trip.max), report_.trips(loop));
  facts += fmt::format("; entered {}", plural(node.entries, "time"));
  page_.paragraph(facts, 2, Style::kFaint);
  if (loop.nodes.size() > 1)
    page_.paragraph(fmt::format("The compiler has made {} loops of it: nodes {} of the tree.", loop.nodes.size(),
                                fmt::join(loop.nodes, ", ")),
                    2, Style::kFaint);
}

void Explanation::add_source(const Loop& loop) {
  if (loop.source && loop.source == shown_source_) return;
  shown_source_ = loop.source;
  page_.heading("Source");
  if (!loop.source) {
    page_.paragraph("There is no line information for this loop; compile with -g to get it.", 2);
    return;
  }
  const std::optional<SourceText> text =
      source_around(*loop.source, kLinesBefore, kLinesBehind, options_.source_directory);
  if (!text) {
    page_.paragraph(
        fmt::format("{} was not found here; --source DIR says where to look for it.", words_.text(loop.source->file)),
        2);
    return;
  }
  for (std::size_t i = 0; i < text->lines.size(); i++) {
    const std::int64_t number = text->first + static_cast<std::int64_t>(i);
    const bool here = number == loop.source->line;
    page_.block(fmt::format("{} {:>5} | {}", here ? '>' : ' ', number, tabs_expanded(text->lines[i])), 0,
                here ? Style::kStrong : Style::kPlain);
  }
  if (options_.recorded && text->changed > *options_.recorded)
    page_.paragraph(
        fmt::format("{} has changed since the program was recorded: the lines may be others.", words_.text(text->path)),
        2, Style::kCaution);
}

void Explanation::add_path(const Loop& loop) {
  page_.heading("Where it is");
  std::vector<std::uint32_t> path;
  for (std::optional<std::uint32_t> node = loop.node; node && *node != 0; node = profile_.tree[*node].parent)
    path.push_back(*node);
  std::reverse(path.begin(), path.end());
  const std::size_t left_out = path.size() > kMostFrames ? path.size() - kMostFrames : 0;
  if (left_out > 0) faint(fmt::format("  {} {} more above", page_.dots(), left_out));
  for (std::size_t i = left_out; i < path.size(); i++) {
    const TreeNode& node = profile_.tree[path[i]];
    Row line;
    line.add(std::string(2 + 2 * (i - left_out), ' '));
    line.add_name(words_.frame(node), node.kind == TreeNode::Kind::kLoop ? Style::kLoop : Style::kPlain, kLeastName);
    if (node.kind != TreeNode::Kind::kCall) line.add("  " + words_.rounds(node));
    if (node.kind != TreeNode::Kind::kLoop && node.call_site)
      line.add_optional(" called at " + words_.place(*node.call_site));
    if (path[i] == loop.node) line.add("  (this one)", Style::kStrong);
    page_.line(line);
  }
}

void Explanation::add_verdict(const Loop& loop) {
  page_.heading("Can its iterations run in any order?");
  page_.line("  " + page_.paint(report_.verdict(loop), ReportWords::style(loop)));
  if (loop.parallel == Loop::Parallel::kNo)
    add_blocking(loop);
  else
    for (const std::string& reason : report_.reasons(loop)) page_.item("- ", reason, 2);
  if (loop.parallel == Loop::Parallel::kNo && loop.blocks) page_.item("- ", report_.blocks(loop), 2);
  if (ReportWords::has_footnote(loop)) page_.paragraph(ReportWords::footnote(), 2, Style::kFaint);
}

/// Every dependence that it carries: from where to where, through what, how far, how often.
void Explanation::add_blocking(const Loop& loop) {
  const std::size_t shown = std::min(kMostBlocking, loop.blocking.size());
  faint(fmt::format("  {:<{}}  {:<{}}  {:<12} {:>8} {:>9}", "from", kMostPlace, "to", kMostPlace, "through", "distance",
                    "times"));
  for (std::size_t i = 0; i < shown; i++) {
    const Blocking& blocking = loop.blocking[i];
    std::string through = object(blocking.object);
    if (through.empty()) through = blocking.kind == Blocking::Kind::kControl ? "a decision" : "a register";
    std::string distance = blocking.distance ? std::to_string(*blocking.distance) : "varies";
    if (!blocking.distance && blocking.least && blocking.greatest)
      distance = fmt::format("{}..{}", *blocking.least, *blocking.greatest);
    const auto padded = [&](const std::string& text, std::size_t width) {
      return text + std::string(width - std::min(width, columns(text)), ' ');
    };
    row(fmt::format("  {}  {}  {} {:>8} {:>9}", padded(place(blocking.source_from), kMostPlace),
                    padded(blocking.source_to ? place(blocking.source_to) : "all that follows", kMostPlace),
                    padded(through, 12), distance, short_count(blocking.count)));
    if (!blocking.text.empty()) page_.item("- ", words_.text(blocking.text), 6, Style::kFaint);
  }
  if (shown < loop.blocking.size()) faint(fmt::format("  {} {} more", page_.dots(), loop.blocking.size() - shown));
}

void Explanation::add_accesses(const Loop& loop, const std::string& heading) {
  const std::vector<LoopAccess> accesses = accesses_of(profile_, loop);
  page_.heading(heading);
  if (accesses.empty()) {
    page_.paragraph("There are none.", 2);
    return;
  }
  faint(fmt::format("  {:<{}}  {:<5} {:>5}  {:<16} {:>9}  object", "line", kMostPlace, "", "bytes", "goes", "times"));
  for (std::size_t i = 0; i < std::min(kMostAccesses, accesses.size()); i++) {
    const LoopAccess& access = accesses[i];
    const std::string at = place(access.source);
    row(fmt::format("  {}{}  {:<5} {:>5}  {:<16} {:>9}  {}", at, std::string(kMostPlace - columns(at), ' '),
                    access.kind == profile::Access::Kind::kLoad ? "load" : "store", access.size, stride_text(access),
                    short_count(access.count), object(access.object)));
  }
  if (accesses.size() > kMostAccesses)
    faint(fmt::format("  {} {} more", page_.dots(), accesses.size() - kMostAccesses));
}

/// Loops that the binary hides in this one, outermost first.
void Explanation::add_levels(const Region& region, const Loop& loop) {
  if (loop.block == 0) return;
  const auto is_inside = [&](const Loop& level) {
    std::uint32_t node = level.node;
    while (profile_.tree[node].hidden) node = *profile_.tree[node].parent;
    return level.hidden && std::find(loop.nodes.begin(), loop.nodes.end(), node) != loop.nodes.end();
  };
  for (const Loop& level : region.loops) {
    if (!is_inside(level)) continue;
    page_.heading(fmt::format("Hidden in it: a loop of {}", grouped(level.period)));
    page_.line("  " + page_.paint(report_.verdict(level), ReportWords::style(level)));
    for (const std::string& reason : report_.reasons(level)) page_.item("- ", reason, 2);
    add_accesses(level, fmt::format("What loads and stores do from one iteration of the loop of {} to the next",
                                    grouped(level.period)));
  }
}

void Explanation::add_schedule(const Region& region, const Loop* loop) {
  page_.heading(loop == nullptr ? "What a new order can make of it" : "What a new order of the region makes of it");
  for (const std::string& sentence : advice_.schedule(region)) page_.item("- ", sentence, 2);
  if (region.transformed)
    for (const std::string& reason : advice_.transformations(region).why_not)
      if (region.transformed->status != profile::Transformed::Status::kGaveUp)
        page_.item("- ", "why not: " + reason, 2, Style::kFaint);
}

void Explanation::add_nests(const Region& region) {
  if (!region.transformed) return;
  const auto nest = [&](const char* name, const std::string& text) {
    if (text.empty()) return;
    page_.heading(name);
    page_.block(text, 2);
  };
  nest("The nest as written", region.transformed->ast_before);
  if (region.transformed->status == profile::Transformed::Status::kFound)
    nest("The nest in the new order", region.transformed->ast);
}

void Explanation::add_obstacles(const Region& region) {
  if (region.static_obstacles.empty()) return;
  page_.line();
  page_.paragraph("What would stop a compiler that sees the source only:", 0);
  for (const std::string& obstacle : region.static_obstacles) page_.item("- ", words_.text(obstacle), 2);
}

void Explanation::add_suggestions(const Region& region, const Loop* loop) {
  const auto concerns = [&](const Suggestion& suggestion) {
    if (loop == nullptr) return true;
    const auto is_it = [&](std::uint32_t node) {
      return std::find(loop->nodes.begin(), loop->nodes.end(), node) != loop->nodes.end();
    };
    return std::any_of(suggestion.loops.begin(), suggestion.loops.end(), is_it) ||
           (loop->source && std::count(suggestion.where.begin(), suggestion.where.end(), *loop->source) != 0);
  };
  page_.heading("Suggestions");
  std::size_t number = 0;
  for (const Suggestion& suggestion : region.suggestions)
    if (concerns(suggestion))
      add_suggestion(page_, advice_, {&region, &suggestion}, fmt::format("{}. ", ++number), true);
  if (number > 0) return;
  if (!region.transformed)
    page_.paragraph("None: what another order of the loops could do was not looked for.", 2);
  else if (region.transformed->status == profile::Transformed::Status::kGaveUp)
    page_.paragraph("None: the region was given up on.", 2);
  else
    page_.paragraph("None: nothing to gain was found here.", 2);
}

void Explanation::add_assumptions(const Loop& loop) {
  if (loop.assumes.empty()) return;
  page_.heading("What it assumes");
  for (const profile::Assumption& assumption : loop.assumes)
    page_.item("- ", fmt::format("the branch at {} always goes the way of this run", place(assumption.source)), 2);
}

void Explanation::add_others(const Found& found, std::size_t shown) {
  if (shown == found.loops.size()) return;
  page_.heading(
      fmt::format("{} of this line, in other places of the tree", plural(found.loops.size() - shown, "more loop")));
  for (std::size_t i = shown; i < found.loops.size(); i++) {
    const Loop& loop = *found.loops[i].loop;
    row(fmt::format("  {:>5} %  {}@{}  {}", aligned(loop.ops_percent), report_.where(loop), loop.node,
                    report_.verdict(loop)));
  }
}

}  // namespace

std::string explain_text(const ReportWords& words, const Found& found, const ExplainOptions& options) {
  return Explanation(words, options).text(found);
}

}  // namespace loopfold::views
