// Code behind a loop that is the end of its last iteration, and code that is not.
#include "poly/last_end.h"

#include <gtest/gtest.h>

#include "poly/placed_code.h"

namespace loopfold::poly {
namespace {

using testing::Playing;
constexpr ddg::Dependence::Kind kRegister = ddg::Dependence::Kind::kRegister;

// A loop of a, sometimes c, and a branch; behind it a use of something, and a branch.
const std::vector<std::pair<std::string, int>> kLines = {{"start", 1}, {"a", 10},   {"if c", 11},    {"c", 12},
                                                         {"if", 13},   {"use", 20}, {"if back", 21}, {"end", 30}};
const std::vector<std::string> kRun = {"start", "a", "if c", "if", "a",   "if c",    "c",
                                       "if",    "a", "if c", "if", "use", "if back", "end"};

TEST(LastEnd, WhatAnEarlierIterationMade) {
  EXPECT_EQ(Playing(kLines, kRun).leads("if back", "a").judged("a").parallel, Parallel::kYes);
  EXPECT_EQ(Playing(kLines, kRun).flow("c", "use", kRegister).judged("a").parallel, Parallel::kYes);
  Playing cut(kLines, kRun);
  const LoopVerdict verdict = cut.flow("c", "use", kRegister).leads("if back", "a").judged("a");
  EXPECT_EQ(verdict.parallel, Parallel::kUnknown);
  ASSERT_EQ(verdict.doubts.size(), 1u);
  EXPECT_EQ(verdict.doubts[0].count, 1u);
}

TEST(LastEnd, WhatEveryIterationMakes) {
  EXPECT_EQ(Playing(kLines, kRun).flow("a", "use", kRegister).leads("if back", "a").judged("a").parallel,
            Parallel::kYes);
}

TEST(LastEnd, InMemoryItMayBeOfAnyIteration) {
  EXPECT_EQ(Playing(kLines, kRun).flow("a", "use").judged("a").parallel, Parallel::kYes);
  EXPECT_EQ(Playing(kLines, kRun).flow("a", "use").leads("if back", "a").judged("a").parallel, Parallel::kUnknown);
}

TEST(LastEnd, BehindTheBranchNothingIsLeftOfTheIteration) {
  std::vector<std::string> run = kRun;
  std::swap(run[run.size() - 3], run[run.size() - 2]);  // the branch, then the use
  EXPECT_EQ(Playing(kLines, run).flow("c", "use", kRegister).leads("if back", "a").judged("a").parallel,
            Parallel::kYes);
}

TEST(LastEnd, ABranchToSomewhereElseInTheLoop) {
  EXPECT_EQ(Playing(kLines, kRun).flow("c", "use", kRegister).leads("if back", "c").judged("a").parallel,
            Parallel::kYes);
}

}  // namespace
}  // namespace loopfold::poly
