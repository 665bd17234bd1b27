#include "advise/order_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "profile/levels.h"

namespace loopfold::advise {

namespace {

using profile::BandMember;

constexpr unsigned kTileSize = 32;

std::vector<std::uint32_t> all_groups(const Order& order) {
  std::vector<std::uint32_t> groups(order.rows.size());
  for (std::uint32_t i = 0; i < groups.size(); ++i) groups[i] = i;
  return groups;
}

const OrderBand* band_at(const Order& order, const std::vector<std::uint32_t>& groups, std::size_t row) {
  for (const OrderBand& band : order.bands) {
    if (row < band.first || row >= band.first + band.depth) continue;
    if (std::find(band.groups.begin(), band.groups.end(), groups.front()) != band.groups.end()) return &band;
  }
  return nullptr;
}

/// Parts of groups with the same constant in a row, in the order of that.
std::map<std::int64_t, std::vector<std::uint32_t>> parts_at(const Order& order,
                                                            const std::vector<std::uint32_t>& groups, std::size_t row) {
  std::map<std::int64_t, std::vector<std::uint32_t>> parts;
  for (const std::uint32_t group : groups) parts[order.rows[group][row].constant].push_back(group);
  return parts;
}

std::size_t components_in(const Order& order, const std::vector<std::uint32_t>& groups, std::size_t row) {
  if (row >= order.length()) return 0;
  if (const OrderBand* band = band_at(order, groups, row)) {
    if (is_loop(order, *band, static_cast<std::uint32_t>(row - band->first))) return 1;
    return components_in(order, groups, row + 1);
  }
  std::size_t sum = 0;
  for (const auto& [place, part] : parts_at(order, groups, row)) sum += components_in(order, part, row + 1);
  return sum;
}

}  // namespace

std::size_t components(const Order& order) { return components(order, all_groups(order)); }

std::size_t components(const Order& order, const std::vector<std::uint32_t>& groups) {
  return groups.empty() ? 0 : components_in(order, groups, 0);
}

std::vector<std::uint32_t> OrderText::main_groups() const {
  constexpr double kMinor = 0.1;  // of the operations
  const auto sources = [&](std::uint32_t group) {
    std::vector<profile::Source> found;
    for (const ddg::StatementId id : nest_.program.groups[group].statements)
      found.insert(found.end(), profile_.statements[id].source.begin(), profile_.statements[id].source.end());
    return found;
  };
  double ops = 0;
  std::vector<profile::Source> inside;  // lines of loops, and of what is in innermost ones
  for (std::uint32_t g = 0; g < nest_.facts.size(); ++g) {
    ops += nest_.facts[g].ops;
    if (nest_.facts[g].innermost)
      for (profile::Source& source : sources(g)) inside.push_back(std::move(source));
    for (const structure::ContextId loop : nest_.program.groups[g].loops)
      if (const profile::Loop* row = loop_at(context_.nodes[loop]); row != nullptr && row->source)
        inside.push_back(*row->source);
  }
  std::vector<std::uint32_t> groups;
  for (std::uint32_t g = 0; g < nest_.facts.size(); ++g) {
    const std::vector<profile::Source> lines = sources(g);
    const bool known = std::all_of(lines.begin(), lines.end(), [&](const profile::Source& line) {
      return std::find(inside.begin(), inside.end(), line) != inside.end();
    });
    if (nest_.facts[g].innermost || !known || nest_.facts[g].ops > kMinor * ops) groups.push_back(g);
  }
  return groups;
}

const profile::Loop* OrderText::loop_at(std::uint32_t node) const {
  for (const profile::Region& region : profile_.regions)
    for (const profile::Loop& loop : region.loops)
      if (std::find(loop.nodes.begin(), loop.nodes.end(), node) != loop.nodes.end()) return &loop;
  return nullptr;
}

std::string OrderText::line_of(std::uint32_t node) const {
  const profile::Loop* const loop = loop_at(node);
  const std::optional<profile::Source>& source =
      loop != nullptr && loop->source ? loop->source : profile_.tree[node].source;
  if (!source) return fmt::format("loop {} of {}", node, profile_.tree[node].function);
  const std::size_t slash = source->file.rfind('/');
  return fmt::format("{}:{}{}", slash == std::string::npos ? source->file : source->file.substr(slash + 1),
                     source->line, profile::counter_words(profile_.tree[node]));
}

std::vector<BandMember::Term> OrderText::terms(const Order& order, const OrderBand& band, std::uint32_t place) const {
  std::vector<BandMember::Term> best;
  for (const std::uint32_t group : band.groups) {
    const std::size_t number = band.first + place;
    const Row& row = order.rows[group][number];
    const std::optional<std::size_t> own = stands_for(order.rows[group])[number];
    if (!own) continue;
    const std::vector<structure::ContextId>& loops = nest_.program.groups[group].loops;
    std::vector<BandMember::Term> found{{context_.nodes[loops[*own]], row.coefficients[*own]}};
    for (std::size_t c = 0; c < row.coefficients.size(); ++c)
      if (c != *own && row.coefficients[c] != 0) found.push_back({context_.nodes[loops[c]], row.coefficients[c]});
    if (found.size() > best.size()) best = std::move(found);
  }
  return best;
}

std::string OrderText::name(const std::vector<BandMember::Term>& terms) const {
  std::string text;
  for (const BandMember::Term& term : terms) {
    if (!text.empty()) text += term.factor < 0 ? " - " : " + ";
    const std::int64_t factor = text.empty() ? term.factor : std::abs(term.factor);
    if (factor != 1) text += factor == -1 ? "-" : fmt::format("{}*", factor);
    text += line_of(term.node);
  }
  return text;
}

std::string OrderText::lines_of(std::uint32_t group) const {
  std::map<std::string, std::set<int>> lines;
  for (const ddg::StatementId id : nest_.program.groups[group].statements)
    for (const profile::Source& source : profile_.statements[id].source) {
      const std::size_t slash = source.file.rfind('/');
      lines[slash == std::string::npos ? source.file : source.file.substr(slash + 1)].insert(source.line);
    }
  std::string text;
  for (const auto& [file, numbers] : lines) {
    std::string part;
    for (const int line : numbers) part += fmt::format("{}{}", part.empty() ? "" : ",", line);
    text += fmt::format("{}{}:{}", text.empty() ? "" : "; ", file, part);
  }
  return text.empty() ? fmt::format("S{}", nest_.program.groups[group].statements.front()) : text;
}

std::string OrderText::marks(const Order& order, const OrderBand& band, std::uint32_t place, bool transformed) const {
  std::vector<std::string> marks;
  if (band.carries[place] == Carries::kNothing) marks.emplace_back("parallel");
  if (band.carries[place] == Carries::kReduction) marks.emplace_back("reduction");
  std::uint32_t loops = 0;
  for (std::uint32_t k = 0; k < band.depth; ++k) loops += is_loop(order, band, k) ? 1 : 0;
  if (transformed && band.permutable && loops >= 2) marks.push_back(fmt::format("tile {}", kTileSize));
  const auto is_innermost = [&](std::uint32_t group) {
    const std::optional<Innermost> inner = innermost_of(order, group);
    return inner && &order.bands[inner->band] == &band && inner->place == place;
  };
  if (band.carries[place] != Carries::kFlow &&
      std::all_of(band.groups.begin(), band.groups.end(), [&](std::uint32_t g) { return is_innermost(g); })) {
    std::vector<Direction> along;
    for (const std::uint32_t group : band.groups) along.push_back(direction_of(order.rows[group], band.first + place));
    if (near_share(nest_.facts, band.groups, along) >= 0.5) marks.emplace_back("vector");
  }
  return fmt::format("{}", fmt::join(marks, ", "));
}

void OrderText::print_statements(std::uint32_t group, std::size_t depth, std::string& text) const {
  text += fmt::format("{:{}}{}\n", "", 2 * depth, lines_of(group));
}

void OrderText::print(const Order& order, const std::vector<std::uint32_t>& groups, std::size_t row, std::size_t depth,
                      bool transformed, std::string& text) const {
  if (row >= order.length()) {
    for (const std::uint32_t group : groups) print_statements(group, depth, text);
    return;
  }
  const OrderBand* const band = band_at(order, groups, row);
  if (band == nullptr) {
    for (const auto& [place, part] : parts_at(order, groups, row))
      print(order, part, row + 1, depth, transformed, text);
    return;
  }
  const auto place = static_cast<std::uint32_t>(row - band->first);
  if (!is_loop(order, *band, place)) {
    for (const auto& [constant, part] : parts_at(order, groups, row))
      print(order, part, row + 1, depth, transformed, text);
    return;
  }
  const std::vector<BandMember::Term> loops = terms(order, *band, place);
  std::string head = fmt::format("{:{}}for {}", "", 2 * depth, name(loops));
  if (loops.size() == 1) {
    if (const profile::Loop* loop = loop_at(loops.front().node)) {
      const std::uint64_t block = std::max<std::uint64_t>(loop->block, 1);
      head += loop->trip.min == loop->trip.max
                  ? fmt::format("  {} trips", (loop->trip.max + block - 1) / block)
                  : fmt::format("  ~{:.4g} trips", loop->trip.mean / static_cast<double>(block));
    }
  }
  const std::string marked = marks(order, *band, place, transformed);
  text += marked.empty() ? head + "\n" : fmt::format("{}  [{}]\n", head, marked);
  print(order, groups, row + 1, depth + 1, transformed, text);
}

std::string OrderText::ast(const Order& order, bool transformed) const {
  std::string text;
  const std::vector<std::uint32_t> groups = main_groups();
  if (!groups.empty()) print(order, groups, 0, 0, transformed, text);
  return text;
}

std::vector<std::vector<std::uint32_t>> OrderText::interchanged() const {
  std::set<std::vector<std::uint32_t>> pairs;
  for (std::uint32_t g = 0; g < nest_.program.groups.size(); ++g) {
    const std::vector<std::optional<std::size_t>> stands = stands_for(nest_.choice.best.rows[g]);
    for (std::size_t a = 0; a < stands.size(); ++a)
      for (std::size_t b = a + 1; b < stands.size(); ++b)
        if (stands[a] && stands[b] && *stands[a] > *stands[b])
          pairs.insert({context_.nodes[nest_.program.groups[g].loops[*stands[b]]],
                        context_.nodes[nest_.program.groups[g].loops[*stands[a]]]});
  }
  return {pairs.begin(), pairs.end()};
}

std::vector<std::vector<std::int64_t>> OrderText::skews() const {
  std::set<std::vector<std::int64_t>> skews;
  for (std::uint32_t g = 0; g < nest_.program.groups.size(); ++g) {
    const std::vector<Row>& rows = nest_.choice.best.rows[g];
    const std::vector<std::optional<std::size_t>> stands = stands_for(rows);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (!stands[k] || !is_skewed(rows[k], *stands[k], nest_.facts[g])) continue;
      for (std::size_t c = 0; c < rows[k].coefficients.size(); ++c)
        if (c != *stands[k] && rows[k].coefficients[c] != 0)
          skews.insert({context_.nodes[nest_.program.groups[g].loops[*stands[k]]],
                        context_.nodes[nest_.program.groups[g].loops[c]], rows[k].coefficients[c]});
    }
  }
  return {skews.begin(), skews.end()};
}

