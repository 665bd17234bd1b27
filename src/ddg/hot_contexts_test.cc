#include "ddg/hot_contexts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "structure/random_program.h"
#include "structure/walk_testing.h"

namespace loopfold::ddg {
namespace {

using structure::testing::Script;
using structure::testing::Walked;

constexpr std::uint64_t A = 0x1000, B = 0x1100, C = 0x1200, D = 0x1300;

/// A calls B twice, and B calls C twice: three places of A, two times three of B, four times one of C.
TEST(HotContexts, StatementsAreExpectedOncePerWayOfCalls) {
  Script script;
  script.start(A);
  for (int i = 0; i < 2; ++i) {
    script.call(B);
    for (int j = 0; j < 2; ++j) {
      script.call(C);
      script.ret();
    }
    script.ret();
  }
  script.exit(trace::ExitKind::kSyscall, A);
  const Walked walked(script.finish());
  EXPECT_EQ(expected_statements(walked.structure), 3u + 2 * 3 + 4 * 1);
  EXPECT_TRUE(hot_contexts(walked.structure, walked.by_runs, 3 + 2 * 3 + 4 * 1).empty());
  EXPECT_FALSE(hot_contexts(walked.structure, walked.by_runs, 3 + 2 * 3 + 4 * 1 - 1).empty());
}

/// Circles of calls are gone round once.
TEST(HotContexts, RecursionIsNoEndlessExpectation) {
  Script script;
  script.start(A);
  script.call(B);
  for (int i = 0; i < 3; ++i) script.call(C), script.call(B);
  for (int i = 0; i < 7; ++i) script.ret();
  script.exit(trace::ExitKind::kSyscall, A);
  const Walked walked(script.finish());
  EXPECT_GE(expected_statements(walked.structure), walked.structure.flow.functions().size());
  EXPECT_LE(expected_statements(walked.structure), 16u);
}

/// Without recursion, never fewer than there can be: pass 2 is not begun in vain.
TEST(HotContexts, RandomProgramsHaveNoMoreThanExpected) {
  int compared = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    structure::testing::ProgramOptions options;
    const structure::testing::Story story =
        structure::testing::RandomProgram(structure::testing::seed(i), options).run();
    const Walked walked(story);
    const auto is_recursive = [](const structure::Context& context) {
      return context.kind == structure::Context::Kind::kRecursion;
    };
    const std::span<const structure::Context> contexts = walked.by_runs.contexts();
    if (std::any_of(contexts.begin(), contexts.end(), is_recursive)) continue;
    // A function may be what several kinds of stacks start with.
    const std::uint64_t most = 3 * expected_statements(walked.structure);
    EXPECT_TRUE(hot_contexts(walked.structure, walked.by_runs, most).empty()) << "seed " << i;
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

}  // namespace
}  // namespace loopfold::ddg
