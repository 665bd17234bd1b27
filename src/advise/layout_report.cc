#include "advise/layout_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "advise/order_text.h"
#include "advise/suggest.h"
#include "support/units.h"

namespace loopfold::advise {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kWorthCopying = 1.1;  // gain of a layout that copying undoes, to be worth a word
const std::vector<std::uint32_t> kTiles = {0, 16, 32, 64};

std::string place(const profile::Source& source) {
  return fmt::format("{}:{}", source.file.substr(source.file.rfind('/') + 1), source.line);
}

/// One nest, searched.
class NestReport {
 public:
  NestReport(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
             const profile::Profile& profile, const std::vector<Array>& arrays, const LayoutOptions& options)
      : graph_(graph), context_(context), flow_(flow), profile_(profile), arrays_(arrays), options_(options) {}

  NestLayouts run(const NestPlan& nest, std::vector<Order> orders, std::uint32_t region) {
    const LayoutSearch search = search_layouts(nest, orders, kTiles, arrays_, profile_, options_.machine);
    NestLayouts made;
    made.region = region;
    made.orders = orders.size();
    const profile::TreeNode& node = profile_.tree[context_.nodes[nest.loop.loops.front()]];
    made.loop = node.source ? place(*node.source) : node.function;
    made.share = nest.ops / static_cast<double>(std::max<std::uint64_t>(profile_.program.instructions, 1));
    for (const std::uint32_t object : search.objects)
      made.arrays.push_back(array_text(arrays_[object], profile_.objects[object]));
    for (const auto& [object, why] : search.without) {
      const profile::Object::Kind kind = profile_.objects[object].kind;
      if (kind == profile::Object::Kind::kHeap || kind == profile::Object::Kind::kGlobal)
        made.without.push_back(fmt::format("{}: {}", profile_.objects[object].name, why));
    }
    made.written = words_of(search.written, nest, orders);
    made.order_alone = words_of(search.order_alone, nest, orders);
    made.layout_alone = words_of(search.layout_alone, nest, orders);
    made.both = words_of(search.both, nest, orders);
    for (const LayoutChoice& choice : search.ranking) made.ranking.push_back(words_of(choice, nest, orders));
    made.all_tried = search.all_tried;
    made.fetched = search.fetched;
    made.used = search.used;
    made.fetched_after = search.fetched_after;
    made.conclusion = conclusion_of(search);
    add_layouts(search.both, nest, made);
    made.legal = legality_of(search.both, nest, orders, region);
    return made;
  }

 private:
  ChoiceText words_of(const LayoutChoice& choice, const NestPlan& nest, const std::vector<Order>& orders) const {
    ChoiceText text;
    text.cost = choice.cost;
    const Order& order = orders[choice.order];
    const OrderText names(nest, context_, profile_);
    const OrderCost costs(nest, order, choice.tile, arrays_, options_.machine);
    const std::uint32_t group = costs.heaviest();
    const std::vector<std::pair<std::size_t, bool>> rows = costs.loops_of(group);
    std::vector<std::string> loops;
    std::vector<std::string> how;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::string name = name_of(nest.program.groups[group], order.rows[group][rows[k].first], names);
      if (!rows[k].second) loops.push_back(name);
      if (choice.cost.parallel == k)
        how.push_back(fmt::format("{}{} in parallel{}", rows[k].second ? "tiles of " : "", name,
                                  choice.cost.reduction ? " as a reduction" : ""));
    }
    if (choice.tile > 0) how.push_back(fmt::format("in tiles of {}", choice.tile));
    text.loops = fmt::format("{}", fmt::join(loops, ", "));
    text.how = fmt::format("{}", fmt::join(how, ", "));
    std::vector<std::string> layouts;
    for (const Layout& layout : choice.layouts)
      layouts.push_back(layout_words(layout, arrays_[layout.object], profile_.objects[layout.object]));
    text.layouts = fmt::format("{}", fmt::join(layouts, "; "));
    return text;
  }

  /// "gemm.c:12", or a sum.
  std::string name_of(const poly::Group& group, const Row& row, const OrderText& names) const {
    std::vector<std::string> terms;
    for (std::size_t c = row.coefficients.size(); c-- > 0;) {
      if (row.coefficients[c] == 0) continue;
      const std::string line = names.line_of(context_.nodes[group.loops[c]]);
      terms.push_back(row.coefficients[c] == 1 ? line : fmt::format("{}*{}", row.coefficients[c], line));
    }
    return fmt::format("{}", fmt::join(terms, " + "));
  }

