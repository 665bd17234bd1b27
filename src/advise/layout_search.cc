#include "advise/layout_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "advise/suggest.h"

namespace loopfold::advise {

namespace {

using Chosen = std::map<std::uint32_t, const Layout*>;

/// Whether code outside of the nest accesses an object.
bool is_used_elsewhere(const NestPlan& nest, std::uint32_t object, const profile::Profile& profile) {
  std::set<std::uint32_t> own;
  for (const poly::Group& group : nest.program.groups) own.insert(group.statements.begin(), group.statements.end());
  return std::any_of(profile.accesses.begin(), profile.accesses.end(), [&](const profile::Access& access) {
    return access.object == object && !own.contains(access.statement);
  });
}

class Searcher {
 public:
  Searcher(const NestPlan& nest, const std::vector<Order>& orders, const std::vector<std::uint32_t>& tiles,
           const std::vector<Array>& arrays, const profile::Profile& profile, const Machine& machine)
      : arrays_(arrays) {
    for (std::size_t k = 0; k < orders.size(); ++k)
      for (const std::uint32_t tile : tiles) {
        OrderCost costs(nest, orders[k], tile, arrays, machine);
        if (tile == 0 || costs.can_tile()) tried_.push_back({k, tile, std::move(costs)});
      }
    find_options(nest, profile, machine);
  }

  LayoutSearch run() {
    result_.written = {0, 0, {}, tried_.front().costs.cost({})};
    search_combinations();
    std::stable_sort(result_.ranking.begin(), result_.ranking.end(),
                     [](const LayoutChoice& a, const LayoutChoice& b) { return a.cost.total() < b.cost.total(); });
    result_.both = result_.ranking.front();
    compare_lines();
    return std::move(result_);
  }

 private:
  struct Tried {
    std::size_t order = 0;
    std::uint32_t tile = 0;
    OrderCost costs;
  };
  struct Options {
    std::uint32_t object = 0;
    std::vector<Layout> layouts;  // as it is first
    double copies = 0;            // of another one
  };

  void find_options(const NestPlan& nest, const profile::Profile& profile, const Machine& machine) {
    std::set<std::uint32_t> objects;
    for (const GroupFacts& group : nest.facts)
      for (const AccessFacts& access : group.accesses) objects.insert(access.access->object);
    for (const std::uint32_t object : objects) {
      const std::string why = no_layouts(arrays_[object], profile);
      if (!why.empty()) {
        result_.without.emplace_back(object, why);
        continue;
      }
      result_.objects.push_back(object);
      const double copies = is_used_elsewhere(nest, object, profile) ? copy_cost(arrays_[object], machine.scale) : 0.0;
      options_.push_back({object, layouts_of(arrays_[object]), copies});
    }
  }

  void search_combinations() {
    double count = 1;
    for (const Options& options : options_) count *= static_cast<double>(options.layouts.size());
    result_.all_tried = count <= static_cast<double>(kMostCombinations);
    std::vector<std::size_t> at(options_.size());
    if (!result_.all_tried) return improve_one_by_one(at);
    while (true) {
      add(at);
      std::size_t k = 0;
      while (k < at.size() && ++at[k] == options_[k].layouts.size()) at[k++] = 0;
      if (k == at.size()) return;
    }
  }

  void improve_one_by_one(std::vector<std::size_t> at) {
    double best = add(at);
    for (bool better = true; better;) {
      better = false;
      for (std::size_t k = 0; k < at.size(); ++k)
        for (std::size_t layout = 0; layout < options_[k].layouts.size(); ++layout) {
          std::vector<std::size_t> other = at;
          other[k] = layout;
          if (other == at) continue;
          const double cost = add(other);
          if (cost >= best) continue;
          best = cost;
          at = std::move(other);
          better = true;
        }
    }
  }

  /// Tries a combination with all orders; the least cost.
  double add(const std::vector<std::size_t>& at) {
    Chosen chosen;
    LayoutChoice made;
    double copies = 0;
    for (std::size_t k = 0; k < at.size(); ++k) {
      const Layout& layout = options_[k].layouts[at[k]];
      if (layout.is_identity(arrays_[layout.object])) continue;
      chosen[layout.object] = &layout;
      made.layouts.push_back(layout);
      copies += options_[k].copies;
    }
    std::optional<LayoutChoice> best;
    for (const Tried& tried : tried_) {
      made.order = tried.order;
      made.tile = tried.tile;
      made.cost = tried.costs.cost(chosen);
      made.cost.copies = copies;
      keep_better(best, made);
      if (chosen.empty()) keep_better(order_alone_, made);
      if (tried.order == 0 && tried.tile == 0) keep_better(layout_alone_, made);
      const double without = made.cost.total() - copies;
      if (result_.without_copies == 0 || without < result_.without_copies) result_.without_copies = without;
    }
    if (order_alone_) result_.order_alone = *order_alone_;
    if (layout_alone_) result_.layout_alone = *layout_alone_;
    result_.ranking.push_back(*best);
    return best->cost.total();
  }

  /// What comes first stays unless another one is better: less change before more.
  static void keep_better(std::optional<LayoutChoice>& best, const LayoutChoice& other) {
    constexpr double kNothing = 1e-9;
    if (!best || other.cost.total() < best->cost.total() * (1 - kNothing)) best = other;
  }

  void compare_lines() {
    const OrderCost& costs = tried_.front().costs;
    for (const Layout& layout : result_.layout_alone.layouts) {
      result_.fetched += kCacheLine * costs.lines_touched(layout.object, nullptr);
      result_.fetched_after += kCacheLine * costs.lines_touched(layout.object, &layout);
      result_.used += costs.bytes_used(layout.object);
    }
  }

