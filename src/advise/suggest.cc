#include "advise/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "advise/liveness/clause_names.h"
#include "advise/order_text.h"
#include "profile/levels.h"
#include "support/units.h"

namespace loopfold::advise {

double amdahl(double share, double speedup) { return 1 / ((1 - share) + share / speedup); }

namespace {

using profile::Loop;
using profile::Suggestion;
using structure::ContextId;

/// Cache lines that the accesses of a group touch, from one iteration to the next, each with what it costs.
double lines_touched(const GroupFacts& group, const Direction& along) {
  double lines = 0;
  for (const AccessFacts& access : group.accesses) {
    double touched = 1;
    if (const profile::Coefficient step = access.step(along))
      touched = std::min(1.0, std::abs(static_cast<double>(*step)) / kCacheLine);
    lines += kLineCost * touched * static_cast<double>(access.count);
  }
  return lines;
}

/// Of a variable, as a clause can have it; not "malloc in f".
bool is_name(std::string_view text) {
  const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

class Suggester {
 public:
  Suggester(const RegionPlan& plan, const poly::Context& context, const profile::Region& region,
            const profile::Profile& profile)
      : plan_(plan), context_(context), region_(region), profile_(profile) {}

  std::vector<Suggestion> run(std::span<const Distribution> distributions) {
    suggest_parallel();
    for (const NestPlan& nest : plan_.nests) {
      suggest_order(nest);
      suggest_tiling(nest);
      suggest_wavefront(nest);
      suggest_fusion(nest);
    }
    suggest_vectors();
    for (const NestPlan& nest : plan_.nests) suggest_vectors_after(nest);
    for (const Distribution& distribution : distributions) suggest_distribution(distribution);
    suggest_special();
    std::erase_if(found_, [](const Suggestion& suggestion) { return suggestion.gain < kLeastGain; });
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Suggestion& a, const Suggestion& b) { return a.gain > b.gain; });
    return std::move(found_);
  }

 private:
  double share_of(const Loop& loop) const { return std::min(1.0, loop.ops_percent / 100); }

  const Loop* loop_at(std::uint32_t node) const {
    for (const Loop& loop : region_.loops)
      if (std::find(loop.nodes.begin(), loop.nodes.end(), node) != loop.nodes.end()) return &loop;
    return nullptr;
  }

  std::string place(const Loop& loop) const {
    if (!loop.source) return fmt::format("the loop in {}", loop.function);
    const std::size_t slash = loop.source->file.rfind('/');
    return fmt::format("{}:{}{}", slash == std::string::npos ? loop.source->file : loop.source->file.substr(slash + 1),
                       loop.source->line, profile::hidden_words(profile_.tree[loop.node]));
  }
  /// Of a loop as a counter: that of a loop with hidden levels counts blocks.
  std::string place(std::uint32_t node) const {
    const Loop* const loop = loop_at(node);
    if (loop == nullptr) return fmt::format("loop {}", node);
    const profile::TreeNode& of = profile_.tree[node];
    return of.hidden ? place(*loop) : place(*loop) + profile::counter_words(of);
  }

  Suggestion& add(std::string rule, std::string title, const std::vector<std::uint32_t>& nodes) {
    Suggestion& suggestion = found_.emplace_back();
    suggestion.rule = std::move(rule);
    suggestion.title = std::move(title);
    suggestion.loops = nodes;
    for (const std::uint32_t node : nodes) {
      const Loop* const loop = loop_at(node);
      if (loop != nullptr && loop->source) suggestion.where.push_back(*loop->source);
      if (loop != nullptr) add_assumptions(*loop, suggestion);
    }
    suggestion.requirements.push_back({"unknown", "", std::nullopt, "", std::nullopt});  // memory reuse
    return suggestion;
  }

  /// Branches on data that may end its loops, or lead to code that did not run.
  static void add_assumptions(const Loop& loop, Suggestion& suggestion) {
    for (const profile::Assumption& assumption : loop.assumes) {
      const std::string where =
          assumption.source ? fmt::format("{}:{}", assumption.source->file, assumption.source->line) : "";
      const profile::Requirement needed{"assume", where, std::nullopt, "", std::nullopt};
      std::vector<profile::Requirement>& all = suggestion.requirements;
      if (std::find(all.begin(), all.end(), needed) == all.end()) all.push_back(needed);
    }
  }

  static void add_conditions(const Loop& loop, Suggestion& suggestion) {
    for (const profile::Touched& touched : loop.reload)
      if (touched.source)
        suggestion.requirements.push_back(
            {"reload", fmt::format("{}:{}", touched.source->file, touched.source->line), loop.node, "", std::nullopt});
  }

