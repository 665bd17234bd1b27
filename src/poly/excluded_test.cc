#include "poly/excluded.h"

#include <gtest/gtest.h>

namespace loopfold::poly {
namespace {

using Kind = profile::TreeNode::Kind;

profile::TreeNode node(std::uint32_t id, std::optional<std::uint32_t> parent, Kind kind, std::string function,
                       std::string module, std::uint64_t ops) {
  profile::TreeNode made;
  made.id = id;
  made.parent = parent;
  made.kind = kind;
  made.function = std::move(function);
  made.module = std::move(module);
  made.ops = ops;
  return made;
}

profile::Profile some_profile() {
  profile::Profile profile;
  profile.program.instructions = 100;
  profile.tree = {node(0, std::nullopt, Kind::kRoot, "", "", 100), node(1, 0, Kind::kCall, "main", "app", 100),
                  node(2, 1, Kind::kCall, "init(int)", "app", 20), node(3, 2, Kind::kLoop, "init(int)", "app", 15),
                  node(4, 3, Kind::kCall, "memset", "libc.so.6", 5), node(5, 1, Kind::kLoop, "main", "app", 60),
                  node(6, 5, Kind::kCall, "memset", "libc.so.6", 10)};
  return profile;
}

std::vector<std::uint32_t> excluded_of(const profile::Profile& profile) {
  std::vector<std::uint32_t> ids;
  for (const profile::TreeNode& at : profile.tree)
    if (at.excluded) ids.push_back(at.id);
  return ids;
}

TEST(Excluded, AFunctionWithAllBelowIt) {
  profile::Profile profile = some_profile();
  EXPECT_TRUE(exclude(std::vector<std::string>{"init"}, profile).empty());
  EXPECT_EQ(excluded_of(profile), (std::vector<std::uint32_t>{2, 3, 4}));
  ASSERT_EQ(profile.quality.size(), 1u);
  EXPECT_EQ(profile.quality[0].kind, "excluded");
  EXPECT_DOUBLE_EQ(profile.quality[0].share, 0.2);
}

TEST(Excluded, AFileAndAFunctionCountOnceWhereTheyAreNested) {
  profile::Profile profile = some_profile();
  EXPECT_TRUE(exclude(std::vector<std::string>{"libc.so.6", "init(int)"}, profile).empty());
  EXPECT_EQ(excluded_of(profile), (std::vector<std::uint32_t>{2, 3, 4, 6}));
  EXPECT_DOUBLE_EQ(profile.quality[0].share, 0.3);
}

TEST(Excluded, ALoopOfAnInlinedFunction) {
  profile::Profile profile = some_profile();
  profile.tree[5].inlined = {"fill"};
  EXPECT_TRUE(exclude(std::vector<std::string>{"fill"}, profile).empty());
  EXPECT_EQ(excluded_of(profile), (std::vector<std::uint32_t>{5, 6}));
}

TEST(Excluded, NamesThatNothingHasAreGivenBack) {
  profile::Profile profile = some_profile();
  EXPECT_EQ(exclude(std::vector<std::string>{"ini", "libc"}, profile), std::vector<std::string>{"ini"});
  EXPECT_EQ(exclude(std::vector<std::string>{"nothing"}, profile), std::vector<std::string>{"nothing"});
  EXPECT_TRUE(excluded_of(profile).empty());
}

TEST(Excluded, FilesByTheirNames) {
  EXPECT_TRUE(is_file("libz.so.1", "libz.so.1"));
  EXPECT_TRUE(is_file("libz.so.1", "libz.so"));
  EXPECT_TRUE(is_file("libz.so.1", "libz"));
  EXPECT_TRUE(is_file("libz.so", "libz"));
  EXPECT_FALSE(is_file("libz.so.1", "lib"));
  EXPECT_FALSE(is_file("libzstd.so.1", "libz"));
  EXPECT_FALSE(is_file("libz.so.1", ""));
  EXPECT_FALSE(is_file("", "libz"));
}

}  // namespace
}  // namespace loopfold::poly
