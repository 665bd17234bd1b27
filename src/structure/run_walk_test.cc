// Run by run gives what event by event gives.
#include "structure/run_walk.h"

#include <gtest/gtest.h>

#include "structure/walk_testing.h"

namespace loopfold::structure::testing {
namespace {

constexpr std::uint64_t kMain = 0x1000, kF = 0x2000, kG = 0x3000;

std::uint64_t longest_run(const Story& story) {
  std::uint64_t longest = 0;
  trace::RunCursor cursor = story.reader->runs();
  while (*cursor.next() != trace::RunCursor::Item::kEnd) longest = std::max(longest, cursor.run().iterations);
  return longest;
}

/// A client that counts what it is told.
class Counting {
 public:
  struct Frame {
    friend bool operator==(const Frame&, const Frame&) = default;
  };
  struct Stack {};
  using S = Activations<Counting>::Stack;

  void begin(S&) {}
  void call(S&) {}
  bool keeps_tail_caller(S&, PlaceId) { return true; }
  void tail_call(S&, bool) {}
  void leave(S&) {}
  void end(S&) {}
  void jump(S&, PlaceId) {}
  void land(S&, PlaceId) {}
  bool was_at(PlaceId) const { return false; }
  void set_thread(trace::ThreadId) {}
  void run_part(S&, const Part&) { ++parts; }
  void mark(S&) {}
  void begin_path(S&) { parts_before_ = parts; }
  PathEnd end_path(S&, std::size_t slot) {
    length_[slot] = parts - parts_before_;
    return PathEnd::kRepeatable;
  }
  void repeat(S&, std::size_t slot, std::uint64_t times) { repeated += times * length_[slot]; }
  void stop_watching() {}

  std::uint64_t parts = 0;
  std::uint64_t repeated = 0;