  const std::vector<Array>& arrays_;
  std::vector<Tried> tried_;
  std::vector<Options> options_;
  std::optional<LayoutChoice> order_alone_;
  std::optional<LayoutChoice> layout_alone_;
  LayoutSearch result_;
};

/// The nest's loops, and those inside it around an access to one of the arrays, as nodes of the tree.
std::vector<std::uint32_t> loops_around(const NestPlan& nest, const std::vector<Layout>& layouts,
                                        const poly::Context& context) {
  std::vector<std::uint32_t> nodes;
  const auto add = [&](structure::ContextId loop) {
    const std::uint32_t node = context.nodes[loop];
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
  };
  for (const structure::ContextId loop : nest.loop.loops) add(loop);
  for (std::size_t g = 0; g < nest.facts.size(); ++g) {
    const bool accesses = std::any_of(nest.facts[g].accesses.begin(), nest.facts[g].accesses.end(), [&](const auto& a) {
      return std::any_of(layouts.begin(), layouts.end(),
                         [&](const Layout& layout) { return layout.object == a.access->object; });
    });
    if (accesses)
      for (const structure::ContextId loop : nest.program.groups[g].loops) add(loop);
  }
  return nodes;
}

/// A system call, or code that was not followed, has to do with it: whether that can change is not known.
bool is_seen_outside(std::uint32_t object, const profile::Profile& profile) {
  return std::any_of(profile.dependences.begin(), profile.dependences.end(), [&](const profile::Dependence& d) {
    const auto is_outside = [&](const std::optional<std::uint32_t>& statement) {
      if (!statement) return false;
      const profile::Statement::Kind kind = profile.statements[*statement].kind;
      return kind == profile::Statement::Kind::kHidden || kind == profile::Statement::Kind::kSystemCall;
    };
    return d.object == object && (is_outside(d.from) || is_outside(d.to));
  });
}

}  // namespace

LayoutSearch search_layouts(const NestPlan& nest, const std::vector<Order>& orders,
                            const std::vector<std::uint32_t>& tiles, const std::vector<Array>& arrays,
                            const profile::Profile& profile, const Machine& machine) {
  return Searcher(nest, orders, tiles, arrays, profile, machine).run();
}

void suggest_layouts(const RegionPlan& plan, const poly::Context& context, const std::vector<Array>& arrays,
                     profile::Region& region, const profile::Profile& profile) {
  const Machine machine = Machine::beyond_caches();
  for (const NestPlan& nest : plan.nests) {
    std::vector<Order> orders = {nest.choice.written};
    if (!nest.choice.is_written) orders.push_back(nest.choice.best);
    const LayoutSearch search = search_layouts(nest, orders, {0}, arrays, profile, machine);
    const bool both = search.both.cost.total() < search.layout_alone.cost.total() && search.both.order != 0;
    const LayoutChoice& choice = both ? search.both : search.layout_alone;
    if (choice.layouts.empty() || choice.cost.total() >= search.order_alone.cost.total() / kLeastGain) continue;
    profile::Suggestion made;
    made.rule = "LF-LAY";
    std::vector<std::string> words;
    for (const Layout& layout : choice.layouts)
      words.push_back(layout_words(layout, arrays[layout.object], profile.objects[layout.object]));
    made.title = fmt::format("Store {}{}", fmt::join(words, "; "), both ? ", and use the new order of the loops" : "");
    made.loops = loops_around(nest, choice.layouts, context);
    for (const structure::ContextId loop : nest.loop.loops) {
      if (const auto& source = profile.tree[context.nodes[loop]].source; source && made.where.empty())
        made.where.push_back(*source);
    }
    const double share =
        std::min(1.0, nest.ops / static_cast<double>(std::max<std::uint64_t>(profile.program.instructions, 1)));
    made.gain = amdahl(share, search.written.cost.total() / std::max(choice.cost.total(), 1.0));
    made.estimate = fmt::format(
        "{:.1f} % of the operations; instructions, {:g} for each cache line touched, and copying: {:.3g} as it is, "
        "{:.3g} with the best order alone, {:.3g} with the best layout alone, {:.3g} with both (for data beyond the "
        "cache)",
        100 * share, kLineCost, search.written.cost.total(), search.order_alone.cost.total(),
        search.layout_alone.cost.total(), search.both.cost.total());
    for (const Layout& layout : choice.layouts) {
      const Array& array = arrays[layout.object];
      made.evidence.push_back(layout_map(layout, array, profile.objects[layout.object]) +
                              " is one-to-one: every element has a place of its own");
      for (const std::string& assumption : array.assumes)
        made.evidence.push_back(fmt::format("assumes of {}: {}", profile.objects[layout.object].name, assumption));
    }
    if (!search.layout_alone.layouts.empty())
      made.evidence.push_back(fmt::format("bytes fetched for those used: {:.3g} for {:.3g} as it is, {:.3g} then",
                                          search.fetched, search.used, search.fetched_after));
    const bool outside = std::any_of(choice.layouts.begin(), choice.layouts.end(),
                                     [&](const Layout& layout) { return is_seen_outside(layout.object, profile); });
    if (both) made.requirements.push_back({"unknown", "", std::nullopt, "", std::nullopt});
    if (outside) made.evidence.emplace_back("a system call has to do with it: whether that can change is not known");
    made.legal = both || outside ? profile::Suggestion::Legal::kUnknown : profile::Suggestion::Legal::kYes;
    if (made.gain < kLeastGain) continue;
    const auto place = std::find_if(region.suggestions.begin(), region.suggestions.end(),
                                    [&](const profile::Suggestion& other) { return other.gain < made.gain; });
    region.suggestions.insert(place, std::move(made));
  }
}

}  // namespace loopfold::advise
