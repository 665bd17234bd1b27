// From events to runs: what is found, and that expanding it gives the events back.
#include "trace/run_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/run_testing.h"

namespace loopfold::trace {
namespace {

using testing::Machine;
using testing::RandomProgram;
using testing::SlotKind;

/// A column that owns its values.
struct ColumnCopy {
  bool regular = true;
  std::uint64_t start = 0;
  std::uint64_t stride = 0;
  std::vector<std::uint64_t> values;
};

struct RunCopy {
  std::uint64_t iterations = 0;
  std::uint64_t events = 0;
  std::uint64_t instructions = 0;
  std::vector<std::vector<ExitId>> paths;
  std::vector<std::uint8_t> sequence;
  std::vector<ColumnCopy> columns;
};

/// Keeps runs, and what they expand to.
class Collector : public RunSink {
 public:
  void literal(std::span<const ExitId> exits, std::span<const std::uint64_t> slots) override {
    runs.push_back({1, exits.size(), 0, {{exits.begin(), exits.end()}}, {}, {}});
    literal_events += exits.size();
    expanded_exits.insert(expanded_exits.end(), exits.begin(), exits.end());
    expanded_slots.insert(expanded_slots.end(), slots.begin(), slots.end());
    EXPECT_LE(exits.size(), kMaxPathEvents);
  }
  void loop(const Run& found, std::span<const std::uint64_t> rows) override {
    const std::vector<std::vector<std::uint64_t>> values = column_values(found, rows);
    std::vector<RunColumn> columns(found.columns.begin(), found.columns.end());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].kind == RunColumn::Kind::kIrregular) columns[i].values = values[i];
    }
    Run run = found;
    run.columns = columns;
    RunCopy copy{run.iterations, run.events, run.instructions, {}, {run.sequence.begin(), run.sequence.end()}, {}};
    for (const RunPath& path : run.paths) copy.paths.emplace_back(path.exits.begin(), path.exits.end());
    for (const RunColumn& column : run.columns)
      copy.columns.push_back({column.kind == RunColumn::Kind::kRegular,
                              column.start,
                              column.stride,
                              {column.values.begin(), column.values.end()}});
    runs.push_back(copy);
    EXPECT_GE(run.iterations, 3u);
    const std::size_t before = expanded_exits.size();
    RunExpander expander;
    expander.begin(run);
    for (std::uint64_t i = 0; i < run.iterations; ++i) {
      const RunPath& path = expander.next();
      expanded_exits.insert(expanded_exits.end(), path.exits.begin(), path.exits.end());
      expanded_slots.insert(expanded_slots.end(), expander.slots().begin(), expander.slots().end());
    }
    EXPECT_EQ(expanded_exits.size() - before, run.events);
  }

  std::vector<RunCopy> runs;
  std::uint64_t literal_events = 0;
  std::vector<ExitId> expanded_exits;
  std::vector<std::uint64_t> expanded_slots;
};

Shapes shapes_of(const Machine& machine) {
  Shapes shapes;
  for (const Block& block : machine.blocks) EXPECT_TRUE(shapes.add_block(block));
  for (const Exit& exit : machine.exits) EXPECT_TRUE(shapes.add_exit(exit));
  return shapes;
}

/// The runs of the machine's events, after checking that they expand to these. `cut`: finish() after so many events.
Collector encode(const Machine& machine, std::size_t cut = ~std::size_t{0}) {
  const Shapes shapes = shapes_of(machine);
  Collector collector;
  RunEncoder encoder(shapes);
  encoder.set_sink(collector);
  std::vector<ExitId> exits;
  std::vector<std::uint64_t> slots;
  for (const auto& [exit, values] : machine.events) {
    if (!encoder.expected(exit, values.data(), values.size())) encoder.append(exit, values.data(), values.size());
    exits.push_back(exit);
    slots.insert(slots.end(), values.begin(), values.end());
    if (exits.size() % cut == 0) encoder.finish();
  }
  encoder.finish();
  EXPECT_TRUE(collector.expanded_exits == exits);
  EXPECT_TRUE(collector.expanded_slots == slots);
  return collector;
}

std::vector<RunCopy> loops(const Collector& collector) {
  std::vector<RunCopy> found;
  std::copy_if(collector.runs.begin(), collector.runs.end(), std::back_inserter(found),
               [](const RunCopy& run) { return run.iterations > 1; });
  return found;
}

