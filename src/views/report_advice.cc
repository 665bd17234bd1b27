#include "views/report_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace loopfold::views {

namespace {

using profile::Region;
using profile::Suggestion;
using profile::Transformed;

constexpr std::size_t kMostPlace = 24;    // columns of a region's place
constexpr std::size_t kLeastPlace = 10;   // the same if the page is narrow
constexpr std::size_t kMostLines = 14;    // columns of the lines of an interchange
constexpr std::size_t kMostReasons = 3;
constexpr std::size_t kMostReason = 120;  // columns of one reason, over all its lines
constexpr std::size_t kFields = 11;       // columns of "requires" and the space behind it

/// A table with columns as wide as what is in them. If that is too wide, the gaps become smaller, then the places.
class Columns {
 public:
  static constexpr std::size_t kCount = 9;
  using Cells = std::array<std::string, kCount>;

  Columns(const Cells& names, Charset charset) : names_(names), charset_(charset) { widen(names); }

  void widen(const Cells& cells) {
    for (std::size_t i = 0; i < kCount; i++) widths_[i] = std::max(widths_[i], columns(cells[i]));
  }

  void fit(std::size_t width) {
    width_ = width;
    if (all() > width) gap_ = 1;
    std::size_t& place = widths_[kPlace];
    const std::size_t excess = all() > width ? all() - width : 0;
    place = std::max(std::min(place, kLeastPlace), place - std::min(place, excess));
  }

  /// Numbers are on the right, all else on the left.
  std::string line(const Cells& cells) const {
    std::string text;
    for (std::size_t i = 0; i < kCount; i++) {
      const std::string cell = shortened(cells[i], widths_[i], charset_);
      const std::string padding(widths_[i] - columns(cell), ' ');
      const bool right = i == kNumber || i == kShare;
      text += std::string(i == 0 ? 1 : gap_, ' ') + (right ? padding + cell : cell + padding);
    }
    return clipped(text, width_, charset_);
  }

  std::string head() const { return line(names_); }

 private:
  static constexpr std::size_t kNumber = 0;
  static constexpr std::size_t kPlace = 1;
  static constexpr std::size_t kShare = 2;

  std::size_t all() const {
    std::size_t sum = 1 + (kCount - 1) * gap_;
    for (const std::size_t width : widths_) sum += width;
    return sum;
  }

  Cells names_;
  Charset charset_;
  std::array<std::size_t, kCount> widths_{};
  std::size_t gap_ = 2;
  std::size_t width_ = Page::kMostWidth;
};

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// The first few, none too long: `explain` has them all.
std::vector<std::string> reasons_of(const Transformations& row, Charset charset) {
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < std::min(kMostReasons, row.why_not.size()); i++)
    reasons.push_back(clipped_words(row.why_not[i], kMostReason, charset));
  if (reasons.size() < row.why_not.size())
    reasons.push_back(fmt::format("and {} more", row.why_not.size() - reasons.size()));
  return reasons;
}

/// The row, and below it why not.
void add_row(Page& page, const std::string& front, const std::vector<std::string>& reasons) {
  page.line(trimmed(front));
  for (const std::string& reason : reasons)
    page.item(&reason == &reasons.front() ? "why not: " : "         ", reason, 4, Style::kFaint);
}

std::size_t gave_up(std::span<const Region* const> regions) {
  return static_cast<std::size_t>(std::count_if(regions.begin(), regions.end(), [](const Region* region) {
    return region->transformed && region->transformed->status == Transformed::Status::kGaveUp;
  }));
}

}  // namespace

bool has_schedules(std::span<const Region* const> regions) {
  return std::any_of(regions.begin(), regions.end(),
                     [](const Region* region) { return region->transformed.has_value(); });
}

void add_transformations(Page& page, const AdviceWords& words, std::span<const Region* const> regions) {
  if (!has_schedules(regions)) return;
  Columns table({"", "region", "ops %", "parallel", "SIMD", "interchange", "tile", "skew", "fuse"}, page.charset());
  std::vector<std::pair<Columns::Cells, std::vector<std::string>>> rows;
  for (const Region* const region : regions) {
    const Transformations row = words.transformations(*region);
    const std::string place = shortened(words.region(*region), kMostPlace, page.charset());
    rows.push_back({{std::to_string(region->id), place, fmt::format("{:.1f}", region->ops_percent), row.parallel,
                     row.simd, shortened(row.interchange, kMostLines, page.charset()), row.tile, row.skew, row.fuse},
                    reasons_of(row, page.charset())});
    table.widen(rows.back().first);
  }
  table.fit(page.width());
  page.heading("What can be done to each region");
  page.line(page.paint(trimmed(table.head()), Style::kFaint));
  for (const auto& [cells, reasons] : rows) add_row(page, table.line(cells), reasons);
}

void add_suggestion(Page& page, const AdviceWords& words, const RankedSuggestion& ranked, std::string_view mark,
                    bool with_evidence) {
  const Suggestion& suggestion = *ranked.suggestion;
  const std::size_t indent = 2 + columns(mark);
  const Words& plain = words.words();
  page.item(mark, fmt::format("{} {}", plain.text(suggestion.rule), plain.text(suggestion.title)), 2, Style::kStrong);
  const auto field = [&](const char* name, const std::string& text) {
    if (!text.empty()) page.item(fmt::format("{:<{}}", name, kFields), text, indent);
  };
  field("gain", fmt::format("{}{}{}", AdviceWords::gain(suggestion.gain), suggestion.estimate.empty() ? "" : ": ",
                            plain.text(suggestion.estimate)));
  const std::string lines = words.lines(suggestion);
  field("lines", fmt::format("{}{}in region {}", lines, lines.empty() ? "" : " ", ranked.region->id));
  field("legal", AdviceWords::legal(suggestion.legal));
  const char* name = "requires";
  for (const profile::Requirement& requirement : suggestion.requirements) {
    field(name, words.requirement(requirement));
    name = "";
  }
  if (suggestion.requirements.empty()) field("requires", "nothing");
  name = "evidence";
  for (const std::string& evidence : suggestion.evidence) {
    if (!with_evidence) break;
    field(name, plain.text(evidence));
    name = "";
  }
}

std::string nothing_to_gain(std::span<const Region* const> regions) {
  const std::size_t given_up = gave_up(regions);
  if (given_up == 0) return "No suggestions: nothing to gain was found.";
  return fmt::format("No suggestions: nothing to gain was found{}. {} region{} given up on: see above.",
                     given_up < regions.size() ? " in the regions that could be scheduled" : "", given_up,
                     given_up == 1 ? " was" : "s were");
}

void add_suggestions(Page& page, const AdviceWords& words, std::span<const Region* const> regions, std::size_t most) {
  if (regions.empty()) return;
  const std::vector<RankedSuggestion> ranked = ranked_suggestions(regions);
  if (ranked.empty()) {
    page.line();
    page.paragraph(has_schedules(regions) ? nothing_to_gain(regions)
                                          : "No suggestions: what another order of the loops could do was not looked "
                                            "for.",
                   0);
    return;
  }
  page.heading("Suggestions, the greatest gain first");
  for (std::size_t i = 0; i < std::min(most, ranked.size()); i++)
    add_suggestion(page, words, ranked[i], fmt::format("{}. ", i + 1), false);
  if (most < ranked.size())
    page.line(page.paint(fmt::format("  {} {} more", page.dots(), ranked.size() - most), Style::kFaint));
}

}  // namespace loopfold::views
