// How fast events become a trace file and come out of one again, without Valgrind: events are replayed from memory.
//
//     LOOPFOLD_BENCH_TRACES=gzip/trace.lft:map/trace.lft build/benchmarks --benchmark_filter=replay
//
// replays the events of recorded programs, at most LOOPFOLD_BENCH_EVENTS of each one's first thread; without the
// variable, those of made-up programs: strided loops, random values, random control. Each is measured in steps, which
// include the ones before:
//   find     RunEncoder alone: events to runs
//   encode   and ChunkEncoder: runs to bytes
//   write    all of Writer: compression and a file too
// and then the file is read: its runs, its runs for control only, its events. All times are CPU time. The counters give
// ns per event and per instruction, and the bytes per instruction of the file. Before anything is timed the file is
// read back and compared with what was written.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/event_hash.h"
#include "trace/format.h"
#include "trace/reader.h"
#include "trace/run_codec.h"
#include "trace/run_encoder.h"
#include "trace/run_testing.h"
#include "trace/shapes.h"
#include "trace/writer.h"

namespace loopfold::trace {
namespace {

/// A program's descriptions and its events, one after the other, and a file that holds them.
struct Replay {
  std::vector<Block> blocks;
  std::vector<Exit> exits;
  std::vector<ExitId> events;
  std::vector<std::uint64_t> slots;
  std::uint64_t instructions = 0;
  std::string directory;
  std::string problem;

  Replay() = default;
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  ~Replay() { std::filesystem::remove_all(directory); }

  std::string file() const { return directory + "/trace.lft"; }

  void add(ExitId exit, std::span<const std::uint64_t> values) {
    events.push_back(exit);
    slots.insert(slots.end(), values.begin(), values.end());
    instructions += exits[exit].instructions;
  }

  /// Calls `take` with every event.
  template <typename Take>
  void play(Take take) const {
    const std::uint64_t* at = slots.data();
    for (const ExitId exit : events) {
      const std::size_t count = exits[exit].slots;
      take(exit, at, count);
      at += count;
    }
  }

  void write() const {
    const std::unique_ptr<Writer> writer = std::move(*Writer::create(file(), {}));
    for (const Block& block : blocks) writer->add_block(block);
    for (const Exit& exit : exits) writer->add_exit(exit);
    play([&](ExitId exit, const std::uint64_t* at, std::size_t count) { writer->event(0, 0, exit, {at, count}); });
    writer->finish({});
  }