  /// The chains of a loop that carries reductions; one without a name where it is not known which.
  void add_reductions(const Loop& loop, Suggestion& suggestion) const {
    const auto of = std::find(context_.nodes.begin(), context_.nodes.end(), loop.node);
    const liveness::ClauseNames names(context_, static_cast<structure::ContextId>(of - context_.nodes.begin()));
    for (const profile::Reduction& r : loop.reductions) {
      const std::string name = names.of(r.variable);
      suggestion.requirements.push_back(
          {"reduction", r.variable, loop.node,
           is_name(name) && !r.partly ? fmt::format("reduction({}:{})", r.operation, name) : "", std::nullopt});
    }
    if (loop.reductions.empty()) suggestion.requirements.push_back({"reduction", "", loop.node, "", std::nullopt});
  }

  // ---- threads ----

  /// The outermost loops that can: what is inside them need not.
  void suggest_parallel() {
    std::uint32_t inside = 0xffffffff;  // depth of the last one that can
    for (const Loop& loop : region_.loops) {
      if (loop.depth > inside) continue;
      inside = 0xffffffff;
      if (loop.parallel != Loop::Parallel::kYes && loop.parallel != Loop::Parallel::kReduction) {
        if (suggest_blocks(loop)) inside = loop.depth;
        continue;
      }
      if (loop.trip.mean < 2) continue;
      inside = loop.depth;
      if (is_shared_out(loop) || is_assembly(loop)) continue;
      const bool reduction = loop.parallel == Loop::Parallel::kReduction;
      const double cores = std::floor(std::min(kCores, loop.trip.mean));
      Suggestion& made =
          add(reduction ? "LF-RED" : "LF-PAR",
              fmt::format("Run the iterations of {} in parallel{}", place(loop), reduction ? ", as a reduction" : ""),
              {loop.node});
      made.gain = amdahl(share_of(loop), cores);
      made.estimate = fmt::format("Amdahl: {:.1f} % of the operations on {:g} cores", loop.ops_percent, cores);
      made.evidence.push_back(fmt::format("no value flows from one iteration to another{}",
                                          reduction ? ", but through the reduction" : ""));
      if (reduction) add_reductions(loop, made);
      add_conditions(loop, made);
    }
  }

  /// In a function that a compiler has made of a parallel region of OpenMP.
  static bool is_shared_out(const Loop& loop) {
    return loop.function.find("._omp_fn.") != std::string::npos ||
           loop.function.find(".omp_outlined") != std::string::npos;
  }
  /// Written by hand, of a library mostly.
  static bool is_assembly(const Loop& loop) {
    return loop.source && (loop.source->file.ends_with(".S") || loop.source->file.ends_with(".s"));
  }

  /// Iterations that keep their order, in blocks that need not: a loop with hidden levels.
  bool suggest_blocks(const Loop& loop) {
    if (loop.block == 0 || loop.blocks != Loop::Parallel::kYes) return false;
    const double blocks = loop.trip.mean / static_cast<double>(loop.block);
    if (blocks < 2) return false;
    const double cores = std::floor(std::min(kCores, blocks));
    Suggestion& made = add(
        "LF-PAR", fmt::format("Run blocks of {} iterations of {} in parallel", loop.block, place(loop)), {loop.node});
    made.gain = amdahl(share_of(loop), cores);
    made.estimate = fmt::format("Amdahl: {:.1f} % of the operations on {:g} cores", loop.ops_percent, cores);
    made.evidence.push_back(
        fmt::format("no value flows from one block of {} iterations to another; inside a block some do", loop.block));
    add_conditions(loop, made);
    return true;
  }

  // ---- memory ----

  struct Cost {
    double instructions = 0;
    double lines = 0;  // weighted
    double total() const { return instructions + lines; }
  };

  Cost cost_of(const NestPlan& nest, const Order& order) const {
    Cost cost;
    for (std::uint32_t g = 0; g < nest.facts.size(); ++g) {
      const std::optional<Innermost> inner = innermost_of(order, g);
      Direction along;
      if (inner) along = direction_of(order.rows[g], order.bands[inner->band].first + inner->place);
      cost.instructions += nest.facts[g].ops;
      cost.lines += lines_touched(nest.facts[g], along);
    }
    return cost;
  }

  double share_of(double ops) const {
    return std::min(1.0, ops / static_cast<double>(std::max<std::uint64_t>(profile_.program.instructions, 1)));
  }
  double share_of(const NestPlan& nest) const { return share_of(nest.ops); }

