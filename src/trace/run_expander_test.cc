// Looking ahead in a run, and passing over iterations of it, against one iteration after the other.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "trace/reader.h"
#include "trace/run.h"
#include "trace/run_testing.h"
#include "trace/testing.h"
#include "trace/writer.h"

namespace loopfold::trace {
namespace {

using testing::RandomProgram;
using testing::TempFile;

/// All slots of all iterations, by next() alone.
std::vector<std::vector<std::uint64_t>> all_slots(const Run& run) {
  std::vector<std::vector<std::uint64_t>> all;
  RunExpander expander;
  expander.begin(run);
  for (std::uint64_t i = 0; i < run.iterations; ++i) {
    expander.next();
    all.emplace_back(expander.slots().begin(), expander.slots().end());
  }
  return all;
}

/// How many iterations from this one on take its path.
std::uint64_t alike(const Run& run, std::uint64_t iteration) {
  std::uint64_t end = iteration;
  while (end < run.iterations && run.path_of(end) == run.path_of(iteration)) ++end;
  return end - iteration;
}

void expect_ahead(const Run& run, const RunExpander& expander, std::uint64_t iteration,
                  const std::vector<std::vector<std::uint64_t>>& expected) {
  const std::uint64_t count = alike(run, iteration);
  for (std::size_t slot = 0; slot < expected[iteration].size(); ++slot) {
    const RunExpander::Ahead ahead = expander.ahead(slot);
    for (std::uint64_t k = 0; k < count; ++k) {
      const std::uint64_t value = ahead.regular ? ahead.value + ahead.stride * k : ahead.values[k];
      ASSERT_EQ(value, expected[iteration + k][slot]) << "slot " << slot << ", iteration " << iteration << " + " << k;
    }
  }
}

/// Walks a run in random steps: next() and skip() in turns, looking ahead before each.
void walk(const Run& run, std::mt19937_64& random) {
  const std::vector<std::vector<std::uint64_t>> expected = all_slots(run);
  RunExpander expander;
  expander.begin(run);
  for (std::uint64_t i = 0; i < run.iterations;) {
    expect_ahead(run, expander, i, expected);
    const std::uint64_t skipped = random() % 2 == 0 ? 0 : random() % alike(run, i);
    if (skipped > 0) {
      expander.skip(skipped);
      i += skipped;
      expect_ahead(run, expander, i, expected);
    }
    EXPECT_EQ(&expander.next(), &run.paths[run.path_of(i)]);
    ASSERT_EQ(std::vector<std::uint64_t>(expander.slots().begin(), expander.slots().end()), expected[i]) << i;
    ++i;
  }
}

TEST(RunExpander, AheadAndSkipAsOneByOne) {
  std::uint64_t even = 0;
  std::uint64_t mixed = 0;
  std::uint64_t irregular = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const RandomProgram program(seed, 2500);
    TempFile file;
    std::unique_ptr<Writer> writer = std::move(*Writer::create(file.path(), {}));
    for (const Block& block : program.machine.blocks) writer->add_block(block);
    for (const Exit& exit : program.machine.exits) writer->add_exit(exit);
    for (const auto& [exit, slots] : program.machine.events) writer->event(0, 0, exit, slots);
    writer->finish({});
    const std::unique_ptr<Reader> reader = std::move(*Reader::open(file.path()));
    std::mt19937_64 random(seed);
    RunCursor cursor = reader->runs();
    for (Result<RunCursor::Item> item = cursor.next(); *item != RunCursor::Item::kEnd; item = cursor.next()) {
      if (*item != RunCursor::Item::kRun || cursor.run().literal()) continue;
      const trace::Run& run = cursor.run();
      ++(run.sequence.empty() ? even : mixed);
      for (const RunColumn& column : run.columns) irregular += column.kind == RunColumn::Kind::kIrregular ? 1 : 0;
      for (int time = 0; time < 3; ++time) {
        SCOPED_TRACE(seed);
        walk(run, random);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GT(even, 100u);
  EXPECT_GT(mixed, 100u);
  EXPECT_GT(irregular, 100u);
}

}  // namespace
}  // namespace loopfold::trace
