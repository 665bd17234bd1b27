#include "advise/layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "advise/suggest.h"

namespace loopfold::advise {

namespace {

std::size_t dimensions_of(const Array& array) { return array.dimensions.size() + (array.blocks > 1 ? 1 : 0); }

std::uint64_t extent_of(const Array& array, std::size_t dimension) {
  if (array.blocks > 1) return dimension == 0 ? array.blocks : array.dimensions[dimension - 1].extent;
  return array.dimensions[dimension].extent;
}

Layout identity_of(const Array& array) {
  Layout layout;
  layout.object = array.object;
  layout.order.resize(dimensions_of(array));
  std::iota(layout.order.begin(), layout.order.end(), 0u);
  return layout;
}

/// Bytes by dimension of the array.
std::vector<double> strides_of(const Layout& layout, const Array& array, std::uint64_t access_size) {
  std::vector<double> strides(layout.order.size());
  double stride = layout.apart ? static_cast<double>(access_size) : static_cast<double>(array.element);
  for (std::size_t k = layout.order.size(); k-- > 0;) {
    strides[layout.order[k]] = stride;
    stride *= static_cast<double>(extent_of(array, layout.order[k]));
  }
  return strides;
}

double lines_for(double bytes) { return std::min(1.0, std::abs(bytes) / kCacheLine); }

/// One nest, one order.
class Costs {
 public:
  Costs(const NestPlan& nest, const Order& order, const std::vector<Array>& arrays)
      : nest_(nest), order_(order), arrays_(arrays) {}

  /// Lines that the accesses to an array touch under a layout.
  double lines(std::uint32_t object, const Layout* layout) const {
    double sum = 0;
    for_each(object, [&](const AccessFacts& access, const Direction& along) {
      sum += static_cast<double>(access.count) * touched(access, along, layout);
    });
    return sum;
  }

  double bytes(std::uint32_t object) const {
    double sum = 0;
    for_each(object, [&](const AccessFacts& access, const Direction&) {
      sum += static_cast<double>(access.count * access.access->size);
    });
    return sum;
  }

  std::set<std::uint32_t> objects() const {
    std::set<std::uint32_t> found;
    for (const GroupFacts& group : nest_.facts)
      for (const AccessFacts& access : group.accesses) found.insert(access.access->object);
    return found;
  }

 private:
  template <typename Visit>
  void for_each(std::uint32_t object, const Visit& visit) const {
    for (std::uint32_t g = 0; g < nest_.facts.size(); ++g) {
      const std::optional<Innermost> inner = innermost_of(order_, g);
      Direction along;
      if (inner) along = direction_of(order_.rows[g], order_.bands[inner->band].first + inner->place);
      for (const AccessFacts& access : nest_.facts[g].accesses)
        if (access.access->object == object) visit(access, along);
    }
  }

  double touched(const AccessFacts& access, const Direction& along, const Layout* layout) const {
    if (along.empty()) return 1;
    std::int64_t bytes = 0;
    std::int64_t blocks = 0;
    for (std::size_t k = 0; k < along.size(); ++k) {
      if (along[k] == 0) continue;
      const std::size_t at = nest_.program.prefix + k;
      const profile::Access& its = *access.access;
      if (at >= its.coefficients.size() || !its.coefficients[at]) return 1;
      if (at >= its.block_coefficients.size() || !its.block_coefficients[at]) return 1;
      bytes += along[k] * *its.coefficients[at];
      blocks += along[k] * *its.block_coefficients[at];
    }
    if (layout == nullptr) return blocks != 0 ? 1 : lines_for(static_cast<double>(bytes));
    const Array& array = arrays_[layout->object];
    const std::vector<std::int64_t> steps = subscript_steps(array, bytes, blocks);
    if (steps.empty()) return 1;
    const std::vector<double> strides = strides_of(*layout, array, access.access->size);
    double moved = 0;
    for (std::size_t k = 0; k < steps.size(); ++k) moved += static_cast<double>(steps[k]) * strides[k];
    return lines_for(moved);
  }

