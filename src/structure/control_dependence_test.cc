#include "structure/control_dependence.h"

#include <gtest/gtest.h>

#include "structure/graph_reference.h"
#include "structure/loop_forest.h"

namespace loopfold::structure {
namespace {

enum : NodeId { A, B, C, D, E, F };

struct Analysed {
  Analysed(std::size_t nodes, const std::vector<Edge>& edges, const std::vector<NodeId>& exits, NodeId entry = 0)
      : graph(nodes, edges), post_dominators(graph, exits, entry), control(graph, post_dominators) {}
  std::vector<NodeId> deciders(NodeId node) const {
    return {control.deciders(node).begin(), control.deciders(node).end()};
  }
  Digraph graph;
  PostDominators post_dominators;
  ControlDependence control;
};

using List = std::vector<NodeId>;

TEST(ControlDependence, IfElse) {
  const Analysed found(5, {{A, B}, {A, C}, {B, D}, {C, D}, {D, E}}, {E});
  EXPECT_EQ(found.post_dominators.immediate(A), D);
  EXPECT_EQ(found.post_dominators.immediate(B), D);
  EXPECT_EQ(found.post_dominators.immediate(D), E);
  EXPECT_EQ(found.post_dominators.immediate(E), kNoNode);
  EXPECT_TRUE(found.post_dominators.post_dominates(E, A));
  EXPECT_TRUE(found.post_dominators.post_dominates(A, A));
  EXPECT_FALSE(found.post_dominators.post_dominates(B, A));
  EXPECT_FALSE(found.post_dominators.post_dominates(B, C));
  EXPECT_EQ(found.deciders(A), List{});
  EXPECT_EQ(found.deciders(B), List{A});
  EXPECT_EQ(found.deciders(C), List{A});
  EXPECT_EQ(found.deciders(D), List{});
}

TEST(ControlDependence, LoopTestedAtItsTopDecidesItself) {
  const Analysed found(4, {{A, B}, {B, C}, {C, B}, {B, D}}, {D});
  EXPECT_EQ(found.deciders(B), List{B});
  EXPECT_EQ(found.deciders(C), List{B});
  EXPECT_EQ(found.deciders(D), List{});
}

TEST(ControlDependence, LoopTestedAtItsEnd) {
  const Analysed found(4, {{A, B}, {B, C}, {C, B}, {C, D}}, {D});
  EXPECT_EQ(found.deciders(A), List{});
  EXPECT_EQ(found.deciders(B), List{C});
  EXPECT_EQ(found.deciders(C), List{C});
}

TEST(ControlDependence, AWayOutBesidesIsABranch) {
  const Analysed found(3, {{A, B}, {B, C}}, {B, C, B});
  EXPECT_TRUE(found.post_dominators.leaves(B));
  EXPECT_FALSE(found.post_dominators.leaves(A));
  EXPECT_EQ(found.post_dominators.immediate(B), kNoNode);
  EXPECT_EQ(found.deciders(C), List{B});
  EXPECT_EQ(found.deciders(B), List{});
}

TEST(ControlDependence, SeveralDeciders) {
  const Analysed found(5, {{A, B}, {A, C}, {B, C}, {B, D}, {C, D}, {D, E}}, {E});
  EXPECT_EQ(found.deciders(C), (List{A, B}));
  EXPECT_EQ(found.deciders(D), List{});
}

TEST(ControlDependence, EndlessLoopIsLeftAtItsHeader) {
  const Analysed found(5, {{A, B}, {A, E}, {B, C}, {C, D}, {D, B}}, {E});
  EXPECT_TRUE(found.post_dominators.leaves(B));
  EXPECT_FALSE(found.post_dominators.leaves(C));
  EXPECT_EQ(found.post_dominators.immediate(B), kNoNode);
  EXPECT_EQ(found.post_dominators.immediate(C), D);
  EXPECT_EQ(found.deciders(B), (List{A, B}));
  EXPECT_EQ(found.deciders(C), List{B});
  EXPECT_EQ(found.deciders(D), List{B});
  EXPECT_EQ(found.deciders(E), List{A});
}

TEST(ControlDependence, EndlessLoopEnteredInTheMiddleIsLeftThere) {
  const Analysed found(4, {{A, C}, {B, C}, {C, D}, {D, B}}, {});
  EXPECT_TRUE(found.post_dominators.leaves(C));
  EXPECT_FALSE(found.post_dominators.leaves(B));
  EXPECT_TRUE(found.post_dominators.post_dominates(C, A));
}

TEST(ControlDependence, OfTwoEndlessLoopsTheLastOneIsLeft) {
  const Analysed found(4, {{A, B}, {B, B}, {B, C}, {C, D}, {D, C}}, {});
  EXPECT_TRUE(found.post_dominators.leaves(C));
  EXPECT_FALSE(found.post_dominators.leaves(B));
  EXPECT_EQ(found.post_dominators.immediate(B), C);
  EXPECT_EQ(found.deciders(B), List{B});
}

TEST(ControlDependence, OfNothing) {
  const Analysed found(0, {}, {});
  EXPECT_EQ(found.graph.size(), 0u);
}

TEST(PostDominators, LongChain) {
  constexpr NodeId kSize = 100'000;
  std::vector<Edge> edges;
  for (NodeId node = 0; node + 1 < kSize; node++) edges.push_back({node, node + 1});
  const Analysed found(kSize, edges, {kSize - 1});
  EXPECT_TRUE(found.post_dominators.post_dominates(kSize - 1, 0));
  EXPECT_FALSE(found.post_dominators.post_dominates(0, kSize - 1));
  EXPECT_EQ(found.post_dominators.immediate(0), 1u);
  EXPECT_EQ(found.deciders(kSize / 2), List{});
}

TEST(PostDominators, LongChainThatManyNodesEnterOrPassBy) {
  constexpr NodeId kSize = 100'000;
  std::vector<Edge> edges;
  for (NodeId node = 0; node + 1 < kSize; node++) edges.push_back({node, node + 1});
  for (NodeId node = kSize; node < 2 * kSize; node++) {
    edges.push_back({node, 0});
    edges.push_back({node, kSize - 1});
  }
  const Digraph graph(2 * kSize, edges);
  const std::vector<NodeId> exits{kSize - 1};
  const PostDominators found(graph, exits);
  for (NodeId node = kSize; node < 2 * kSize; node++) ASSERT_EQ(found.immediate(node), kSize - 1);
  for (NodeId node = 0; node + 1 < kSize; node++) ASSERT_EQ(found.immediate(node), node + 1);
}

void expect_as_defined(const reference::Relation& relation, const std::vector<NodeId>& exits, NodeId entry) {
  const Analysed found(relation.size(), reference::edges_of(relation), exits, entry);
  const reference::Nodes leaves = reference::exits_everywhere(relation, exits, entry);
  for (NodeId node = 0; node < relation.size(); node++) {
    EXPECT_EQ(found.post_dominators.leaves(node), reference::has(leaves, node));
    List deciders;
    for (NodeId other = 0; other < relation.size(); other++) {
      const bool expected = reference::post_dominates(relation, leaves, other, node);
      EXPECT_EQ(found.post_dominators.post_dominates(other, node), expected);
      if (reference::decides(relation, leaves, other, node)) deciders.push_back(other);
      const NodeId immediate = found.post_dominators.immediate(node);
      if (!expected || other == node) continue;
      ASSERT_NE(immediate, kNoNode);
      EXPECT_TRUE(reference::post_dominates(relation, leaves, other, immediate));
    }
    const NodeId immediate = found.post_dominators.immediate(node);
    EXPECT_TRUE(immediate == kNoNode ||
                (immediate != node && reference::post_dominates(relation, leaves, immediate, node)));
    EXPECT_EQ(found.deciders(node), deciders);
  }
}

TEST(ControlDependence, IsAsDefinedOnRandomGraphs) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 10'000 && !HasFailure(); i++) {
    const reference::Relation relation =
        i % 2 == 0 ? reference::random_code(random, 16) : reference::random_relation(random, 12);
    std::vector<NodeId> exits;
    for (std::size_t j = random() % 4; j > 0; j--) exits.push_back(static_cast<NodeId>(random() % relation.size()));
    expect_as_defined(relation, exits, static_cast<NodeId>(random() % relation.size()));
  }
}

