#include "advise/other_calls.h"

#include <gtest/gtest.h>

namespace loopfold::advise {
namespace {

using profile::Loop;
using profile::Profile;
using profile::Region;
using profile::Suggestion;
using profile::TreeNode;

const InlinedAt kNotInlined = [](std::uint32_t) { return std::optional<profile::Source>(); };

/// `step`, with one loop in line 5, called in lines 10 and 11 of main: nodes 2 and 4, regions 0 and 1.
Profile two_calls() {
  Profile profile;
  for (std::uint32_t id = 0; id < 5; ++id) {
    TreeNode& node = profile.tree.emplace_back();
    node.id = id;
    if (id == 0) continue;
    const bool is_call = id % 2 == 1;
    node.parent = is_call ? 0 : id - 1;
    node.kind = is_call ? TreeNode::Kind::kCall : TreeNode::Kind::kLoop;
    node.function = "step";
    node.address = is_call ? 0x100 : 0x110;
    node.source = profile::Source{"/src/a.c", is_call ? 4 : 5};
    if (is_call) node.call_site = profile::Source{"/src/a.c", id == 1 ? 10 : 11};
    if (is_call) continue;
    Region& region = profile.regions.emplace_back();
    region.id = id / 2 - 1;
    Loop& loop = region.loops.emplace_back();
    loop.node = id;
    loop.nodes = {id};
    loop.source = node.source;
    loop.parallel = Loop::Parallel::kYes;
    loop.reuse = Loop::Reuse::kNone;
    Suggestion& suggestion = region.suggestions.emplace_back();
    suggestion.rule = "LF-PAR";
    suggestion.loops = {id};
    suggestion.where = {*node.source};
    suggestion.legal = Suggestion::Legal::kYes;
  }
  return profile;
}

profile::Touched touched(const std::string& name, const std::string& clause) {
  profile::Touched made;
  made.variable = name;
  made.clause = clause;
  return made;
}

std::vector<profile::Requirement> required(const Profile& profile, std::size_t region = 0) {
  return profile.regions[region].suggestions[0].requirements;
}

TEST(OtherCalls, NothingIsSaidWhereAllGetTheSameAnswer) {
  Profile profile = two_calls();
  require_copies(kNotInlined, profile);
  EXPECT_TRUE(required(profile, 0).empty());
  EXPECT_TRUE(required(profile, 1).empty());
}

TEST(OtherCalls, ALoopThatKeepsItsOrderElsewhereNeedsACopyOfItsFunction) {
  Profile profile = two_calls();
  profile.regions[1].loops[0].parallel = Loop::Parallel::kNo;
  profile.regions[1].suggestions.clear();
  require_copies(kNotInlined, profile);
  ASSERT_EQ(required(profile).size(), 1U);
  EXPECT_EQ(required(profile)[0].kind, "copy");
  EXPECT_EQ(required(profile)[0].variable, "step for the call at a.c:10: no when called at a.c:11");
}

TEST(OtherCalls, AnswersWithOtherRequirementsAreToldApart) {
  Profile profile = two_calls();
  profile.regions[0].loops[0].privates = {touched("w", "lastprivate(w)")};
  profile.regions[1].loops[0].expand = {touched("w", "")};
  require_copies(kNotInlined, profile);
  ASSERT_EQ(required(profile, 0).size(), 1U);
  EXPECT_EQ(required(profile, 0)[0].variable,
            "step for the call at a.c:10: with other requirements when called at a.c:11");
  ASSERT_EQ(required(profile, 1).size(), 1U);
  EXPECT_EQ(required(profile, 1)[0].variable,
            "step for the call at a.c:11: with other requirements when called at a.c:10");
}

/// A value that is copied back and not needed does no harm; one that is needed and not copied back does.
TEST(OtherCalls, AClauseThatDoesMoreDoesForBoth) {
  Profile profile = two_calls();
  profile.regions[0].loops[0].privates = {touched("w", "lastprivate(w)")};
  profile.regions[1].loops[0].privates = {touched("w", "private(w)")};
  require_copies(kNotInlined, profile);
  EXPECT_TRUE(required(profile, 0).empty());
  EXPECT_EQ(required(profile, 1).size(), 1U);
}

/// Private where the other call needs what all iterations have written.
TEST(OtherCalls, AClauseThatTheOtherCallDoesNotAskForMayBeWrongThere) {
  Profile profile = two_calls();
  profile.regions[0].loops[0].privates = {touched("w", "private(w)")};
  require_copies(kNotInlined, profile);
  EXPECT_EQ(required(profile, 0).size(), 1U);
}

TEST(OtherCalls, AnOrderThatIsLegalHereMustBeSoThere) {
  Profile profile = two_calls();
  for (Region& region : profile.regions) region.suggestions[0].rule = "LF-TIL";
  Profile same = profile;
  require_copies(kNotInlined, same);
  EXPECT_TRUE(required(same).empty());
  profile.regions[1].suggestions[0].legal = Suggestion::Legal::kUnknown;
  require_copies(kNotInlined, profile);
  ASSERT_EQ(required(profile).size(), 1U);
  EXPECT_EQ(required(profile)[0].variable, "step for the call at a.c:10: not known when called at a.c:11");
}

TEST(OtherCalls, TwoCallsInOneLine) {
  Profile profile = two_calls();
  profile.tree[3].call_site->line = 10;
  profile.regions[1].loops[0].parallel = Loop::Parallel::kNo;
  require_copies(kNotInlined, profile);
  ASSERT_EQ(required(profile).size(), 1U);
  EXPECT_EQ(required(profile)[0].variable,
            "step for one of the calls at a.c:10: no when called at a.c:10 in another place");
}

TEST(OtherCalls, TwoLoopsOfOneLineAreTwo) {
  Profile profile = two_calls();
  profile.regions[1].loops[0].parallel = Loop::Parallel::kNo;
  profile.tree[4].address = 0x150;
  require_copies(kNotInlined, profile);
  EXPECT_TRUE(required(profile).empty());
}

TEST(OtherCalls, CopiesOfAnInlinedFunctionAreOneLoop) {
  Profile profile = two_calls();
  profile.regions[1].loops[0].parallel = Loop::Parallel::kUnknown;
  for (const std::uint32_t node : {2U, 4U}) {
    profile.tree[node].parent = 0;
    profile.tree[node].function = "main";
    profile.tree[node].inlined = {"step"};
    profile.tree[node].address = 0x100 + node;
  }
  require_copies([](std::uint32_t node) { return profile::Source{"/src/a.c", static_cast<int>(node)}; }, profile);
  ASSERT_EQ(required(profile).size(), 1U);
  EXPECT_EQ(required(profile)[0].variable, "step for the call at a.c:2: not known when called at a.c:4");
}

TEST(OtherCalls, WhatWasNotLookedAtIsEvidence) {
  Profile profile = two_calls();
  profile.regions.pop_back();
  require_copies(kNotInlined, profile);
  EXPECT_TRUE(required(profile).empty());
  ASSERT_EQ(profile.regions[0].suggestions[0].evidence.size(), 1U);
  EXPECT_EQ(profile.regions[0].suggestions[0].evidence[0],
            "not looked at when called at a.c:11, which has too little of the work (--min-percent)");
}

}  // namespace
}  // namespace loopfold::advise
