// The cost model against a cache that is simulated line by line, on random nests; and what threads, vectors, registers
// and conflicts add.
#include "advise/layout_cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>
#include <unordered_map>

#include "advise/suggest.h"
#include "advise/testing.h"

namespace loopfold::advise {
namespace {

using structure::ContextId;
using testing::HandMade;

/// Fully associative, the line that was used longest ago goes first.
class SimulatedCache {
 public:
  explicit SimulatedCache(std::size_t lines) : capacity_(lines) {}
  void touch(std::int64_t address) {
    const std::int64_t line = address / 64;
    if (const auto found = where_.find(line); found != where_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      return;
    }
    ++misses_;
    order_.push_front(line);
    where_[line] = order_.begin();
    if (order_.size() <= capacity_) return;
    where_.erase(order_.back());
    order_.pop_back();
  }
  double misses() const { return misses_; }

 private:
  std::size_t capacity_;
  double misses_ = 0;
  std::list<std::int64_t> order_;
  std::unordered_map<std::int64_t, std::list<std::int64_t>::iterator> where_;
};

/// A rectangular nest of two or three loops; accesses as bytes by loop, each to an object of its own.
struct Nest {
  std::vector<std::int64_t> trips;
  std::vector<std::vector<std::int64_t>> accesses;
  bool store = false;

  double simulate(std::size_t lines) const {
    SimulatedCache cache(lines);
    std::vector<std::int64_t> at(trips.size());
    while (true) {
      for (std::size_t a = 0; a < accesses.size(); ++a) {
        std::int64_t address = static_cast<std::int64_t>(a + 1) << 32;
        for (std::size_t k = 0; k < at.size(); ++k) address += at[k] * accesses[a][k];
        cache.touch(address);
      }
      std::size_t k = at.size();
      while (k > 0 && ++at[k - 1] == trips[k - 1]) at[--k] = 0;
      if (k == 0) return cache.misses();
    }
  }

