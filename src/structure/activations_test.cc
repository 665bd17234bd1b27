// Frames: every way to call, return and leave, one by one, against what really happened.
#include "structure/activations.h"

#include <gtest/gtest.h>

#include "structure/walk_testing.h"

namespace loopfold::structure::testing {
namespace {

using trace::ExitKind;

constexpr std::uint64_t kMain = 0x1000, kF = 0x2000, kG = 0x3000, kH = 0x4000, kUnder = 0x5000, kLibrary = 0x6000;
constexpr std::uint64_t kHandler = 0x7000, kLongjmp = 0x8000, kSwap = 0x8800;

void add_symbols(Script& script) {
  for (const std::uint64_t start : {kMain, kF, kG, kH, kUnder, kHandler, kLongjmp, kSwap})
    script.add_symbol(start, start + 0x400);
}

/// The addresses of the parts of a context.
std::vector<std::uint64_t> parts_of(const Walked& walked, const std::string& context) {
  std::vector<std::uint64_t> addresses;
  for (const Located& part : walked.seen.parts)
    if (part.context == context) addresses.push_back(part.address);
  return addresses;
}

/// How large the state of a walk becomes.
struct Extent {
  static constexpr bool kEveryPart = true;
  template <class Walk>
  void part(const Walk&, const typename Walk::S& stack, const Part&) {
    frames = std::max(frames, stack.frames.size());
    dimensions = std::max(dimensions, stack.data.dimensions.size());
    ++parts;
  }
  std::size_t frames = 0;
  std::size_t dimensions = 0;
  std::size_t parts = 0;
};

struct Measured {
  explicit Measured(const Story& story) : structure(find_structure(*story.reader, story.facts)) {
    LoopWalk<Extent> walk(structure, tree, extent);
    std::string damage;
    walk.walk(*story.reader, damage);
    EXPECT_EQ(check_vectors(*story.reader, structure).problem, "");
  }
  Structure structure;
  LoopTree tree;
  Extent extent;
};

/// main was called by something that was not recorded: that goes on as the thread's first function. Two threads do it.
TEST(Activations, ReturnOfTheFirstFunction) {
  Script script;
  for (const trace::ThreadId thread : {0u, 1u}) {
    script.set_thread(thread);
    script.start(kMain);
    script.call(kF);
    script.ret();
    script.ret_under(kUnder);
    script.call(kF);
    script.ret();
    script.ret_under(kUnder + 0x100);
    script.jump(kUnder + 0x108);
    script.jump(kUnder + 0x110);
  }
  const Story story = script.finish();
  const Walked walked(story);
  expect_as_defined(story, walked);
  EXPECT_EQ(parts_of(walked, "/thread@5000/call 5000@5000>2000"), (std::vector<std::uint64_t>{kF, kF}));
}

/// qsort is not recorded, but what it calls is: each of its calls is a call of main's, from a place of hidden code.
TEST(Activations, CallbacksFromHiddenCode) {
  for (const bool symbols : {false, true}) {
    Script script;
    add_symbols(script);
    script.start(kMain);
    script.call_back_through(kLibrary, kF);
    for (int i = 0; i < 20; ++i) {
      script.call(kG);
      script.ret();
      i % 3 == 0 ? script.ret_to_next_callback(kH) : script.ret_to_next_callback(kF);
      if (i % 3 == 0) script.ret_to_next_callback(kF);
    }
    script.ret_through_hidden();
    script.jump(kMain + 0x100);
    script.call(kF);
    script.ret();
    script.jump(kMain + 0x200);
    const Story story = script.finish(symbols);
    const Walked walked(story);
    expect_as_defined(story, walked);
    EXPECT_LE(walked.seen.most_frames, 3u);
    EXPECT_EQ(walked.check.stacks, 1u);
    EXPECT_EQ(walked.structure.recursion.size(), 0u);
  }
}

/// The same where the stack pointers differ from call to call, as in a recursive quicksort.
TEST(Activations, CallbacksFromHiddenCodeOfAnyDepth) {
  Script script;
  script.start(kMain);
  script.call_back_through(kLibrary, kF);
  for (int i = 0; i < 20; ++i) {
    script.alloca(16 * static_cast<std::uint64_t>(i % 5));
    script.ret_to_next_callback(kF, 64 * static_cast<std::uint64_t>(i % 7));
  }
  script.ret_through_hidden();
  script.jump(kMain + 0x100);
  const Story story = script.finish();
  const Walked walked(story);
  expect_as_defined(story, walked);
  EXPECT_EQ(walked.check.stacks, 1u);
}

/// Its first function tail-calls another, which returns to what ends coroutines.
TEST(Activations, CoroutineThatTailCalls) {
  Script script;
  add_symbols(script);
  script.start(kMain);
  script.call(kSwap);
  const std::uint32_t main = script.current_stack();
  script.start_coroutine(kF, 0x10000);
  script.jump(kG);
  script.ret_behind(kH);
  script.call(kSwap);
  script.switch_to(main);
  script.jump(kMain + 0x100);
  const Story story = script.finish(true);
  const Walked walked(story);
  expect_as_defined(story, walked);
}

/// siglongjmp to the very function that was interrupted.
TEST(Activations, LongjmpFromHandlerToInterruptedFunction) {
  for (const bool called : {false, true}) {
    Script script;
    add_symbols(script);
    script.start(kMain);
    if (called) {
      script.jump(kMain + 0x20);
      script.call(kF);
    }
    const std::uint64_t function = called ? kF : kMain;
    for (int i = 0; i < 5; ++i) {
      script.jump(function + 0x40);
      script.jump(function + 0x50);
      script.signal_enter(kHandler);
      script.call(kLongjmp);
      script.leave_handler(called ? 2 : 1, function + 0x40);
    }
    script.jump(function + 0x60);
    if (called) script.ret();
    script.jump(kMain + 0x70);
    const Story story = script.finish(true);
    const Walked walked(story);
    expect_as_defined(story, walked);
    EXPECT_EQ(walked.check.stacks, 6u);
  }
}

/// Callees that pop their arguments, a call of the next instruction, an exception, a jump to the own entry.
TEST(Activations, SmallThings) {
  Script script;
  script.start(kMain);
  for (int i = 0; i < 4; ++i) {
    script.call(kF);
    script.call_next();
    script.jump(kF + 0x40);
    script.call(kG);
    script.ret(24);
    script.jump(kF);  // a loop, not a call
    script.jump(kF + 0x60);
    script.ret(8 * static_cast<std::uint64_t>(i));
    script.jump(kMain);
  }
  script.call(kF);
  script.jump(kF + 0x40);
  script.call(kG);
  script.call_indirect(kH);
  script.unwind(2, kF + 0x80, ExitKind::kReturn);
  script.jump(kF + 0x90);
  script.exit(ExitKind::kClientRequest, kF + 0xa0);
  script.exit(ExitKind::kSyscall, kF + 0xb0);
  script.ret();
  const Story story = script.finish();
  const Walked walked(story);
  expect_as_defined(story, walked);
  EXPECT_EQ(walked.structure.flow.functions().size(), 4u);
}

/// A return that pops arguments is a return, not a landing.
TEST(Activations, ReturnsThatPopArguments) {
  Script script;
  script.start(kMain);
  for (const std::uint64_t bytes : {0, 16}) {
    script.call(kF);
    script.ret(bytes);
    script.jump(bytes == 0 ? kMain : kMain + 0x40);
  }
  script.jump(kMain + 0x60);
  const Story story = script.finish();
  const Walked walked(story);
  expect_as_defined(story, walked);
  EXPECT_EQ(walked.structure.flow.functions()[0].places.size(), 3u);
}

/// What is behind setjmp calls g, the first time and after longjmp: the latter comes behind all that was between.
TEST(Activations, CallFromWhereLongjmpLands) {
  Script script;
  script.start(kMain);
  script.call(kF);  // setjmp
  script.ret();
  script.call(kG);
  script.ret();
  for (const std::uint64_t step : {0x40, 0x50, 0x60}) script.jump(kMain + step);
  script.call(kH);
  script.call(kLongjmp);
  script.unwind(1, kMain + 8);
  script.call(kG);
  script.jump(kG + 0x20);
  const Story story = script.finish();
  const Walked walked(story);
  expect_as_defined(story, walked);
  EXPECT_EQ(walked.structure.forests[0].loops().size(), 0u);
}

/// longjmp leads to a place that turns out to be a function later on.
TEST(Activations, LandingThatIsAStart) {
  Script script;
  script.start(kMain);
  script.call(kF);
  script.call(kLongjmp);
  script.unwind(1, kG);
  script.jump(kMain + 0x40);
  script.call_indirect(kG);
  script.ret();
  script.call(kF);
  script.ret();
  script.jump(kMain + 0x80);
  const Walked walked(script.finish());
  EXPECT_EQ(walked.check.problem, "");
  EXPECT_EQ(walked.check.stacks, 2u);  // so it is where a coroutine begins
  for (std::size_t i = 0; i < walked.seen.parts.size(); ++i)
    EXPECT_EQ(walked.seen.places[i], walked.seen.parts[i].address);
}

/// A direct jump, and one through a register, to where a function starts: its return is that of its caller.
TEST(Activations, TailCalls) {
  Script script;
  add_symbols(script);
  script.start(kMain);
  for (int i = 0; i < 5; ++i) {
    script.call(kF);
    script.jump(kF + 0x20);
    script.jump(kG);
    script.jump(kG + 0x20);
    script.tail_call_indirect(kH);
    script.ret();
    script.jump(kMain);
  }
  script.jump(kMain + 0x40);
  const Story story = script.finish(true);
  const Walked walked(story);
  expect_as_defined(story, walked);
  EXPECT_EQ(walked.seen.most_frames, 4u);
  const std::string f = "/thread@1000/loop 1000@1000/call 1000@1000>2000";
  EXPECT_NE(walked.find(f + "/call 2020@2000>3000/call 3020@3000>4000"), nullptr);
}

/// What is called later on is a function from the beginning, also if nothing but a jump led there at first.
TEST(Activations, StartThatIsFoundLate) {
  Script script;
  script.start(kMain);
  for (int i = 0; i < 5; ++i) {
    script.call(kF);
    script.jump(kG);
    script.jump(kG + 0x20);
    script.ret();
    script.jump(kMain);
  }
  script.call_indirect(kG);
  script.ret();
  const Story story = script.finish();
  const Walked walked(story);
  expect_as_defined(story, walked);
  EXPECT_NE(walked.find("/thread@1000/loop 1000@1000/call 1000@1000>2000/call 2000@2000>3000"), nullptr);
}

/// With --only, what comes next has nothing to do with what came before. A thread that ends leaves nothing behind.
TEST(Activations, RecordingAndThreadsEndInTheMiddle) {
  Script script;
  for (const trace::ThreadId thread : {0u, 1u}) {
    script.set_thread(thread);
    script.start(kMain);
    script.call(kF);
    for (int i = 0; i < 5; ++i) script.jump(kF);
    script.call(kG);
    script.signal_enter(kHandler);
    script.call(kF);
    script.ret();
  }
  script.end_thread();
  script.set_thread(0);
  script.set_recording(false);
  script.set_recording(true);
  script.start(kF);
  for (int i = 0; i < 5; ++i) script.jump(kF);
  script.call(kG);
  script.set_thread(1);
  script.start(kH);
  script.call(kG);
  const Story story = script.finish();
  const Walked walked(story);
  expect_as_defined(story, walked);
  EXPECT_EQ(walked.check.stacks, 6u);
}

/// Two coroutines take turns, on stacks above and below the thread's own.
TEST(Activations, CoroutinesTakeTurns) {
  Script script;
  add_symbols(script);
  script.start(kMain);
  script.call(kSwap);
  std::vector<std::uint32_t> waiting = {script.current_stack()};
  waiting.push_back(script.start_coroutine(kF, 0x10000));
  script.call(kG);
  script.call(kSwap);
  waiting.push_back(script.start_coroutine(kF, 0x7fffff000000));
  script.call(kG);
  for (int i = 0; i < 20; ++i) {
    script.call(kSwap);
    script.switch_to(waiting[i % 3]);
    const std::uint64_t loop = i % 3 == 0 ? kMain + 0x100 : kG + 0x100;
    script.jump(loop);
    script.jump(loop + 0x20);
  }
  const Story story = script.finish(true);
  const Walked walked(story);
  expect_as_defined(story, walked);
  EXPECT_EQ(walked.check.stacks, 3u);
}

/// Many coroutines: finding the one to go on with does not take the square of their number.
TEST(Activations, ManyCoroutines) {
  Script script;
  add_symbols(script);
  script.start(kMain);
  std::vector<std::uint32_t> waiting;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    script.call(kSwap);
    waiting.push_back(script.current_stack());
    script.start_coroutine(kF, 0x100000000 + 0x10000 * i);
  }
  for (std::uint64_t i = 0; i < 20000; ++i) {
    script.call(kSwap);
    std::swap(waiting[i % 2000], waiting.back());
    const std::uint32_t next = waiting.back();
    waiting.back() = script.current_stack();
    script.switch_to(next);
    script.jump(i < 2000 && next == waiting[0] ? kMain + 0x40 : kF + 0x40);
  }
  const Story story = script.finish(true);
  EXPECT_EQ(Walked(story).check.stacks, 2001u);
}

/// A coroutine that is entered by a jump to a lower stack pointer looks like a call that does not return: no stack of
/// its own, but nothing grows and nothing breaks.
TEST(Activations, CoroutinesByJumps) {
  Script script;
  add_symbols(script);
  script.start(kMain);
  script.call(kSwap);
  const std::uint32_t main = script.current_stack();
  std::uint32_t other = script.start_coroutine(kF, 0x10000, ExitKind::kIndirectJump);
  for (int i = 0; i < 1000; ++i) {
    script.call(kSwap);
    script.switch_to(main, ExitKind::kIndirectJump);
    script.jump(kMain);
    script.call(kSwap);
    script.switch_to(other, ExitKind::kIndirectJump);
    script.jump(kF);
  }
  const Story story = script.finish(true);
  const Walked walked(story);
  EXPECT_EQ(walked.check.problem, "");
  EXPECT_LE(walked.seen.most_frames, 5u);
  EXPECT_LE(walked.by_runs.contexts().size(), 20u);
}

/// f calls itself 100000 times and returns as often: the state grows with the depth, the vectors and the tree do not.
TEST(Activations, DeepRecursion) {
  constexpr int kDepth = 100000;
  for (const bool unwinds : {false, true}) {
    Script script;
    script.start(kMain);
    script.call(kF);
    for (int i = 0; i < kDepth; ++i) {
      script.jump(kF + 0x20);
      script.call(kF);
    }
    if (unwinds) {
      script.unwind(1, kMain + 0x20);
    } else {
      for (int i = 0; i <= kDepth; ++i) script.ret();
    }
    script.jump(kMain + 0x40);
    const Story story = script.finish();
    const Measured measured(story);
    EXPECT_EQ(measured.extent.frames, kDepth + 2u);
    EXPECT_EQ(measured.extent.dimensions, 2u);
    EXPECT_EQ(measured.tree.contexts().size(), 3u);
    EXPECT_EQ(measured.tree[2].iterations.max, 2u * kDepth + 1);
  }
}

/// int f(n) { return n < 2 ? n : f(n - 1) + f(n - 2); }
void fibonacci(Script& script, int n) {
  if (n >= 2) {
    script.jump(kF + 0x20);
    script.call(kF);
    fibonacci(script, n - 1);
    script.jump(kF + 0x40);
    script.call(kF);
    fibonacci(script, n - 2);
  }
  script.jump(kF + 0x60);
  script.ret();
}

TEST(Activations, TreeRecursion) {
  for (const int n : {5, 18}) {
    Script script;
    script.start(kMain);
    script.call(kF);
    fibonacci(script, n);
    script.jump(kMain + 0x40);
    const Story story = script.finish();
    if (n == 5) expect_as_defined(story, Walked(story));
    const Measured measured(story);
    EXPECT_EQ(measured.extent.dimensions, 2u);
    EXPECT_EQ(measured.tree.contexts().size(), 3u);
  }
}

/// f calls g, g calls f: 20000 times each.
TEST(Activations, MutualRecursion) {
  for (const int depth : {5, 20000}) {
    Script script;
    script.start(kMain);
    script.call(kF);
    for (int i = 0; i < depth; ++i) {
      script.call(kG);
      script.jump(kG + 0x20);
      script.call(kF);
    }
    for (int i = 0; i <= 2 * depth; ++i) script.ret();
    script.jump(kMain + 0x40);
    const Story story = script.finish();
    if (depth == 5) expect_as_defined(story, Walked(story));
    const Measured measured(story);
    EXPECT_EQ(measured.extent.dimensions, 2u);
    EXPECT_EQ(measured.tree.contexts().size(), 4u);
  }
}

/// Three functions that tail-call each other, a million times: no state that grows.
TEST(Activations, MutualTailRecursion) {
  Script script;
  add_symbols(script);
  script.start(kMain);
  script.call(kF);
  for (int i = 0; i < 1000000; i += 3) {
    script.jump(kG);
    script.tail_call_indirect(kH);
    script.jump(kF);
  }
  script.ret();
  script.jump(kMain + 0x40);
  const Measured measured(script.finish(true));
  EXPECT_GE(measured.extent.parts, 1000000u);
  EXPECT_LE(measured.extent.frames, 3u);
  EXPECT_EQ(measured.extent.dimensions, 2u);
  EXPECT_EQ(measured.tree.contexts().size(), 5u);
}

}  // namespace
}  // namespace loopfold::structure::testing
