#include "views/diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "views/advice_testing.h"
#include "views/diff_story.h"
#include "views/diff_text.h"
#include "views/html_diff.h"

namespace loopfold::views {
namespace {

using profile::Loop;
using profile::Profile;
using profile::Source;
using testing::contains;
using testing::judged_loop;
using testing::product_profile;
using testing::TreeBuilder;

/// Both trees are in the matching, each node once, below what its parent was paired with.
void expect_sound(const std::vector<MatchedNode>& matched, const Profile& a, const Profile& b) {
  std::vector<int> seen_a(a.tree.size());
  std::vector<int> seen_b(b.tree.size());
  for (std::size_t i = 0; i < matched.size(); i++) {
    const MatchedNode& node = matched[i];
    ASSERT_TRUE(node.before || node.after);
    if (i > 0) {
      ASSERT_TRUE(node.parent && *node.parent < i);
      const MatchedNode& above = matched[*node.parent];
      if (node.before) {
        EXPECT_EQ(a.tree[*node.before].parent, above.before);
      }
      if (node.after) {
        EXPECT_EQ(b.tree[*node.after].parent, above.after);
      }
    }
    if (node.before) seen_a[*node.before]++;
    if (node.after) seen_b[*node.after]++;
    if (node.before && node.after) {
      EXPECT_EQ(a.tree[*node.before].kind, b.tree[*node.after].kind);
    }
  }
  EXPECT_TRUE(std::all_of(seen_a.begin(), seen_a.end(), [](int count) { return count == 1; }));
  EXPECT_TRUE(std::all_of(seen_b.begin(), seen_b.end(), [](int count) { return count == 1; }));
}

/// main calls work, which has a nest of two loops in file.
Profile nest(const std::string& file, int line, std::uint64_t outer, std::uint64_t inner, Loop::Parallel outermost,
             Loop::Parallel innermost, double near) {
  TreeBuilder tree({"./" + file});
  tree.call("main", Source{file, 1}, std::nullopt, 1, 10);
  tree.call("work", Source{file, line}, Source{file, 2}, 1, 10);
  tree.loop(Source{file, line + 1}, 1, outer, 10);
  tree.loop(Source{file, line + 2}, outer, inner, 10);
  tree.close(4);
  Profile profile = tree.finish();
  profile.folded = profile.judged = true;
  profile::Region region;
  region.node = 3;
  region.function = "work";
  region.loops = {judged_loop(profile, 3, outermost, 0), judged_loop(profile, 4, innermost, 1)};
  region.loops[1].stride01_percent = near;
  profile.regions = {region};
  return profile;
}

TEST(TreeMatch, a_tree_is_matched_with_itself) {
  std::mt19937 random(1);
  for (int i = 0; i < 50; i++) {
    const Profile profile = testing::random_profile(random, 150);
    const std::vector<MatchedNode> matched = match_trees(profile, profile);
    expect_sound(matched, profile, profile);
    ASSERT_EQ(matched.size(), profile.tree.size());
    for (const MatchedNode& node : matched) EXPECT_EQ(node.before, node.after);
  }
}

TEST(TreeMatch, any_two_trees_are_matched_soundly) {
  std::mt19937 random(2);
  for (int i = 0; i < 100; i++) {
    const Profile a = testing::random_profile(random, 1 + random() % 120);
    const Profile b = testing::random_profile(random, 1 + random() % 120);
    expect_sound(match_trees(a, b), a, b);
  }
}

TEST(TreeMatch, many_siblings_are_matched_by_name) {
  const Profile a = testing::wide_profile(3000);
  const std::vector<MatchedNode> matched = match_trees(a, a);
  expect_sound(matched, a, a);
}

TEST(TreeMatch, a_nest_stays_a_nest_in_another_file) {
  const Profile a = nest("before.c", 10, 3, 50, Loop::Parallel::kYes, Loop::Parallel::kNo, 20);
  const Profile b = nest("after.c", 30, 50, 3, Loop::Parallel::kNo, Loop::Parallel::kYes, 100);
  const std::vector<MatchedNode> matched = match_trees(a, b);
  ASSERT_EQ(matched.size(), 5);
  for (const MatchedNode& node : matched) EXPECT_EQ(node.before, node.after);
}

TEST(Diff, tells_the_story_of_an_interchange) {
  const Profile a = nest("before.c", 10, 3, 50, Loop::Parallel::kYes, Loop::Parallel::kNo, 20);
  const Profile b = nest("after.c", 30, 50, 3, Loop::Parallel::kNo, Loop::Parallel::kYes, 100);
  const ReportWords before(a);
  const ReportWords after(b);
  const Diff diff = compare(before, after);
  ASSERT_EQ(diff.loops.size(), 2);
  const std::string text = diff_text(diff, before, after, {});
  EXPECT_TRUE(contains(text, "changed places with before.c:12: 3 × 50 trips became 50 × 3")) << text;
  EXPECT_TRUE(contains(text, "verdict no → parallel")) << text;
  EXPECT_TRUE(contains(text, "near accesses 20 % → 100 %")) << text;
  EXPECT_TRUE(contains(text, "before.c:12 → after.c:32 in work")) << text;
  const std::size_t story = text.find("In short");
  ASSERT_NE(story, std::string::npos) << text;
  EXPECT_LT(story, text.find("Loops that changed"));
  for (const char* sentence : {"work, before.c:11 → after.c:31", "- loops changed places: 3 × 50 trips became 50 × 3",
                               "- in the innermost loop 20 % of the accesses stayed or went to the next element, now",
                               "- the innermost loop was sequential, is parallel",
                               "- the outermost loop was parallel, is sequential", "- operations"})
    EXPECT_TRUE(contains(text.substr(story), sentence)) << sentence << "\n" << text;
}

TEST(DiffStory, is_about_nests_that_changed) {
  const Profile a = nest("before.c", 10, 7, 7, Loop::Parallel::kYes, Loop::Parallel::kNo, 20);
  Profile b = a;
  const ReportWords before(a);
  EXPECT_TRUE(stories_of(compare(before, before)).empty());
  b.regions[0].loops[1].stride01_percent = 90;
  const ReportWords after(b);
  const std::vector<NestStory> stories = stories_of(compare(before, after));
  ASSERT_EQ(stories.size(), 1);
  EXPECT_EQ(stories[0].function, "work");
  EXPECT_EQ(stories[0].before, "before.c:11");
  EXPECT_EQ(stories[0].sentences.size(), 2) << "accesses of the innermost loop, and operations";
  EXPECT_EQ(stories[0].sentences[1], "as many operations as before");
}

TEST(Diff, equal_trip_counts_are_no_interchange) {
  const Profile a = nest("before.c", 10, 7, 7, Loop::Parallel::kYes, Loop::Parallel::kNo, 20);
  const ReportWords words(a);
  const Diff diff = compare(words, words);
  for (const LoopPair& pair : diff.loops) EXPECT_TRUE(pair.changes.empty());
  EXPECT_TRUE(contains(diff_text(diff, words, words, {}), "2 loops are as before"));
}

TEST(Diff, suggestions_that_went_and_came) {
  const Profile a = product_profile();
  Profile b = product_profile();
  b.regions[0].suggestions.pop_back();
  b.regions[0].suggestions.push_back(b.regions[0].suggestions.front());
  b.regions[0].suggestions.back().rule = "LF-SIMD";
  const ReportWords before(a);
  const ReportWords after(b);
  const Diff diff = compare(before, after);
  ASSERT_EQ(diff.gone.size(), 1);
  EXPECT_EQ(diff.gone[0].suggestion->rule, "LF-ICH");
  ASSERT_EQ(diff.fresh.size(), 1);
  EXPECT_EQ(diff.fresh[0].suggestion->rule, "LF-SIMD");
}

TEST(Diff, a_loop_that_is_gone_is_said_to_be) {
  const Profile a = product_profile();
  Profile b = product_profile();
  b.tree.pop_back();
  b.regions.pop_back();
  b.statements.pop_back();
  b.accesses.pop_back();
  const ReportWords before(a);
  const ReportWords after(b);
  const Diff diff = compare(before, after);
  const auto gone =
      std::find_if(diff.loops.begin(), diff.loops.end(), [](const LoopPair& pair) { return !pair.after; });
  ASSERT_NE(gone, diff.loops.end());
  EXPECT_EQ(gone->before->where, "product.c:20");
  EXPECT_EQ(gone->changes.front(), "only before");
}

TEST(Diff, changes_in_words) {
  EXPECT_EQ(change_text(100, 100), "the same");
  EXPECT_EQ(change_text(100, 75), "-25.0 %");
  EXPECT_EQ(change_text(100, 150), "+50.0 %");
  EXPECT_EQ(change_text(100, 450), "× 4.5");
  EXPECT_EQ(change_text(0, 5), "new");
  EXPECT_EQ(change_text(100000, 100001), "the same");
}

TEST(Diff, json_has_every_pair) {
  const Profile a = product_profile();
  const ReportWords words(a);
  const nlohmann::json document = nlohmann::json::parse(diff_json(compare(words, words), words, words));
  EXPECT_EQ(document["kind"], "diff");
  ASSERT_EQ(document["loops"].size(), 4);
  for (const nlohmann::json& pair : document["loops"]) {
    EXPECT_EQ(pair["before"], pair["after"]);
    EXPECT_TRUE(pair["changes"].empty());
  }
}

TEST(Diff, text_is_ascii_where_asked) {
  const Profile a = nest("before.c", 10, 3, 50, Loop::Parallel::kYes, Loop::Parallel::kNo, 20);
  const Profile b = nest("after.c", 30, 50, 3, Loop::Parallel::kNo, Loop::Parallel::kYes, 100);
  const ReportWords before(a, Charset::kAscii);
  const ReportWords after(b, Charset::kAscii);
  DiffTextOptions options;
  options.charset = Charset::kAscii;
  for (const char c : diff_text(compare(before, after), before, after, options)) EXPECT_GE(c, 0);
}

}  // namespace
}  // namespace loopfold::views
