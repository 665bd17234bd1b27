#include "views/advice_words.h"

#include <gtest/gtest.h>

#include "views/advice_testing.h"

namespace loopfold::views {
namespace {

using profile::Loop;
using profile::Profile;
using profile::Requirement;
using profile::Suggestion;
using profile::Transformed;
using testing::product_profile;

TEST(AdviceWords, a_region_that_has_a_schedule) {
  const Profile profile = product_profile();
  const ReportWords report(profile);
  const Transformations row = AdviceWords(report).transformations(profile.regions[0]);
  EXPECT_EQ(row.parallel, "yes");
  EXPECT_EQ(row.simd, "60.0 %");
  EXPECT_EQ(row.interchange, "13,14");
  EXPECT_EQ(row.tile, "3D");
  EXPECT_EQ(row.skew, "no");
  EXPECT_EQ(row.fuse, "2 to 1");
  EXPECT_EQ(row.why_not, std::vector<std::string>{"SIMD: product.c:14 is a reduction"});
}

TEST(AdviceWords, a_yes_has_an_asterisk_until_reuse_is_decided) {
  Profile profile = product_profile();
  profile.regions[0].loops[1].reuse = Loop::Reuse::kUnknown;
  const ReportWords report(profile);
  EXPECT_EQ(AdviceWords(report).transformations(profile.regions[0]).parallel, "yes*");
  EXPECT_EQ(AdviceWords(report).transformations(profile.regions[0]).simd, "60.0 %*");
}

TEST(AdviceWords, what_is_not_known_says_why) {
  Profile profile = product_profile();
  const ReportWords report(profile);
  const AdviceWords words(report);
  Transformations row = words.transformations(profile.regions[1]);
  EXPECT_EQ(row.parallel + row.simd + row.interchange + row.tile + row.skew + row.fuse, "??????");
  EXPECT_EQ(row.why_not, std::vector<std::string>{"gave up: the budget was used up"});
  profile.regions[1].transformed.reset();
  row = words.transformations(profile.regions[1]);
  EXPECT_EQ(row.tile, "?");
  EXPECT_EQ(row.why_not, std::vector<std::string>{"not looked for"});
}

TEST(AdviceWords, one_reason_for_several_transformations_is_said_once) {
  Profile profile = product_profile();
  profile.regions[1].transformed->status = Transformed::Status::kOriginal;
  profile.regions[1].transformed->why.clear();
  const ReportWords report(profile);
  const AdviceWords words(report);
  EXPECT_EQ(
      words.transformations(profile.regions[1]).why_not,
      (std::vector<std::string>{"parallel, SIMD: product.c:20 carries x (product.c:21 to product.c:22, distance 1)"}));
  profile.regions[1].depth_source = 2;
  EXPECT_EQ(words.transformations(profile.regions[1]).why_not[0],
            "parallel, SIMD, tile: product.c:20 carries x (product.c:21 to product.c:22, distance 1)");
}

TEST(AdviceWords, no_share_is_without_a_reason) {
  Profile profile = product_profile();
  for (Loop& loop : profile.regions[0].loops) loop.parallel = Loop::Parallel::kYes;
  const ReportWords report(profile);
  const AdviceWords words(report);
  profile.regions[0].transformed->parallel_ops_percent = 50;
  EXPECT_EQ(words.transformations(profile.regions[0]).why_not,
            (std::vector<std::string>{"parallel: the rest is in no parallel loop of the new order",
                                      "SIMD: the rest is in no innermost loop that is parallel and goes along its "
                                      "data"}));
  profile.regions[0].transformed->parallel_ops_percent = profile.regions[0].transformed->simd_ops_percent = 100;
  EXPECT_TRUE(words.transformations(profile.regions[0]).why_not.empty());
  profile.regions[0].transformed->status = Transformed::Status::kOriginal;
  profile.regions[0].depth_source = 1;
  EXPECT_TRUE(words.transformations(profile.regions[0]).why_not.empty());
  profile.regions[0].depth_source = 2;
  EXPECT_EQ(words.transformations(profile.regions[0]).why_not,
            std::vector<std::string>{"no better order than the one as written was found"});
}

TEST(AdviceWords, an_illegal_suggestion_is_a_reason) {
  Profile profile = product_profile();
  profile.regions[0].suggestions[1].legal = Suggestion::Legal::kNo;
  const ReportWords report(profile);
  const AdviceWords words(report);
  EXPECT_EQ(words.transformations(profile.regions[0]).why_not.back(), "LF-ICH: 2 dependences checked");
}

TEST(AdviceWords, what_a_loop_carries) {
  Profile profile = product_profile();
  Loop& loop = profile.regions[1].loops[0];
  const ReportWords report(profile);
  const AdviceWords words(report);
  loop.blocking[0].kind = profile::Blocking::Kind::kControl;
  EXPECT_EQ(words.carries(loop), "data decide how product.c:20 goes on");
  loop.blocking[0].kind = profile::Blocking::Kind::kEnvironment;
  EXPECT_EQ(words.carries(loop), "product.c:20 does input or output");
  loop.blocking[0] = {};
  EXPECT_EQ(words.carries(loop), "product.c:20 carries a value");
  loop.parallel = Loop::Parallel::kUnknown;
  EXPECT_EQ(words.carries(loop), "product.c:20 is not decided");
  loop.unknown = {{"another thread wrote it", std::nullopt, 1}};
  EXPECT_EQ(words.carries(loop), "product.c:20: another thread wrote it");
}

TEST(AdviceWords, requirements) {
  const Profile profile = product_profile();
  const ReportWords report(profile);
  const AdviceWords words(report);
  const auto text = [&](Requirement requirement) { return words.requirement(requirement); };
  EXPECT_EQ(text({"private", "tmp", 2, "private(tmp)", std::nullopt}),
            "a private copy of tmp, along product.c:12: private(tmp)");
  EXPECT_EQ(text({"private", "what product.c:14 writes", 2, "lastprivate", std::nullopt}),
            "a private copy of what product.c:14 writes, along product.c:12; what the last iteration leaves there is "
            "used behind the loop (lastprivate, of a variable without a name)");
  EXPECT_EQ(text({"expand", "row", std::nullopt, "", 4096}), "row expanded to one copy per iteration, 4.10 kB");
  EXPECT_EQ(text({"reduction", "s", std::nullopt, "reduction(+:s)", std::nullopt}),
            "a reduction into s: reduction(+:s)");
  EXPECT_EQ(text({"reload", "/home/me/a.c:7", std::nullopt, "", std::nullopt}), "a.c:7 loaded again in each iteration");
  EXPECT_EQ(text({"assume", "/home/me/a.c:7", std::nullopt, "", std::nullopt}),
            "that the branch at a.c:7 always goes the way of this run");
  EXPECT_EQ(text({"assume", "", std::nullopt, "", std::nullopt}), "that a branch always goes the way of this run");
  EXPECT_EQ(text({"unknown", "", std::nullopt, "", std::nullopt}),
            "not decided yet: whether iterations need memory of their own");
  EXPECT_EQ(text({"new", "", std::nullopt, "", std::nullopt}), "new: a value");
}

TEST(AdviceWords, a_floating_point_reduction_says_that_rounding_may_differ) {
  Profile profile = product_profile();
  Loop& loop = profile.regions[0].loops[0];
  loop.reductions = {{"+", "s", true, false, std::nullopt}, {"+", "n", false, false, std::nullopt}};
  const ReportWords report(profile);
  const AdviceWords words(report);
  const std::string along = ", along " + words.loop(loop.node);
  EXPECT_EQ(words.requirement({"reduction", "s", loop.node, "", std::nullopt}),
            "a reduction into s" + along + "; reassociates, so floating-point results may differ in rounding");
  EXPECT_EQ(words.requirement({"reduction", "n", loop.node, "", std::nullopt}), "a reduction into n" + along);
}

TEST(AdviceWords, schedules_in_sentences) {
  Profile profile = product_profile();
  const ReportWords report(profile);
  const AdviceWords words(report);
  EXPECT_EQ(words.schedule(profile.regions[0]),
            (std::vector<std::string>{"interchange product.c:13 and product.c:14", "loop product.c:12; parallel",
                                      "loops product.c:14, then product.c:13; they may change places and be tiled "
                                      "together; parallel: product.c:13"}));
  EXPECT_EQ(words.schedule(profile.regions[1]), std::vector<std::string>{"gave up: the budget was used up"});
  Transformed& to = *profile.regions[0].transformed;
  to.status = Transformed::Status::kOriginal;
  to.steps.clear();
  to.bands = {{0, {}, {{{{3, 1}, {2, 2}}, Loop::Parallel::kNo}}}, {1, {}, {{}}}};
  to.skew = {{3, 2, 2}};
  EXPECT_EQ(words.schedule(profile.regions[0]),
            (std::vector<std::string>{"no order that is better than the one as written was found",
                                      "skew: product.c:13 becomes product.c:13 + 2 * product.c:12",
                                      "loop product.c:13 + 2 * product.c:12; none is parallel"}));
}

TEST(AdviceWords, the_greatest_gain_comes_first_and_what_is_legal) {
  Profile profile = product_profile();
  Suggestion tie = profile.regions[0].suggestions[1];
  tie.legal = Suggestion::Legal::kUnknown;
  Suggestion illegal = tie;
  illegal.legal = Suggestion::Legal::kNo;
  illegal.gain = 100;
  profile.regions[1].suggestions = {tie, illegal};
  std::swap(profile.regions[0], profile.regions[1]);
  const std::vector<RankedSuggestion> ranked = ranked_suggestions(testing::all_regions(profile));
  ASSERT_EQ(ranked.size(), 3u);
  EXPECT_EQ(ranked[0].suggestion->gain, 3.25);
  EXPECT_EQ(ranked[1].suggestion->legal, Suggestion::Legal::kYes);
  EXPECT_EQ(ranked[2].region, &profile.regions[0]);
}

}  // namespace
}  // namespace loopfold::views
