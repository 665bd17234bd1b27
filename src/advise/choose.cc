#include "advise/choose.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "poly/budget.h"

namespace loopfold::advise {

namespace {

// What things are worth, for all operations of a nest.
constexpr double kOuterParallel = 1.0;
constexpr double kWavefront = 0.8;
constexpr double kInnerParallel = 0.5;
constexpr double kReduction = 0.4;
constexpr double kVector = 0.1;
constexpr double kNear = 0.4;
constexpr double kTiling = 0.2;  // for a band of three or more
constexpr double kSkewCost = 0.15;
constexpr double kReversalCost = 0.3;
constexpr double kChangeCost = 0.05;  // what another order must be better by
constexpr double kNearEnough = 0.5;   // share of the accesses, for vectors

/// By row of a group: it goes over a coordinate that no row before goes over. Others follow from these.
std::vector<bool> loop_rows(const Order& order, std::uint32_t group) {
  std::vector<bool> loops;
  for (const std::optional<std::size_t>& own : stands_for(order.rows[group])) loops.push_back(own.has_value());
  return loops;
}

bool in_band(const OrderBand& band, std::uint32_t group) {
  return std::find(band.groups.begin(), band.groups.end(), group) != band.groups.end();
}

/// Loops of a band that a group really goes over.
std::uint32_t loops_in(const Order& order, const OrderBand& band, std::uint32_t group) {
  const std::vector<bool> is_loop = loop_rows(order, group);
  return static_cast<std::uint32_t>(
      std::count(is_loop.begin() + band.first, is_loop.begin() + band.first + band.depth, true));
}

double parallel_worth(const Order& order, std::uint32_t group, Worth& worth, double share) {
  bool outermost = true;
  double best = 0;
  const std::vector<bool> is_loop = loop_rows(order, group);
  for (const OrderBand& band : order.bands) {
    if (!in_band(band, group)) continue;
    const bool first = outermost;
    const bool wave = band.permutable && loops_in(order, band, group) >= 2;
    for (std::uint32_t k = 0; k < band.depth; ++k) {
      if (!is_loop[band.first + k]) continue;
      if (band.carries[k] == Carries::kNothing) best = std::max(best, outermost ? kOuterParallel : kInnerParallel);
      if (first && band.permutable && band.alone[k] == Carries::kNothing) best = kOuterParallel;  // of the tiles
      if (band.carries[k] == Carries::kReduction) best = std::max(best, kReduction);
      outermost = false;
    }
    if (wave) best = std::max(best, kWavefront);
  }
  if (best >= kInnerParallel) worth.parallel += share;
  if (best >= kOuterParallel) worth.outer += share;
  return best * share;
}

}  // namespace

bool is_loop(const Order& order, const OrderBand& band, std::uint32_t place) {
  return std::any_of(band.groups.begin(), band.groups.end(),
                     [&](std::uint32_t group) -> bool { return loop_rows(order, group)[band.first + place]; });
}

std::optional<Innermost> innermost_of(const Order& order, std::uint32_t group) {
  std::optional<Innermost> found;
  const std::vector<bool> is_loop = loop_rows(order, group);
  for (std::size_t i = 0; i < order.bands.size(); ++i) {
    if (!in_band(order.bands[i], group)) continue;
    for (std::uint32_t k = 0; k < order.bands[i].depth; ++k)
      if (is_loop[order.bands[i].first + k]) found = Innermost{i, k};
  }
  return found;
}

bool is_vector(const Order& order, std::uint32_t group) {
  const std::optional<Innermost> inner = innermost_of(order, group);
  return inner && order.bands[inner->band].carries[inner->place] != Carries::kFlow;
}

double access_count(const GroupFacts& group) {
  double count = 0;
  for (const AccessFacts& access : group.accesses) count += static_cast<double>(access.count);
  return count;
}

Worth worth_of(const Order& order, const std::vector<GroupFacts>& facts) {
  Worth worth;
  double ops = 0;
  for (const GroupFacts& group : facts) ops += group.ops;
  double accesses = 0;
  double near = 0;
  double heaviest = 0;
  for (std::uint32_t i = 0; i < facts.size(); ++i) {
    const double share = ops == 0 ? 1.0 / static_cast<double>(facts.size()) : facts[i].ops / ops;
    worth.total += parallel_worth(order, i, worth, share);
    std::uint32_t depth = 0;
    for (const OrderBand& band : order.bands)
      if (in_band(band, i) && band.permutable) depth = std::max(depth, loops_in(order, band, i));
    if (depth >= 2) {
      worth.tilable += share;
      worth.total += share * kTiling * std::min(depth, 3u) / 3;
    }
    if (share > heaviest) {
      heaviest = share;
      worth.tile_depth = depth;
    }
    const std::vector<std::optional<std::size_t>> own = stands_for(order.rows[i]);
    for (std::size_t k = 0; k < own.size(); ++k) {
      worth.reversed = worth.reversed || (own[k] && order.rows[i][k].coefficients[*own[k]] < 0);
      worth.skewed = worth.skewed || (own[k] && is_skewed(order.rows[i][k], *own[k], facts[i]));
    }
    const std::optional<Innermost> inner = innermost_of(order, i);
    if (!inner) continue;
    const OrderBand& band = order.bands[inner->band];
    const double local = near_share(facts, {i}, {direction_of(order.rows[i], band.first + inner->place)});
    if (facts[i].innermost) {
      accesses += access_count(facts[i]);
      near += local * access_count(facts[i]);
    }
    if (!is_vector(order, i)) continue;
    worth.vector += share;
    if (local >= kNearEnough) worth.total += share * kVector;
  }
  worth.near = accesses == 0 ? 1.0 : near / accesses;
  worth.total += worth.near * kNear;
  if (worth.skewed) worth.total -= kSkewCost;
  if (worth.reversed) worth.total -= kReversalCost;
  return worth;
}

namespace {

/// Puts the rows of each band in the best order.
class Improver {
 public:
  explicit Improver(const std::vector<GroupFacts>& facts) : facts_(facts) {}

