// What goes between a loop and iterations that stand beside it: a loop of two instructions (a store, a branch), and
// pieces of the same and of other lines around it, with flow made by hand.
#include "poly/taken_out.h"

#include <gtest/gtest.h>

#include "poly/placed_code.h"

namespace loopfold::poly {
namespace {

using testing::Playing;

const std::vector<std::pair<std::string, int>> kLines = {{"start", 1}, {"a", 10},      {"if", 11},    {"copy", 10},
                                                         {"lost", 0},  {"aside+", 11}, {"other", 20}, {"end", 30}};
const std::vector<std::string> kAlone = {"start", "a", "if", "a", "if", "a", "if", "lost", "aside+", "other", "end"};
const std::vector<std::string> kBehind = {"start", "a",    "if",   "a",      "if",    "a",
                                          "if",    "copy", "lost", "aside+", "other", "end"};
const std::vector<std::string> kBefore = {"start", "copy", "lost", "aside+", "other", "a",
                                          "if",    "a",    "if",   "a",      "if",    "end"};

TEST(TakenOut, WhatGoesToAnIterationBehindTheLoop) {
  EXPECT_EQ(Playing(kLines, kBehind).judged("a").parallel, Parallel::kYes);
  EXPECT_EQ(Playing(kLines, kBehind).flow("a", "other").judged("a").parallel, Parallel::kYes);
  const LoopVerdict verdict = Playing(kLines, kBehind).flow("a", "copy").judged("a");
  EXPECT_EQ(verdict.parallel, Parallel::kUnknown);
  ASSERT_EQ(verdict.doubts.size(), 1u);
  EXPECT_EQ(verdict.doubts[0].count, 1u);
}

TEST(TakenOut, WhatComesFromAnIterationBeforeTheLoop) {
  EXPECT_EQ(Playing(kLines, kBefore).judged("a").parallel, Parallel::kYes);
  EXPECT_EQ(Playing(kLines, kBefore).flow("other", "a").judged("a").parallel, Parallel::kYes);
  EXPECT_EQ(Playing(kLines, kBefore).flow("copy", "a").judged("a").parallel, Parallel::kUnknown);
}

TEST(TakenOut, PlacesThatACompilerForgotMayBeCopiesIfThereAreOthers) {
  for (const char* name : {"lost", "aside+"}) {
    EXPECT_EQ(Playing(kLines, kBehind).flow("a", name).judged("a").parallel, Parallel::kUnknown) << name;
    EXPECT_EQ(Playing(kLines, kBefore).flow(name, "a").judged("a").parallel, Parallel::kUnknown) << name;
  }
  EXPECT_EQ(Playing(kLines, kAlone).flow("a", "lost").judged("a").parallel, Parallel::kYes);
}

TEST(TakenOut, ACallThatIsLeftOver) {
  const std::vector<std::pair<std::string, int>> lines = {{"start", 1},  {"a", 10},   {"call", 11},  {"if", 12},
                                                          {"call2", 11}, {"end", 20}, {"call3", 13}, {"end3", 20}};
  std::vector<std::string> run = {"start",  "a",  "call", "called", "if",     "a", "call",
                                  "called", "if", "a",    "call",   "called", "if"};
  std::vector<std::string> copy = run;
  copy.insert(copy.end(), {"call2", "called", "end"});
  EXPECT_EQ(Playing(lines, copy).judged("a").parallel, Parallel::kYes);
  EXPECT_EQ(Playing(lines, copy).flow("called", "called").judged("a").parallel, Parallel::kUnknown);
  run.insert(run.end(), {"call3", "called", "end3"});
  EXPECT_EQ(Playing(lines, run).flow("called", "called").judged("a").parallel, Parallel::kYes);
}

TEST(TakenOut, AnInnerLoopThatIsLeftOver) {
  const std::vector<std::pair<std::string, int>> lines = {
      {"start", 1}, {"o", 11},   {"i", 12}, {"i2", 13}, {"if", 13},  {"ifo", 14}, {"j", 0},
      {"j2", 13},   {"ifj", 13}, {"k", 0},  {"k2", 17}, {"ifk", 17}, {"end", 20}};
  std::vector<std::string> run = {"start", "o", "i", "i2", "if", "i", "i2", "if", "ifo"};
  run.insert(run.end(), {"o", "i", "i2", "if", "i", "i2", "if", "ifo"});
  std::vector<std::string> copy = run;
  copy.insert(copy.end(), {"j", "j2", "ifj", "j", "j2", "ifj", "end"});
  EXPECT_EQ(Playing(lines, copy).judged("o").parallel, Parallel::kYes);
  EXPECT_EQ(Playing(lines, copy).flow("i", "j").judged("o").parallel, Parallel::kUnknown);
  run.insert(run.end(), {"k", "k2", "ifk", "k", "k2", "ifk", "end"});
  EXPECT_EQ(Playing(lines, run).flow("i", "k").judged("o").parallel, Parallel::kYes);
}

}  // namespace
}  // namespace loopfold::poly
