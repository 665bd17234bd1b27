#include "verify/hidden.h"

#include <gtest/gtest.h>

namespace loopfold::verify {
namespace {

using profile::Loop;
using profile::TreeNode;

/// main, a loop with two hidden levels, a call in the innermost.
profile::Profile with_levels() {
  profile::Profile profile;
  const auto add = [&](TreeNode::Kind kind, std::uint64_t period) {
    TreeNode& node = profile.tree.emplace_back();
    node.id = static_cast<std::uint32_t>(profile.tree.size() - 1);
    if (node.id != 0) node.parent = node.id - 1;
    node.kind = kind;
    node.hidden = period != 0;
    node.period = period;
  };
  add(TreeNode::Kind::kRoot, 0);
  add(TreeNode::Kind::kCall, 0);
  add(TreeNode::Kind::kLoop, 0);
  add(TreeNode::Kind::kLoop, 4);
  add(TreeNode::Kind::kLoop, 3);
  add(TreeNode::Kind::kCall, 0);
  profile::Region& region = profile.regions.emplace_back();
  region.node = 2;
  for (std::uint32_t node = 2; node <= 4; ++node) {
    Loop& loop = region.loops.emplace_back();
    loop.node = node;
    loop.nodes = {node};
    loop.hidden = node > 2;
    loop.parallel = Loop::Parallel::kYes;
  }
  region.loops.front().parallel = Loop::Parallel::kNo;
  region.loops.front().blocking.emplace_back();
  region.loops.front().blocks = Loop::Parallel::kYes;
  return profile;
}

TEST(HiddenProfiles, TheFlatOneHasNoLevels) {
  const profile::Profile whole = with_levels();
  EXPECT_TRUE(has_hidden_loops(whole));
  const FlatProfile flat = flat_profile(whole);
  EXPECT_FALSE(has_hidden_loops(flat.profile));
  ASSERT_EQ(flat.profile.tree.size(), 4u);
  EXPECT_EQ(flat.nodes, (std::vector<std::uint32_t>{0, 1, 2, 5}));
  EXPECT_EQ(flat.profile.tree[3].parent, 2u);
  ASSERT_EQ(flat.profile.regions.size(), 1u);
  ASSERT_EQ(flat.profile.regions[0].loops.size(), 1u);
  EXPECT_EQ(flat.profile.regions[0].loops[0].parallel, Loop::Parallel::kNo);
  EXPECT_EQ(flat.profile.regions[0].loops[0].nodes, (std::vector<std::uint32_t>{2}));
}

TEST(HiddenProfiles, TheOtherSpeaksOfBlocks) {
  profile::Profile whole = with_levels();
  EXPECT_EQ(level_profile(whole).regions[0].loops[0].parallel, Loop::Parallel::kYes);
  EXPECT_EQ(level_profile(whole).regions[0].loops.size(), 3u);
  whole.regions[0].loops[0].blocks = Loop::Parallel::kNo;
  EXPECT_EQ(level_profile(whole).regions[0].loops[0].parallel, Loop::Parallel::kUnknown) << "no reason is kept";
}

TEST(HiddenProfiles, LoopsAreSplitAsInTheProfile) {
  const profile::Profile whole = with_levels();
  const FlatProfile flat = flat_profile(whole);
  structure::LoopTree tree;
  structure::ContextKey key;
  key.kind = structure::Context::Kind::kStart;
  key.parent = structure::LoopTree::root();
  key.parent = tree.child(key, 0, 0);
  key.kind = structure::Context::Kind::kLoop;
  key.loop = 0;
  const structure::ContextId loop = tree.child(key, 0, 0);
  const structure::Splits splits = splits_of(whole, flat, tree, {0, 1, 2});
  EXPECT_EQ(splits.size(), 1u);
  const std::span<const std::uint64_t> periods = splits.periods(loop);
  EXPECT_EQ(std::vector<std::uint64_t>(periods.begin(), periods.end()), (std::vector<std::uint64_t>{4, 3}));
}

}  // namespace
}  // namespace loopfold::verify
