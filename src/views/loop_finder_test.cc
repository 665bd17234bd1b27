#include "views/loop_finder.h"

#include <gtest/gtest.h>

#include "views/advice_testing.h"

namespace loopfold::views {
namespace {

using profile::Profile;
using testing::contains;
using testing::product_profile;

std::vector<std::uint32_t> nodes_of(const Profile& profile, const std::string& target) {
  const ReportWords words(profile);
  const Result<Found> found = find_loops(words, target);
  if (!found) return {};
  std::vector<std::uint32_t> nodes;
  for (const FoundLoop& one : found->loops) nodes.push_back(one.loop->node);
  return nodes;
}

std::string error_of(const Profile& profile, const std::string& target) {
  const ReportWords words(profile);
  const Result<Found> found = find_loops(words, target);
  if (found) return "";
  EXPECT_EQ(found.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(found.error().message.find('\n'), std::string::npos);
  return found.error().message;
}

TEST(LoopFinder, a_file_is_named_by_any_end_of_its_path) {
  EXPECT_TRUE(names_file("/a/b/c.c", "c.c"));
  EXPECT_TRUE(names_file("/a/b/c.c", "b/c.c"));
  EXPECT_TRUE(names_file("/a/b/c.c", "/a/b/c.c"));
  EXPECT_TRUE(names_file("/a/b/c.c", "./b/c.c"));
  EXPECT_TRUE(names_file("/a/b/c.c", "../../b/c.c"));
  EXPECT_TRUE(names_file("c.c", "c.c"));
  EXPECT_TRUE(names_file("/a/b/c.c", "/c.c"));
  EXPECT_FALSE(names_file("/a/b/cc.c", "c.c"));
  EXPECT_FALSE(names_file("c.c", "b/c.c"));
  EXPECT_FALSE(names_file("/a/b/c.c", ""));
  EXPECT_FALSE(names_file("/a/b/c.c", "./"));
}

TEST(LoopFinder, by_line) {
  const Profile profile = product_profile();
  for (const char* target : {"product.c:13", "src/product.c:13", "/home/me/src/product.c:13", "product.c:13@3"})
    EXPECT_EQ(nodes_of(profile, target), std::vector<std::uint32_t>{3}) << target;
}

TEST(LoopFinder, one_line_in_several_contexts) {
  Profile profile = product_profile();
  profile.regions[1].loops[0].source = testing::product_line(13);
  EXPECT_EQ(nodes_of(profile, "product.c:13"), (std::vector<std::uint32_t>{3, 5})) << "most operations first";
  EXPECT_EQ(nodes_of(profile, "product.c:13@5"), std::vector<std::uint32_t>{5});
  EXPECT_TRUE(contains(error_of(profile, "product.c:13@7"), "no loop there"));
}

TEST(LoopFinder, by_number) {
  const Profile profile = product_profile();
  const ReportWords words(profile);
  for (const char* target : {"1", "R1", "r1"}) {
    const Result<Found> found = find_loops(words, target);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->region, &profile.regions[1]);
    EXPECT_TRUE(found->loops.empty());
  }
  EXPECT_EQ(error_of(profile, "2"), "2: no such region; they are 0 to 1");
  EXPECT_EQ(error_of(Profile{}, "0"), "0: there are no regions: no loop has enough operations");
}

TEST(LoopFinder, code_without_lines_by_the_words_of_the_report) {
  Profile profile = product_profile();
  profile.regions[1].loops[0].source.reset();
  profile.tree[5].source.reset();
  profile.tree[5].module = "lib.so";
  profile.tree[5].address = 0x1234;
  EXPECT_EQ(nodes_of(profile, "lib.so+0x1234"), std::vector<std::uint32_t>{5});
}

TEST(LoopFinder, a_line_inside_a_loop_means_the_loop_around_it) {
  const Profile profile = product_profile();
  const ReportWords words(profile);
  const Result<Found> found = find_loops(words, "product.c:15");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->around);
  EXPECT_EQ(nodes_of(profile, "product.c:15"), std::vector<std::uint32_t>{4});
}

TEST(LoopFinder, what_is_not_there_names_what_is_near) {
  Profile profile = product_profile();
  EXPECT_EQ(error_of(profile, "product.c:18"),
            "product.c:18: no loop there; the nearest: product.c:20, product.c:14 and product.c:13");
  EXPECT_EQ(error_of(profile, "other.c:18"), "other.c:18: no loop of such a file was judged; loops are in product.c");
  EXPECT_EQ(error_of(profile, "product.c:99999999999"),
            "product.c:99999999999: neither a region's number nor FILE:LINE");
  for (const char* target : {"product.c", "", ":", ":3", "product.c:", "product.c:x", "product.c:3@", "product.c:-3"})
    EXPECT_TRUE(contains(error_of(profile, target), "neither a region's number nor FILE:LINE")) << target;
  EXPECT_TRUE(contains(error_of(profile, "a\nb.c:3"), "a\\nb.c:3: "));
  profile.regions.pop_back();
  EXPECT_TRUE(contains(error_of(profile, "product.c:20"), "less than 1 % of the operations"));
}

TEST(LoopFinder, what_is_worth_explaining) {
  Profile profile = product_profile();
  EXPECT_EQ(worth_explaining(ReportWords(profile)), "product.c:12");
  profile.regions[0].suggestions[0].where.clear();
  profile.regions[0].suggestions[0].loops = {3};
  EXPECT_EQ(worth_explaining(ReportWords(profile)), "product.c:13");
  profile.regions[0].suggestions.clear();
  EXPECT_EQ(worth_explaining(ReportWords(profile)), "product.c:12");
  profile.regions[0].loops[0].source.reset();
  EXPECT_EQ(worth_explaining(ReportWords(profile)), "0");
  EXPECT_EQ(worth_explaining(ReportWords(Profile{})), "");
}

}  // namespace
}  // namespace loopfold::views
