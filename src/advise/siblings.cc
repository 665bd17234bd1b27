#include "advise/siblings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "advise/suggest.h"
#include "support/units.h"
#include "support/wide.h"
#include "trace/decode.h"

namespace loopfold::advise {

namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};
constexpr std::int64_t kMostDelay = 4;

/// The greatest value of an affine function over the points of a piece: coordinates are replaced by their bounds, the
/// innermost first, since bounds are functions of the coordinates before them. Exact over the rationals, so never too
/// small.
std::optional<Wide> greatest(const fold::Piece& piece, std::vector<Wide> slopes, Wide constant) {
  constexpr Wide kFar = Wide{1} << 100;
  for (std::size_t k = slopes.size(); k-- > 0;) {
    const Wide slope = slopes[k];
    if (slope == 0) continue;
    if (k >= piece.ranges.size()) return std::nullopt;
    const fold::Affine& bound = slope > 0 ? piece.ranges[k].upper : piece.ranges[k].lower;
    if (slope > (Wide{1} << 40) || slope < -(Wide{1} << 40)) return std::nullopt;
    constant += slope * bound.constant;
    for (std::size_t j = 0; j < bound.coefficients.size(); ++j) slopes[j] += slope * bound.coefficients[j];
    if (constant > kFar || constant < -kFar) return std::nullopt;
  }
  return constant;
}

Wide rounded_down(Wide value, Wide by) { return value >= 0 ? value / by : -((-value + by - 1) / by); }

/// Producer less consumer in one piece.
std::optional<Distances> distances_in(const fold::Piece& piece, std::size_t coordinate) {
  if (coordinate >= piece.outputs.size()) return std::nullopt;
  const fold::Output& output = piece.outputs[coordinate];
  std::vector<Wide> slopes(piece.ranges.size());
  if (coordinate >= slopes.size()) return std::nullopt;
  const bool affine = output.affine() && output.modulus == 0;
  Wide by = 1;
  Wide least = output.minimum;
  Wide most = output.maximum;
  if (affine) {
    by = output.divisor;
    least = most = output.value.constant;
    for (std::size_t k = 0; k < slopes.size() && k < output.value.coefficients.size(); ++k)
      slopes[k] = output.value.coefficients[k];
  }
  slopes[coordinate] -= by;
  std::vector<Wide> reversed(slopes);
  for (Wide& slope : reversed) slope = -slope;
  const std::optional<Wide> high = greatest(piece, slopes, most);
  const std::optional<Wide> low = greatest(piece, reversed, -least);
  if (!high || !low) return std::nullopt;
  return Distances{saturated(-rounded_down(*low, by)), saturated(rounded_down(*high, by))};
}

class Finder {
 public:
  Finder(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
         const profile::Profile& profile)
      : graph_(graph), context_(context), flow_(flow), profile_(profile), region_of_(profile.tree.size(), kNone) {
    for (const profile::Region& region : profile.regions)
      for (const profile::Loop& loop : region.loops)
        for (const std::uint32_t node : loop.nodes) region_of_[node] = region.id;
    for (const profile::TreeNode& node : profile.tree)
      if (node.parent && region_of_[node.id] == kNone) region_of_[node.id] = region_of_[*node.parent];
  }

  std::vector<SiblingFusion> run() {
    std::map<std::uint32_t, std::vector<std::uint32_t>> bodies;  // by parent node: regions
    for (const profile::Region& region : profile_.regions)
      if (!region.loops.empty() && region.loops.front().nodes.size() == 1)
        bodies[*profile_.tree[region.node].parent].push_back(region.id);
    std::vector<SiblingFusion> found;
    for (auto& [parent, regions] : bodies) {
      std::sort(regions.begin(), regions.end(),
                [&](std::uint32_t a, std::uint32_t b) { return node_of(a).index < node_of(b).index; });
      for (std::size_t i = 0; i + 1 < regions.size(); ++i)
        if (std::optional<SiblingFusion> fusion = fuse(regions[i], regions[i + 1])) found.push_back(*fusion);
    }
    return found;
  }

 private:
  const profile::TreeNode& node_of(std::uint32_t region) const { return profile_.tree[profile_.regions[region].node]; }
  std::uint32_t region_of(ddg::StatementId statement) const {
    return region_of_[context_.nodes[graph_.statements[statement].context]];
  }

