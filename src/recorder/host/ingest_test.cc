// Feeds hand-written wire streams to Ingest and looks at the trace that comes out.
#include "recorder/host/ingest.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

#include "recorder/wire.h"
#include "trace/reader.h"

namespace loopfold::recorder {
namespace {

/// Builds a stream of records.
class Wire {
 public:
  std::vector<std::uint64_t> words;

  void record(std::uint32_t id, const std::vector<std::uint64_t>& payload) {
    words.push_back(id | std::uint64_t{payload.size()} << 32);
    words.insert(words.end(), payload.begin(), payload.end());
  }

  void start() {
    record(wire::kThread, {0});
    record(wire::kThreadStart, {0, 0, 77});
  }

  /// A block of `instructions` one-byte instructions, each with one result in slot i, leaving by `kind`.
  void describe(std::uint32_t exit, std::uint64_t address, std::uint16_t instructions, trace::ExitKind kind,
                std::uint16_t sp_slot = wire::kNoSlot, std::uint8_t byte = 0x90) {
    wire::Description description{};
    description.address = address;
    description.base_exit = exit;
    description.exits = 1;
    description.instructions = instructions;
    description.results = instructions;
    description.slots = instructions;
    description.ftop_slot = wire::kNoSlot;
    description.bytes = instructions;
    wire::DescribedExit leave{};
    leave.instructions = leave.results = leave.slots = instructions;
    leave.sp = sp_slot == wire::kNoSlot ? wire::kNoValue : wire::make_value(wire::kValueSlot, sp_slot);
    leave.kind = static_cast<std::uint8_t>(kind);
    std::vector<std::uint64_t> payload;
    const auto append = [&](const void* data, std::size_t bytes) {
      const std::size_t at = payload.size();
      payload.resize(at + (bytes + 7) / 8);
      std::memcpy(payload.data() + at, data, bytes);
    };
    append(&description, sizeof description);
    append(&leave, sizeof leave);
    for (std::uint16_t i = 0; i < instructions; i++) {
      const wire::DescribedResult result{wire::make_value(wire::kValueSlot, i), i, static_cast<std::uint8_t>(i % 16),
                                         8};
      append(&result, sizeof result);
    }
    append(std::vector<std::uint8_t>(instructions, 1).data(), instructions);
    append(std::vector<std::uint8_t>(instructions, byte).data(), instructions);
    record(wire::kDescribe, payload);
  }

  void run(std::uint32_t exit, const std::vector<std::uint64_t>& slots) {
    words.push_back(exit);
    words.insert(words.end(), slots.begin(), slots.end());
  }

  void enter(std::uint32_t function, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0) {
    record(wire::kFunctionEnter, {function, 0x1000, 0x400000, a, b, c});
  }
  void leave(std::uint32_t function, std::uint64_t result = 0) { record(wire::kFunctionLeave, {function, result, 1}); }
};

struct Outcome {
  std::unique_ptr<trace::Reader> reader;
  std::vector<std::uint64_t> first_slots;  // of each event
  std::vector<trace::SideData> sides;
};

class IngestTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/loopfold-ingest-XXXXXX";
    directory_ = ::mkdtemp(name);
    writer_ = std::move(*trace::Writer::create(directory_ + "/trace.lft", {}));
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  Outcome ingest(const Wire& wire, bool as_tail = false) {
    Ingest ingest(*writer_, options_, "/prog");
    if (as_tail) {
      ingest.consume_tail(wire.words);
    } else {
      EXPECT_EQ(ingest.consume(wire.words).words, wire.words.size());
    }
    end_ = ingest.end_info();
    done_ = ingest.done();
    writer_->finish(end_);
    Outcome outcome;
    outcome.reader = std::move(*trace::Reader::open(directory_ + "/trace.lft"));
    trace::Cursor cursor = outcome.reader->cursor();
    for (;;) {
      const auto item = cursor.next();
      EXPECT_TRUE(item.has_value());
      if (!item || *item == trace::Cursor::Item::kEnd) break;
      if (*item == trace::Cursor::Item::kSide) {
        outcome.sides.push_back(cursor.side().data);
      } else {
        const auto slots = cursor.event().slots;
        outcome.first_slots.push_back(slots.empty() ? 0 : slots[0]);
      }
    }
    return outcome;
  }