  static std::string conclusion_of(const LayoutSearch& search) {
    const double as_is = search.written.cost.total();
    const double order = search.order_alone.cost.total();
    if (search.objects.empty()) return "unknown: no array of the nest has a known shape with more than one layout";
    if (search.both.layouts.empty()) {
      if (search.without_copies < order / kWorthCopying)
        return "stay with the layouts as they are: copying the arrays costs more than another layout gains";
      return order < as_is / kLeastGain
                 ? "stay with the layouts as they are: no other one helps; the order of the loops does"
                 : "stay with what there is: neither another layout nor another order helps";
    }
    if (search.both.order == 0 && search.both.tile == 0) return "change the layout; the order of the loops can stay";
    return "change both, the layout and the order of the loops";
  }

  void add_layouts(const LayoutChoice& both, const NestPlan& nest, NestLayouts& made) const {
    std::vector<std::string> maps;
    bool all = true;
    for (const Layout& layout : both.layouts) {
      const Array& array = arrays_[layout.object];
      const profile::Object& object = profile_.objects[layout.object];
      made.maps.push_back(layout_map(layout, array, object));
      for (const std::string& assumption : array.assumes)
        made.assumes.push_back(fmt::format("{}: {}", object.name, assumption));
      const std::string map = layout_directive(layout, array, object, is_stored(nest, layout.object));
      all = all && !map.empty();
      maps.push_back(map);
    }
    if (all && !maps.empty())
      made.directive = fmt::format("#pragma layout {}", fmt::join(maps, " \\\n               "));
  }

  static bool is_stored(const NestPlan& nest, std::uint32_t object) {
    return std::any_of(nest.facts.begin(), nest.facts.end(), [&](const GroupFacts& group) {
      return std::any_of(group.accesses.begin(), group.accesses.end(), [&](const AccessFacts& access) {
        return access.access->object == object && access.access->kind == profile::Access::Kind::kStore;
      });
    });
  }

  /// { S12[i0, i1, i2] -> [i0, i2, i1]; ... }
  static std::string isl_of(const NestPlan& nest, const Order& order) {
    std::vector<std::string> maps;
    for (std::size_t g = 0; g < nest.program.groups.size(); ++g) {
      std::vector<std::string> names;
      for (std::size_t c = 0; c < nest.program.groups[g].loops.size(); ++c) names.push_back(fmt::format("i{}", c));
      std::vector<std::string> times;
      for (const Row& row : order.rows[g]) {
        std::string time = std::to_string(row.constant);
        for (std::size_t c = 0; c < row.coefficients.size(); ++c)
          if (row.coefficients[c] != 0) time += fmt::format(" + {} {}", row.coefficients[c], names[c]);
        times.push_back(std::move(time));
      }
      for (const ddg::StatementId id : nest.program.groups[g].statements)
        maps.push_back(fmt::format("S{}[{}] -> [{}]", id, fmt::join(names, ", "), fmt::join(times, ", ")));
    }
    return fmt::format("{{ {} }}", fmt::join(maps, "; "));
  }

  std::string legality_of(const LayoutChoice& both, const NestPlan& nest, const std::vector<Order>& orders,
                          std::uint32_t region) const {
    if (both.order == 0 && both.tile == 0) return "legal: the loops stay as they are";
    const profile::TreeNode& node = profile_.tree[context_.nodes[nest.loop.loops.front()]];
    if (node.id != profile_.regions[region].node)
      return "unknown: the flow of values allows it; live ranges are not looked at inside a larger region";
    const Result<ScheduleText> schedule = parse_schedule(isl_of(nest, orders[both.order]));
    if (!schedule) return "unknown: " + schedule.error().message;
    CheckOptions options;
    options.region = region;
    const Result<CheckAnswer> answer = check(graph_, context_, flow_, profile_, *schedule, options);
    if (!answer) return "unknown: " + answer.error().message;
    using Verdict = CheckAnswer::Verdict;
    const std::string tiles = both.tile > 0 ? "; tiles of a band whose loops may change places" : "";
    if (answer->verdict == Verdict::kLegal) return "legal" + tiles;
    if (answer->verdict == Verdict::kLegalAfter) {
      std::vector<std::string> needs;
      for (const Collision& collision : answer->collisions)
        needs.push_back(
            fmt::format("{} {}", collision.variable, collision.repair == "expand" ? "expanded" : collision.repair));
      return fmt::format("legal with {}{}", fmt::join(needs, ", "), tiles);
    }
    if (answer->verdict == Verdict::kUnknown) return "unknown: " + answer->why;
    return "unknown: the flow of values allows it, but values would overwrite each other";
  }