  void suggest_order(const NestPlan& nest) {
    if (nest.choice.is_written) return;
    const OrderText text(nest, context_, profile_);
    const std::vector<std::vector<std::uint32_t>> pairs = text.interchanged();
    if (pairs.empty()) return;
    const Cost before = cost_of(nest, nest.choice.written);
    const Cost after = cost_of(nest, nest.choice.best);
    std::set<std::uint32_t> nodes;
    for (const std::vector<std::uint32_t>& pair : pairs) nodes.insert(pair.begin(), pair.end());
    std::vector<std::string> names;
    for (const std::uint32_t node : nodes) names.push_back(place(node));
    Suggestion& made =
        add("LF-ICH", fmt::format("Interchange {}", fmt::join(names, " and ")), {nodes.begin(), nodes.end()});
    made.gain = amdahl(share_of(nest), before.total() / std::max(after.total(), 1.0));
    made.estimate = fmt::format(
        "{:.1f} % of the operations; instructions, and {:g} for each cache line touched: {:.3g} before, {:.3g} after{}",
        100 * share_of(nest), kLineCost, before.total(), after.total(), size_note(nest));
    made.evidence.push_back(
        fmt::format("accesses of stride 0 or 1 in the innermost loop: {:.0f} % before, {:.0f} % after",
                    100 * nest.choice.worth_written.near, 100 * nest.choice.worth.near));
    made.evidence.push_back(fmt::format("checked against {} of the nest: none is reversed",
                                        counted(nest.program.dependences.size(), "dependence")));
  }

  /// Data that is used again by an outer loop of the band, and does not stay in the cache until then.
  void suggest_tiling(const NestPlan& nest) {
    const Order& order = nest.choice.best;
    for (const OrderBand& band : order.bands) {
      std::vector<std::uint32_t> loops;
      for (std::uint32_t k = 0; k < band.depth; ++k)
        if (is_loop(order, band, k)) loops.push_back(k);
      if (!band.permutable || loops.size() < 2) continue;
      double saved = 0;
      double lines = 0;
      double ops = 0;
      for (const std::uint32_t g : band.groups) {
        ops += nest.facts[g].ops;
        const std::optional<Innermost> inner = innermost_of(order, g);
        if (!inner) continue;
        const Direction along = direction_of(order.rows[g], order.bands[inner->band].first + inner->place);
        for (const AccessFacts& access : nest.facts[g].accesses) {
          GroupFacts one;
          one.accesses.push_back(access);
          const double touched = lines_touched(one, along);
          lines += touched;
          saved += touched * (1 - 1 / uses_in_tile(access, nest.facts[g], order, band, g, loops));
        }
      }
      if (saved == 0) continue;
      const OrderText text(nest, context_, profile_);
      std::vector<std::uint32_t> nodes;
      std::vector<std::string> names;
      for (const std::uint32_t k : loops) {
        const auto terms = text.terms(order, band, k);
        nodes.push_back(terms.front().node);
        names.push_back(place(terms.front().node));
      }
      const bool skewed = !nest.choice.is_written && !OrderText(nest, context_, profile_).skews().empty();
      Suggestion& made =
          add("LF-TIL",
              fmt::format("Tile {} by {:g}{}", fmt::join(names, ", "), kTile, skewed ? ", once they are skewed" : ""),
              nodes);
      const double share = share_of(std::min(ops, nest.ops));
      made.gain = amdahl(share, (ops + lines) / (ops + lines - saved));
      made.estimate = fmt::format(
          "{:.1f} % of the operations; of {:.3g} instructions, and {:g} for each cache line touched, tiles of {:g} "
          "save "
          "{:.3g}{}",
          100 * share, ops + lines, kLineCost, kTile, saved, size_note(nest));
      made.evidence.push_back(fmt::format("{} loops may change places{}: no dependence goes backwards in any of them",
                                          loops.size(), skewed ? " once they are skewed" : ""));
    }
  }

  static constexpr double kTile = 32;

  /// How often a cache line that it touches is used again in a tile: by the loops of the band around the innermost one,
  /// along which it stays or moves little, or on which another access comes to where it was.
  static double uses_in_tile(const AccessFacts& access, const GroupFacts& facts, const Order& order,
                             const OrderBand& band, std::uint32_t group, const std::vector<std::uint32_t>& loops) {
    double uses = 1;
    for (std::size_t i = 0; i + 1 < loops.size(); ++i) {
      const profile::Coefficient step = access.step(direction_of(order.rows[group], band.first + loops[i]));
      if (!step) continue;
      const double bytes = std::abs(static_cast<double>(*step));
      if (bytes < kCacheLine) uses = std::max(uses, bytes == 0 ? kTile : std::min(kTile, kCacheLine / bytes));
      for (const AccessFacts& other : facts.accesses)
        if (follows(other, access, *step)) uses = std::max(uses, 2.0);
    }
    return uses;
  }

  /// It touches what the other one touches, a few iterations of this step before or after.
  static bool follows(const AccessFacts& a, const AccessFacts& b, std::int64_t step) {
    constexpr std::int64_t kFew = 4;
    if (a.access == b.access || a.access->object != b.access->object || a.steps != b.steps || step == 0) return false;
    if (!a.access->constant || !b.access->constant) return false;
    const std::int64_t distance = *a.access->constant - *b.access->constant;
    return distance != 0 && distance % step == 0 && std::abs(distance / step) <= kFew;
  }