  template <typename T>
  static std::vector<T> all(const Outcome& outcome) {
    std::vector<T> found;
    for (const trace::SideData& side : outcome.sides) {
      if (const T* one = std::get_if<T>(&side)) found.push_back(*one);
    }
    return found;
  }

  std::string directory_;
  std::unique_ptr<trace::Writer> writer_;
  RecordOptions options_;
  trace::EndInfo end_;
  bool done_ = false;
};

constexpr std::uint32_t kA = wire::kFirstExit;
constexpr std::uint32_t kB = wire::kFirstExit + 1;

TEST_F(IngestTest, records_from_main_to_its_return) {
  Wire wire;
  wire.start();
  wire.describe(kA, 0x1000, 2, trace::ExitKind::kNext);
  wire.run(kA, {1, 0});
  wire.enter(wire::kFunctionMain);
  wire.run(kA, {2, 0});
  wire.run(kA, {3, 0});
  wire.leave(wire::kFunctionMain);
  wire.run(kA, {4, 0});
  const Outcome outcome = ingest(wire);
  EXPECT_EQ(outcome.first_slots, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(end_.instructions, 4u);
  EXPECT_EQ(all<trace::Recording>(outcome), (std::vector<trace::Recording>{{true}, {false}}));
}

TEST_F(IngestTest, from_the_start_means_everything) {
  options_.scope = Scope::kStart;
  Wire wire;
  wire.start();
  wire.describe(kA, 0x1000, 1, trace::ExitKind::kNext);
  wire.run(kA, {1});
  wire.enter(wire::kFunctionMain);
  wire.run(kA, {2});
  wire.leave(wire::kFunctionMain);
  wire.run(kA, {3});
  EXPECT_EQ(ingest(wire).first_slots, (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(IngestTest, only_records_every_activation) {
  options_.scope = Scope::kOnly;
  Wire wire;
  wire.start();
  wire.describe(kA, 0x1000, 1, trace::ExitKind::kNext);
  for (std::uint64_t i = 0; i < 3; i++) {
    wire.run(kA, {10 * i});
    wire.enter(wire::kFunctionScope);
    wire.run(kA, {10 * i + 1});
    wire.leave(wire::kFunctionScope);
  }
  EXPECT_EQ(ingest(wire).first_slots, (std::vector<std::uint64_t>{1, 11, 21}));
}

TEST_F(IngestTest, the_allocator_is_hidden_and_counted) {
  options_.scope = Scope::kStart;
  Wire wire;
  wire.start();
  wire.describe(kA, 0x1000, 3, trace::ExitKind::kCall, 0);
  wire.describe(kB, 0x2000, 5, trace::ExitKind::kNext);
  wire.run(kA, {0x7000, 0, 0});
  wire.enter(wire::kFunctionCalloc, 6, 7);
  wire.run(kB, {1, 2, 3, 4, 5});
  wire.run(kB, {1, 2, 3, 4, 5});
  wire.leave(wire::kFunctionCalloc, 0xabc0);
  wire.run(kA, {0x7000, 0, 0});
  const Outcome outcome = ingest(wire);
  EXPECT_EQ(outcome.first_slots.size(), 2u);
  EXPECT_EQ(end_.instructions, 6u);
  EXPECT_EQ(end_.hidden_instructions, 10u);
  const auto made = all<trace::Allocation>(outcome);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].function, trace::Allocation::Function::kCalloc);
  EXPECT_EQ(made[0].address, 0xabc0u);
  EXPECT_EQ(made[0].size, 42u);
  EXPECT_EQ(made[0].hidden_instructions, 10u);
  ASSERT_EQ(outcome.reader->stacks().size(), 1u);
  EXPECT_EQ(outcome.reader->stacks()[made[0].stack], (trace::CallStack{0x1003}));
}

TEST_F(IngestTest, other_threads_are_seen_while_one_is_in_the_allocator) {
  options_.scope = Scope::kStart;
  Wire wire;
  wire.start();
  wire.describe(kA, 0x1000, 1, trace::ExitKind::kNext);
  wire.enter(wire::kFunctionMalloc, 8);
  wire.run(kA, {1});
  wire.record(wire::kThread, {1});
  wire.record(wire::kThreadStart, {1, 0, 78});
  wire.run(kA, {2});
  wire.record(wire::kThread, {0});
  wire.run(kA, {3});
  wire.leave(wire::kFunctionMalloc, 0x5000);
  wire.run(kA, {4});
  const Outcome outcome = ingest(wire);
  EXPECT_EQ(outcome.first_slots, (std::vector<std::uint64_t>{2, 4}));
  EXPECT_EQ(all<trace::Allocation>(outcome)[0].hidden_instructions, 2u);
}

TEST_F(IngestTest, a_handler_that_interrupts_the_allocator_is_seen_and_may_allocate_itself) {
  options_.scope = Scope::kStart;
  Wire wire;
  wire.start();
  wire.describe(kA, 0x1000, 1, trace::ExitKind::kNext);
  wire.enter(wire::kFunctionMalloc, 8);
  wire.run(kA, {1});
  wire.record(wire::kSignalEnter, {10, 0});
  wire.run(kA, {2});
  wire.enter(wire::kFunctionMalloc, 16);
  wire.run(kA, {3});
  wire.leave(wire::kFunctionMalloc, 0x6000);
  wire.record(wire::kSignalReturn, {10});
  wire.run(kA, {4});
  wire.leave(wire::kFunctionMalloc, 0x5000);
  const Outcome outcome = ingest(wire);
  EXPECT_EQ(outcome.first_slots, (std::vector<std::uint64_t>{2}));
  const auto made = all<trace::Allocation>(outcome);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].address, 0x6000u);
  EXPECT_EQ(made[0].hidden_instructions, 1u);
  EXPECT_EQ(made[1].address, 0x5000u);
  EXPECT_EQ(made[1].size, 8u);
  EXPECT_EQ(made[1].hidden_instructions, 2u);
}

TEST_F(IngestTest, a_handler_left_by_longjmp_takes_the_interrupted_allocation_along) {
  options_.scope = Scope::kStart;
  Wire wire;
  wire.start();
  wire.describe(kA, 0x1000, 1, trace::ExitKind::kNext);
  wire.enter(wire::kFunctionMalloc, 8);
  wire.run(kA, {1});
  wire.record(wire::kSignalEnter, {11, 0});
  wire.run(kA, {2});
  wire.leave(wire::kFunctionMalloc, 0);
  wire.run(kA, {3});
  const Outcome outcome = ingest(wire);
  EXPECT_EQ(outcome.first_slots, (std::vector<std::uint64_t>{2, 3}));
  ASSERT_EQ(all<trace::Allocation>(outcome).size(), 1u);
  EXPECT_EQ(end_.hidden_instructions, 1u);
}

TEST_F(IngestTest, retranslated_blocks_are_one_block_and_changed_bytes_another) {
  options_.scope = Scope::kStart;
  Wire wire;
  wire.start();
  wire.describe(kA, 0x1000, 2, trace::ExitKind::kNext);
  wire.run(kA, {1, 0});
  wire.describe(kB, 0x1000, 2, trace::ExitKind::kNext);
  wire.run(kB, {2, 0});
  wire.describe(kB + 1, 0x1000, 2, trace::ExitKind::kNext, wire::kNoSlot, 0xcc);
  wire.run(kB + 1, {3, 0});
  const Outcome outcome = ingest(wire);
  EXPECT_EQ(outcome.first_slots, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(outcome.reader->blocks().size(), 2u);
  EXPECT_EQ(outcome.reader->exits().size(), 2u);
}

TEST_F(IngestTest, a_fault_leaves_the_completed_instructions) {
  options_.scope = Scope::kStart;
  Wire wire;
  wire.start();
  wire.describe(kA, 0x1000, 4, trace::ExitKind::kNext);
  wire.record(wire::kInterrupted, {kA, 0x1002, 11, 22, 0, 0});
  wire.record(wire::kInterrupted, {kA, 0x1000, 0, 0, 0, 0});  // the first instruction faults: nothing ran
  wire.record(wire::kInterrupted, {kA, 0x1002, 33, 44, 0, 0});
  const Outcome outcome = ingest(wire);
  EXPECT_EQ(outcome.first_slots, (std::vector<std::uint64_t>{11, 33}));
  EXPECT_EQ(end_.instructions, 4u);
  ASSERT_EQ(outcome.reader->exits().size(), 2u);
  EXPECT_EQ(outcome.reader->exits()[1].kind, trace::ExitKind::kInterrupted);
  EXPECT_EQ(outcome.reader->exits()[1].slots, 2u);
}

TEST_F(IngestTest, stops_at_the_instruction_limit) {
  options_.scope = Scope::kStart;
  options_.max_instructions = 5;
  Wire wire;
  wire.start();
  wire.describe(kA, 0x1000, 2, trace::ExitKind::kNext);
  for (std::uint64_t i = 0; i < 10; i++) wire.run(kA, {i, 0});
  EXPECT_EQ(ingest(wire).first_slots, (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_TRUE(done_);
  EXPECT_EQ(end_.reason, trace::EndInfo::Reason::kInstructionLimit);
}

TEST_F(IngestTest, plain_executions_are_recorded_like_those_that_are_looked_at) {
  options_.scope = Scope::kStart;
  std::mt19937 random(7);
  Wire wire;
  wire.start();
  wire.record(wire::kThreadStart, {1, 0, 78});
  wire.describe(kA, 0x1000, 2, trace::ExitKind::kNext);
  wire.describe(kB, 0x2000, 3, trace::ExitKind::kCall, 1);
  for (std::uint64_t i = 0; i < 3000; i++) {
    const std::uint32_t kind = random() % 16;
    if (kind == 0) {
      wire.record(wire::kThread, {random() % 2});
    } else if (kind == 1) {
      wire.enter(wire::kFunctionMalloc, i);
    } else if (kind == 2) {
      wire.leave(wire::kFunctionMalloc, i);
    } else if (kind < 6) {
      wire.run(kB, {i, 0x7000 - 8 * (i % 100), 0});
    } else {
      wire.run(kA, {i, 0});
    }
  }
  const Outcome plain = ingest(wire);
  const trace::EndInfo plain_end = end_;
  options_.checksum = true;  // every execution is looked at
  writer_ = std::move(*trace::Writer::create(directory_ + "/trace.lft", {}));
  const Outcome seen = ingest(wire);
  EXPECT_GT(plain_end.events, 500u);
  EXPECT_EQ(plain_end.events, end_.events);
  EXPECT_EQ(plain_end.instructions, end_.instructions);
  EXPECT_EQ(plain_end.hidden_instructions, end_.hidden_instructions);
  EXPECT_EQ(plain.first_slots, seen.first_slots);
  EXPECT_EQ(plain.sides, seen.sides);
  EXPECT_EQ(plain.reader->stacks(), seen.reader->stacks());
}

TEST_F(IngestTest, a_torn_tail_gives_what_is_certain) {
  options_.scope = Scope::kStart;
  Ingest ingest(*writer_, options_, "/prog");
  Wire wire;
  wire.start();
  wire.describe(kA, 0x1000, 2, trace::ExitKind::kNext);
  ingest.consume(wire.words);
  Wire tail;
  tail.run(kA, {1, 0});
  tail.run(kA, {2, 0});
  tail.run(kA, {3, 0});  // begun, perhaps not finished
  tail.words.push_back(0);
  tail.run(kA, {9, 0});
  ingest.consume_tail(tail.words);
  EXPECT_EQ(ingest.end_info().events, 2u);
}

TEST_F(IngestTest, nonsense_makes_no_progress_and_no_crash) {
  options_.scope = Scope::kStart;
  Ingest ingest(*writer_, options_, "/prog");
  const std::vector<std::uint64_t> unknown_exit{0x12345, 1, 2};
  EXPECT_EQ(ingest.consume(unknown_exit).words, 0u);
  const std::vector<std::uint64_t> too_long{wire::kMark | std::uint64_t{100} << 32, 1};
  EXPECT_EQ(ingest.consume(too_long).words, 0u);
  const std::vector<std::uint64_t> short_describe{wire::kDescribe | std::uint64_t{4} << 32, 0x1000, kA | 3ull << 32, 0,
                                                  9};
  EXPECT_EQ(ingest.consume(short_describe).words, 5u);
  const std::vector<std::uint64_t> run{kA};
  EXPECT_EQ(ingest.consume(run).words, 0u);
}

}  // namespace
}  // namespace loopfold::recorder
