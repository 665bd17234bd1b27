// Runs through a file: threads, slices, side events, groups; and the deep check.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "trace/deep_check.h"
#include "trace/reader.h"
#include "trace/run_ahead.h"
#include "trace/run_testing.h"
#include "trace/testing.h"
#include "trace/writer.h"

namespace loopfold::trace {
namespace {

using testing::EventCopy;
using testing::Machine;
using testing::RandomProgram;
using testing::SlotKind;
using testing::Step;
using testing::TempFile;
using testing::Walk;
using testing::walk;

/// Writes programs as threads of one process, switching between them at random; returns what was said.
std::vector<Step> write(const TempFile& file, const std::vector<const Machine*>& programs, std::uint64_t seed,
                        std::size_t group_bytes, std::uint64_t switch_every, std::uint64_t side_every) {
  std::mt19937_64 random(seed);
  std::unique_ptr<Writer> writer = std::move(*Writer::create(file.path(), {}));
  writer->set_group_bytes(group_bytes);
  std::vector<ExitId> first_exit;
  BlockId blocks = 0;
  ExitId exits = 0;
  for (const Machine* program : programs) {
    first_exit.push_back(exits);
    const BlockId first_block = blocks;
    for (Block block : program->blocks) {
      block.id = blocks++;
      writer->add_block(block);
    }
    for (Exit exit : program->exits) {
      exit.id = exits++;
      exit.block += first_block;
      writer->add_exit(exit);
    }
  }
  std::vector<std::size_t> done(programs.size(), 0);
  std::vector<Step> said;
  std::uint64_t slice = 0;
  ThreadId thread = 0;
  const auto unfinished = [&](std::size_t i) { return done[i] < programs[i]->events.size(); };
  for (;;) {
    if (!unfinished(thread) || random() % switch_every == 0) {
      ++slice;
      std::vector<ThreadId> left;
      for (std::size_t i = 0; i < programs.size(); ++i) {
        if (unfinished(i)) left.push_back(static_cast<ThreadId>(i));
      }
      if (left.empty()) break;
      thread = left[random() % left.size()];
    }
    if (random() % side_every == 0) {
      const ThreadId of = random() % 4 == 0 ? static_cast<ThreadId>(random() % programs.size()) : thread;
      SideEvent side{of, slice, 0, Hidden{Hidden::Reason::kLibrary, random() % 100}};
      writer->side(side);
      side.position = done[of];
      said.emplace_back(side);
    }
    const auto& [exit, slots] = programs[thread]->events[done[thread]];
    writer->event(thread, slice, first_exit[thread] + exit, slots);
    said.emplace_back(EventCopy{thread, slice, done[thread]++, first_exit[thread] + exit, slots});
  }
  writer->finish({});
  EXPECT_FALSE(writer->error()) << writer->error()->message;
  return said;
}

std::unique_ptr<Reader> open(const TempFile& file) {
  Result<std::unique_ptr<Reader>> reader = Reader::open(file.path());
  EXPECT_TRUE(reader) << reader.error().message;
  return std::move(*reader);
}

/// All that a RunCursor or RunAhead delivers, expanded by hand; an error ends it.
template <class Cursor>
std::vector<Step> expand_items(const Reader& reader, Cursor& cursor, std::string& error) {
  std::vector<Step> steps;
  RunExpander expander;
  for (;;) {
    const Result<RunCursor::Item> item = cursor.next();
    if (!item) error = item.error().message;
    if (!item || *item == RunCursor::Item::kEnd) return steps;
    if (*item == RunCursor::Item::kSide) {
      steps.emplace_back(cursor.side());
      continue;
    }
    const Run& run = cursor.run();
    std::uint64_t done = 0;
    std::size_t side = 0;
    std::uint64_t instructions = 0;
    expander.begin(run);
    for (std::uint64_t i = 0; i < run.iterations; ++i) {
      const RunPath& path = expander.next();
      instructions += path.instructions;
      const std::uint64_t* slots = expander.slots().data();
      for (const ExitId exit : path.exits) {
        while (side < run.sides.size() && run.sides[side].ordinal == done) steps.emplace_back(run.sides[side++].side);
        const std::size_t count = reader.exits()[exit].slots;
        steps.emplace_back(EventCopy{run.thread, run.slice, run.position + done, exit, {slots, slots + count}});
        slots += count;
        ++done;
      }
    }
    EXPECT_EQ(done, run.events);
    EXPECT_EQ(instructions, run.instructions);
    EXPECT_EQ(side, run.sides.size());
    EXPECT_TRUE(run.sides.empty() || (run.sides.front().ordinal > 0 && run.sides.back().ordinal < run.events));
  }
}

std::vector<Step> expand(const Reader& reader, CursorOptions options = {}) {
  RunCursor cursor = reader.runs(options);
  std::string error;
  std::vector<Step> steps = expand_items(reader, cursor, error);
  EXPECT_EQ(error, "");
  return steps;
}

std::vector<Step> expand_ahead(const Reader& reader, std::string& error) {
  RunAhead cursor(reader.runs());
  return expand_items(reader, cursor, error);
}

TEST(RunCursor, ThreadsSlicesAndSideEventsComeBack) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const RandomProgram a(seed, 2500);
    const RandomProgram b(seed + 1000, 1500);
    const RandomProgram c(seed + 2000, 500);
    const std::size_t groups[] = {1, 400, 5000, std::size_t{4} << 20};
    const std::uint64_t switches[] = {3, 40, 700, 100000};
    TempFile file;
    const std::vector<Step> said =
        write(file, {&a.machine, &b.machine, &c.machine}, seed, groups[seed % 4], switches[seed / 4 % 4], 5 + seed);
    const std::unique_ptr<Reader> reader = open(file);
    EXPECT_FALSE(reader->partial());
    const Walk events = walk(*reader);
    EXPECT_FALSE(events.error) << events.error->message;
    EXPECT_TRUE(events.steps == said) << seed;
    EXPECT_TRUE(expand(*reader) == said) << seed;
    std::string error;
    EXPECT_TRUE(expand_ahead(*reader, error) == said) << seed;
    EXPECT_EQ(error, "");
    for (ThreadId thread = 0; thread < 3; ++thread) {
      std::vector<Step> expected;
      std::copy_if(said.begin(), said.end(), std::back_inserter(expected),
                   [&](const Step& step) { return testing::thread_of(step) == thread; });
      CursorOptions options;
      options.thread = thread;
      EXPECT_TRUE(expand(*reader, options) == expected) << seed;
    }
    const DeepReport report = deep_check(*reader);
    EXPECT_EQ(report.problem, "") << seed;
    EXPECT_EQ(report.events, reader->end()->events);
  }
}

