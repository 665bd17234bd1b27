// How fast addresses are found in a heap: again and again in one block, at random over many blocks, and while blocks
// come and go.
#include <benchmark/benchmark.h>

#include <random>

#include "ddg/objects.h"

namespace loopfold::ddg {
namespace {

constexpr std::uint64_t kBase = 0x7f0000001010;

trace::Allocation allocate(std::uint64_t address, std::uint64_t size, trace::StackId stack) {
  trace::Allocation allocation;
  allocation.address = address;
  allocation.size = size;
  allocation.stack = stack;
  return allocation;
}

struct Heap {
  std::vector<trace::Module> modules;
  std::vector<trace::CallStack> stacks = {{100}, {200}, {300}};
  symbols::Symbolizer symbolizer{modules};
  Objects objects{symbolizer, stacks, modules};

  explicit Heap(std::uint64_t blocks) {
    for (std::uint64_t i = 0; i < blocks; ++i) {
      objects.allocation(allocate(kBase + i * 160, 144, static_cast<trace::StackId>(i % 3)));
    }
  }
};

void find_in_one_large_block(benchmark::State& state) {
  Heap heap(1000);
  heap.objects.allocation(allocate(kBase + (1 << 30), 1 << 20, 0));
  std::uint64_t at = 0;
  std::int64_t sum = 0;
  for (auto _ : state) {
    sum += heap.objects.find(kBase + (1 << 30) + at).offset;
    at = (at + 8) & ((1 << 20) - 1);
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(find_in_one_large_block);

void find_at_random(benchmark::State& state) {
  const auto blocks = static_cast<std::uint64_t>(state.range(0));
  Heap heap(blocks);
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> addresses(1 << 18);
  for (std::uint64_t& address : addresses) address = kBase + random() % blocks * 160 + random() % 144;
  std::size_t next = 0;
  std::int64_t sum = 0;
  for (auto _ : state) {
    sum += heap.objects.find(addresses[next]).offset;
    next = (next + 1) & (addresses.size() - 1);
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(find_at_random)->Arg(100)->Arg(100000)->Arg(1000000);

/// Not heap, not global: the slowest way to an answer, and its hints.
void find_nothing(benchmark::State& state) {
  Heap heap(100000);
  std::uint64_t at = 0;
  std::int64_t sum = 0;
  for (auto _ : state) {
    sum += heap.objects.find(0x1000 + at).offset;
    at = (at + 8) & ((1 << 20) - 1);
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(find_nothing);

void allocate_and_free(benchmark::State& state) {
  const auto blocks = static_cast<std::uint64_t>(state.range(0));
  Heap heap(blocks);
  std::mt19937_64 random(1);
  for (auto _ : state) {
    const std::uint64_t address = kBase + random() % blocks * 160;
    trace::Allocation release;
    release.function = trace::Allocation::Function::kFree;
    release.old_address = address;
    heap.objects.allocation(release);
    heap.objects.allocation(allocate(address, 144, 1));
  }
  state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(allocate_and_free)->Arg(100)->Arg(100000);

}  // namespace
}  // namespace loopfold::ddg
