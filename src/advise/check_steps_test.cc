#include "advise/check_steps.h"

#include <gtest/gtest.h>

namespace loopfold::advise {
namespace {

using Kind = Step::Kind;

Step one(const std::string& text) {
  const Result<ScheduleText> parsed = parse_schedule(text);
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().message);
  EXPECT_EQ(parsed->steps.size(), 1U) << text;
  return parsed->steps.empty() ? Step{} : parsed->steps.front();
}

TEST(CheckSteps, AllOfThem) {
  EXPECT_EQ(one("interchange 12 13").kind, Kind::kInterchange);
  const Step tile = one("tile 12,13,a.c:14 32");
  EXPECT_EQ(tile.kind, Kind::kTile);
  ASSERT_EQ(tile.loops.size(), 3U);
  EXPECT_EQ(tile.loops[2].file, "a.c");
  EXPECT_EQ(tile.loops[2].line, 14);
  EXPECT_EQ(tile.number, 32);
  EXPECT_FALSE(one("parallel 12").reduction);
  EXPECT_TRUE(one("parallel 12 reduction").reduction);
  EXPECT_EQ(one("vector 9").kind, Kind::kVector);
  EXPECT_FALSE(one("vector 9").reduction);
  EXPECT_EQ(one("vector 9 reduction").kind, Kind::kVector);
  EXPECT_TRUE(one("vector 9 reduction").reduction);
  EXPECT_EQ(one("skew 13 12 -2").number, -2);
  EXPECT_EQ(one("fuse 3 4").kind, Kind::kFuse);
  EXPECT_FALSE(one("distribute 3").at.has_value());
  EXPECT_EQ(one("distribute 3 at 5").at->line, 5);
  EXPECT_EQ(one("reverse 3@17").loops[0].node, 17U);
  EXPECT_EQ(one("private tmp").variable, "tmp");
}

TEST(CheckSteps, LinesSemicolonsAndComments) {
  const Result<ScheduleText> parsed = parse_schedule("# first\n interchange 1 2 ;parallel 1\n\nvector 2 # last\n");
  ASSERT_TRUE(parsed.has_value());
  ASSERT_EQ(parsed->steps.size(), 3U);
  EXPECT_EQ(parsed->steps[1].text, "parallel 1");
  EXPECT_TRUE(parse_schedule(" \n# nothing\n")->steps.empty());
}

TEST(CheckSteps, MapsOfIsl) {
  const Result<ScheduleText> parsed = parse_schedule("# as written\n{ S1[i] -> [i] }  # a.c:3\n");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_TRUE(parsed->steps.empty());
  EXPECT_EQ(parsed->isl.substr(0, 16), "{ S1[i] -> [i] }");
}

TEST(CheckSteps, ErrorsNameTheStep) {
  for (const char* text :
       {"interchange 1", "tile 1 0", "tile x 3", "parallel 1 fast", "vector 1 fast", "reverse 1 reduction", "skew 1 2",
        "distribute 1 to 2", "reverse 0", "reverse 1@x", "unroll 3", "private", "fuse 1 2 3"}) {
    const Result<ScheduleText> parsed = parse_schedule(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_NE(parsed.error().message.find(text), std::string::npos) << parsed.error().message;
  }
}

}  // namespace
}  // namespace loopfold::advise