  /// Writes the file, reads it back and compares.
  void prepare() {
    std::string name = (std::filesystem::temp_directory_path() / "loopfold-bench-XXXXXX").string();
    directory = ::mkdtemp(name.data());
    write();
    EventHash expected;
    play([&](ExitId exit, const std::uint64_t* at, std::size_t count) { expected.add(0, exit, {at, count}); });
    EventHash found;
    const std::unique_ptr<Reader> reader = std::move(*Reader::open(file()));
    Cursor cursor = reader->cursor();
    for (auto item = cursor.next(); item && *item != Cursor::Item::kEnd; item = cursor.next())
      found.add(0, cursor.event().exit, cursor.event().slots);
    if (found.value() != expected.value()) problem = "what was read is not what was written";
  }
};

/// The events of the first thread of a trace.
void load(const std::string& path, std::uint64_t most, Replay& to) {
  const Result<std::unique_ptr<Reader>> reader = Reader::open(path);
  if (!reader) {
    to.problem = reader.error().message;
    return;
  }
  to.blocks = (*reader)->blocks();
  to.exits = (*reader)->exits();
  CursorOptions options;
  options.thread = 0;
  Cursor cursor = (*reader)->cursor(options);
  for (auto item = cursor.next(); item && *item != Cursor::Item::kEnd && to.events.size() < most; item = cursor.next())
    if (*item == Cursor::Item::kEvent) to.add(cursor.event().exit, cursor.event().slots);
  to.prepare();
}

/// One block with `slots` slots that is executed over and over: strided values, or random ones.
void make_up_loop(bool random, Replay& to) {
  constexpr std::uint16_t kSlots = 5;
  Block block;
  block.address = 0x1000;
  block.bytes.assign(10, 0x90);
  block.lengths.assign(10, 1);
  to.blocks.push_back(block);
  Exit exit;
  exit.instructions = 10;
  exit.slots = kSlots;
  exit.target = block.address;
  to.exits.push_back(exit);
  std::mt19937_64 generator(1);
  std::array<std::uint64_t, kSlots> slots{};
  for (std::uint64_t i = 0; i < 1 << 21; ++i) {
    for (std::size_t s = 0; s < kSlots; ++s) slots[s] = random ? generator() >> 32 : 8 * i + 4096 * s;
    to.add(0, slots);
  }
  to.prepare();
}

void make_up_program(Replay& to) {
  const testing::RandomProgram program(7, 1 << 20);
  to.blocks = program.machine.blocks;
  to.exits = program.machine.exits;
  for (const auto& [exit, slots] : program.machine.events) to.add(exit, slots);
  to.prepare();
}

class NoSink : public RunSink {
 public:
  void literal(std::span<const ExitId> exits, std::span<const std::uint64_t>) override {
    benchmark::DoNotOptimize(exits.data());
  }
  void loop(const Run& run, std::span<const std::uint64_t>) override { benchmark::DoNotOptimize(run.iterations); }
};

Shapes shapes_of(const Replay& replay) {
  Shapes shapes;
  for (const Block& block : replay.blocks) static_cast<void>(shapes.add_block(block));
  for (const Exit& exit : replay.exits) static_cast<void>(shapes.add_exit(exit));
  return shapes;
}

/// Finds the runs, and hands them to `sink`; calls `end_group` at the end of each group of a file.
template <typename EndGroup>
void find_runs(const Replay& replay, const Shapes& shapes, RunSink& sink, EndGroup end_group) {
  RunEncoder encoder(shapes);
  encoder.set_sink(sink);
  std::uint64_t events = 0;
  replay.play([&](ExitId exit, const std::uint64_t* slots, std::size_t count) {
    const bool expected = encoder.expected(exit, slots, count);
    if (!expected && encoder.append(exit, slots, count)) end_group(encoder, false);
    if (++events % kGroupEvents == 0) end_group(encoder, true);
  });
  encoder.finish();
}

void find(benchmark::State&, const Replay& replay) {
  const Shapes shapes = shapes_of(replay);
  NoSink sink;
  find_runs(replay, shapes, sink, [](RunEncoder&, bool) {});
}

void encode(benchmark::State&, const Replay& replay) {
  const Shapes shapes = shapes_of(replay);
  ChunkEncoder chunk(shapes);
  find_runs(replay, shapes, chunk, [&chunk](RunEncoder& encoder, bool full) {
    if (!full && chunk.bytes() < kGroupBytes && !chunk.full()) return;
    encoder.finish();
    chunk.clear();
  });
}

void write(benchmark::State& state, const Replay& replay) {
  replay.write();
  state.counters["bytes/instr"] =
      static_cast<double>(std::filesystem::file_size(replay.file())) / static_cast<double>(replay.instructions);
}

void read_runs(const Replay& replay, bool control_only) {
  const auto reader = Reader::open(replay.file(), {.check_events = false});
  CursorOptions options;
  options.control_only = control_only;
  RunCursor cursor = (*reader)->runs(options);
  std::uint64_t sum = 0;
  for (auto item = cursor.next(); item && *item != RunCursor::Item::kEnd; item = cursor.next())
    sum += cursor.run().iterations;
  benchmark::DoNotOptimize(sum);
}

void runs(benchmark::State&, const Replay& replay) { read_runs(replay, false); }
void control(benchmark::State&, const Replay& replay) { read_runs(replay, true); }

void events(benchmark::State&, const Replay& replay) {
  const auto reader = Reader::open(replay.file(), {.check_events = false});
  Cursor cursor = (*reader)->cursor();
  std::uint64_t sum = 0;
  for (auto item = cursor.next(); item && *item != Cursor::Item::kEnd; item = cursor.next())
    sum += cursor.event().slots.size();
  benchmark::DoNotOptimize(sum);
}

using Step = void (*)(benchmark::State&, const Replay&);

void run_step(benchmark::State& state, const Replay& replay, Step step) {
  if (!replay.problem.empty()) return state.SkipWithError(replay.problem.c_str());
  for (auto _ : state) step(state, replay);
  const auto per_iteration = benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert;
  state.counters["ns/event"] = {static_cast<double>(replay.events.size()) / 1e9, per_iteration};
  state.counters["ns/instr"] = {static_cast<double>(replay.instructions) / 1e9, per_iteration};
}

/// A program's replay is made when its first benchmark runs and dropped when the next program's does.
struct Program {
  std::string name;
  std::string path;  // or empty: made up
};

const Replay& replay_of(const Program& program) {
  static std::string name;
  static std::unique_ptr<Replay> replay;
  if (replay && name == program.name) return *replay;
  replay.reset();
  replay = std::make_unique<Replay>();
  name = program.name;
  const char* const most = std::getenv("LOOPFOLD_BENCH_EVENTS");
  if (!program.path.empty()) {
    load(program.path, most != nullptr ? std::strtoull(most, nullptr, 10) : 10'000'000, *replay);
  } else if (program.name == "program") {
    make_up_program(*replay);
  } else {
    make_up_loop(program.name == "random", *replay);
  }
  return *replay;
}

std::vector<Program> programs() {
  const char* const traces = std::getenv("LOOPFOLD_BENCH_TRACES");
  if (traces == nullptr) return {{"strided", ""}, {"random", ""}, {"program", ""}};
  std::vector<Program> result;
  for (std::string_view left = traces; !left.empty();) {
    const std::string path(left.substr(0, left.find(':')));
    left.remove_prefix(std::min(left.size(), path.size() + 1));
    result.push_back({std::filesystem::path(path).parent_path().filename().string(), path});
  }
  return result;
}

[[maybe_unused]] const bool registered = [] {
  constexpr std::pair<const char*, Step> kSteps[] = {{"find", find}, {"encode", encode},   {"write", write},
                                                     {"runs", runs}, {"control", control}, {"events", events}};
  for (const Program& program : programs()) {
    for (const auto& [step_name, step] : kSteps) {
      benchmark::RegisterBenchmark(("replay/" + program.name + "/" + step_name).c_str(), [program, step = step](
                                                                                             benchmark::State& state) {
        run_step(state, replay_of(program), step);
      })->Unit(benchmark::kMillisecond);
    }
  }
  return true;
}();

}  // namespace
}  // namespace loopfold::trace
