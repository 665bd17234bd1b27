#include "advise/transformed.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "advise/order_text.h"

namespace loopfold::advise {

namespace {

using profile::BandMember;
using profile::Transformed;

profile::Loop::Parallel verdict_of(Carries carries) {
  switch (carries) {
    case Carries::kNothing:
      return profile::Loop::Parallel::kYes;
    case Carries::kReduction:
      return profile::Loop::Parallel::kReduction;
    default:
      return profile::Loop::Parallel::kNo;
  }
}

class Describer {
 public:
  Describer(const RegionPlan& plan, const poly::Context& context, const profile::Region& region,
            const profile::Profile& profile)
      : plan_(plan), context_(context), region_(region), profile_(profile) {}

  Transformed run() {
    find_length();
    for (const NestPlan& nest : plan_.nests) add_nest(nest);
    add_shares();
    if (!entries_.empty()) out_.schedule = fmt::format("{{ {} }}", fmt::join(entries_, "; "));
    const bool changed = std::any_of(plan_.nests.begin(), plan_.nests.end(),
                                     [](const NestPlan& nest) { return !nest.choice.is_written; });
    out_.status = plan_.nests.empty() ? Transformed::Status::kGaveUp
                  : changed           ? Transformed::Status::kFound
                                      : Transformed::Status::kOriginal;
    explain();
    return std::move(out_);
  }

 private:
  void find_length() {
    for (const NestPlan& nest : plan_.nests)
      length_ = std::max(length_, 2 * nest.outer.size() + nest.choice.best.length());
  }

  void add_nest(const NestPlan& nest) {
    const Order& order = nest.choice.best;
    const OrderText text(nest, context_, profile_);
    for (std::uint32_t g = 0; g < nest.program.groups.size(); ++g)
      for (const ddg::StatementId id : nest.program.groups[g].statements) entries_.push_back(entry(nest, g, id));
    for (const OrderBand& band : order.bands) add_band(nest, band, text);
    for (std::vector<std::uint32_t>& pair : text.interchanged()) out_.interchange.push_back(std::move(pair));
    for (std::vector<std::int64_t>& skew : text.skews()) out_.skew.push_back(std::move(skew));
    if (!nest.choice.is_written) {
      out_.fusion = order.fusion;
      for (std::string& step : text.steps()) out_.steps.push_back(std::move(step));
    }
    out_.components_before += components(nest.choice.written, text.main_groups());
    out_.components_after += components(order, text.main_groups());
    out_.ast_before += text.ast(nest.choice.written, false);
    out_.ast += text.ast(order, true);
  }

  /// S7[i0, i1, i2] -> [i0, 0, i2, i1].
  std::string entry(const NestPlan& nest, std::uint32_t group, ddg::StatementId id) const {
    const std::size_t prefix = nest.program.prefix;
    const std::size_t dimensions = prefix + nest.program.groups[group].loops.size();
    std::vector<std::string> names;
    for (std::size_t i = 0; i < dimensions; ++i) names.push_back(fmt::format("i{}", i));
    std::vector<std::string> times;
    for (std::size_t i = 0; i < nest.outer.size(); ++i) {
      times.push_back(names[prefix - nest.outer.size() + i]);
      times.push_back(fmt::format("{}", nest.outer[i].second));
    }
    for (const Row& row : nest.choice.best.rows[group]) times.push_back(row_text(row, names, prefix));
    while (times.size() < length_) times.emplace_back("0");
    return fmt::format("S{}[{}] -> [{}]", id, fmt::join(names, ", "), fmt::join(times, ", "));
  }

  static std::string row_text(const Row& row, const std::vector<std::string>& names, std::size_t prefix) {
    std::string text;
    for (std::size_t c = 0; c < row.coefficients.size(); ++c) {
      const std::int64_t factor = row.coefficients[c];
      if (factor == 0) continue;
      if (!text.empty()) text += factor < 0 ? " - " : " + ";
      const std::int64_t shown = text.empty() ? factor : std::abs(factor);
      text += shown == 1    ? names[prefix + c]
              : shown == -1 ? "-" + names[prefix + c]
                            : fmt::format("{}{}", shown, names[prefix + c]);
    }
    if (text.empty()) return fmt::format("{}", row.constant);
    if (row.constant != 0) text += fmt::format(" {} {}", row.constant < 0 ? "-" : "+", std::abs(row.constant));
    return text;
  }

  void add_band(const NestPlan& nest, const OrderBand& band, const OrderText& text) {
    const Order& order = nest.choice.best;
    if (!band.permutable) return add_rows(nest, band, text);
    profile::Band made;
    made.first = static_cast<std::uint32_t>(2 * nest.outer.size()) + band.first;
    add_statements(nest, band, made);
    for (std::uint32_t k = 0; k < band.depth; ++k)
      made.members.push_back({text.terms(order, band, k), verdict_of(band.carries[k])});
    out_.bands.push_back(std::move(made));
  }

