#include "advise/reuse_advice.h"

#include <gtest/gtest.h>

namespace loopfold::advise {
namespace {

using profile::Loop;
using profile::Region;
using profile::Suggestion;

Region region_with(Loop::Reuse reuse) {
  Region region;
  Loop& loop = region.loops.emplace_back();
  loop.node = 4;
  loop.nodes = {4, 5};
  loop.reuse = reuse;
  return region;
}

Suggestion suggestion_of(const std::string& rule) {
  Suggestion made;
  made.rule = rule;
  made.loops = {4};
  made.requirements.push_back({"unknown", "", std::nullopt, "", std::nullopt});
  return made;
}

TEST(ReuseAdvice, ALoopThatReusesNothingIsLegal) {
  std::vector<Suggestion> all{suggestion_of("LF-PAR")};
  require_reuse(region_with(Loop::Reuse::kNone), all);
  EXPECT_EQ(all[0].legal, Suggestion::Legal::kYes);
  EXPECT_TRUE(all[0].requirements.empty());
}

TEST(ReuseAdvice, WhatIsPrivateOrExpandedIsRequired) {
  Region region = region_with(Loop::Reuse::kExpand);
  profile::Touched t;
  t.variable = "t";
  t.clause = "private(t)";
  region.loops[0].privates.push_back(t);
  profile::Touched a;
  a.variable = "a";
  a.bytes = 80;
  region.loops[0].expand.push_back(a);
  std::vector<Suggestion> all{suggestion_of("LF-RED")};
  require_reuse(region, all);
  EXPECT_EQ(all[0].legal, Suggestion::Legal::kYes);
  ASSERT_EQ(all[0].requirements.size(), 2U);
  EXPECT_EQ(all[0].requirements[0].kind, "private");
  EXPECT_EQ(all[0].requirements[0].clause, "private(t)");
  EXPECT_EQ(all[0].requirements[1].kind, "expand");
  EXPECT_EQ(all[0].requirements[1].bytes, 80U);
}

TEST(ReuseAdvice, WhatIsNotKnownStaysSo) {
  Region region = region_with(Loop::Reuse::kUnknown);
  region.loops[0].reuse_why = "out is accessed at addresses that are not affine";
  std::vector<Suggestion> all{suggestion_of("LF-PAR")};
  require_reuse(region, all);
  EXPECT_EQ(all[0].legal, Suggestion::Legal::kUnknown);
  EXPECT_EQ(all[0].requirements.size(), 1U);
  EXPECT_EQ(all[0].evidence.size(), 1U);
}

/// The row speaks of single iterations, which keep their order.
TEST(ReuseAdvice, BlocksOfIterationsAreNotWhatTheRowIsAbout) {
  Region region = region_with(Loop::Reuse::kNone);
  region.loops[0].blocks = Loop::Parallel::kYes;
  for (const Loop::Parallel verdict : {Loop::Parallel::kNo, Loop::Parallel::kUnknown}) {
    region.loops[0].parallel = verdict;
    std::vector<Suggestion> all{suggestion_of("LF-PAR")};
    require_reuse(region, all);
    EXPECT_EQ(all[0].legal, Suggestion::Legal::kUnknown);
  }
  region.loops[0].parallel = Loop::Parallel::kYes;
  std::vector<Suggestion> all{suggestion_of("LF-PAR")};
  require_reuse(region, all);
  EXPECT_EQ(all[0].legal, Suggestion::Legal::kYes);
}

TEST(ReuseAdvice, NewOrdersAreLeftAlone) {
  std::vector<Suggestion> all{suggestion_of("LF-ICH"), suggestion_of("LF-SIMD")};
  require_reuse(region_with(Loop::Reuse::kNone), all);
  EXPECT_EQ(all[0].legal, Suggestion::Legal::kUnknown);
  EXPECT_EQ(all[1].legal, Suggestion::Legal::kUnknown) << "it comes behind the interchange";
}

}  // namespace
}  // namespace loopfold::advise
