#include "views/loop_finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>

#include "views/advice_words.h"

namespace loopfold::views {

namespace {

using profile::Loop;
using profile::Profile;
using profile::Region;
using profile::Source;

constexpr std::size_t kMostNear = 3;

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// "R3" and "3".
std::optional<std::uint32_t> region_of(std::string_view text) {
  if (text.starts_with('R') || text.starts_with('r')) text.remove_prefix(1);
  return number_of(text);
}

/// FILE:LINE, FILE:LINE@NODE.
struct Place {
  std::string file;
  std::int64_t line = 0;
  std::optional<std::uint32_t> node;
};

std::optional<Place> place_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  std::string_view rest = std::string_view(text).substr(colon + 1);
  Place place;
  place.file = text.substr(0, colon);
  if (const std::size_t at = rest.find('@'); at != std::string_view::npos) {
    place.node = number_of(rest.substr(at + 1));
    if (!place.node) return std::nullopt;
    rest = rest.substr(0, at);
  }
  const std::optional<std::uint32_t> line = number_of(rest);
  if (!line) return std::nullopt;
  place.line = *line;
  return place;
}

template <typename Wanted>
std::vector<FoundLoop> loops_where(const Profile& profile, Wanted wanted) {
  std::vector<FoundLoop> found;
  for (const Region& region : profile.regions)
    for (const Loop& loop : region.loops)
      if (wanted(loop)) found.push_back({&region, &loop});
  std::stable_sort(found.begin(), found.end(),
                   [](const FoundLoop& a, const FoundLoop& b) { return a.loop->ops_percent > b.loop->ops_percent; });
  return found;
}

bool has_node(const Loop& loop, std::uint32_t node) {
  return std::find(loop.nodes.begin(), loop.nodes.end(), node) != loop.nodes.end();
}

/// The innermost judged loops around code of that line.
std::vector<FoundLoop> loops_around(const Profile& profile, const Place& place) {
  std::set<std::uint32_t> innermost;  // nodes
  for (const profile::Statement& statement : profile.statements) {
    const auto is_it = [&](const Source& source) {
      return source.line == place.line && names_file(source.file, place.file);
    };
    if (std::none_of(statement.source.begin(), statement.source.end(), is_it)) continue;
    for (std::size_t i = statement.loops.size(); i-- > 0;)
      if (statement.loops[i]) {
        innermost.insert(*statement.loops[i]);
        break;
      }
  }
  return loops_where(profile, [&](const Loop& loop) {
    return std::any_of(loop.nodes.begin(), loop.nodes.end(),
                       [&](std::uint32_t node) { return innermost.count(node) != 0; });
  });
}

/// "heat.c:17, heat.c:19 and heat.c:29".
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); i++)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

/// Places of loops of the file, the closest lines first.
std::vector<std::string> nearest(const ReportWords& words, const Place& place) {
  std::vector<FoundLoop> loops = loops_where(
      words.profile(), [&](const Loop& loop) { return loop.source && names_file(loop.source->file, place.file); });
  const auto distance = [&](const FoundLoop& found) {
    return std::abs(std::int64_t{found.loop->source->line} - place.line);
  };
  std::stable_sort(loops.begin(), loops.end(),
                   [&](const FoundLoop& a, const FoundLoop& b) { return distance(a) < distance(b); });
  std::vector<std::string> names;
  for (const FoundLoop& found : loops) {
    std::string name = words.where(*found.loop);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    if (names.size() == kMostNear) break;
  }
  return names;
}

std::vector<std::string> files_with_loops(const ReportWords& words) {
  std::vector<std::string> names;
  for (const FoundLoop& found :
       loops_where(words.profile(), [](const Loop& loop) { return loop.source.has_value(); })) {
    std::string name = words.words().file(found.loop->source->file);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    if (names.size() == kMostNear) break;
  }
  return names;
}

