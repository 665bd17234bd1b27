// Values from before a loop that come to the second of two copies of its body.
#include "poly/unrolled.h"

#include <gtest/gtest.h>

#include "poly/placed_code.h"

namespace loopfold::poly {
namespace {

using testing::Playing;
constexpr ddg::Dependence::Kind kRegister = ddg::Dependence::Kind::kRegister;

// Two copies of a load and of a store of something else, and the first two elements, loaded before. The loop goes from
// the name at 5 to that at 9.
const std::vector<std::pair<std::string, int>> kLines = {{"start", 1},  {"load a", 5},  {"load b", 6}, {"store", 7},
                                                         {"other", 8},  {"load 1", 10}, {"put 1", 11}, {"load 2", 10},
                                                         {"put 2", 11}, {"if", 12},     {"end", 20}};

std::vector<std::string> run_of(const std::vector<std::string>& before) {
  std::vector<std::string> run = {"start"};
  run.insert(run.end(), before.begin(), before.end());
  for (int i = 0; i < 4; ++i) run.insert(run.end(), {"load 1", "put 1", "load 2", "put 2", "if"});
  run.push_back("end");
  return run;
}

/// A window: each store gets what was loaded an iteration ago, and at first an element from before the loop.
LoopVerdict judged(const std::vector<std::string>& before, const std::string& second = "load b") {
  return Playing(kLines, run_of(before))
      .reuse("load 1", "put 1")
      .reuse("load 2", "put 2")
      .flow("load a", "put 1", kRegister)
      .flow(second, "put 2", kRegister)
      .judged("put 1");
}

TEST(Unrolled, AWindowWhoseFirstElementsAreStillThere) {
  const LoopVerdict verdict = judged({"load a", "load b", "other"});
  EXPECT_EQ(verdict.parallel, Parallel::kYes);
  EXPECT_EQ(verdict.reload.size(), 2u);
  EXPECT_EQ(judged({"store", "load a", "load b", "other"}).parallel, Parallel::kYes);
}

TEST(Unrolled, AWindowWhoseFirstElementsWereOverwritten) {
  const LoopVerdict verdict = judged({"load a", "load b", "store", "other"});
  EXPECT_EQ(verdict.parallel, Parallel::kUnknown);
  ASSERT_EQ(verdict.doubts.size(), 1u);
  EXPECT_EQ(verdict.doubts[0].count, 1u);
}

TEST(Unrolled, AWindowThatBeginsWithSomethingElse) {
  EXPECT_EQ(judged({"load a", "other"}, "other").parallel, Parallel::kUnknown);
}

}  // namespace
}  // namespace loopfold::poly