  std::optional<SiblingFusion> fuse(std::uint32_t first, std::uint32_t second) {
    const profile::Loop& a = profile_.regions[first].loops.front();
    const profile::Loop& b = profile_.regions[second].loops.front();
    if (a.block != 0 || b.block != 0) return std::nullopt;  // their coordinates count blocks
    const bool as_often = a.trip.min == a.trip.max && b.trip.min == b.trip.max && a.trip.max == b.trip.max;
    if (!as_often || a.trip.max < 2 || node_of(first).entries != node_of(second).entries || is_opaque(first) ||
        is_opaque(second))
      return std::nullopt;
    const std::optional<std::size_t> coordinate = coordinate_of(first);
    if (!coordinate || coordinate_of(second) != coordinate) return std::nullopt;
    SiblingFusion fusion;
    fusion.first = first;
    fusion.second = second;
    fusion.lines = shared_lines(first, second, *coordinate);
    if (fusion.lines == 0 || needs_what_is_between(first, second)) return std::nullopt;
    std::int64_t latest = 0;
    bool same = true;
    for (const ddg::Dependence& d : graph_.dependences) {
      if (d.from == ddg::kNoStatement || region_of(d.from) != first || region_of(d.to) != second) continue;
      if (d.kind == ddg::Dependence::Kind::kEnvironment) return std::nullopt;
      if (d.kind == ddg::Dependence::Kind::kRegister && flow_.is_index({d.from, d.from_instruction})) continue;
      const std::optional<Distances> distances = distances_of(d.map, *coordinate);
      if (!distances || distances->greatest > kMostDelay) return std::nullopt;
      latest = std::max(latest, distances->greatest);
      same = same && distances->least == 0 && distances->greatest == 0;
      ++fusion.dependences;
    }
    fusion.delay = latest;
    const auto is_parallel = [](const profile::Loop& loop) { return loop.parallel == profile::Loop::Parallel::kYes; };
    if (is_parallel(a) && is_parallel(b) && !same) return std::nullopt;  // two parallel loops are better
    if (is_parallel(a) != is_parallel(b)) return std::nullopt;
    fusion.stays_parallel = is_parallel(a);
    return fusion;
  }

  /// Something about a loop of the region is not known, or data decide when its outermost one ends.
  bool is_opaque(std::uint32_t region) const {
    for (const poly::FlowOfLoop& loop : flow_.loops()) {
      if (loop.loop.loops.empty() || region_of_[context_.nodes[loop.loop.loops.front()]] != region) continue;
      const bool outermost = context_.nodes[loop.loop.loops.front()] == profile_.regions[region].node;
      if (!loop.doubt.empty() || (outermost && !loop.exits.empty())) return true;
    }
    return false;
  }

  /// The place of the outermost loop in the vectors of its statements.
  std::optional<std::size_t> coordinate_of(std::uint32_t region) const {
    for (const profile::Statement& statement : profile_.statements) {
      if (region_of_[statement.node] != region) continue;
      for (std::size_t k = 0; k < statement.loops.size(); ++k)
        if (statement.loops[k] == profile_.regions[region].node) return k;
    }
    return std::nullopt;
  }

  /// Something outside of both needs the first, directly or through others, and hands something to the second or may
  /// decide about it.
  bool needs_what_is_between(std::uint32_t first, std::uint32_t second) const {
    std::set<ddg::StatementId> late;
    for (bool changed = true; changed;) {
      changed = false;
      for (const ddg::Dependence& d : graph_.dependences) {
        if (d.from == ddg::kNoStatement || region_of(d.to) == first) continue;
        if (region_of(d.from) != first && !late.contains(d.from)) continue;
        if (region_of(d.from) == first && d.kind == ddg::Dependence::Kind::kRegister &&
            flow_.is_index({d.from, d.from_instruction}))
          continue;
        if (region_of(d.to) == second) {
          if (late.contains(d.from)) return true;
          continue;
        }
        if (!is_beside(d.to, first)) continue;
        const std::vector<ddg::Instruction>& code = graph_.statements[d.to].instructions;
        if (!code.empty() && (code.back().kinds & (trace::kConditional | trace::kIndirect)) != 0) return true;
        changed = late.insert(d.to).second || changed;
      }
    }
    return false;
  }

  /// In the same body as the region.
  bool is_beside(ddg::StatementId statement, std::uint32_t region) const {
    const std::uint32_t parent = *node_of(region).parent;
    for (std::optional<std::uint32_t> at = context_.nodes[graph_.statements[statement].context]; at;
         at = profile_.tree[*at].parent)
      if (*at == parent) return true;
    return false;
  }