TEST(RunEncoder, ALoopOfOneBlockIsOneRunWithItsFirstAndLastIteration) {
  for (const std::uint64_t iterations : {4u, 5u, 16u, 1000u}) {
    Machine machine(1);
    const BlockId entry = machine.block({SlotKind::kConstant});
    const BlockId body = machine.block({SlotKind::kStride, SlotKind::kStride});
    const BlockId behind = machine.block({});
    machine.go(entry);
    for (std::uint64_t i = 0; i < iterations; ++i) machine.go(body);
    machine.go(behind);
    machine.finish();
    const Collector found = encode(machine);
    ASSERT_EQ(found.runs.size(), 3u) << iterations;
    EXPECT_EQ(found.runs[1].iterations, iterations);
    EXPECT_EQ(found.runs[1].events, iterations);
    EXPECT_EQ(found.runs[1].instructions, 2 * iterations);
    EXPECT_EQ(found.runs[1].paths.size(), 2u) << "one jumps back, one leaves";
    EXPECT_TRUE(found.runs[1].sequence.empty());
    ASSERT_EQ(found.runs[1].columns.size(), 2u);
    EXPECT_TRUE(found.runs[1].columns[0].regular);
    EXPECT_EQ(found.runs[1].columns[0].stride, 0 - std::uint64_t{16});
    EXPECT_EQ(found.runs[1].columns[1].start, 0x20000u);
    EXPECT_EQ(found.runs[1].columns[1].stride, 0 - std::uint64_t{8});
  }
}

TEST(RunEncoder, ShortLoopsAreLiterals) {
  for (std::uint64_t iterations = 1; iterations < 4; ++iterations) {
    Machine machine(1);
    const BlockId entry = machine.block({});
    const BlockId body = machine.block({SlotKind::kStride});
    const BlockId behind = machine.block({});
    machine.go(entry);
    for (std::uint64_t i = 0; i < iterations; ++i) machine.go(body);
    machine.go(behind);
    machine.finish();
    EXPECT_TRUE(loops(encode(machine)).empty());
  }
}

TEST(RunEncoder, EachRowOfANestIsOneRun) {
  Machine machine(1);
  const BlockId entry = machine.block({});
  const BlockId outer = machine.block({SlotKind::kStride});
  const BlockId inner = machine.block({SlotKind::kStride, SlotKind::kConstant, SlotKind::kStride});
  const BlockId latch = machine.block({SlotKind::kStride});
  const BlockId behind = machine.block({});
  machine.go(entry);
  for (int i = 0; i < 50; ++i) {
    machine.go(outer);
    for (int j = 0; j < 20; ++j) machine.go(inner);
    machine.go(latch);
  }
  machine.go(behind);
  machine.finish();
  const Collector found = encode(machine);
  const std::vector<RunCopy> rows = loops(found);
  ASSERT_EQ(rows.size(), 50u);
  for (const RunCopy& row : rows) {
    EXPECT_EQ(row.iterations, 20u);
    EXPECT_TRUE(std::all_of(row.columns.begin(), row.columns.end(), [](const ColumnCopy& c) { return c.regular; }));
  }
  EXPECT_EQ(found.literal_events, 2u + 2 * 50);
}

TEST(RunEncoder, BranchesInTheBodyDoNotEndARun) {
  // `rare` stands behind the loop and jumps back into it; `early` stands before the header, which follows it.
  for (const bool early : {false, true}) {
    Machine machine(7);
    const BlockId entry = machine.block({});
    const std::uint64_t before = machine.next_address();
    if (early) machine.skip_addresses(64);
    const BlockId header = machine.block({SlotKind::kStride});
    const BlockId latch = machine.block({SlotKind::kStride, SlotKind::kNoise});
    const BlockId behind = machine.block({});
    const BlockId rare = early ? machine.block({SlotKind::kNoise}, before) : machine.block({SlotKind::kNoise});
    machine.go(entry);
    std::size_t rares = 0;
    for (int i = 0; i < 500; ++i) {
      machine.go(header);
      const bool is_rare = i < 499 && machine.pick(3) == 0;
      rares += is_rare ? 1 : 0;
      if (is_rare) machine.go(rare);
      if (!is_rare || !early) machine.go(latch);
    }
    machine.go(behind);
    machine.finish();
    const std::vector<RunCopy> found = loops(encode(machine));
    ASSERT_EQ(found.size(), 1u) << early;
    EXPECT_EQ(found[0].iterations, 500u);
    EXPECT_EQ(found[0].paths.size(), 3u);
    EXPECT_EQ(found[0].sequence.size(), 500u);
    std::size_t irregular = 0;
    for (const ColumnCopy& column : found[0].columns) {
      irregular += column.regular ? 0 : 1;
      const std::size_t values = column.values.size();
      EXPECT_TRUE(column.regular || values == rares || values >= 500 - rares);
    }
    EXPECT_EQ(irregular, early ? 3u : 2u) << "the header's slot counts iterations, the latch's does so unless skipped";
  }
}