  void improve(Order& order, Worth& worth) {
    for (std::size_t i = 0; i < order.bands.size(); ++i) {
      const std::uint32_t depth = order.bands[i].depth;
      if (!order.bands[i].permutable || depth < 2 || depth > kDeepest) continue;
      restore_written(order, worth, i);
      improve_band(order, worth, i);
    }
  }

 private:
  static constexpr std::uint32_t kDeepest = 5;

  /// The scheduler does not care in which order the loops were written: start from that.
  void restore_written(Order& order, Worth& worth, std::size_t number) {
    const OrderBand& band = order.bands[number];
    std::vector<std::uint32_t> places(band.depth);
    std::iota(places.begin(), places.end(), 0u);
    const auto coordinate = [&](std::uint32_t place) {
      std::size_t least = 1000;
      for (const std::uint32_t group : band.groups) {
        const Row& row = order.rows[group][band.first + place];
        std::size_t last = 1000;
        for (std::size_t c = 0; c < row.coefficients.size(); ++c)
          if (row.coefficients[c] != 0) last = c;
        least = std::min(least, last);
      }
      return least;
    };
    std::stable_sort(places.begin(), places.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return coordinate(a) < coordinate(b); });
    try_places(order, worth, number, places, -kAnything);
  }

  void improve_band(Order& order, Worth& worth, std::size_t number) {
    const std::uint32_t depth = order.bands[number].depth;
    std::vector<std::uint32_t> places(depth);
    std::iota(places.begin(), places.end(), 0u);
    std::vector<std::uint32_t> best = places;
    const Order start = order;
    Order best_order = order;
    Worth best_worth = worth;
    while (std::next_permutation(places.begin(), places.end())) {
      Order other = start;
      permute(other, number, places);
      const Worth other_worth = worth_of(other, facts_);
      if (other_worth.total <= best_worth.total + kMargin) continue;
      best_order = std::move(other);
      best_worth = other_worth;
    }
    if (best_worth.total <= worth.total + kChangeCost) return;
    order = std::move(best_order);
    worth = best_worth;
  }

  void try_places(Order& order, Worth& worth, std::size_t number, const std::vector<std::uint32_t>& places,
                  double margin) {
    Order other = order;
    permute(other, number, places);
    const Worth other_worth = worth_of(other, facts_);
    if (other_worth.total <= worth.total + margin) return;
    order = std::move(other);
    worth = other_worth;
  }

  static constexpr double kAnything = 1e9;
  static constexpr double kMargin = 1e-6;

  const std::vector<GroupFacts>& facts_;
};

}  // namespace