  /// Lines that accesses of the second touch, in objects that the first one walks along the loop in the same steps.
  double shared_lines(std::uint32_t first, std::uint32_t second, std::size_t coordinate) const {
    std::set<std::pair<std::uint32_t, std::int64_t>> walked;
    for (const profile::Access& access : profile_.accesses)
      if (const auto step = step_of(access, first, coordinate)) walked.insert({access.object, *step});
    double lines = 0;
    std::set<std::uint32_t> counted;
    for (const profile::Access& access : profile_.accesses) {
      const auto step = step_of(access, second, coordinate);
      if (!step || !walked.contains({access.object, *step}) || !counted.insert(access.object).second) continue;
      const profile::Coefficient inner = access.coefficients.back();
      const double touched = inner ? std::min(1.0, std::abs(static_cast<double>(*inner)) / kCacheLine) : 1.0;
      lines += touched * static_cast<double>(access.count);
    }
    return lines;
  }

  std::optional<std::int64_t> step_of(const profile::Access& access, std::uint32_t region,
                                      std::size_t coordinate) const {
    if (region_of_[profile_.statements[access.statement].node] != region) return std::nullopt;
    const profile::Object::Kind kind = profile_.objects[access.object].kind;
    if (kind != profile::Object::Kind::kHeap && kind != profile::Object::Kind::kGlobal) return std::nullopt;
    if (coordinate >= access.coefficients.size() || access.coefficients[coordinate] == 0) return std::nullopt;
    return access.coefficients[coordinate];
  }

  const ddg::Graph& graph_;
  const poly::Context& context_;
  const poly::RegionFlow& flow_;
  const profile::Profile& profile_;
  std::vector<std::uint32_t> region_of_;  // by node
};

std::string place(const profile::Loop& loop) {
  if (!loop.source) return fmt::format("the loop in {}", loop.function);
  return fmt::format("{}:{}", loop.source->file.substr(loop.source->file.rfind('/') + 1), loop.source->line);
}

}  // namespace

std::optional<Distances> distances_of(const fold::Folded& map, std::size_t coordinate) {
  std::optional<Distances> all;
  for (const fold::Piece& piece : map.pieces) {
    const std::optional<Distances> own = distances_in(piece, coordinate);
    if (!own) return std::nullopt;
    all = all ? Distances{std::min(all->least, own->least), std::max(all->greatest, own->greatest)} : *own;
  }
  return all;
}

std::vector<SiblingFusion> find_fusions(const ddg::Graph& graph, const poly::Context& context,
                                        const poly::RegionFlow& flow, const profile::Profile& profile) {
  return Finder(graph, context, flow, profile).run();
}

void suggest_fusions(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                     profile::Profile& profile) {
  for (const SiblingFusion& fusion : find_fusions(graph, context, flow, profile)) {
    profile::Region& region = profile.regions[fusion.first];
    const profile::Loop& a = region.loops.front();
    const profile::Loop& b = profile.regions[fusion.second].loops.front();
    const double share = (a.ops_percent + b.ops_percent) / 100;
    const double ops = share * static_cast<double>(profile.program.instructions);
    const double saved = kLineCost * fusion.lines;
    profile::Suggestion made;
    made.rule = "LF-FUS";
    made.title = fmt::format("Fuse {} and {}", place(a), place(b));
    if (fusion.delay > 0)
      made.title += fmt::format(", the second {} iteration{} later", fusion.delay, fusion.delay == 1 ? "" : "s");
    made.loops = {a.node, b.node};
    for (const profile::Loop* const loop : {&a, &b})
      if (loop->source) made.where.push_back(*loop->source);
    made.requirements.push_back({"unknown", "", std::nullopt, "", std::nullopt});
    made.gain = amdahl(std::min(share, 1.0), (ops + saved) / std::max(ops, 1.0));
    made.estimate = fmt::format(
        "{:.1f} % of the operations; beside {:.3g} instructions, {:g} for each cache line that both loops touch: "
        "{:.3g} "
        "(for data beyond the cache)",
        100 * share, ops, kLineCost, saved);
    made.evidence.push_back(fmt::format("checked against {} from the first loop to the second: none is reversed{}",
                                        counted(fusion.dependences, "dependence"),
                                        fusion.stays_parallel ? ", and the fused loop is parallel as well" : ""));
    if (made.gain < kLeastGain) continue;
    const auto place = std::find_if(region.suggestions.begin(), region.suggestions.end(),
                                    [&](const profile::Suggestion& other) { return other.gain < made.gain; });
    region.suggestions.insert(place, std::move(made));
  }
}

}  // namespace loopfold::advise