/// Stack pointers from the control alone are those of the whole.
TEST(RunCursor, ControlOnlyHasStackPointers) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const RandomProgram a(seed, 2500);
    TempFile file;
    write(file, {&a.machine}, seed, 3000, 200, 50);
    const std::unique_ptr<Reader> reader = open(file);
    CursorOptions options;
    options.control_only = true;
    const std::vector<Step> whole = expand(*reader);
    const std::vector<Step> control = expand(*reader, options);
    ASSERT_EQ(whole.size(), control.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const EventCopy* const expected = std::get_if<EventCopy>(&whole[i]);
      const EventCopy* const found = std::get_if<EventCopy>(&control[i]);
      if (expected == nullptr) {
        EXPECT_TRUE(whole[i] == control[i]);
        continue;
      }
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(found->exit, expected->exit);
      EXPECT_EQ(found->position, expected->position);
      const Exit& exit = reader->exits()[expected->exit];
      if (exit.stack_pointer.kind == Value::Kind::kNone) continue;
      const Block& block = reader->blocks()[exit.block];
      EXPECT_EQ(evaluate(block, exit.stack_pointer, found->slots),
                evaluate(block, exit.stack_pointer, expected->slots));
    }
  }
}

Machine simple_loop(std::uint64_t iterations) {
  Machine machine(1);
  const BlockId entry = machine.block({SlotKind::kConstant});
  const BlockId body = machine.block({SlotKind::kStride, SlotKind::kStride});
  const BlockId behind = machine.block({});
  machine.go(entry);
  for (std::uint64_t i = 0; i < iterations; ++i) machine.go(body);
  machine.go(behind);
  machine.finish();
  return machine;
}