TEST(RunEncoder, CallsAreInsideTheIteration) {
  Machine machine(3);
  const BlockId callee = machine.block({SlotKind::kStride, SlotKind::kConstant});
  const BlockId entry = machine.block({});
  const BlockId header = machine.block({SlotKind::kStride, SlotKind::kConstant});
  const BlockId latch = machine.block({SlotKind::kStride});
  const BlockId behind = machine.block({});
  machine.go(entry);
  for (int i = 0; i < 100; ++i) {
    machine.go(header, ExitKind::kCall);
    machine.go(callee, ExitKind::kReturn);
    machine.go(latch);
  }
  machine.go(behind);
  machine.finish();
  const std::vector<RunCopy> found = loops(encode(machine));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].iterations, 100u);
  EXPECT_EQ(found[0].events, 300u);
}

TEST(RunEncoder, TheSameLoopEnteredTwiceIsTwoRuns) {
  Machine machine(3);
  const BlockId caller = machine.block({});
  const BlockId between = machine.block({});
  const BlockId behind = machine.block({});
  const BlockId entry = machine.block({});
  const BlockId body = machine.block({SlotKind::kStride});
  const BlockId leave = machine.block({});
  machine.go(caller, ExitKind::kCall);
  for (int call = 0; call < 2; ++call) {
    machine.go(entry);
    for (int i = 0; i < 10; ++i) machine.go(body);
    machine.go(leave, ExitKind::kReturn);
    if (call == 0) machine.go(between, ExitKind::kCall);
  }
  machine.go(behind);
  machine.finish();
  const std::vector<RunCopy> found = loops(encode(machine));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].iterations, 10u);
  EXPECT_EQ(found[1].iterations, 10u);
}

TEST(RunEncoder, AStrideThatBreaksMakesTheColumnIrregularAndKeepsTheRun) {
  Machine machine(3);
  const BlockId entry = machine.block({});
  const BlockId body = machine.block({SlotKind::kStride, SlotKind::kBroken});
  const BlockId behind = machine.block({});
  machine.go(entry);
  for (int i = 0; i < 2000; ++i) machine.go(body);
  machine.go(behind);
  machine.finish();
  const std::vector<RunCopy> found = loops(encode(machine));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].iterations, 2000u);
  EXPECT_TRUE(found[0].columns[0].regular);
  EXPECT_FALSE(found[0].columns[1].regular);
  EXPECT_EQ(found[0].columns[1].values.size(), 2000u);
}

TEST(RunEncoder, AnIterationThatLeavesAndWouldBreakAColumnIsLeftOut) {
  Machine machine(3);
  const BlockId entry = machine.block({});
  const BlockId body = machine.block({SlotKind::kConstant});
  const BlockId behind = machine.block({});
  machine.go(entry);
  for (int i = 0; i < 100; ++i) machine.go(body);
  machine.go(behind);
  machine.finish();
  machine.events[100].second[0] = 77;
  const std::vector<RunCopy> found = loops(encode(machine));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].iterations, 99u);
  EXPECT_TRUE(found[0].columns[0].regular);
}

TEST(RunEncoder, ValuesWrapAround) {
  Machine machine(3);
  const BlockId entry = machine.block({});
  const BlockId body = machine.block({SlotKind::kWrap, SlotKind::kWrap, SlotKind::kWrap});
  const BlockId behind = machine.block({});
  machine.go(entry);
  for (int i = 0; i < 100; ++i) machine.go(body);
  machine.go(behind);
  machine.finish();
  const std::vector<RunCopy> found = loops(encode(machine));
  ASSERT_EQ(found.size(), 1u);
  for (const ColumnCopy& column : found[0].columns) EXPECT_TRUE(column.regular);
}

TEST(RunEncoder, AVeryLongRegularRunIsOne) {
  Machine machine(3);
  const BlockId entry = machine.block({});
  const BlockId body = machine.block({SlotKind::kStride, SlotKind::kConstant});
  machine.go(entry);
  for (int i = 0; i < 1000000; ++i) machine.go(body);
  machine.finish();
  const std::vector<RunCopy> found = loops(encode(machine));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].iterations, 1000000u);
}

