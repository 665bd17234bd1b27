// How fast events go into a trace file and come out again: regular ones (strided addresses) and random ones.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "trace/reader.h"
#include "trace/writer.h"

namespace loopfold::trace {
namespace {

constexpr std::uint16_t kSlots = 5;
constexpr std::uint64_t kEvents = 1 << 20;

std::string temporary_file() {
  char name[] = "/tmp/loopfold-bench-XXXXXX";
  return std::string(::mkdtemp(name)) + "/trace.lft";
}

std::unique_ptr<Writer> start(const std::string& path) {
  std::unique_ptr<Writer> writer = std::move(*Writer::create(path, {}));
  Block block;
  block.address = 0x1000;
  block.bytes.assign(10, 0x90);
  block.lengths.assign(10, 1);
  writer->add_block(block);
  Exit exit;
  exit.instructions = 10;
  exit.slots = kSlots;
  writer->add_exit(exit);
  return writer;
}

void write_all(const std::string& path, bool random) {
  std::unique_ptr<Writer> writer = start(path);
  std::mt19937_64 generator(1);
  std::array<std::uint64_t, kSlots> slots{};
  for (std::uint64_t i = 0; i < kEvents; i++) {
    for (std::size_t s = 0; s < kSlots; s++) slots[s] = random ? generator() >> 32 : 8 * i + 4096 * s;
    writer->event(0, 0, 0, slots);
  }
  writer->finish({});
}

void write_events(benchmark::State& state) {
  const std::string path = temporary_file();
  for (auto _ : state) write_all(path, state.range(0) != 0);
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kEvents));
  state.counters["bytes/event"] = static_cast<double>(std::filesystem::file_size(path)) / kEvents;
  std::filesystem::remove_all(std::filesystem::path(path).parent_path());
}
BENCHMARK(write_events)->Arg(0)->Arg(1)->ArgName("random")->Unit(benchmark::kMillisecond);

void read_events(benchmark::State& state) {
  const std::string path = temporary_file();
  write_all(path, state.range(0) != 0);
  for (auto _ : state) {
    const auto reader = Reader::open(path);
    Cursor cursor = (*reader)->cursor();
    std::uint64_t sum = 0;
    for (auto item = cursor.next(); item && *item != Cursor::Item::kEnd; item = cursor.next()) {
      if (*item == Cursor::Item::kEvent) sum += cursor.event().slots[0];
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kEvents));
  std::filesystem::remove_all(std::filesystem::path(path).parent_path());
}
BENCHMARK(read_events)->Arg(0)->Arg(1)->ArgName("random")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace loopfold::trace