 private:
  std::uint64_t parts_before_ = 0;
  std::array<std::uint64_t, trace::kMaxRunPaths> length_{};
};

Counting counted(const Story& story) {
  const CodeMap code(*story.reader, story.facts);
  std::vector<std::uint8_t> starts(code.places());
  Counting counting;
  RunWalk<Counting> walk(code, starts, counting);
  std::string damage;
  walk.walk(*story.reader, damage);
  return counting;
}

/// How many parts pass 2 walks, runs not expanded.
struct PartsWalked {
  static constexpr bool kEveryPart = true;
  template <class Walk>
  void part(const Walk&, const typename Walk::S&, const Part&) {
    ++count;
  }
  std::uint64_t count = 0;
};

std::uint64_t walked_in_pass_2(const Story& story) {
  const Structure structure = find_structure(*story.reader, story.facts, false);
  std::vector<std::uint8_t> starts = structure.flow.starts();
  LoopTree tree;
  PartsWalked walked;
  LoopWalk<PartsWalked> client(structure, tree, walked);
  RunWalk<LoopWalk<PartsWalked>> walk(structure.code, starts, client, false);
  std::string damage;
  walk.walk(*story.reader, damage);
  return walked.count;
}

/// A loop with a call and a branch: the client hears of each path once or twice, and of the rest in one number.
TEST(RunWalk, RegularRunsAreNotExpanded) {
  Script script;
  script.start(kMain);
  script.jump(kMain + 0x20);
  for (int i = 0; i < 100000; ++i) {
    script.call(kF);
    script.ret();
    if (i % 7 == 3) script.jump(kMain + 0x40);
    script.jump(kMain + 0x20);
  }
  script.jump(kMain + 0x60);
  const Story story = script.finish();
  const Counting counting = counted(story);
  EXPECT_LE(counting.parts, 100u);
  EXPECT_EQ(counting.parts + counting.repeated, Walked(story).check.parts);
  EXPECT_LE(walked_in_pass_2(story), 100u);
}

/// Stack pointers that change (alloca), system calls and signals in the middle, a call of malloc in every iteration and
/// in some, a longjmp that goes on with the loop.
TEST(RunWalk, RunsWithThingsInside) {
  constexpr std::uint64_t kLoop = kG + 0x20;
  for (int kind = 0; kind < 7; ++kind) {
    SCOPED_TRACE(kind);
    Script script;
    script.start(kMain);
    script.call(kG);
    script.jump(kLoop);
    for (int i = 0; i < 30; ++i) {
      if (kind == 0) script.alloca(16);
      if (kind == 1 && i % 4 == 0) script.alloca(16 * static_cast<std::uint64_t>(i));
      script.call(kF);
      script.jump(kF + 0x20);
      if (kind == 2 && i % 9 == 5) {
        script.signal_enter(0x7000);
        script.ret_behind(0x7800);
        script.signal_return();
      }
      if (kind == 3) script.exit(trace::ExitKind::kSyscall, kF + 0x40);
      if (kind == 4 || (kind == 5 && i % 3 == 0)) script.call_malloc();
      if (kind == 6) {
        script.call(kMain + 0x800);
        script.unwind(2, kLoop + 8);
      } else {
        script.ret();
      }
      script.jump(kLoop);
    }
    script.jump(kG + 0x100);
    const Story story = script.finish();
    expect_as_defined(story, Walked(story));
  }
}

/// The same loop again and again, in many groups, with malloc returning for a stub that jumped to it.
TEST(RunWalk, StubThatJumpsToMalloc) {
  Script script;
  script.start(kMain);
  for (int i = 0; i < 200; ++i) {
    script.call(kF);
    script.jump_to_malloc();
    script.jump(kMain);
    if (i % 50 == 7) script.flush();
  }
  const Story story = script.finish();
  EXPECT_GE(longest_run(story), 40u);
  expect_as_defined(story, Walked(story));
  EXPECT_LE(counted(story).parts, 120u);
}

/// A loop inside a recursion is left by the recursive call and entered again behind it, in the middle.
TEST(RunWalk, LoopThatCallsItsOwnFunction) {
  for (const int depth : {0, 3}) {
    Script script;
    script.start(kMain);
    script.call(kF);
    for (int i = 0; i < depth; ++i) script.call(kF);
    script.jump(kF + 0x20);
    for (int i = 0; i < 40; ++i) {
      script.call(kF);
      script.jump(kF + 0x80);
      script.ret();
      if (i % 5 == 0) script.jump(kF + 0x60);
      script.jump(kF + 0x20);
    }
    for (int i = 0; i <= depth; ++i) {
      script.jump(kF + 0x80);
      script.ret();
    }
    script.jump(kMain + 0x20);
    const Story story = script.finish();
    EXPECT_GE(longest_run(story), 10u);
    expect_as_defined(story, Walked(story));
  }
}

/// switch (x) { case 1: f(); case 2: p = malloc(1); }: the table leads to what is behind the call of f, which is also
/// where an outer f waits. malloc elsewhere in the run must not make the jump a return.
TEST(RunWalk, HiddenCodeElsewhereInTheRun) {
  Script script;
  script.start(kMain);
  script.call(kF);  // main calls f, f calls itself
  script.call(kF);
  for (int i = 0; i < 10; ++i) {
    script.jump(kF + 0x100);
    script.jump_indirect(kF + 0x8);
    script.jump(kF + 0x200);
    script.call_malloc();
    script.jump(kF);
  }
  script.jump(kF + 0x300);
  script.ret();
  script.jump(kF + 0x300);
  script.ret();
  script.jump(kMain + 0x100);
  const Story story = script.finish();
  EXPECT_GE(longest_run(story), 9u);
  expect_as_defined(story, Walked(story));
}

/// The header of an inner loop of varying length is also the header of the run: some iterations of the run are
/// iterations of the inner loop, others leave and enter it.
TEST(RunWalk, InnerAndOuterIterationsInOneRun) {
  for (const std::vector<int>& lengths : {std::vector<int>{1, 1, 2, 1, 3, 1, 1, 5, 2, 2, 1}, std::vector<int>(12, 2),
                                          std::vector<int>{4, 1, 1, 1, 1, 1, 1, 7, 1, 1, 1, 1, 1, 1}}) {
    Script script;
    script.start(kMain);
    for (const int length : lengths) {
      script.jump(kMain + 0x40);  // header of the outer loop, behind the inner one
      for (int i = 0; i < length; ++i) script.jump(kMain + 0x20);
    }
    script.jump(kMain + 0x60);
    script.jump(kMain + 0x80);
    const Story story = script.finish();
    EXPECT_GE(longest_run(story), 8u);
    expect_as_defined(story, Walked(story));
  }
}

/// Long inner loops are still one step each where an iteration of the outer one is walked.
TEST(RunWalk, InnerIterationsAreRepeatedBetweenOuterOnes) {
  Script script;
  script.start(kMain);
  for (int i = 0; i < 100; ++i) {
    script.jump(kMain + 0x40);
    for (int j = 0; j < 1000; ++j) script.jump(kMain + 0x20);
  }
  script.jump(kMain + 0x60);
  const Story story = script.finish();
  EXPECT_LE(walked_in_pass_2(story), 1000u);
}

}  // namespace
}  // namespace loopfold::structure::testing
