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

}  // namespace
}  // namespace loopfold::structure::testing