  /// Rows that are no band together are one each.
  void add_rows(const NestPlan& nest, const OrderBand& band, const OrderText& text) {
    for (std::uint32_t k = 0; k < band.depth; ++k) {
      profile::Band made;
      made.first = static_cast<std::uint32_t>(2 * nest.outer.size()) + band.first + k;
      add_statements(nest, band, made);
      made.members.push_back({text.terms(nest.choice.best, band, k), verdict_of(band.carries[k])});
      out_.bands.push_back(std::move(made));
    }
  }

  static void add_statements(const NestPlan& nest, const OrderBand& band, profile::Band& into) {
    for (const std::uint32_t group : band.groups)
      into.statements.insert(into.statements.end(), nest.program.groups[group].statements.begin(),
                             nest.program.groups[group].statements.end());
    std::sort(into.statements.begin(), into.statements.end());
  }

  void add_shares() {
    double all = 0;
    for (const profile::Loop& loop : region_.loops)
      if (loop.depth == 0)
        for (const std::uint32_t node : loop.nodes) all += static_cast<double>(profile_.tree[node].ops);
    double accesses = 0;
    double near = 0;
    double best = 0;
    double heaviest = 0;
    for (const NestPlan& nest : plan_.nests) {
      const double share = all == 0 ? 0 : 100 * std::min(1.0, nest.ops / all);
      const Worth& worth = nest.choice.worth;
      out_.parallel_ops_percent += share * worth.parallel;
      out_.simd_ops_percent += share * vector_share(nest);
      out_.tilable_ops_percent += share * worth.tilable;
      if (share > heaviest) {
        heaviest = share;
        out_.tile_depth = worth.tile_depth;
      }
      double count = 0;
      for (const GroupFacts& group : nest.facts) count += group.innermost ? access_count(group) : 0;
      accesses += count;
      near += count * nest.choice.worth_written.near;
      best += count * std::max(nest.choice.worth_written.near, potential(nest));
    }
    out_.reuse_percent = accesses == 0 ? 100 : 100 * near / accesses;
    out_.potential_reuse_percent = accesses == 0 ? 100 : 100 * best / accesses;
    for (double* percent : {&out_.parallel_ops_percent, &out_.simd_ops_percent, &out_.tilable_ops_percent})
      *percent = std::min(*percent, 100.0);
  }

  /// Operations whose innermost loop is parallel, in the order as written or in the new one.
  static double vector_share(const NestPlan& nest) {
    double all = 0;
    double vector = 0;
    for (std::uint32_t g = 0; g < nest.facts.size(); ++g) {
      all += nest.facts[g].ops;
      if (is_vector(nest.choice.written, g) || is_vector(nest.choice.best, g)) vector += nest.facts[g].ops;
    }
    return all == 0 ? 0 : vector / all;
  }

  /// The best share of near accesses if any loop of its band could be innermost.
  static double potential(const NestPlan& nest) {
    const Order& order = nest.choice.best;
    double near = 0;
    double all = 0;
    for (std::uint32_t g = 0; g < nest.facts.size(); ++g) {
      if (!nest.facts[g].innermost) continue;
      const double count = access_count(nest.facts[g]);
      all += count;
      const std::optional<Innermost> inner = innermost_of(order, g);
      if (!inner) continue;
      const OrderBand& band = order.bands[inner->band];
      double best = 0;
      for (std::uint32_t k = 0; k < band.depth; ++k) {
        if (!band.permutable && k != inner->place) continue;
        best = std::max(best, near_share(nest.facts, {g}, {direction_of(order.rows[g], band.first + k)}));
      }
      near += best * count;
    }
    return all == 0 ? 1 : near / all;
  }

  void explain() {
    std::vector<std::string> reasons;
    std::set<std::string> seen;
    const auto add = [&](const Opaque& opaque) {
      const NestPlan nothing{};
      const OrderText text(nothing, context_, profile_);
      const std::string reason = fmt::format("{}: {}", text.line_of(context_.nodes[opaque.loop]), opaque.why);
      if (seen.insert(reason).second) reasons.push_back(reason);
    };
    for (const Opaque& opaque : plan_.opaque) add(opaque);
    for (const Opaque& opaque : plan_.gave_up) add(opaque);
    out_.why = fmt::format("{}", fmt::join(reasons, "; "));
  }

  const RegionPlan& plan_;
  const poly::Context& context_;
  const profile::Region& region_;
  const profile::Profile& profile_;
  std::size_t length_ = 0;
  std::vector<std::string> entries_;
  Transformed out_;
};

}  // namespace

Transformed describe_plan(const RegionPlan& plan, const poly::Context& context, const profile::Region& region,
                          const profile::Profile& profile) {
  return Describer(plan, context, region, profile).run();
}

}  // namespace loopfold::advise