bool in_tree_only(const Profile& profile, const Place& place) {
  return std::any_of(profile.tree.begin(), profile.tree.end(), [&](const profile::TreeNode& node) {
    return node.kind == profile::TreeNode::Kind::kLoop && node.source && node.source->line == place.line &&
           names_file(node.source->file, place.file);
  });
}

tl::unexpected<Error> no_such_loop(const ReportWords& words, const std::string& target, const Place& place) {
  const Profile& profile = words.profile();
  const std::string shown = words.words().text(target);
  if (!place.node && in_tree_only(profile, place))
    return fail(
        ErrorKind::kUsage,
        fmt::format("{}: the loop there is in an outermost loop with less than {:g} % of the operations and was "
                    "not judged; to judge all: loopfold analyze --min-percent 0",
                    shown, profile.regions_min_percent));
  if (const std::vector<std::string> near = nearest(words, place); !near.empty())
    return fail(ErrorKind::kUsage, fmt::format("{}: no loop there; the nearest: {}", shown, listed(near)));
  const std::vector<std::string> files = files_with_loops(words);
  return fail(ErrorKind::kUsage, fmt::format("{}: no loop of such a file was judged; {}", shown,
                                             files.empty() ? "no loop has line information: ask for a region by number"
                                                           : "loops are in " + listed(files)));
}

tl::unexpected<Error> no_such_region(const Profile& profile, const std::string& shown) {
  if (profile.regions.empty())
    return fail(ErrorKind::kUsage, fmt::format("{}: there are no regions: no loop has enough operations", shown));
  return fail(ErrorKind::kUsage,
              fmt::format("{}: no such region; they are 0 to {}", shown, profile.regions.size() - 1));
}

}  // namespace

bool names_file(const std::string& file, const std::string& wanted) {
  std::string_view end = wanted;
  while (end.starts_with("./") || end.starts_with("../")) end.remove_prefix(end.find('/') + 1);
  if (end.empty() || file.size() < end.size() || !std::string_view(file).ends_with(end)) return false;
  return file.size() == end.size() || end.front() == '/' || file[file.size() - end.size() - 1] == '/';
}

Result<Found> find_loops(const ReportWords& words, const std::string& target) {
  const Profile& profile = words.profile();
  Found found;
  if (const std::optional<std::uint32_t> number = region_of(target)) {
    if (*number >= profile.regions.size()) return no_such_region(profile, words.words().text(target));
    found.region = &profile.regions[*number];
    return found;
  }
  found.loops = loops_where(profile, [&](const Loop& loop) { return words.where(loop) == target; });
  if (!found.loops.empty()) return found;
  const std::optional<Place> place = place_of(target);
  if (!place)
    return fail(ErrorKind::kUsage,
                fmt::format("{}: neither a region's number nor FILE:LINE", words.words().text(target)));
  found.loops = loops_where(profile, [&](const Loop& loop) {
    return loop.source && loop.source->line == place->line && names_file(loop.source->file, place->file) &&
           (!place->node || has_node(loop, *place->node));
  });
  if (found.loops.empty() && !place->node) {
    found.loops = loops_around(profile, *place);
    found.around = !found.loops.empty();
  }
  if (found.loops.empty()) return no_such_loop(words, target, *place);
  return found;
}

std::string worth_explaining(const ReportWords& words) {
  std::vector<const Region*> regions;
  for (const Region& region : words.profile().regions) regions.push_back(&region);
  if (regions.empty()) return "";
  const std::vector<RankedSuggestion> ranked = ranked_suggestions(regions);
  if (!ranked.empty()) {
    const profile::Suggestion& best = *ranked.front().suggestion;
    if (!best.where.empty()) return words.words().place(best.where.front());
    for (const Loop& loop : ranked.front().region->loops)
      if (!best.loops.empty() && has_node(loop, best.loops.front())) return words.where(loop);
  }
  const Region& region = ranked.empty() ? *regions.front() : *ranked.front().region;
  const Loop& loop = region.loops.front();
  return loop.source ? words.where(loop) : std::to_string(region.id);
}

}  // namespace loopfold::views