namespace {

using Fusion = profile::Transformed::Fusion;

constexpr std::chrono::milliseconds kNet(20'000);

/// To try, the first being the best of equals. One group cannot be fused with anything: all would be the same.
std::vector<Fusion> fusions_of(const poly::Program& program) {
  if (program.groups.size() == 1) return {Fusion::kMax};
  return {Fusion::kMax, Fusion::kSmart, Fusion::kNone};
}

Constraints constraints_within(isl_ctx* isl, const poly::Program& program, bool bounded, std::uint64_t operations) {
  const poly::IslBudget budget(isl, operations, kNet);
  return scheduling_constraints(isl, program, bounded);
}

bool is_far(const Row& row) {
  return std::any_of(row.coefficients.begin(), row.coefficients.end(),
                     [](std::int64_t c) { return c > kGreatestCoefficient || c < -kGreatestCoefficient; });
}

/// Where nothing can be changed, the scheduler counts instances one by one: i + 100 t, j + 50 i + 5000 t. Such a band
/// can be tiled, but there is nothing in the tiles that could run at the same time.
bool is_far_skewed(const Order& order) {
  return std::any_of(order.bands.begin(), order.bands.end(), [&](const OrderBand& band) {
    const bool far = std::any_of(band.groups.begin(), band.groups.end(), [&](std::uint32_t group) {
      const auto first = order.rows[group].begin() + band.first;
      return std::any_of(first, first + band.depth, is_far);
    });
    const auto is_parallel = [](Carries carries) { return carries == Carries::kNothing; };
    return far && std::none_of(band.alone.begin(), band.alone.end(), is_parallel) &&
           std::none_of(band.carries.begin(), band.carries.end(), is_parallel);
  });
}

/// All groups of the band need each other, both ways.
bool is_connected(const OrderBand& band) {
  const auto reaches_all = [&](bool forward) {
    std::set<std::uint32_t> reached{band.groups.front()};
    for (bool more = true; more;) {
      more = false;
      for (const auto& [from, to] : band.links)
        if (reached.contains(forward ? from : to) && reached.insert(forward ? to : from).second) more = true;
    }
    return reached.size() == band.groups.size();
  };
  return band.groups.size() <= 1 || (reaches_all(true) && reaches_all(false));
}

/// No two groups share a loop that would not have to. If the scheduler fuses nothing though it may fuse all, it has
/// asked the same about every set of groups that need each other as it does when it may fuse less, or nothing: its
/// other answers have the same loops.
bool is_unfused(const Order& order) { return std::all_of(order.bands.begin(), order.bands.end(), is_connected); }

}  // namespace

Choice choose_order(isl_ctx* isl, const poly::Program& program, const std::vector<GroupFacts>& facts,
                    std::uint64_t operations) {
  Choice choice;
  choice.written = original_order(program);
  {
    const poly::IslBudget budget(isl, 4 * operations, kNet);
    examine(isl, program, choice.written);
    choice.timed_out = budget.timed_out();
  }
  choice.worth_written = worth_of(choice.written, facts);
  choice.best = choice.written;
  choice.worth = choice.worth_written;
  if (!choice.written.legal) {
    choice.why = "the order as written could not be confirmed";
    return choice;
  }
  bool found = false;
  bool turned = false;  // the scheduler makes loops run backwards where it does not know how far they go
  bool unfused = false;
  const auto consider = [&](const Constraints& constraints, Fusion fusion) {
    const poly::IslBudget budget(isl, operations, kNet);
    std::optional<Order> order = find_order(isl, program, constraints, fusion);
    if (order) examine(isl, program, *order);
    found = found || (order && order->legal);
    unfused = order && order->legal && !budget.exceeded() && is_unfused(*order);
    if (order && order->legal && !is_far_skewed(*order)) {
      Worth worth = worth_of(*order, facts);
      turned = turned || worth.reversed;
      Improver(facts).improve(*order, worth);
      const double margin = choice.is_written ? kChangeCost : 1e-6;
      if (!budget.exceeded() && worth.total > choice.worth.total + margin) {
        choice.best = std::move(*order);
        choice.worth = worth;
        choice.is_written = false;
      }
    }
    choice.timed_out = choice.timed_out || budget.timed_out();
  };
  const Constraints simple = constraints_within(isl, program, false, operations);
  for (const Fusion fusion : fusions_of(program))
    if (!unfused) consider(simple, fusion);
  if (!found || turned) consider(constraints_within(isl, program, true, operations), Fusion::kMax);
  if (!found) choice.why = "the scheduler found no order within its budget";
  return choice;
}

namespace {

/// Orders with the loops of each permutable band in every order, added behind the ones that are there.
class Permuter {
 public:
  Permuter(std::vector<Order>& orders, std::size_t most) : orders_(orders), most_(most) {}

  void add(const Order& order) {
    if (orders_.size() >= most_ || is_far_skewed(order) ||
        std::any_of(orders_.begin(), orders_.end(), [&](const Order& other) { return other.rows == order.rows; }))
      return;
    orders_.push_back(order);
  }

  void add_all(const Order& order, std::size_t band) {
    while (band < order.bands.size() && !can_permute(order.bands[band])) ++band;
    if (band == order.bands.size()) return add(order);
    std::vector<std::uint32_t> places(order.bands[band].depth);
    std::iota(places.begin(), places.end(), 0u);
    do {
      if (orders_.size() >= most_) return;
      Order other = order;
      if (!std::is_sorted(places.begin(), places.end())) permute(other, band, places);
      add_all(other, band + 1);
    } while (std::next_permutation(places.begin(), places.end()));
  }

 private:
  static constexpr std::uint32_t kDeepest = 4;

  static bool can_permute(const OrderBand& band) {
    return band.permutable && band.depth >= 2 && band.depth <= kDeepest;
  }

  std::vector<Order>& orders_;
  std::size_t most_;
};

}  // namespace

std::vector<Order> candidate_orders(isl_ctx* isl, const poly::Program& program, std::uint64_t operations,
                                    std::size_t most) {
  std::vector<Order> orders;
  Permuter permuter(orders, most);
  {
    const poly::IslBudget budget(isl, 4 * operations, kNet);
    Order written = original_order(program);
    examine(isl, program, written);
    if (written.legal) permuter.add(written);
  }
  if (orders.empty()) return orders;
  const Constraints constraints = constraints_within(isl, program, false, operations);
  for (const Fusion fusion : fusions_of(program)) {
    const poly::IslBudget budget(isl, operations, kNet);
    std::optional<Order> order = find_order(isl, program, constraints, fusion);
    if (order) examine(isl, program, *order);
    if (order && order->legal && !budget.exceeded()) permuter.add_all(*order, 0);
  }
  return orders;
}

}  // namespace loopfold::advise