TEST(ControlDependence, IsAsDefinedOnRandomGraphsWithoutEndlessLoops) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 5'000 && !HasFailure(); i++) {
    reference::Relation relation = reference::random_code(random, 16);
    for (NodeId node = 0; node + 1 < relation.size(); node++) relation[node] |= reference::only(node + 1);
    expect_as_defined(relation, {static_cast<NodeId>(relation.size() - 1)}, 0);
  }
}

/// What an endless function is left by is a header of its loop forest, unless it is where nothing goes on.
TEST(PostDominators, EndlessLoopsAreLeftAtHeadersOfTheLoopForest) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 3'000 && !HasFailure(); i++) {
    const reference::Relation relation = reference::random_relation(random, 14);
    const Digraph graph(relation.size(), reference::edges_of(relation));
    const NodeId entry = static_cast<NodeId>(random() % relation.size());
    const PostDominators found(graph, {}, entry);
    const LoopForest forest(graph, entry);
    for (NodeId node = 0; node < graph.size(); node++) {
      if (!found.leaves(node) || forest.innermost(node) == kNoLoop) continue;
      EXPECT_TRUE(forest.is_header(node));
      EXPECT_EQ(forest.loops()[forest.innermost(node)].depth, 1u);
    }
  }
}

}  // namespace
}  // namespace loopfold::structure