TEST(RunCursor, SideEventsInsideARunDoNotBreakIt) {
  const Machine machine = simple_loop(1000);
  TempFile file;
  write(file, {&machine}, 1, std::size_t{4} << 20, 1000000, 20);
  const std::unique_ptr<Reader> reader = open(file);
  RunCursor cursor = reader->runs();
  std::vector<std::uint64_t> iterations;
  std::size_t sides = 0;
  for (Result<RunCursor::Item> item = cursor.next(); *item != RunCursor::Item::kEnd; item = cursor.next()) {
    if (*item != RunCursor::Item::kRun) continue;
    iterations.push_back(cursor.run().iterations);
    sides += cursor.run().sides.size();
  }
  EXPECT_EQ(iterations, (std::vector<std::uint64_t>{1, 1000, 1}));
  EXPECT_GT(sides, 20u);
}

TEST(RunCursor, AMillionIterationsAreTinyOnDisk) {
  const Machine machine = simple_loop(1000000);
  TempFile file;
  write(file, {&machine}, 1, std::size_t{4} << 20, 100000000, 100000000);
  const std::unique_ptr<Reader> reader = open(file);
  EXPECT_LT(reader->file_bytes(), 1500u);
  RunCursor cursor = reader->runs();
  std::uint64_t most = 0;
  for (Result<RunCursor::Item> item = cursor.next(); *item != RunCursor::Item::kEnd; item = cursor.next())
    most = std::max(most, cursor.run().iterations);
  EXPECT_EQ(most, 1000000u);
}

TEST(RunCursor, ThreadsThatSwitchInALoopHaveARunForEachSlice) {
  const Machine machine = simple_loop(10000);
  TempFile file;
  write(file, {&machine, &machine}, 1, std::size_t{4} << 20, 500, 1000000);
  const std::unique_ptr<Reader> reader = open(file);
  RunCursor cursor = reader->runs();
  std::uint64_t in_loops = 0;
  for (Result<RunCursor::Item> item = cursor.next(); *item != RunCursor::Item::kEnd; item = cursor.next()) {
    if (*item == RunCursor::Item::kRun && !cursor.run().literal()) in_loops += cursor.run().events;
  }
  EXPECT_GT(in_loops, 19000u);
  EXPECT_EQ(deep_check(*reader).problem, "");
}

/// Long runs, many batches, and columns that are longer than a batch.
TEST(RunAhead, IsAsTheCursor) {
  const RandomProgram program(5, 400000);
  TempFile file;
  const std::vector<Step> said = write(file, {&program.machine}, 3, 100000, 1000, 300);
  const std::unique_ptr<Reader> reader = open(file);
  std::string error;
  EXPECT_TRUE(expand_ahead(*reader, error) == said);
  EXPECT_EQ(error, "");
}

TEST(RunAhead, ErrorsComeWhereTheCursorHasThem) {
  const RandomProgram program(6, 20000);
  TempFile file;
  write(file, {&program.machine}, 4, 2000, 1000, 300);
  const std::uint64_t size = open(file)->file_bytes();
  for (std::uint64_t at = size / 2; at < size; at += size / 9) {
    TempFile damaged;
    std::ifstream from(file.path(), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(from), {}};
    bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
    std::ofstream(damaged.path(), std::ios::binary) << bytes;
    const Result<std::unique_ptr<Reader>> reader = Reader::open(damaged.path());
    if (!reader) continue;
    RunCursor cursor = (*reader)->runs();
    std::string expected;
    const std::vector<Step> before = expand_items(**reader, cursor, expected);
    std::string error;
    EXPECT_TRUE(expand_ahead(**reader, error) == before) << at;
    EXPECT_EQ(error, expected) << at;
  }
}

/// Whoever wants no more need not read to the end.
TEST(RunAhead, MayEndBeforeTheTrace) {
  const RandomProgram program(7, 100000);
  TempFile file;
  write(file, {&program.machine}, 4, 2000, 1000, 300);
  const std::unique_ptr<Reader> reader = open(file);
  for (int items = 0; items < 4000; items += 800) {
    RunAhead cursor(reader->runs());
    for (int i = 0; i < items; ++i) ASSERT_TRUE(cursor.next());
  }
}

TEST(DeepCheck, ARunThatIsNotWhatTheEncoderMakesIsReported) {
  // Cut into groups by flush() where the reader cannot know that the encoder was made to stop: still sound.
  const Machine machine = simple_loop(100);
  TempFile file;
  write(file, {&machine}, 1, 1, 1000000, 1000000);
  EXPECT_EQ(deep_check(*open(file)).problem, "");
  EXPECT_EQ(deep_check(*open(file)).literals, machine.events.size()) << "every event is a group";
}

}  // namespace
}  // namespace loopfold::trace
