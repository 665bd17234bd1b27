#include "structure/loop_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

#include "structure/testing.h"

namespace loopfold::structure {
namespace {

using Kind = ContextKey::Kind;

TEST(LoopTree, FindsWhatItMade) {
  LoopTree tree;
  ASSERT_EQ(tree.contexts().size(), 1u);
  const ContextKey start{Kind::kStart, Origin::kThread, LoopTree::root(), 7, kNoPlace, kNoFunction, kNoNode, kNoLoop};
  const ContextId a = tree.child(start, 3, 4);
  EXPECT_EQ(a, 1u);
  EXPECT_EQ(tree[a].index, 3u);
  EXPECT_EQ(tree[a].minor, 4u);
  EXPECT_EQ(tree[a].function, 7u);
  EXPECT_EQ(tree.child(start, 99, 99), a);
  EXPECT_EQ(tree[a].index, 3u);
  EXPECT_FALSE(tree.full());
}

/// Contexts that differ in one field only are different, however many there are.
TEST(LoopTree, RandomKeys) {
  std::mt19937_64 random(testing::seed(1));
  LoopTree tree;
  using Key = std::tuple<Kind, Origin, ContextId, FunctionId, PlaceId, FunctionId, NodeId, LoopId>;
  std::map<Key, ContextId> made;
  for (int i = 0; i < 50000; ++i) {
    const auto pick = [&](std::uint64_t below) { return static_cast<std::uint32_t>(random() % below); };
    const Key key{static_cast<Kind>(1 + pick(4)),
                  static_cast<Origin>(pick(3)),
                  pick(std::min<std::uint64_t>(tree.contexts().size(), 40)),
                  pick(3),
                  pick(10) == 0 ? kNoPlace : pick(3),
                  pick(10) == 0 ? kNoFunction : pick(3),
                  pick(10) == 0 ? kNoNode : pick(3),
                  pick(10) == 0 ? kNoLoop : pick(3)};
    const auto [kind, origin, parent, function, site, caller, node, loop] = key;
    const ContextId id = tree.child({kind, origin, parent, function, site, caller, node, loop}, pick(100), pick(100));
    const auto [found, added] = made.try_emplace(key, id);
    ASSERT_EQ(found->second, id);
    ASSERT_EQ(made.size() + 1, tree.contexts().size());
    ASSERT_LT(tree[id].parent, id);
  }
  EXPECT_GT(made.size(), 10000u);
}

TEST(LoopTree, EntryCounts) {
  EntryCounts counts;
  counts.add(5, true);
  EXPECT_EQ(counts.min, 5u);
  EXPECT_EQ(counts.max, 5u);
  counts.add(0, false);
  counts.add(9, false);
  EXPECT_EQ(counts.min, 0u);
  EXPECT_EQ(counts.max, 9u);
  EXPECT_EQ(counts.total, 14u);
}

}  // namespace
}  // namespace loopfold::structure