  LayoutCost cost(const Machine& machine, const std::string& flow = "", bool reduction = false) const {
    HandMade made;
    std::vector<ContextId> loops;
    std::string domain;
    const std::string names = "ijk";
    for (std::size_t k = 0; k < trips.size(); ++k) {
      loops.push_back(made.loop(10 + static_cast<int>(k), k == 0 ? structure::kNoContext : loops.back()));
      domain += fmt::format("{}0 <= {} < {}", k == 0 ? "" : " and ", names[k], trips[k]);
    }
    const std::uint32_t g = made.group(loops.back(), domain);
    if (!flow.empty()) made.flow(g, g, flow, reduction);
    NestPlan plan;
    GroupFacts& facts = plan.facts.emplace_back();
    facts.innermost = true;
    facts.ops = 1;
    for (const std::int64_t n : trips) {
      facts.trips.push_back(static_cast<double>(n));
      facts.ops *= static_cast<double>(n);
    }
    std::vector<profile::Access> all(accesses.size());
    std::vector<Array> arrays(accesses.size());
    for (std::size_t a = 0; a < accesses.size(); ++a) {
      all[a].object = static_cast<std::uint32_t>(a);
      all[a].size = 8;
      all[a].count = static_cast<std::uint64_t>(facts.ops);
      if (store && a == 0) all[a].kind = profile::Access::Kind::kStore;
      for (const std::int64_t bytes : accesses[a]) all[a].coefficients.emplace_back(bytes);
      all[a].block_coefficients.assign(trips.size(), 0);
      arrays[a].problem = "not needed";
      AccessFacts& one = facts.accesses.emplace_back();
      one.access = &all[a];
      one.steps = all[a].coefficients;
      one.count = all[a].count;
    }
    plan.program = made.program;
    const Order order = made.written();
    EXPECT_TRUE(order.legal);
    return OrderCost(plan, order, 0, arrays, machine).cost({});
  }
};

Machine one_cache(double bytes) {
  Machine machine;
  machine.caches = {{bytes, 1}};
  return machine;
}

Nest random_nest(std::mt19937& random) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  Nest nest;
  const std::int64_t depth = pick(2, 3);
  for (std::int64_t k = 0; k < depth; ++k) nest.trips.push_back(pick(4, 40));
  for (std::int64_t a = pick(1, 3); a > 0; --a) {
    // An array over some of the loops, in some order of these. Rows are of no power of two.
    std::vector<std::size_t> over;
    for (std::size_t k = 0; k < nest.trips.size(); ++k)
      if (pick(0, 3) > 0) over.push_back(k);
    std::shuffle(over.begin(), over.end(), random);
    std::vector<std::int64_t> access(nest.trips.size());
    std::int64_t stride = 8;
    for (const std::size_t k : over) {
      access[k] = stride;
      stride *= nest.trips[k] + pick(0, 3) * 9;
    }
    nest.accesses.push_back(std::move(access));
  }
  return nest;
}

TEST(LayoutCost, LinesFetchedAreThoseOfASimulatedCache) {
  std::mt19937 random(20261116);
  constexpr std::size_t kLines = 64;
  int close = 0;
  int ordered = 0;
  int pairs = 0;
  constexpr int kNests = 400;
  std::vector<std::pair<double, double>> seen;
  for (int n = 0; n < kNests; ++n) {
    const Nest nest = random_nest(random);
    const double simulated = nest.simulate(kLines);
    const double predicted = nest.cost(one_cache(kLines * 64)).lines;
    const double ratio = predicted / simulated;
    if (ratio > 0.5 && ratio < 2) ++close;
    double accesses = static_cast<double>(nest.accesses.size());
    for (const std::int64_t trips : nest.trips) accesses *= static_cast<double>(trips);
    seen.emplace_back(predicted / accesses, simulated / accesses);
  }
  for (std::size_t i = 1; i < seen.size(); ++i) {
    if (seen[i].first < 3 * seen[i - 1].first && seen[i - 1].first < 3 * seen[i].first) continue;
    ++pairs;
    if ((seen[i].first < seen[i - 1].first) == (seen[i].second < seen[i - 1].second)) ++ordered;
  }
  EXPECT_GE(close, kNests * 85 / 100);
  EXPECT_GE(pairs, 50);
  EXPECT_GE(ordered, pairs * 97 / 100);
}

TEST(LayoutCost, BeyondCachesOnlyTheInnermostLoopCounts) {
  Nest nest;
  nest.trips = {10, 100};
  nest.accesses = {{800, 8}};
  EXPECT_DOUBLE_EQ(nest.cost(Machine::beyond_caches()).lines, kLineCost * 10 * 100 * 8 / 64);
  nest.accesses = {{8, 800}};
  EXPECT_DOUBLE_EQ(nest.cost(Machine::beyond_caches()).lines, kLineCost * 10 * 100);
}

TEST(LayoutCost, ALoopThatCarriesNothingRunsOnAllCores) {
  Nest nest;
  nest.trips = {1000, 1000};
  nest.accesses = {{8000, 8}};
  Machine one = Machine::common(1);
  Machine eight = Machine::common(8);
  EXPECT_NEAR(nest.cost(one).instructions / nest.cost(eight).instructions, 8, 0.01);
  EXPECT_GT(nest.cost(eight).threads, 0);
  EXPECT_EQ(nest.cost(eight).parallel, 0u);
  EXPECT_EQ(nest.cost(eight, "[i, j] -> [i + 1, j]").parallel, 1u);
  const LayoutCost sequential = nest.cost(eight, "[i, j] -> [i + 1, 0] : j = 999");
  EXPECT_NE(sequential.parallel, 0u);
}

TEST(LayoutCost, AReductionPaysForItsCopies) {
  Nest nest;
  nest.trips = {100, 200};
  nest.accesses = {{0, 8}, {1600, 8}};
  nest.store = true;
  const Machine eight = Machine::common(8);
  const LayoutCost plain = nest.cost(eight);
  const LayoutCost reduced = nest.cost(eight, "[i, j] -> [i + 1, j]", true);
  EXPECT_EQ(plain.parallel, 0u);
  if (reduced.parallel == 0u) {
    EXPECT_TRUE(reduced.reduction);
    EXPECT_GT(reduced.threads, plain.threads);
  }
  EXPECT_GT(reduced.total(), plain.total());
}

TEST(LayoutCost, VectorsNeedNearAccesses) {
  Nest nest;
  nest.trips = {100, 100};
  nest.accesses = {{800, 8}};
  const double near = nest.cost(Machine::common(1)).instructions;
  nest.accesses = {{8, 800}};
  EXPECT_DOUBLE_EQ(nest.cost(Machine::common(1)).instructions, 4 * near);
}

TEST(LayoutCost, RowsThatLieOverEachOtherTakeMoreOfTheCache) {
  Nest nest;
  nest.trips = {8, 64};
  nest.accesses = {{8, 4096}};
  const double over = nest.cost(one_cache(32 * 1024)).lines;
  nest.accesses = {{8, 4096 + 64}};
  const double apart = nest.cost(one_cache(32 * 1024)).lines;
  EXPECT_GE(over, 4 * apart);
}

}  // namespace
}  // namespace loopfold::advise
