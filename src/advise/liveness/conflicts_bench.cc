// What a check of live ranges costs: nests of 2 to 6 loops, and of 10 to 200 statements.
//
// Each statement sets a scalar of its own and the next one reads it; the two innermost loops are interchanged and the
// outermost is parallel, so every scalar has conflicts and needs a repair.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "advise/liveness/repair.h"

namespace loopfold::advise::liveness {
namespace {

using poly::Isl;

struct Nest {
  poly::IslContext isl{isl_ctx_alloc()};
  std::vector<Isl<isl_set>> domains;
  std::vector<Storage> storages;
  std::vector<LoopCounter> loops;
  Times times;

  Nest(int depth, int statements) {
    for (int s = 0; s < statements; ++s) {
      const std::string vector = counters(depth, depth);
      const std::string name = "S" + std::to_string(s);
      std::string bounds = "0 = 0";
      for (int k = 0; k < depth; ++k) bounds += " and 0 <= i" + std::to_string(k) + " < 1000";
      domains.emplace_back(
          isl_set_read_from_str(isl.get(), ("{ " + name + "[" + vector + "] : " + bounds + " }").c_str()));
      const std::string time =
          "{ " + name + "[" + vector + "] -> [" + counters(depth, depth, true) + ", " + std::to_string(s) + "] }";
      times.of.emplace_back(isl_map_read_from_str(isl.get(), time.c_str()));
      times.parallel.emplace_back(static_cast<std::size_t>(depth) + 1);
      times.parallel.back()[0] = true;
    }
    for (int s = 0; s + 1 < statements; ++s) add_scalar(depth, static_cast<std::uint32_t>(s));
    for (int k = 0; k < depth; ++k)
      loops.push_back({std::vector<std::optional<std::uint32_t>>(domains.size(), static_cast<std::uint32_t>(k)), 1000});
  }

  static std::string counters(int depth, int count, bool interchanged = false) {
    std::string all;
    for (int k = 0; k < count; ++k) {
      int which = k;
      if (interchanged && k >= depth - 2) which = 2 * depth - 3 - k;
      all += (k > 0 ? ", i" : "i") + std::to_string(which);
    }
    return all;
  }

  void add_scalar(int depth, std::uint32_t s) {
    Storage& storage = storages.emplace_back();
    storage.bytes = 8;
    for (const std::uint32_t unit : {s, s + 1}) {
      Access& access = storage.accesses.emplace_back();
      access.unit = unit;
      access.write = unit == s;
      access.cells = Isl<isl_map>(isl_map_from_domain(domains[unit].copy()));
      access.cells = Isl<isl_map>(isl_map_add_dims(access.cells.release(), isl_dim_out, 1));
      access.cells = Isl<isl_map>(isl_map_fix_si(access.cells.release(), isl_dim_out, 0, 0));
    }
    const std::string vector = counters(depth, depth);
    const std::string flow =
        "{ S" + std::to_string(s) + "[" + vector + "] -> S" + std::to_string(s + 1) + "[" + vector + "] }";
    Isl<isl_map> map(isl_map_read_from_str(isl.get(), flow.c_str()));
    map = Isl<isl_map>(isl_map_intersect_domain(map.release(), domains[s].copy()));
    storage.ranges.push_back({0, 1, std::move(map), false});
  }
};

void check_nest(benchmark::State& state) {
  const Nest nest(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  std::size_t conflicts = 0;
  for (auto _ : state) {
    for (const Storage& storage : nest.storages) {
      const Conflicts found = find_conflicts(storage, nest.times);
      conflicts += found.found.size();
      benchmark::DoNotOptimize(find_repair(storage, nest.times, found, nest.loops, nest.domains, {}).kind);
    }
  }
  state.counters["conflicts"] = benchmark::Counter(static_cast<double>(conflicts), benchmark::Counter::kAvgIterations);
}
BENCHMARK(check_nest)
    ->ArgNames({"depth", "statements"})
    ->ArgsProduct({{2, 3, 4, 5, 6}, {10}})
    ->ArgsProduct({{3}, {50, 200}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace loopfold::advise::liveness
