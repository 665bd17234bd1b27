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

}  // namespace
}  // namespace loopfold::structure::testing