  /// Small problems are profiled to learn about large ones.
  std::string size_note(const NestPlan& nest) const {
    std::uint64_t largest = 0;
    for (const GroupFacts& group : nest.facts)
      for (const AccessFacts& access : group.accesses) {
        const profile::Object& object = profile_.objects[access.access->object];
        largest = std::max(largest, object.size * std::max<std::uint64_t>(object.blocks, 1));
      }
    if (largest > kFirstCache) return "";
    return fmt::format(" (for data beyond the cache; here at most {} bytes each)", largest);
  }

  /// Of groups in a band that can be tiled.
  static double ops_in_tiles(const NestPlan& nest, const Order& order) {
    std::set<std::uint32_t> groups;
    for (const OrderBand& band : order.bands)
      if (band.permutable && band.depth >= 2) groups.insert(band.groups.begin(), band.groups.end());
    double ops = 0;
    for (const std::uint32_t g : groups) ops += nest.facts[g].ops;
    return ops;
  }

  /// A band without a parallel loop: its tiles can run along wavefronts.
  void suggest_wavefront(const NestPlan& nest) {
    const Order& order = nest.choice.best;
    const OrderText text(nest, context_, profile_);
    const auto skews = nest.choice.is_written ? std::vector<std::vector<std::int64_t>>() : text.skews();
    if (skews.empty()) return suggest_diagonals(nest, text);
    const OrderBand* const heaviest = heaviest_band(nest, order);
    if (heaviest == nullptr) return;
    const OrderBand& band = *heaviest;
    std::vector<std::uint32_t> nodes;
    for (const std::vector<std::int64_t>& skew : skews)
      for (const std::size_t i : {0, 1}) nodes.push_back(static_cast<std::uint32_t>(skew[i]));
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::string>> parts;  // by what is added how often
    for (const std::vector<std::int64_t>& skew : skews)
      parts[{skew[1], skew[2]}].push_back(place(static_cast<std::uint32_t>(skew[0])));
    std::vector<std::string> texts;
    for (const auto& [by, names] : parts)
      texts.push_back(fmt::format("{} by {}{}", fmt::join(names, ", "),
                                  by.second == 1 ? "" : fmt::format("{} times ", by.second),
                                  place(static_cast<std::uint32_t>(by.first))));
    const bool free = std::find(band.alone.begin(), band.alone.end(), Carries::kNothing) != band.alone.end();
    Suggestion& made =
        add("LF-SKW",
            fmt::format("Skew {}, tile the {} loops and run the tiles {} in parallel", fmt::join(texts, "; "),
                        band.depth, free ? "of a parallel loop" : "of each wavefront"),
            nodes);
    double trips = kCores;  // no wavefront is longer than the shortest loop
    for (std::uint32_t k = 0; k < band.depth; ++k) {
      if (!is_loop(order, band, k)) continue;
      const Loop* const loop = loop_at(text.terms(order, band, k).front().node);
      if (loop != nullptr) trips = std::min(trips, loop->trip.mean);
    }
    const double cores = std::max(1.0, std::floor(trips / 2));
    const double share = share_of(std::min(ops_in_tiles(nest, order), nest.ops));
    made.gain = amdahl(share, cores);
    made.estimate =
        fmt::format("Amdahl: {:.1f} % of the operations on {:g} of {:g} cores (a wavefront fills and drains)",
                    100 * share, cores, kCores);
    made.evidence.push_back(
        "as written no loop around the work is parallel and tilable; in the skewed order no "
        "dependence goes backwards in any loop of the band");
  }

  /// Of those that can be tiled, the one with most of the work; the first one of equals.
  static const OrderBand* heaviest_band(const NestPlan& nest, const Order& order) {
    const OrderBand* found = nullptr;
    double most = 0;
    for (const OrderBand& band : order.bands) {
      if (!band.permutable || band.depth < 2) continue;
      double ops = 0;
      for (const std::uint32_t g : band.groups) ops += nest.facts[g].ops;
      if (found != nullptr && ops <= most) continue;
      found = &band;
      most = ops;
    }
    return found;
  }

