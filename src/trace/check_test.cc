// Hand-made traces, each breaking one rule or coming close to it.
#include "trace/check.h"

#include <gtest/gtest.h>

#include <string>

#include "trace/testing.h"
#include "trace/writer.h"

namespace loopfold::trace {
namespace {

constexpr std::uint64_t kStack = 0x1ffefff000;

/// Writes a trace step by step. Thread 0 has started and recording is on.
class Script {
 public:
  Script() : writer_(std::move(*Writer::create(file_.path(), RunInfo{}))) {
    side(0, ThreadStart{0, 1});
    side(0, Recording{true});
  }

  /// A block of one instruction of four bytes with one exit.
  ExitId block(std::uint64_t address, ExitKind kind, std::optional<std::uint64_t> target = std::nullopt,
               std::vector<Access> accesses = {}) {
    Block block;
    block.id = exits_;
    block.address = address;
    block.bytes = {0x90, 0x90, 0x90, 0x90};
    block.lengths = {4};
    block.accesses = std::move(accesses);
    writer_->add_block(block);
    Exit exit;
    exit.id = exits_;
    exit.block = exits_;
    exit.kind = kind;
    exit.instructions = 1;
    exit.accesses = static_cast<std::uint16_t>(block.accesses.size());
    exit.slots = exit.accesses;
    exit.target = target;
    const bool moves_stack = kind == ExitKind::kCall || kind == ExitKind::kIndirectCall || kind == ExitKind::kReturn ||
                             kind == ExitKind::kIndirectJump;
    if (moves_stack) exit.stack_pointer = Value::slot(exit.slots++);
    writer_->add_exit(exit);
    return exits_++;
  }

  static Access access(Access::Kind kind, std::uint32_t slot, std::uint32_t size = 8, bool guarded = false) {
    Access access;
    access.kind = kind;
    access.size = size;
    access.guarded = guarded;
    access.address = Value::slot(slot);
    return access;
  }

  void run(ExitId exit, std::vector<std::uint64_t> slots = {}, ThreadId thread = 0) {
    go_to(thread);
    writer_->event(thread, slice_, exit, slots);
    end_.instructions++;
  }

  void side(ThreadId thread, SideData data) {
    go_to(thread);
    if (const auto* allocation = std::get_if<Allocation>(&data))
      end_.hidden_instructions += allocation->hidden_instructions;
    if (const auto* hidden = std::get_if<Hidden>(&data)) end_.hidden_instructions += hidden->instructions;
    writer_->side({thread, slice_, 0, std::move(data)});
  }

  void allocate(std::uint64_t address, std::uint64_t size, std::uint64_t old = 0, ThreadId thread = 0) {
    Allocation allocation;
    allocation.function = old != 0 ? Allocation::Function::kRealloc : Allocation::Function::kMalloc;
    allocation.address = address;
    allocation.size = size;
    allocation.old_address = old;
    allocation.hidden_instructions = 5;
    side(thread, allocation);
  }

  void release(std::uint64_t address, ThreadId thread = 0) {
    Allocation allocation;
    allocation.function = Allocation::Function::kFree;
    allocation.old_address = address;
    side(thread, allocation);
  }

  EndInfo& end() { return end_; }
  const testing::TempFile& file() const { return file_; }
  void stop_without_end() { writer_.reset(); }

  CheckReport check(std::size_t most = 10) {
    if (writer_) {
      EXPECT_FALSE(writer_->error()) << writer_->error()->message;
      writer_->finish(end_);
    }
    const Result<std::unique_ptr<Reader>> reader = Reader::open(file_.path());
    EXPECT_TRUE(reader) << reader.error().message;
    return trace::check(**reader, most);
  }

 private:
  void go_to(ThreadId thread) {
    if (thread != thread_) slice_++;
    thread_ = thread;
  }

