// How fast addresses are located in a large C++ program, this one: all at once from a cold start, new ones in open
// tables, and known ones.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <random>

#include "symbols/elf_file.h"
#include "symbols/symbolizer.h"

namespace loopfold::symbols {
namespace {

trace::Module this_program() {
  trace::Module module;
  module.path = std::filesystem::read_symlink("/proc/self/exe").string();
  const Result<ElfFile> file = inspect_elf(module.path);
  if (!file) return module;
  module.build_id = file->build_id;
  for (const ElfFile::Segment& segment : file->segments) {
    if (!segment.executable) continue;
    module.start = segment.address;
    module.size = segment.memory_size;
  }
  return module;
}

std::vector<std::uint64_t> random_addresses(const trace::Module& module, std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> addresses(count);
  for (std::uint64_t& address : addresses) address = module.start + random() % module.size;
  return addresses;
}

std::size_t locate_all(Symbolizer& symbolizer, const std::vector<std::uint64_t>& addresses) {
  std::size_t frames = 0;
  for (const std::uint64_t address : addresses) frames += symbolizer.locate(address).frames.size();
  return frames;
}

/// Opening the file included.
void BM_LocateFromColdStart(benchmark::State& state) {
  const trace::Module module = this_program();
  const auto count = static_cast<std::size_t>(state.range(0));
  const std::vector<std::uint64_t> addresses = random_addresses(module, count, 1);
  for (auto _ : state) {
    Symbolizer symbolizer({module});
    benchmark::DoNotOptimize(locate_all(symbolizer, addresses));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * count));
}
BENCHMARK(BM_LocateFromColdStart)->Arg(1)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void BM_LocateKnown(benchmark::State& state) {
  const trace::Module module = this_program();
  const std::vector<std::uint64_t> addresses = random_addresses(module, 10'000, 2);
  Symbolizer symbolizer({module});
  locate_all(symbolizer, addresses);
  for (auto _ : state) benchmark::DoNotOptimize(locate_all(symbolizer, addresses));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * addresses.size()));
}
BENCHMARK(BM_LocateKnown);

void BM_FunctionStart(benchmark::State& state) {
  const trace::Module module = this_program();
  const std::vector<std::uint64_t> addresses = random_addresses(module, 10'000, 3);
  Symbolizer symbolizer({module});
  for (auto _ : state) {
    std::uint64_t sum = 0;
    for (const std::uint64_t address : addresses) sum += symbolizer.function_of(address);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * addresses.size()));
}
BENCHMARK(BM_FunctionStart);

}  // namespace
}  // namespace loopfold::symbols