  const ddg::Graph& graph_;
  const poly::Context& context_;
  const poly::RegionFlow& flow_;
  const profile::Profile& profile_;
  const std::vector<Array>& arrays_;
  const LayoutOptions& options_;
};

// ---- words ----

std::string row(const std::string& title, const ChoiceText& choice, double as_is) {
  return fmt::format("  {:<18} {:>9.3g} {:>7.2f}x {:>9.3g} {:>9.3g} {:>9.3g} {:>9.3g}\n", title, choice.cost.total(),
                     as_is / std::max(choice.cost.total(), 1.0), choice.cost.instructions, choice.cost.lines,
                     choice.cost.threads, choice.cost.copies);
}

std::string under(const ChoiceText& choice) {
  std::string text = fmt::format("    loops    {}{}\n", choice.loops, choice.how.empty() ? "" : "; " + choice.how);
  text += fmt::format("    layouts  {}\n", choice.layouts.empty() ? "as they are" : choice.layouts);
  return text;
}

std::string text_of(const NestLayouts& nest, std::size_t ranked) {
  std::string text =
      fmt::format("Region {}: {}, {:.1f} % of the operations\n", nest.region, nest.loop, 100 * nest.share);
  for (const std::string& array : nest.arrays) text += fmt::format("  array    {}\n", array);
  for (const std::string& array : nest.without) text += fmt::format("  stays    {}\n", array);
  text += fmt::format("  {}{}\n", static_cast<char>(std::toupper(nest.conclusion[0])), nest.conclusion.substr(1));
  const double as_is = nest.written.cost.total();
  text += fmt::format("\n  {:<18} {:>9} {:>8} {:>9} {:>9} {:>9} {:>9}\n", "", "cost", "gain", "instr.", "lines",
                      "threads", "copies");
  text += row("as it is", nest.written, as_is) + under(nest.written);
  const auto differs = [](const ChoiceText& a, const ChoiceText& b) {
    return a.loops != b.loops || a.how != b.how || a.layouts != b.layouts;
  };
  if (differs(nest.order_alone, nest.written))
    text += row("best order alone", nest.order_alone, as_is) + under(nest.order_alone);
  if (differs(nest.layout_alone, nest.written))
    text += row("best layout alone", nest.layout_alone, as_is) + under(nest.layout_alone);
  if (differs(nest.both, nest.order_alone) && differs(nest.both, nest.layout_alone))
    text += row("best of both", nest.both, as_is) + under(nest.both);
  text += "\n";
  if (nest.fetched > 0)
    text += fmt::format("  With the loops as they are, {} are fetched for {} used; with the best layout alone {}.\n",
                        short_bytes(static_cast<std::uint64_t>(nest.fetched)),
                        short_bytes(static_cast<std::uint64_t>(nest.used)),
                        short_bytes(static_cast<std::uint64_t>(nest.fetched_after)));
  if (differs(nest.both, nest.written))
    text += fmt::format("  The best order, one iteration after the other, is {}.{}\n", nest.legal,
                        nest.both.how.find("parallel") == std::string::npos
                            ? ""
                            : " Whether all of its statements allow a loop to run in parallel is for loopfold check.");
  for (const std::string& map : nest.maps) text += fmt::format("  One-to-one: {}\n", map);
  for (const std::string& assumption : nest.assumes) text += fmt::format("  Assumed: {}\n", assumption);
  if (!nest.directive.empty())
    text +=
        fmt::format("  To have it made, in front of the nest, for loopfold layout generate:\n\n{}\n", nest.directive);
  const bool gains = nest.both.cost.total() < as_is / kLeastGain;
  if (ranked > 0 && gains && nest.ranking.size() > 1) {
    text += fmt::format("\n  {} combinations of layouts{}, each with the best of {} orders:\n", nest.ranking.size(),
                        nest.all_tried ? "" : " of more", nest.orders);
    for (std::size_t k = 0; k < nest.ranking.size() && k < ranked; ++k) {
      const ChoiceText& choice = nest.ranking[k];
      text += fmt::format("  {:>3}. {:>9.3g}  {}\n                  loops {}{}\n", k + 1, choice.cost.total(),
                          choice.layouts.empty() ? "as they are" : choice.layouts, choice.loops,
                          choice.how.empty() ? "" : "; " + choice.how);
    }
  }
  return text;
}