  /// A band that can be tiled as it is, and whose loops all carry something: along i + j, what is on one diagonal is
  /// free of each other.
  void suggest_diagonals(const NestPlan& nest, const OrderText& text) {
    const Order& order = nest.choice.best;
    std::set<std::uint32_t> free;  // groups that are in a parallel loop already
    for (const OrderBand& band : order.bands) {
      std::vector<std::uint32_t> loops;
      bool flows = true;
      for (std::uint32_t k = 0; k < band.depth; ++k) {
        if (!is_loop(order, band, k)) continue;
        loops.push_back(k);
        flows = flows && band.carries[k] == Carries::kFlow && band.alone[k] == Carries::kFlow;
      }
      const auto is_free = [&](std::uint32_t group) { return free.contains(group); };
      const bool inside = std::any_of(band.groups.begin(), band.groups.end(), is_free);
      if (!flows) free.insert(band.groups.begin(), band.groups.end());
      if (inside || !flows || !band.permutable || loops.size() < 2) continue;
      std::vector<std::uint32_t> nodes;
      std::vector<std::string> names;
      double trips = kCores;
      for (const std::uint32_t k : loops) {
        const auto terms = text.terms(order, band, k);
        const Loop* const loop = terms.size() == 1 ? loop_at(terms.front().node) : nullptr;
        if (loop == nullptr || loop->parallel != Loop::Parallel::kNo) return;
        if (std::find(nodes.begin(), nodes.end(), loop->node) != nodes.end()) return;  // pieces of one loop
        nodes.push_back(loop->node);
        names.push_back(place(terms.front().node));
        trips = std::min(trips, loop->trip.mean);
      }
      if (trips < 4) continue;  // no diagonal has much on it
      double ops = 0;
      for (const std::uint32_t g : band.groups) ops += nest.facts[g].ops;
      Suggestion& made = add("LF-SKW",
                             fmt::format("Skew {} by {} and run the iterations of each wavefront in parallel",
                                         names.front(), fmt::join(names.begin() + 1, names.end(), ", ")),
                             nodes);
      const double cores = std::floor(trips / 2);
      const double share = share_of(std::min(ops, nest.ops));
      made.gain = amdahl(share, cores);
      made.estimate =
          fmt::format("Amdahl: {:.1f} % of the operations on {:g} of {:g} cores (a wavefront fills and drains)",
                      100 * share, cores, kCores);
      made.evidence.push_back(fmt::format(
          "each of the loops carries something, but no dependence goes backwards in any of them: iterations with the "
          "same sum of counters are free of each other, and so are tiles of the {} loops",
          loops.size()));
      return;
    }
  }

  /// Loops of the source that one loop of the new order stands for, and that touch the same data.
  void suggest_fusion(const NestPlan& nest) {
    if (nest.choice.is_written || nest.choice.worth.skewed) return;
    const Order& order = nest.choice.best;
    for (const OrderBand& band : order.bands) {
      for (std::uint32_t k = 0; k < band.depth; ++k) {
        std::set<std::uint32_t> nodes;
        for (const std::uint32_t g : band.groups) {
          const std::optional<std::size_t> own = stands_for(order.rows[g])[band.first + k];
          if (own) nodes.insert(context_.nodes[nest.program.groups[g].loops[*own]]);
        }
        if (nodes.size() < 2 || is_nested(nodes) || !shares_data(nest, band)) continue;
        std::vector<std::string> names;
        for (const std::uint32_t node : nodes) names.push_back(place(node));
        const double saved = lines_saved_by_fusion(nest, band);
        Suggestion& made =
            add("LF-FUS", fmt::format("Fuse {}", fmt::join(names, " and ")), {nodes.begin(), nodes.end()});
        const Cost before = cost_of(nest, nest.choice.written);
        made.gain = amdahl(share_of(nest), before.total() / std::max(before.total() - saved, 1.0));
        made.estimate = fmt::format(
            "{:.1f} % of the operations; of {:.3g} instructions, and {:g} for each cache line touched, {:.3g} are "
            "lines "
            "that both loops touch{}",
            100 * share_of(nest), before.total(), kLineCost, saved, size_note(nest));
        made.evidence.emplace_back("no dependence goes backwards in the fused loop");
        break;  // loops inside follow
      }
    }
  }

  /// One of the loops is inside another one.
  bool is_nested(const std::set<std::uint32_t>& nodes) const {
    return std::any_of(nodes.begin(), nodes.end(), [&](std::uint32_t node) {
      for (std::optional<std::uint32_t> at = profile_.tree[node].parent; at; at = profile_.tree[*at].parent)
        if (nodes.contains(*at)) return true;
      return false;
    });
  }

  static std::map<std::uint32_t, std::set<ContextId>> loops_by_object(const NestPlan& nest, const OrderBand& band) {
    std::map<std::uint32_t, std::set<ContextId>> loops;
    for (const std::uint32_t g : band.groups)
      for (const AccessFacts& access : nest.facts[g].accesses)
        loops[access.access->object].insert(nest.program.groups[g].loops.back());
    return loops;
  }

  static bool shares_data(const NestPlan& nest, const OrderBand& band) {
    const auto loops = loops_by_object(nest, band);
    return std::any_of(loops.begin(), loops.end(), [](const auto& entry) { return entry.second.size() > 1; });
  }