std::vector<std::string> OrderText::steps() const {
  const Order& order = nest_.choice.best;
  std::vector<std::string> steps;
  const std::vector<std::uint32_t> groups = main_groups();
  const std::size_t before = components(nest_.choice.written, groups);
  const std::size_t after = components(order, groups);
  if (after < before) steps.push_back(fmt::format("fuse {} loops into {}", before, after));
  if (after > before) steps.push_back(fmt::format("distribute the loops into {}", after));
  for (const std::vector<std::uint32_t>& pair : interchanged())
    steps.push_back(fmt::format("interchange {} and {}", line_of(pair[0]), line_of(pair[1])));
  for (const std::vector<std::int64_t>& skew : skews())
    steps.push_back(fmt::format("skew {} by {} times {}", line_of(static_cast<std::uint32_t>(skew[0])), skew[2],
                                line_of(static_cast<std::uint32_t>(skew[1]))));
  for (const OrderBand& band : order.bands) {
    const bool shown = std::any_of(band.groups.begin(), band.groups.end(), [&](std::uint32_t group) {
      return std::find(groups.begin(), groups.end(), group) != groups.end();
    });
    if (!shown) continue;
    std::vector<std::string> names;
    for (std::uint32_t k = 0; k < band.depth; ++k)
      if (is_loop(order, band, k)) names.push_back(name({terms(order, band, k).front()}));
    const bool tiled = band.permutable && names.size() >= 2;
    if (tiled) steps.push_back(fmt::format("tile {} by {}", fmt::join(names, ", "), kTileSize));
    auto parallel = std::find(band.alone.begin(), band.alone.end(), Carries::kNothing) - band.alone.begin();
    if (!band.permutable || (!tiled && parallel == band.depth))
      parallel = std::find(band.carries.begin(), band.carries.end(), Carries::kNothing) - band.carries.begin();
    const bool outermost =
        band.first == 0 || std::none_of(order.bands.begin(), order.bands.end(), [&](const OrderBand& b) {
          return b.first < band.first && !std::none_of(band.groups.begin(), band.groups.end(), [&](std::uint32_t g) {
                   return std::find(b.groups.begin(), b.groups.end(), g) != b.groups.end();
                 });
        });
    if (!outermost) continue;
    if (parallel != band.depth && is_loop(order, band, static_cast<std::uint32_t>(parallel)))
      steps.push_back(
          fmt::format("parallelise {}", name({terms(order, band, static_cast<std::uint32_t>(parallel)).front()})));
    else if (tiled)
      steps.push_back("run the tiles in parallel along each wavefront");
  }
  std::vector<std::string> once;
  for (std::string& step : steps)
    if (std::find(once.begin(), once.end(), step) == once.end()) once.push_back(std::move(step));
  return once;
}

}  // namespace loopfold::advise