Json json_of(const ChoiceText& choice) {
  return {{"loops", choice.loops},
          {"how", choice.how},
          {"layouts", choice.layouts},
          {"cost",
           {{"total", choice.cost.total()},
            {"instructions", choice.cost.instructions},
            {"lines", choice.cost.lines},
            {"threads", choice.cost.threads},
            {"copies", choice.cost.copies}}}};
}

}  // namespace

std::vector<NestLayouts> find_layouts(const ddg::Graph& graph, const poly::Context& context,
                                      const poly::RegionFlow& flow, const profile::Profile& profile,
                                      const LayoutOptions& options) {
  const std::vector<Array> arrays = find_arrays(profile);
  std::vector<NestLayouts> found;
  const PlanLimits limits;
  for (const profile::Region& region : profile.regions) {
    if (options.region && *options.region != region.id) continue;
    const RegionPlan plan = plan_region(graph, context, flow, region, profile, limits);
    for (const NestPlan& nest : plan.nests) {
      std::vector<Order> orders = candidate_orders(plan.isl.get(), nest.program, limits.operations, options.orders);
      if (orders.empty()) orders.push_back(nest.choice.written);
      found.push_back(
          NestReport(graph, context, flow, profile, arrays, options).run(nest, std::move(orders), region.id));
    }
  }
  return found;
}

std::string layouts_text(const std::vector<NestLayouts>& nests, const LayoutOptions& options, std::size_t ranked) {
  std::vector<std::string> caches;
  for (const Cache& cache : options.machine.caches)
    caches.push_back(fmt::format("{:g} KiB ({:g} for a line that is not there)", cache.bytes / 1024, cache.cost));
  std::string text = fmt::format("Costs are in instructions, on {:g} {} with caches of {}{}.\n", options.machine.cores,
                                 options.machine.cores == 1 ? "core" : "cores", fmt::join(caches, " and "),
                                 options.machine.scale == 1
                                     ? ""
                                     : fmt::format(", as if every loop ran {:g} times as long", options.machine.scale));
  text += "They are a model's, and rank; they do not predict times.\n";
  if (nests.empty()) return text + "There is no nest to search: see loopfold report for why.\n";
  for (const NestLayouts& nest : nests) text += "\n" + text_of(nest, ranked);
  return text;
}

std::string layouts_json(const std::vector<NestLayouts>& nests, const LayoutOptions& options) {
  Json all = Json::array();
  for (const NestLayouts& nest : nests) {
    Json ranking = Json::array();
    for (const ChoiceText& choice : nest.ranking) ranking.push_back(json_of(choice));
    all.push_back({{"region", nest.region},
                   {"loop", nest.loop},
                   {"share", nest.share},
                   {"orders", nest.orders},
                   {"arrays", nest.arrays},
                   {"without", nest.without},
                   {"conclusion", nest.conclusion},
                   {"written", json_of(nest.written)},
                   {"order_alone", json_of(nest.order_alone)},
                   {"layout_alone", json_of(nest.layout_alone)},
                   {"both", json_of(nest.both)},
                   {"legal", nest.legal},
                   {"maps", nest.maps},
                   {"assumes", nest.assumes},
                   {"directive", nest.directive},
                   {"bytes", {{"fetched", nest.fetched}, {"used", nest.used}, {"fetched_after", nest.fetched_after}}},
                   {"all_tried", nest.all_tried},
                   {"ranking", std::move(ranking)}});
  }
  const Json json = {{"schema", "loopfold-layout/1"},
                     {"cores", options.machine.cores},
                     {"scale", options.machine.scale},
                     {"nests", std::move(all)}};
  return json.dump(1) + "\n";
}

}  // namespace loopfold::advise