  /// Of objects that several of the loops touch, all but the first touch.
  static double lines_saved_by_fusion(const NestPlan& nest, const OrderBand& band) {
    double saved = 0;
    std::set<std::uint32_t> touched;
    const auto loops = loops_by_object(nest, band);
    for (const std::uint32_t g : band.groups)
      for (const AccessFacts& access : nest.facts[g].accesses) {
        if (loops.at(access.access->object).size() < 2) continue;
        if (touched.insert(access.access->object).second) continue;
        const std::optional<Innermost> inner = innermost_of(nest.choice.written, g);
        if (!inner) continue;
        GroupFacts one;
        one.accesses.push_back(access);
        const OrderBand& written = nest.choice.written.bands[inner->band];
        saved += lines_touched(one, direction_of(nest.choice.written.rows[g], written.first + inner->place));
      }
    return saved;
  }

  // ---- vectors ----

  /// Innermost loops that are parallel and near, and are not vectorised yet.
  void suggest_vectors() {
    for (std::size_t i = 0; i < region_.loops.size(); ++i) {
      const Loop& loop = region_.loops[i];
      const bool inner = i + 1 < region_.loops.size() && region_.loops[i + 1].depth > loop.depth;
      if (inner || loop.trip.mean < 4 || is_assembly(loop)) continue;
      if (loop.parallel != Loop::Parallel::kYes && loop.parallel != Loop::Parallel::kReduction) continue;
      if (loop.stride01_percent < 100 * kNearEnough || moves_out(loop)) continue;
      const std::uint64_t size = element_size(loop);
      if (size == 0 || size >= 16 || is_string_instruction(loop)) continue;  // nothing to load, or vectors already
      const double width = kVectorBytes / static_cast<double>(size);
      const double near = loop.stride01_percent / 100;
      const bool reduction = loop.parallel == Loop::Parallel::kReduction;
      Suggestion& made =
          add("LF-SIMD", fmt::format("Vectorise {}{}", place(loop), reduction ? ", as a reduction" : ""), {loop.node});
      const double speedup = 1 / ((1 - near) + near / std::min(width, loop.trip.mean));
      made.gain = amdahl(share_of(loop), speedup);
      made.estimate = fmt::format(
          "{:g} elements of {} bytes in a vector, for {:.0f} % of the accesses, in {:.1f} % of the operations", width,
          size, loop.stride01_percent, loop.ops_percent);
      made.evidence.push_back(fmt::format("the innermost loop carries {}, and most accesses have stride 0 or 1",
                                          reduction ? "a reduction only" : "nothing"));
      if (reduction) add_reductions(loop, made);
      add_conditions(loop, made);
    }
  }

  static constexpr double kNearEnough = 0.5;

  /// Another loop should be innermost in its place.
  bool moves_out(const Loop& loop) const {
    return std::any_of(found_.begin(), found_.end(), [&](const Suggestion& suggestion) {
      return suggestion.rule == "LF-ICH" && suggestion.gain >= kLeastGain &&
             std::find(suggestion.loops.begin(), suggestion.loops.end(), loop.node) != suggestion.loops.end();
    });
  }

  /// Of groups whose innermost loop in an order is that one of the source.
  double ops_in(const NestPlan& nest, const Order& order, std::uint32_t node) const {
    double ops = 0;
    for (std::uint32_t g = 0; g < nest.facts.size(); ++g) {
      const std::optional<Innermost> inner = innermost_of(order, g);
      if (!inner) continue;
      const auto own = stands_for(order.rows[g])[order.bands[inner->band].first + inner->place];
      if (own && context_.nodes[nest.program.groups[g].loops[*own]] == node) ops += nest.facts[g].ops;
    }
    return ops;
  }

  /// The loop that an interchange makes innermost.
  void suggest_vectors_after(const NestPlan& nest) {
    const Order& order = nest.choice.best;
    if (nest.choice.is_written || OrderText(nest, context_, profile_).interchanged().empty()) return;
    std::set<std::uint32_t> done;
    for (std::uint32_t g = 0; g < nest.facts.size(); ++g) {
      const std::optional<Innermost> inner = innermost_of(order, g);
      if (!nest.facts[g].innermost || !inner || !is_vector(order, g)) continue;
      const std::size_t row = order.bands[inner->band].first + inner->place;
      const std::size_t own = *stands_for(order.rows[g])[row];
      const std::uint32_t node = context_.nodes[nest.program.groups[g].loops[own]];
      const Loop* const loop = loop_at(node);
      const double near = near_share(nest.facts, {g}, {direction_of(order.rows[g], row)});
      if (loop == nullptr || near < kNearEnough || nest.facts[g].accesses.empty() || !done.insert(node).second)
        continue;
      const auto size = static_cast<double>(nest.facts[g].accesses.front().access->size);
      if (size >= 16 || is_assembly(*loop) || has_vectors(*loop)) continue;
      const double width = kVectorBytes / size;
      const bool reduction = order.bands[inner->band].carries[inner->place] == Carries::kReduction;
      Suggestion& made = add(
          "LF-SIMD",
          fmt::format("Vectorise {}, {}{}", place(*loop), kOnceInnermost, reduction ? ", as a reduction" : ""), {node});
      const double share = share_of(std::min(ops_in(nest, order, node), nest.ops));
      made.gain = amdahl(share, 1 / ((1 - near) + near / width));
      made.estimate = fmt::format(
          "{:g} elements of {:g} bytes in a vector, for {:.0f} % of the accesses, in {:.1f} % of the operations", width,
          size, 100 * near, 100 * share);
      made.evidence.push_back(
          fmt::format("in the new order the innermost loop carries {}, and most accesses have stride 0 or 1",
                      reduction ? "a reduction only" : "nothing"));
      if (reduction) add_reductions(*loop, made);
      add_conditions(*loop, made);
    }
  }

