// How fast bytes get and give their producers: arrays written and read in order, one access at a time, as the event
// path does it, and at random.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "ddg/shadow_memory.h"

namespace loopfold::ddg {
namespace {

constexpr std::uint64_t kBase = 0x7f0000001000;

void write_in_order(benchmark::State& state) {
  const auto size = static_cast<std::uint64_t>(state.range(0));
  ShadowMemory memory;
  std::uint64_t at = 0;
  for (auto _ : state) {
    memory.write(kBase + at, size, {1, 2, at});
    at = (at + size) & ((1 << 20) - 1);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(write_in_order)->Arg(1)->Arg(4)->Arg(8)->Arg(32);

/// c[i] = a[i] + b[i], all three far apart.
void read_two_write_one(benchmark::State& state) {
  ShadowMemory memory;
  const std::uint64_t far = std::uint64_t{1} << 30;
  for (std::uint64_t i = 0; i < 1 << 20; i += 8) {
    memory.write(kBase + i, 8, {1, 2, i});
    memory.write(kBase + far + i, 8, {1, 2, i});
  }
  std::uint64_t at = 0;
  std::uint64_t sum = 0;
  const auto add = [&](std::uint64_t offset, std::uint64_t size, const Cell& cell) {
    sum += offset + size + cell.counter;
  };
  for (auto _ : state) {
    memory.read(kBase + at, 8, add);
    memory.read(kBase + far + at, 8, add);
    memory.write(kBase + 2 * far + at, 8, {3, 2, at});
    at = (at + 8) & ((1 << 20) - 1);
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(3 * state.iterations());
}
BENCHMARK(read_two_write_one);

void read_at_random(benchmark::State& state) {
  const auto span = static_cast<std::uint64_t>(state.range(0));
  ShadowMemory memory;
  for (std::uint64_t i = 0; i < span; i += 8) memory.write(kBase + i, 8, {1, 2, i});
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> addresses(1 << 16);
  for (std::uint64_t& address : addresses) address = kBase + (random() % span & ~std::uint64_t{7});
  std::size_t next = 0;
  std::uint64_t sum = 0;
  for (auto _ : state) {
    memory.read(addresses[next], 8,
                [&](std::uint64_t, std::uint64_t size, const Cell& cell) { sum += size + cell.counter; });
    next = (next + 1) & (addresses.size() - 1);
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(read_at_random)->Arg(1 << 20)->Arg(1 << 28);

}  // namespace
}  // namespace loopfold::ddg
