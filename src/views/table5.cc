#include "views/table5.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "support/units.h"
#include "views/report_markdown.h"

namespace loopfold::views {

namespace {

using profile::Region;
using profile::Transformed;

constexpr std::string_view kNames[] = {"Region",     "#V",     "#E",    "%Aff",    "%ops",     "%Mops",  "%FPops",
                                       "interproc.", "static", "skew",  "%||ops",  "%simdops", "%reuse", "%Preuse",
                                       "ld-src",     "ld-bin", "TileD", "%Tilops", "C",        "Comp.",  "fusion"};
constexpr std::size_t kColumns = std::size(kNames);
constexpr std::size_t kStatic = 8;  // column
constexpr std::string_view kStaticInFull = "what would stop a static compiler";
constexpr std::size_t kFirstOfSchedule = 9;  // column
constexpr std::size_t kMostPlace = 18;       // columns of a region's place on a terminal
constexpr std::string_view kLetters =
    "What would stop a static compiler: R calls, C complex control flow, B bounds or conditions that are not "
    "affine, F accesses that are not affine, A pointers that may alias, P base pointers that change. #V, #E: "
    "statements and dependences between them, after folding. fusion: M maximal, S smart. -: no schedule was found.";

using Cells = std::vector<std::string>;

std::string percent(double share) { return share > 0 && share < 0.5 ? "<1%" : fmt::format("{:.0f}%", share); }
std::string depth(std::uint32_t loops) { return fmt::format("{}D", loops); }

/// "R" of "R", "R: calls" and "R calls"; anything else as it is.
std::string letter(const std::string& obstacle) {
  const bool code = !obstacle.empty() && std::isupper(static_cast<unsigned char>(obstacle[0])) != 0 &&
                    (obstacle.size() == 1 || std::isalnum(static_cast<unsigned char>(obstacle[1])) == 0);
  return code ? obstacle.substr(0, 1) : obstacle;
}

std::string fusion_letter(Transformed::Fusion fusion) {
  switch (fusion) {
    case Transformed::Fusion::kMax:
      return "M";
    case Transformed::Fusion::kSmart:
      return "S";
    case Transformed::Fusion::kNone:
      break;
  }
  return "N";
}

bool has_schedule(const Region& region) {
  return region.transformed && region.transformed->status != Transformed::Status::kGaveUp;
}

void add_unknown(Cells& cells, std::size_t count) { cells.insert(cells.end(), count, "-"); }

Cells row(const Region& region, const ReportWords& words) {
  std::string obstacles;
  for (const std::string& obstacle : region.static_obstacles) obstacles += letter(words.words().text(obstacle));
  const std::string where = region.loops.empty() ? "?" : words.where(region.loops.front());
  Cells cells = {where,
                 short_count(region.vertices),
                 short_count(region.edges),
                 percent(region.affine_percent),
                 percent(region.ops_percent),
                 percent(region.mem_percent),
                 percent(region.fp_percent),
                 region.interprocedural ? "Y" : "N",
                 obstacles.empty() ? "-" : obstacles};
  const bool known = has_schedule(region);
  if (known) {
    const Transformed& to = *region.transformed;
    cells.insert(cells.end(),
                 {to.skew.empty() ? "N" : "Y", percent(to.parallel_ops_percent), percent(to.simd_ops_percent),
                  percent(to.reuse_percent), percent(to.potential_reuse_percent)});
  } else {
    add_unknown(cells, 5);
  }
  cells.insert(cells.end(), {depth(region.depth_source), depth(region.depth_binary)});
  if (known) {
    const Transformed& to = *region.transformed;
    cells.insert(cells.end(),
                 {depth(to.tile_depth), percent(to.tilable_ops_percent), std::to_string(to.components_before),
                  std::to_string(to.components_after), fusion_letter(to.fusion)});
  } else {
    add_unknown(cells, 5);
  }
  return cells;
}

/// A mean that regions are weighed for.
class Mean {
 public:
  void add(double value, double weight) {
    sum_ += value * weight;
    weight_ += weight;
  }
  std::string text() const { return weight_ > 0 ? percent(sum_ / weight_) : "-"; }