  /// It is innermost already.
  bool has_vectors(const Loop& loop) const {
    return std::any_of(found_.begin(), found_.end(), [&](const Suggestion& suggestion) {
      return suggestion.rule == "LF-SIMD" && suggestion.loops == std::vector<std::uint32_t>{loop.node};
    });
  }

  /// One instruction that goes round by itself (rep movs): the processor moves whole vectors already.
  bool is_string_instruction(const Loop& loop) const {
    return std::all_of(
        profile_.statements.begin(), profile_.statements.end(), [&](const profile::Statement& statement) {
          if (statement.loops.empty() || !statement.loops.back() || !statement.code) return true;
          if (std::find(loop.nodes.begin(), loop.nodes.end(), *statement.loops.back()) == loop.nodes.end()) return true;
          return profile_.code[*statement.code].addresses.size() == 1;
        });
  }

  /// Of most accesses in the loop that are no scalars of a frame.
  std::uint64_t element_size(const Loop& loop) const {
    std::uint64_t most = 0;
    std::uint64_t size = 0;
    for (const profile::Access& access : profile_.accesses) {
      const profile::Statement& statement = profile_.statements[access.statement];
      if (statement.loops.empty() || !statement.loops.back()) continue;
      if (std::find(loop.nodes.begin(), loop.nodes.end(), *statement.loops.back()) == loop.nodes.end()) continue;
      if (access.coefficients.empty() || access.coefficients.back() == 0) continue;
      if (access.size >= 16) return 16;
      if (access.count > most) {
        most = access.count;
        size = access.size;
      }
    }
    return size;
  }

  // ---- parts ----

  static constexpr std::size_t kMostParts = 4;    // more loops than this are another program
  static constexpr double kLeastParallel = 0.25;  // of the loop's operations

  /// A loop that keeps its order, in parts of which some can run in parallel: on cores, if nothing around it does, else
  /// in vectors.
  void suggest_distribution(const Distribution& distribution) {
    const Loop* const loop = loop_at(distribution.node);
    if (loop == nullptr || loop->trip.mean < 4 || distribution.pieces.size() > kMostParts) return;
    double parallel = 0;
    for (const Distribution::Piece& piece : distribution.pieces)
      if (piece.parallel) parallel += piece.ops;
    const double share = parallel / std::max(distribution.ops, 1.0);
    if (share < kLeastParallel) return;
    const bool on_cores = !runs_in_parallel(*loop);
    const std::uint64_t size = element_size(*loop);
    if (!on_cores && (!is_innermost(*loop) || size == 0 || size >= 16 || loop->stride01_percent < 100 * kNearEnough))
      return;
    Suggestion& made =
        add("LF-DIS",
            fmt::format("Split {} in {}: {}", place(*loop), distribution.pieces.size() == 2 ? "two" : "several loops",
                        pieces_text(distribution)),
            {loop->node});
    const double speedup = on_cores ? std::min(kCores, loop->trip.mean)
                                    : kVectorBytes / static_cast<double>(std::max<std::uint64_t>(size, 1));
    made.gain = amdahl(share_of(*loop) * share, speedup);
    made.estimate =
        on_cores ? fmt::format("Amdahl: {:.0f} % of {:.1f} % of the operations on {:.2g} cores", 100 * share,
                               loop->ops_percent, speedup)
                 : fmt::format("{:.0f} % of {:.1f} % of the operations, with {:g} elements of {} bytes in a vector",
                               100 * share, loop->ops_percent, speedup, size);
    made.evidence.emplace_back(
        "no value flows from a later one of the new loops to an earlier one, and none from one "
        "iteration to another in those that are parallel");
    for (const profile::Source& line : distribution.handed_on)
      made.requirements.push_back({"expand", fmt::format("what line {} computes", line.line), loop->node, "", {}});
    for (const Distribution::Piece& piece : distribution.pieces)
      for (const profile::Source& line : piece.lines) made.where.push_back(line);
  }