  const NestPlan& nest_;
  const Order& order_;
  const std::vector<Array>& arrays_;
};

/// Whether code outside of the nest accesses an object.
bool is_used_elsewhere(const NestPlan& nest, std::uint32_t object, const profile::Profile& profile) {
  std::set<std::uint32_t> own;
  for (const poly::Group& group : nest.program.groups) own.insert(group.statements.begin(), group.statements.end());
  return std::any_of(profile.accesses.begin(), profile.accesses.end(), [&](const profile::Access& access) {
    return access.object == object && !own.contains(access.statement);
  });
}

double copy_cost(const Array& array) {
  double elements = static_cast<double>(array.blocks);
  for (const ArrayDimension& dimension : array.dimensions) elements *= static_cast<double>(dimension.extent);
  constexpr double kTwice = 2;       // in, and out
  constexpr double kPerElement = 3;  // instructions
  const double lines = elements * static_cast<double>(array.element) / kCacheLine;
  return kTwice * (kPerElement * elements + kLineCost * 2 * lines);
}

/// The layout of an array that touches fewest lines, less what copying costs; the identity if none is better.
struct Best {
  Layout layout;
  double lines = 0;  // weighted
  double copies = 0;
};

Best best_layout(const Costs& costs, const Array& array, bool elsewhere) {
  Best best{identity_of(array), kLineCost * costs.lines(array.object, nullptr), 0};
  const double copies = elsewhere ? copy_cost(array) : 0;
  Layout layout = identity_of(array);
  do {
    for (const bool apart : {false, true}) {
      if (apart && !array.is_structure()) continue;
      layout.apart = apart;
      if (layout.is_identity(array)) continue;
      const double lines = kLineCost * costs.lines(array.object, &layout);
      if (lines + copies < best.lines + best.copies) best = {layout, lines, copies};
    }
    layout.apart = false;
  } while (std::next_permutation(layout.order.begin(), layout.order.end()));
  return best;
}

bool has_layouts(const Array& array, const profile::Profile& profile) {
  const profile::Object::Kind kind = profile.objects[array.object].kind;
  const bool stored = kind == profile::Object::Kind::kHeap || kind == profile::Object::Kind::kGlobal;
  return stored && array.problem.empty() && !array.dimensions.empty() && dimensions_of(array) <= kMostDimensions;
}

}  // namespace

bool Layout::is_identity(const Array& array) const {
  return !(apart && array.is_structure()) && std::is_sorted(order.begin(), order.end());
}

LayoutSearch search_layouts(const NestPlan& nest, const std::vector<Array>& arrays, const profile::Profile& profile) {
  LayoutSearch search;
  double instructions = 0;
  for (const GroupFacts& group : nest.facts) instructions += group.ops;
  const auto with = [&](const Order& order, bool change, std::vector<Layout>* chosen) {
    const Costs costs(nest, order, arrays);
    LayoutCost cost;
    cost.instructions = instructions;
    for (const std::uint32_t object : costs.objects()) {
      if (!change || !has_layouts(arrays[object], profile)) {
        cost.lines += kLineCost * costs.lines(object, nullptr);
        continue;
      }
      const Best best = best_layout(costs, arrays[object], is_used_elsewhere(nest, object, profile));
      cost.lines += best.lines;
      cost.copies += best.copies;
      if (!best.layout.is_identity(arrays[object])) chosen->push_back(best.layout);
    }
    return cost;
  };
  search.written = with(nest.choice.written, false, nullptr);
  search.order_alone = with(nest.choice.best, false, nullptr);
  search.layout_alone = with(nest.choice.written, true, &search.layouts);
  search.both = with(nest.choice.best, true, &search.layouts_both);
  const Costs costs(nest, nest.choice.written, arrays);
  for (const Layout& layout : search.layouts) {
    search.fetched += kCacheLine * costs.lines(layout.object, nullptr);
    search.fetched_after += kCacheLine * costs.lines(layout.object, &layout);
    search.used += costs.bytes(layout.object);
  }
  return search;
}

std::string layout_map(const Layout& layout, const Array& array, const profile::Object& object) {
  std::string name;
  for (const char c : object.name) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  std::vector<std::string> from;
  for (std::size_t k = 0; k < dimensions_of(array); ++k) from.push_back(fmt::format("i{}", k));
  std::vector<std::string> to;
  for (const std::uint32_t k : layout.order) to.push_back(from[k]);
  if (array.is_structure()) {
    from.emplace_back("field");
    to.insert(layout.apart ? to.begin() : to.end(), "field");
  }
  return fmt::format("{{ {}[{}] -> [{}] }}", name, fmt::join(from, ", "), fmt::join(to, ", "));
}

namespace {

std::string words_of(const Layout& layout, const Array& array, const profile::Object& object) {
  const std::string text = array_text(array, object);
  std::vector<std::string> how;
  if (!std::is_sorted(layout.order.begin(), layout.order.end())) {
    std::vector<std::string> extents;
    for (const std::uint32_t k : layout.order) extents.push_back(fmt::format("[{}]", extent_of(array, k)));
    how.push_back(layout.order.size() == 2 ? "by columns" : fmt::format("as {}", fmt::join(extents, "")));
  }
  if (layout.apart && array.is_structure()) how.emplace_back("with one array per field");
  return fmt::format("{} {}", text, fmt::join(how, ", "));
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

void suggest_layouts(const RegionPlan& plan, const poly::Context& context, const std::vector<Array>& arrays,
                     profile::Region& region, const profile::Profile& profile) {
  for (const NestPlan& nest : plan.nests) {
    const LayoutSearch search = search_layouts(nest, arrays, profile);
    const bool both = search.both.total() < search.layout_alone.total();
    const LayoutCost& cost = both ? search.both : search.layout_alone;
    const std::vector<Layout>& layouts = both ? search.layouts_both : search.layouts;
    if (layouts.empty() || cost.total() >= search.order_alone.total() / kLeastGain) continue;
    profile::Suggestion made;
    made.rule = "LF-LAY";
    std::vector<std::string> words;
    for (const Layout& layout : layouts)
      words.push_back(words_of(layout, arrays[layout.object], profile.objects[layout.object]));
    made.title = fmt::format("Store {}{}", fmt::join(words, "; "), both ? ", and use the new order of the loops" : "");
    for (const structure::ContextId loop : nest.loop.loops) {
      made.loops.push_back(context.nodes[loop]);
      if (const auto& source = profile.tree[context.nodes[loop]].source; source && made.where.empty())
        made.where.push_back(*source);
    }
    const double share =
        std::min(1.0, nest.ops / static_cast<double>(std::max<std::uint64_t>(profile.program.instructions, 1)));
    made.gain = amdahl(share, search.written.total() / std::max(cost.total(), 1.0));
    made.estimate = fmt::format(
        "{:.1f} % of the operations; instructions, {:g} for each cache line touched, and copying: {:.3g} as it is, "
        "{:.3g} "
        "with the best order alone, {:.3g} with the best layout alone, {:.3g} with both (for data beyond the cache)",
        100 * share, kLineCost, search.written.total(), search.order_alone.total(), search.layout_alone.total(),
        search.both.total());
    for (const Layout& layout : layouts) {
      const Array& array = arrays[layout.object];
      made.evidence.push_back(layout_map(layout, array, profile.objects[layout.object]) +
                              " is one-to-one: every element has a place of its own");
      for (const std::string& assumption : array.assumes)
        made.evidence.push_back(fmt::format("assumes of {}: {}", profile.objects[layout.object].name, assumption));
    }
    if (!search.layouts.empty())
      made.evidence.push_back(fmt::format("bytes fetched for those used: {:.3g} for {:.3g} as it is, {:.3g} then",
                                          search.fetched, search.used, search.fetched_after));
    const bool outside = std::any_of(layouts.begin(), layouts.end(),
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