TEST(RunEncoder, ABreakInAVeryLongRunEndsIt) {
  Machine machine(3);
  const BlockId entry = machine.block({});
  const BlockId body = machine.block({SlotKind::kStride, SlotKind::kConstant});
  machine.go(entry);
  for (int i = 0; i < 600000; ++i) machine.go(body);
  machine.finish();
  for (std::size_t i = 500000; i < machine.events.size(); ++i) machine.events[i].second[1] = 5;
  const std::vector<RunCopy> found = loops(encode(machine));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].iterations + found[1].iterations, 600000u);
  for (const RunCopy& run : found) {
    for (const ColumnCopy& column : run.columns) EXPECT_TRUE(column.regular);
  }
}

TEST(RunEncoder, IrregularColumnsAreBoundedInMemory) {
  Machine machine(3);
  const BlockId entry = machine.block({});
  const BlockId body = machine.block({SlotKind::kNoise, SlotKind::kNoise, SlotKind::kStride});
  machine.go(entry);
  for (int i = 0; i < 400000; ++i) machine.go(body);
  machine.finish();
  const Collector found = encode(machine);
  std::uint64_t iterations = 0;
  for (const RunCopy& run : loops(found)) {
    iterations += run.iterations;
    std::size_t values = 0;
    for (const ColumnCopy& column : run.columns) values += column.values.size();
    EXPECT_LE(values, LiveRun::kMaxValues);
  }
  EXPECT_LE(loops(found).size(), 5u);
  EXPECT_GT(iterations, 399980u);
}

TEST(RunEncoder, AnInterpretersLoopIsLiterals) {
  Machine machine(5);
  const BlockId entry = machine.block({});
  const BlockId header = machine.block({SlotKind::kNoise});
  std::vector<BlockId> operations;
  for (int i = 0; i < 100; ++i) operations.push_back(machine.block({SlotKind::kNoise, SlotKind::kStride}));
  machine.go(entry);
  for (int i = 0; i < 20000; ++i) {
    machine.go(header, ExitKind::kIndirectJump);
    machine.go(operations[machine.pick(operations.size())]);
  }
  machine.finish();
  const Collector found = encode(machine);
  EXPECT_GT(found.literal_events, machine.events.size() * 9 / 10);
}

TEST(RunEncoder, BodiesBeyondTheLimitsAreLiterals) {
  Machine machine(5);
  const BlockId entry = machine.block({});
  std::vector<BlockId> body;
  for (std::size_t i = 0; i < 2 * kMaxPathEvents; ++i) body.push_back(machine.block({SlotKind::kStride}));
  const BlockId wide = machine.block(std::vector<SlotKind>(kMaxRunColumns + 1, SlotKind::kStride));
  machine.go(entry);
  for (int i = 0; i < 20; ++i) {
    for (const BlockId block : body) machine.go(block);
  }
  for (int i = 0; i < 20; ++i) machine.go(wide);
  machine.finish();
  EXPECT_TRUE(loops(encode(machine)).empty());
}

TEST(RunEncoder, RandomProgramsComeBack) {
  std::uint64_t in_loops = 0;
  std::uint64_t all = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const RandomProgram program(seed, 3000);
    const Collector whole = encode(program.machine);
    in_loops += program.machine.events.size() - whole.literal_events;
    all += program.machine.events.size();
    encode(program.machine, 1 + seed % 200);
  }
  EXPECT_GT(in_loops, all / 4) << "the programs have loops";
}

TEST(RunEncoder, ArbitraryEventsComeBack) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Machine machine(seed);
    std::vector<BlockId> blocks;
    for (int i = 0; i < 8; ++i) blocks.push_back(machine.block({SlotKind::kStride, SlotKind::kBroken}));
    for (int i = 0; i < 3000; ++i) {
      const ExitKind kind = machine.pick(6) == 0 ? static_cast<ExitKind>(machine.pick(10)) : ExitKind::kNext;
      machine.go(blocks[machine.pick(machine.pick(3) == 0 ? 8 : 2)], kind, static_cast<std::uint16_t>(machine.pick(3)));
    }
    machine.finish();
    encode(machine, 1 + machine.pick(3000));
  }
}

}  // namespace
}  // namespace loopfold::trace