  testing::TempFile file_;
  std::unique_ptr<Writer> writer_;
  EndInfo end_;
  ExitId exits_ = 0;
  ThreadId thread_ = 0;
  std::uint64_t slice_ = 0;
};

std::string first_problem(const CheckReport& report) {
  return report.problems.empty() ? "" : report.problems.front().describe();
}

void expect_sound(Script& script) {
  const CheckReport report = script.check();
  EXPECT_TRUE(report.sound()) << first_problem(report);
}

void expect_problem(Script& script, const std::string& text) {
  const CheckReport report = script.check();
  EXPECT_EQ(report.problem_count, 1u);
  EXPECT_NE(first_problem(report).find(text), std::string::npos) << first_problem(report);
}

TEST(Check, CountsASoundTrace) {
  Script s;
  const ExitId loop = s.block(0x1000, ExitKind::kNext, 0x1000);
  for (int i = 0; i < 5; i++) s.run(loop);
  s.allocate(0x5000, 16);
  const CheckReport report = s.check();
  EXPECT_TRUE(report.sound()) << first_problem(report);
  EXPECT_FALSE(report.partial);
  EXPECT_EQ(report.instructions, 5u);
  EXPECT_EQ(report.hidden_instructions, 5u);
  EXPECT_EQ(report.events, 5u);
  EXPECT_EQ(report.side_events, 3u);
  EXPECT_EQ(report.threads, 1u);
}

TEST(Check, ABlockThatDoesNotFollowIsNamed) {
  Script s;
  const ExitId a = s.block(0x1000, ExitKind::kNext, 0x2000);
  const ExitId b = s.block(0x3000, ExitKind::kNext, 0x1000);
  s.run(a);
  s.run(b);
  expect_problem(s, "thread 0, event 1: control went on at 0x2000, but this block is at 0x3000");
}

TEST(Check, UnseenCodeSuspendsContinuityForOneStep) {
  const std::vector<SideData> hiding = {
      Allocation{}, Hidden{},         Recording{true}, Signal{true, 14, false}, Signal{false, 14, false},
      Fork{7},      Exec{"/bin/true"}};
  for (const SideData& data : hiding) {
    Script s;
    const ExitId a = s.block(0x1000, ExitKind::kNext, 0x2000);
    const ExitId b = s.block(0x3000, ExitKind::kNext, 0x1000);
    s.run(a);
    s.side(0, data);
    s.run(b);
    s.run(a);
    const CheckReport report = s.check();
    EXPECT_TRUE(report.sound()) << data.index() << ": " << first_problem(report);
  }
}

TEST(Check, OtherSideEventsDoNotSuspendContinuity) {
  for (const SideData& data : std::vector<SideData>{Mark{true, "x"}, Mapping{}}) {
    Script s;
    const ExitId a = s.block(0x1000, ExitKind::kNext, 0x2000);
    s.run(a);
    s.side(0, data);
    s.run(a);
    expect_problem(s, "control went on at 0x2000");
  }
}

TEST(Check, ExitsAnsweredByTheKernelOrValgrindPromiseNothing) {
  for (const ExitKind kind :
       {ExitKind::kSyscall, ExitKind::kClientRequest, ExitKind::kTrap, ExitKind::kInterrupted, ExitKind::kOther}) {
    Script s;
    const ExitId a = s.block(0x1000, kind, 0x2000);
    s.run(a);
    s.run(a);
    expect_sound(s);
  }
}

TEST(Check, ContinuityIsPerThread) {
  Script s;
  const ExitId a = s.block(0x1000, ExitKind::kNext, 0x2000);
  const ExitId b = s.block(0x2000, ExitKind::kNext, 0x1000);
  s.side(1, ThreadStart{0, 2});
  s.run(a, {}, 0);
  s.run(a, {}, 1);
  s.run(b, {}, 0);
  s.run(b, {}, 1);
  expect_sound(s);
}

// ---- calls and returns ----

struct Call {
  explicit Call(Script& s)
      : call(s.block(0x1000, ExitKind::kCall, 0x2000, {Script::access(Access::Kind::kStore, 0)})),
        behind(s.block(0x1004, ExitKind::kNext, 0x1000)),
        body(s.block(0x2000, ExitKind::kNext, 0x2004)),
        ret(s.block(0x2004, ExitKind::kReturn, std::nullopt, {Script::access(Access::Kind::kLoad, 0)})),
        elsewhere(s.block(0x3000, ExitKind::kNext, 0x1000)) {}
  ExitId call, behind, body, ret, elsewhere;
};

TEST(Check, AReturnLeadsBehindItsCall) {
  Script s;
  const Call c(s);
  s.run(c.call, {kStack - 8, kStack - 8});
  s.run(c.body);
  s.run(c.ret, {kStack - 8, kStack});
  s.run(c.behind);
  expect_sound(s);
}

TEST(Check, AReturnToSomewhereElseIsNamed) {
  Script s;
  const Call c(s);
  s.run(c.call, {kStack - 8, kStack - 8});
  s.run(c.body);
  s.run(c.ret, {kStack - 8, kStack});
  s.run(c.elsewhere);
  expect_problem(s,
                 "thread 0, event 3: the call that the event before returns from goes on at 0x1004, but this block "
                 "is at 0x3000");
}

TEST(Check, AReturnWithAnotherStackPointerIsNotJudged) {
  Script s;
  const Call c(s);
  s.run(c.call, {kStack - 8, kStack - 8});
  s.run(c.body);
  s.run(c.ret, {kStack - 8, kStack + 16});
  s.run(c.elsewhere);
  expect_sound(s);
}

TEST(Check, AnOverwrittenReturnAddressIsNotJudged) {
  for (const std::uint64_t address : {kStack - 8, kStack - 4, kStack - 15}) {
    Script s;
    const Call c(s);
    const ExitId store = s.block(0x2000, ExitKind::kNext, 0x2004, {Script::access(Access::Kind::kStore, 0)});
    s.run(c.call, {kStack - 8, kStack - 8});
    s.run(store, {address});
    s.run(c.ret, {kStack - 8, kStack});
    s.run(c.elsewhere);
    expect_sound(s);
  }
}

TEST(Check, AStoreBesideTheReturnAddressChangesNothing) {
  for (const std::uint64_t address : {kStack - 16, kStack, kStack + 64}) {
    Script s;
    const Call c(s);
    const ExitId store = s.block(0x2000, ExitKind::kNext, 0x2004, {Script::access(Access::Kind::kStore, 0)});
    s.run(c.call, {kStack - 8, kStack - 8});
    s.run(store, {address});
    s.run(c.ret, {kStack - 8, kStack});
    s.run(c.elsewhere);
    expect_problem(s, "goes on at 0x1004");
  }
}

TEST(Check, LongjmpPopsTheFramesItLeaves) {
  Script s;
  const Call c(s);
  const ExitId again = s.block(0x2000, ExitKind::kNext, 0x1000);
  const ExitId jump = s.block(0x2000, ExitKind::kIndirectJump);
  s.run(c.call, {kStack - 8, kStack - 8});
  s.run(again);
  s.run(c.call, {kStack - 40, kStack - 40});
  s.run(again);
  s.run(c.call, {kStack - 80, kStack - 80});
  s.run(jump, {kStack - 16});
  s.run(c.ret, {kStack - 8, kStack});  // of the outermost call
  s.run(c.behind);
  expect_sound(s);
}

// ---- threads and recording ----

TEST(Check, AThreadStartsBeforeItsFirstEvent) {
  Script s;
  const ExitId a = s.block(0x1000, ExitKind::kNext, 0x1000);
  s.run(a, {}, 1);
  s.run(a, {}, 1);
  expect_problem(s, "thread 1, event 0: the thread has an event before its start");
}

TEST(Check, AThreadHasNoEventAfterItsEnd) {
  Script s;
  const ExitId a = s.block(0x1000, ExitKind::kNext, 0x1000);
  s.side(0, ThreadEnd{});
  s.run(a);
  expect_problem(s, "the thread has an event after its end");
}

TEST(Check, TheKernelMayTidyUpBehindAThread) {
  Script s;
  s.side(0, ThreadEnd{});
  s.side(0, KernelAccess{true, KernelAccess::Cause::kOther, 0x5000, 4});
  s.side(0, Mapping{});
  expect_sound(s);
}

TEST(Check, NothingRunsWhileRecordingIsOff) {
  Script s;
  const ExitId a = s.block(0x1000, ExitKind::kNext, 0x1000);
  s.side(0, Recording{false});
  s.run(a);
  expect_problem(s, "an event while recording is off");
}

// ---- memory ----

TEST(Check, AccessesHaveASize) {
  Script s;
  s.block(0x1000, ExitKind::kNext, 0x1000, {Script::access(Access::Kind::kLoad, 0, 0)});
  expect_problem(s, "an access of 0 bytes");
}

TEST(Check, OnlyAGuardedAccessMayBeAtZero) {
  Script s;
  const ExitId guarded = s.block(0x1000, ExitKind::kNext, 0x1000, {Script::access(Access::Kind::kLoad, 0, 8, true)});
  const ExitId plain = s.block(0x1000, ExitKind::kNext, 0x1000, {Script::access(Access::Kind::kLoad, 0)});
  s.run(guarded, {0});
  s.run(plain, {0});
  expect_problem(s, "thread 0, event 1: a load of 8 bytes at 0x0");
}

TEST(Check, LiveHeapBlocksDoNotOverlap) {
  Script s;
  s.allocate(0x5000, 64);
  s.allocate(0x503f, 8);
  expect_problem(s, "the new heap block 0x503f..0x5047 overlaps 0x5000..0x5040");
}

TEST(Check, FreedAndMovedBlocksMakeRoom) {
  Script s;
  s.allocate(0x5000, 64);
  s.release(0x5000);
  s.allocate(0x5010, 64);
  s.allocate(0x6000, 64, 0x5010);  // realloc that moves
  s.allocate(0x5000, 256);
  s.allocate(0x6000, 128, 0x6000);  // realloc in place
  s.allocate(0x5100, 1);
  s.allocate(0x5101, 0);
  s.release(0x9999);  // from before the recording
  expect_sound(s);
}

TEST(Check, AFailedReallocKeepsTheOldBlock) {
  Script s;
  s.allocate(0x5000, 64);
  s.allocate(0, 128, 0x5000);
  s.allocate(0x5000, 8);
  expect_problem(s, "overlaps");
}

TEST(Check, AnotherThreadMayGetABlockBeforeFreeIsBack) {
  Script s;
  const ExitId a = s.block(0x1000, ExitKind::kNext, 0x1000);
  s.side(1, ThreadStart{0, 2});
  s.allocate(0x5000, 64);
  s.run(a, {}, 0);
  s.allocate(0x5000, 64, 0, 1);
  s.release(0x5000, 0);
  s.run(a, {}, 0);
  s.allocate(0x5020, 8, 0, 0);  // but the second block is live
  expect_problem(s, "the new heap block 0x5020..0x5028 overlaps 0x5000..0x5040, allocated by thread 1");
}

TEST(Check, AFreeThatComesTooLateDoesNotExcuseAnOverlap) {
  Script s;
  const ExitId a = s.block(0x1000, ExitKind::kNext, 0x1000);
  s.side(1, ThreadStart{0, 2});
  s.allocate(0x5000, 64);
  s.allocate(0x5000, 64, 0, 1);
  s.run(a, {}, 0);
  s.release(0x5000, 0);
  expect_problem(s, "overlaps");
}

// ---- the file ----

TEST(Check, TheEndRecordIsComparedWithTheCounts) {
  Script s;
  s.run(s.block(0x1000, ExitKind::kNext, 0x1000));
  s.end().instructions = 7;
  s.end().hidden_instructions = 9;
  const CheckReport report = s.check();
  EXPECT_EQ(report.problem_count, 2u);
  EXPECT_EQ(first_problem(report), "the end record says 7 instructions, but there are 1");
}

TEST(Check, ATraceWithoutEndIsSoundButPartial) {
  Script s;
  s.run(s.block(0x1000, ExitKind::kNext, 0x1000));
  s.stop_without_end();
  const CheckReport report = s.check();
  EXPECT_TRUE(report.sound()) << first_problem(report);
  EXPECT_TRUE(report.partial);
  EXPECT_EQ(report.events, 1u);
}

TEST(Check, ACutOffFileIsSoundAndADamagedOneIsNot) {
  Script s;
  s.run(s.block(0x1000, ExitKind::kNext, 0x1000));
  s.stop_without_end();
  std::vector<char> bytes = s.file().bytes();
  s.file().set_bytes({bytes.begin(), bytes.end() - 3});
  CheckReport report = s.check();
  EXPECT_TRUE(report.sound()) << first_problem(report);
  EXPECT_TRUE(report.partial);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  s.file().set_bytes(bytes);
  report = s.check();
  EXPECT_EQ(report.problem_count, 1u);
  EXPECT_NE(first_problem(report).find("checksum"), std::string::npos) << first_problem(report);
}

TEST(Check, KeepsTheFirstProblemsAndCountsAll) {
  Script s;
  const ExitId a = s.block(0x1000, ExitKind::kNext, 0x2000);
  for (int i = 0; i < 500; i++) s.run(a);
  const CheckReport report = s.check(3);
  EXPECT_EQ(report.problem_count, 499u);
  ASSERT_EQ(report.problems.size(), 3u);
  EXPECT_EQ(report.problems[2].position, 3u);
}

}  // namespace
}  // namespace loopfold::trace