 private:
  double sum_ = 0;
  double weight_ = 0;
};

Cells total(std::span<const Region* const> regions) {
  std::uint64_t vertices = 0, edges = 0, before = 0, after = 0;
  std::uint32_t source = 0, binary = 0, tile = 0;
  double ops = 0;
  bool calls = false, skew = false, scheduled = false;
  Mean affine, memory, floating, parallel, simd, reuse, potential, tilable;
  std::string obstacles, fusions;
  const auto join = [](std::string& letters, const std::string& more) {
    if (letters.find(more) == std::string::npos) letters += more;
  };
  for (const Region* const region : regions) {
    const double weight = region->ops_percent;
    vertices += region->vertices;
    edges += region->edges;
    ops += weight;
    source = std::max(source, region->depth_source);
    binary = std::max(binary, region->depth_binary);
    calls = calls || region->interprocedural;
    affine.add(region->affine_percent, weight);
    memory.add(region->mem_percent, weight);
    floating.add(region->fp_percent, weight);
    for (const std::string& obstacle : region->static_obstacles)
      if (const std::string code = letter(obstacle); code.size() == 1) join(obstacles, code);
    if (!has_schedule(*region)) continue;
    const Transformed& to = *region->transformed;
    scheduled = true;
    skew = skew || !to.skew.empty();
    tile = std::max(tile, to.tile_depth);
    before += to.components_before;
    after += to.components_after;
    parallel.add(to.parallel_ops_percent, weight);
    simd.add(to.simd_ops_percent, weight);
    tilable.add(to.tilable_ops_percent, weight);
    reuse.add(to.reuse_percent, weight * region->mem_percent);
    potential.add(to.potential_reuse_percent, weight * region->mem_percent);
    join(fusions, fusion_letter(to.fusion));
  }
  Cells cells = {"total",         short_count(vertices), short_count(edges),
                 affine.text(),   percent(ops),          memory.text(),
                 floating.text(), calls ? "Y" : "N",     obstacles.empty() ? "-" : obstacles};
  const auto known = [&](std::string text) { return scheduled ? std::move(text) : "-"; };
  cells.insert(cells.end(), {known(skew ? "Y" : "N"), parallel.text(), simd.text(), reuse.text(), potential.text(),
                             depth(source), depth(binary), known(depth(tile)), tilable.text(),
                             known(std::to_string(before)), known(std::to_string(after)), known(fusions)});
  return cells;
}

std::vector<Cells> all_rows(const ReportWords& words, std::span<const Region* const> regions) {
  std::vector<Cells> rows = {Cells(std::begin(kNames), std::end(kNames))};
  for (const Region* const region : regions) rows.push_back(row(*region, words));
  rows.push_back(total(regions));
  return rows;
}

/// The region's place and the columns from `first` to `last`, in line.
void add_columns(Page& page, const std::vector<Cells>& rows, std::size_t first, std::size_t last) {
  std::vector<std::size_t> widths(kColumns);
  for (const Cells& cells : rows)
    for (std::size_t i = 0; i < kColumns; i++) widths[i] = std::max(widths[i], columns(cells[i]));
  widths[0] = std::min(widths[0], kMostPlace);
  for (const Cells& cells : rows) {
    const std::string place = shortened(cells[0], widths[0], page.charset());
    std::string line = place + std::string(widths[0] - columns(place), ' ');
    for (std::size_t i = first; i < last; i++) line += std::string(1 + widths[i] - columns(cells[i]), ' ') + cells[i];
    page.line(
        page.paint(clipped(line, page.width(), page.charset()), &cells == &rows[0] ? Style::kFaint : Style::kPlain));
  }
}

}  // namespace

std::string table5_markdown(const ReportWords& words, std::span<const Region* const> regions) {
  std::string text;
  for (const Cells& cells : all_rows(words, regions)) {
    Cells escaped;
    const bool names = text.empty();
    for (const std::string& cell : cells) escaped.push_back(markdown_escaped(cell));
    if (names) escaped[kStatic] = kStaticInFull;
    text += fmt::format("| {} |\n", fmt::join(escaped, " | "));
    if (!names) continue;
    text += "|---|";
    for (std::size_t i = 1; i < kColumns; i++) text += "--:|";
    text += '\n';
  }
  return text + "\n" + markdown_escaped(kLetters) + "\n";
}

void add_table5(Page& page, const ReportWords& words, std::span<const Region* const> regions) {
  const std::vector<Cells> rows = all_rows(words, regions);
  page.line();
  add_columns(page, rows, 1, kFirstOfSchedule);
  page.line();
  add_columns(page, rows, kFirstOfSchedule, kColumns);
  page.line();
  page.paragraph(kLetters, 0, Style::kFaint);
}

}  // namespace loopfold::views