  static std::string pieces_text(const Distribution& distribution) {
    std::vector<std::string> parts;
    for (const Distribution::Piece& piece : distribution.pieces) {
      std::vector<std::string> lines;
      for (const profile::Source& line : piece.lines) lines.push_back(std::to_string(line.line));
      constexpr std::size_t kMostLines = 6;
      if (lines.size() > kMostLines) {
        lines.resize(kMostLines);
        lines.emplace_back("...");
      }
      parts.push_back(fmt::format("line{} {} {}", piece.lines.size() == 1 ? "" : "s", fmt::join(lines, ", "),
                                  piece.parallel ? "in parallel" : "in order"));
    }
    return fmt::format("{}", fmt::join(parts, ", then "));
  }

  bool is_innermost(const Loop& loop) const {
    const std::size_t i = static_cast<std::size_t>(&loop - region_.loops.data());
    return i + 1 == region_.loops.size() || region_.loops[i + 1].depth <= loop.depth;
  }

  /// A loop around it can, or the new order of its nest lets it.
  bool runs_in_parallel(const Loop& loop) const {
    for (std::optional<std::uint32_t> at = loop.node; at; at = profile_.tree[*at].parent)
      for (const Suggestion& suggestion : found_)
        if ((suggestion.rule == "LF-PAR" || suggestion.rule == "LF-RED" || suggestion.rule == "LF-SKW") &&
            std::find(suggestion.loops.begin(), suggestion.loops.end(), *at) != suggestion.loops.end())
          return true;
    return false;
  }

  // ---- calls ----

  static constexpr double kDominates = 0.75;  // of the work of all calls
  static constexpr double kDiffers = 4;       // times as many iterations, or as few

  /// The call that a node is in.
  const profile::TreeNode* call_of(std::uint32_t node) const {
    for (const profile::TreeNode* at = &profile_.tree[node]; at->parent; at = &profile_.tree[*at->parent])
      if (at->kind == profile::TreeNode::Kind::kCall && at->call_site) return at;
    return nullptr;
  }

  /// The same nest is run by other calls of its function, with other trip counts, and this one has most of the work.
  void suggest_special() {
    const profile::TreeNode* const call = call_of(region_.node);
    if (call == nullptr || !region_.source || found_.empty()) return;
    double all = region_.ops_percent;
    const profile::Region* other = nullptr;  // with most of the rest
    for (const profile::Region& candidate : profile_.regions) {
      if (candidate.id == region_.id || candidate.source != region_.source) continue;
      const profile::TreeNode* const where = call_of(candidate.node);
      if (where == nullptr || where->function != call->function || where->call_site == call->call_site) continue;
      all += candidate.ops_percent;
      if (other == nullptr || candidate.ops_percent > other->ops_percent) other = &candidate;
    }
    if (other == nullptr || region_.ops_percent < kDominates * all) return;
    for (std::size_t i = 0; i < region_.loops.size() && i < other->loops.size(); ++i) {
      const double here = std::max(region_.loops[i].trip.mean, 1.0);
      const double there = std::max(other->loops[i].trip.mean, 1.0);
      if (here / there < kDiffers && there / here < kDiffers) continue;
      const double best = std::max_element(found_.begin(), found_.end(), [](const Suggestion& a, const Suggestion& b) {
                            return a.gain < b.gain;
                          })->gain;
      const std::size_t slash = call->call_site->file.rfind('/');
      Suggestion& made =
          add("LF-SPC",
              fmt::format("Specialise {} for the call at {}:{}", call->function,
                          slash == std::string::npos ? call->call_site->file : call->call_site->file.substr(slash + 1),
                          call->call_site->line),
              {region_.node});
      made.where.insert(made.where.begin(), *call->call_site);
      made.requirements.clear();
      made.gain = best;
      made.estimate = fmt::format("what the best suggestion for this call gains; the others have {:.1f} % of the work",
                                  all == 0 ? 0.0 : 100 * (all - region_.ops_percent) / all);
      made.evidence.push_back(fmt::format("{} goes round {:.4g} times here, {:.4g} times where the other call is",
                                          place(region_.loops[i]), here, there));
      return;
    }
  }

  const RegionPlan& plan_;
  const poly::Context& context_;
  const profile::Region& region_;
  const profile::Profile& profile_;
  std::vector<Suggestion> found_;
};

}  // namespace

std::vector<Suggestion> suggest(const RegionPlan& plan, const poly::Context& context, const profile::Region& region,
                                const profile::Profile& profile, std::span<const Distribution> distributions) {
  return Suggester(plan, context, region, profile).run(distributions);
}

}  // namespace loopfold::advise
