#include "structure/loop_forest.h"

#include <gtest/gtest.h>

#include <numeric>

#include "structure/graph_reference.h"

namespace loopfold::structure {
namespace {

enum : NodeId { A, B, C, D, E, F, G };

LoopForest forest_of(std::size_t nodes, const std::vector<Edge>& edges, NodeId entry = 0) {
  return LoopForest(Digraph(nodes, edges), entry);
}

reference::Nodes members(const LoopForest& forest, LoopId loop, std::size_t nodes) {
  reference::Nodes found = 0;
  for (NodeId node = 0; node < nodes; node++) {
    if (forest.contains(loop, node)) found |= reference::only(node);
  }
  return found;
}

/// Loops, nesting, headers, latches and reducibility are those of the definition; ids are in pre-order.
void expect_as_defined(const reference::Relation& relation, const LoopForest& forest, NodeId entry) {
  const std::vector<reference::Loop> expected = reference::loops(relation, entry);
  ASSERT_EQ(forest.loops().size(), expected.size());
  reference::Nodes in_loops = 0;
  for (const reference::Loop& loop : expected) {
    ASSERT_TRUE(forest.is_header(loop.header));
    const LoopId id = forest.innermost(loop.header);
    const Loop& found = forest.loops()[id];
    EXPECT_EQ(found.header, loop.header);
    EXPECT_EQ(members(forest, id, relation.size()), loop.members);
    EXPECT_EQ(found.parent == kNoLoop ? kNoNode : forest.loops()[found.parent].header, loop.parent);
    EXPECT_TRUE(found.parent == kNoLoop || found.parent < id);
    EXPECT_EQ(found.depth, loop.depth);
    EXPECT_EQ(found.irreducible, loop.irreducible);
    EXPECT_TRUE(std::is_sorted(found.latches.begin(), found.latches.end()));
    EXPECT_EQ(std::accumulate(found.latches.begin(), found.latches.end(), reference::Nodes{0},
                              [](reference::Nodes set, NodeId node) { return set | reference::only(node); }),
              loop.latches);
    in_loops |= loop.members;
    for (const reference::Loop& other : expected) {
      EXPECT_EQ(forest.encloses(id, forest.innermost(other.header)), (other.members & ~loop.members) == 0);
    }
  }
  for (NodeId node = 0; node < relation.size(); node++) {
    EXPECT_EQ(forest.innermost(node) != kNoLoop, reference::has(in_loops, node));
  }
}

/// The loop around both; kNoLoop for the graph.
LoopId common_loop(const LoopForest& forest, NodeId a, NodeId b) {
  LoopId loop = forest.innermost(a);
  while (loop != kNoLoop && !forest.contains(loop, b)) loop = forest.loops()[loop].parent;
  return loop;
}

/// Of what `level` consists of, the index of the part with `node` in it.
std::uint32_t index_at(const LoopForest& forest, LoopId level, NodeId node) {
  LoopId loop = forest.innermost(node);
  if (loop == level) return forest.index_of(node);
  while (forest.loops()[loop].parent != level) loop = forest.loops()[loop].parent;
  return forest.index_of_loop(loop);
}

/// At every level the indices are 0, 1, 2, ..., the header first, and every edge but those to the header goes up.
void expect_indices_in_order(const Digraph& graph, const LoopForest& forest, NodeId entry) {
  std::vector<std::vector<std::uint32_t>> indices(forest.loops().size() + 1);
  const auto level = [&](LoopId loop) -> std::vector<std::uint32_t>& {
    return loop == kNoLoop ? indices.back() : indices[loop];
  };
  for (NodeId node = 0; node < graph.size(); node++) {
    level(forest.innermost(node)).push_back(forest.index_of(node));
    if (forest.is_header(node)) {
      EXPECT_EQ(forest.index_of(node), 0u);
    }
  }
  for (LoopId id = 0; id < forest.loops().size(); id++) {
    level(forest.loops()[id].parent).push_back(forest.index_of_loop(id));
  }
  for (std::vector<std::uint32_t>& found : indices) {
    std::sort(found.begin(), found.end());
    for (std::uint32_t i = 0; i < found.size(); i++) ASSERT_EQ(found[i], i);
  }
  const std::vector<NodeId> reached = [&] {
    std::vector<NodeId> left{entry};
    std::vector<bool> met(graph.size(), false);
    met[entry] = true;
    for (std::size_t i = 0; i < left.size(); i++) {
      for (const NodeId to : graph.successors(left[i])) {
        if (!met[to]) left.push_back(to);
        met[to] = true;
      }
    }
    return left;
  }();
  EXPECT_EQ(index_at(forest, kNoLoop, entry), 0u);
  for (const NodeId from : reached) {
    for (const NodeId to : graph.successors(from)) {
      const LoopId common = common_loop(forest, from, to);
      if (common != kNoLoop && forest.loops()[common].header == to) continue;
      EXPECT_LT(index_at(forest, common, from), index_at(forest, common, to)) << from << " -> " << to;
    }
  }
}

TEST(LoopForest, ExampleOfThePaper) {
  const LoopForest forest = forest_of(5, {{A, B}, {B, C}, {B, D}, {C, D}, {D, C}, {D, B}, {D, E}});
  ASSERT_EQ(forest.loops().size(), 2u);
  const Loop& outer = forest.loops()[0];
  EXPECT_EQ(outer.header, B);
  EXPECT_EQ(outer.latches, (std::vector<NodeId>{D}));
  EXPECT_FALSE(outer.irreducible);
  EXPECT_EQ(outer.depth, 1u);
  const Loop& inner = forest.loops()[1];
  EXPECT_EQ(inner.header, C);
  EXPECT_EQ(inner.parent, 0u);
  EXPECT_EQ(inner.depth, 2u);
  EXPECT_EQ(inner.latches, (std::vector<NodeId>{D}));
  EXPECT_TRUE(inner.irreducible);
  EXPECT_EQ(forest.innermost(A), kNoLoop);
  EXPECT_EQ(forest.innermost(B), 0u);
  EXPECT_EQ(forest.innermost(C), 1u);
  EXPECT_EQ(forest.innermost(D), 1u);
  EXPECT_EQ(forest.innermost(E), kNoLoop);
  EXPECT_EQ(forest.index_of(A), 0u);
  EXPECT_EQ(forest.index_of_loop(0), 1u);
  EXPECT_EQ(forest.index_of(E), 2u);
  EXPECT_EQ(forest.index_of(B), 0u);
  EXPECT_EQ(forest.index_of_loop(1), 1u);
  EXPECT_EQ(forest.index_of(C), 0u);
  EXPECT_EQ(forest.index_of(D), 1u);
}

TEST(LoopForest, SelfEdge) {
  const LoopForest forest = forest_of(3, {{A, B}, {B, B}, {B, C}});
  ASSERT_EQ(forest.loops().size(), 1u);
  EXPECT_EQ(forest.loops()[0].header, B);
  EXPECT_EQ(forest.loops()[0].latches, (std::vector<NodeId>{B}));
  EXPECT_FALSE(forest.loops()[0].irreducible);
  EXPECT_EQ(members(forest, 0, 3), reference::only(B));
}

TEST(LoopForest, TwoBackEdgesToOneHeaderAreOneLoop) {
  const LoopForest forest = forest_of(5, {{A, B}, {B, C}, {B, D}, {C, B}, {D, B}, {B, E}});
  ASSERT_EQ(forest.loops().size(), 1u);
  EXPECT_EQ(forest.loops()[0].latches, (std::vector<NodeId>{C, D}));
  EXPECT_EQ(forest.index_of(C), 1u);  // of two branches, the smaller node first
  EXPECT_EQ(forest.index_of(D), 2u);
}

TEST(LoopForest, TwoCyclesThroughEachOtherAreIrreducible) {
  const LoopForest forest = forest_of(3, {{A, B}, {A, C}, {B, C}, {C, B}});
  ASSERT_EQ(forest.loops().size(), 1u);
  EXPECT_EQ(forest.loops()[0].header, B);
  EXPECT_TRUE(forest.loops()[0].irreducible);
}

TEST(LoopForest, EnteredInTheMiddle) {
  const LoopForest forest = forest_of(6, {{A, D}, {B, C}, {C, D}, {D, E}, {E, B}, {E, F}});
  ASSERT_EQ(forest.loops().size(), 1u);
  EXPECT_EQ(forest.loops()[0].header, D);
  EXPECT_EQ(forest.loops()[0].latches, (std::vector<NodeId>{C}));
  EXPECT_FALSE(forest.loops()[0].irreducible);
}

TEST(LoopForest, AnEdgeIntoTheInnermostLoopMakesAllAroundItIrreducible) {
  const LoopForest forest = forest_of(7, {{A, B}, {A, E}, {B, C}, {C, D}, {D, E}, {E, D}, {E, C}, {E, B}, {E, G}});
  ASSERT_EQ(forest.loops().size(), 3u);
  for (const Loop& loop : forest.loops()) EXPECT_TRUE(loop.irreducible);
}

TEST(LoopForest, SiblingsInNestsKeepTheirRanges) {
  const LoopForest forest = forest_of(7, {{A, B}, {B, C}, {C, C}, {C, D}, {B, E}, {E, E}, {E, B}, {A, F}, {F, F}});
  ASSERT_EQ(forest.loops().size(), 4u);
  const LoopId outer = forest.innermost(B);
  EXPECT_EQ(forest.loops()[outer].header, B);
  EXPECT_EQ(forest.loops()[forest.innermost(C)].parent, kNoLoop);
  EXPECT_EQ(forest.loops()[forest.innermost(E)].parent, outer);
  EXPECT_TRUE(forest.encloses(outer, forest.innermost(E)));
  EXPECT_FALSE(forest.encloses(outer, forest.innermost(C)));
  EXPECT_FALSE(forest.encloses(outer, forest.innermost(F)));
  EXPECT_FALSE(forest.encloses(outer, kNoLoop));
}

TEST(LoopForest, UnreachableNodesAreInNoLoopAndComeLast) {
  const LoopForest forest = forest_of(5, {{C, D}, {D, C}, {A, B}, {B, A}, {B, D}, {B, B}}, C);
  ASSERT_EQ(forest.loops().size(), 1u);
  EXPECT_EQ(forest.loops()[0].header, C);
  EXPECT_FALSE(forest.loops()[0].irreducible);
  EXPECT_EQ(forest.innermost(A), kNoLoop);
  EXPECT_EQ(forest.innermost(B), kNoLoop);
  EXPECT_EQ(forest.index_of_loop(0), 0u);
  EXPECT_EQ(forest.index_of(A), 1u);
  EXPECT_EQ(forest.index_of(B), 2u);
  EXPECT_EQ(forest.index_of(E), 3u);
}

TEST(LoopForest, EmptyAndSingle) {
  EXPECT_TRUE(LoopForest(Digraph(0, {}), 0).loops().empty());
  const LoopForest single = forest_of(1, {});
  EXPECT_TRUE(single.loops().empty());
  EXPECT_EQ(single.index_of(0), 0u);
}

TEST(LoopForest, LongChain) {
  constexpr NodeId kSize = 100'000;
  std::vector<Edge> edges;
  for (NodeId node = 0; node + 1 < kSize; node++) edges.push_back({node, node + 1});
  const LoopForest straight = forest_of(kSize, edges);
  EXPECT_TRUE(straight.loops().empty());
  EXPECT_EQ(straight.index_of(kSize - 1), kSize - 1);
  edges.push_back({kSize - 1, 0});
  const LoopForest round = forest_of(kSize, edges);
  ASSERT_EQ(round.loops().size(), 1u);
  EXPECT_EQ(round.loops()[0].latches, (std::vector<NodeId>{kSize - 1}));
  EXPECT_EQ(round.index_of(kSize - 1), kSize - 1);
}

/// Headers 0, 1, ... one inside the other, each loop closed by a latch of its own.
std::vector<Edge> deep_nest(NodeId depth) {
  std::vector<Edge> edges;
  for (NodeId i = 0; i + 1 < 2 * depth; i++) edges.push_back({i, i + 1});
  for (NodeId i = 0; i < depth; i++) edges.push_back({2 * depth - 1 - i, i});
  return edges;
}

TEST(LoopForest, DeepNest) {
  constexpr NodeId kDepth = 100'000;
  const LoopForest forest = forest_of(2 * kDepth, deep_nest(kDepth));
  ASSERT_EQ(forest.loops().size(), kDepth);
  for (LoopId id = 0; id < kDepth; id++) {
    const Loop& loop = forest.loops()[id];
    ASSERT_EQ(loop.header, id);
    ASSERT_EQ(loop.parent, id == 0 ? kNoLoop : id - 1);
    ASSERT_EQ(loop.depth, id + 1);
    ASSERT_FALSE(loop.irreducible);
    ASSERT_EQ(loop.latches, (std::vector<NodeId>{2 * kDepth - 1 - id}));
    ASSERT_EQ(forest.index_of(2 * kDepth - 1 - id), id + 1 == kDepth ? 1u : 2u);
  }
}

/// As many edges from outside into the innermost loop of the nest as the nest is deep.
TEST(LoopForest, DeepNestEnteredFromOutsideManyTimes) {
  constexpr NodeId kDepth = 50'000;
  std::vector<Edge> edges;
  for (const Edge& edge : deep_nest(kDepth)) edges.push_back({edge.from + 1, edge.to + 1});
  edges.push_back({0, 1});
  for (NodeId i = 0; i < kDepth; i++) {
    const NodeId outside = 1 + 2 * kDepth + i;
    edges.push_back({0, outside});
    edges.push_back({outside, 1 + kDepth});
  }
  const LoopForest forest = forest_of(1 + 3 * kDepth, edges);
  ASSERT_EQ(forest.loops().size(), kDepth);
  for (const Loop& loop : forest.loops()) ASSERT_TRUE(loop.irreducible);
}

class LoopForestRandom : public testing::TestWithParam<bool> {};

TEST_P(LoopForestRandom, IsAsDefined) {
  std::mt19937_64 random(GetParam() ? 3 : 4);
  for (int i = 0; i < 10'000 && !HasFailure(); i++) {
    const reference::Relation relation =
        GetParam() ? reference::random_code(random, 24) : reference::random_relation(random, 14);
    const NodeId entry = random() % 4 != 0 ? 0 : static_cast<NodeId>(random() % relation.size());
    const Digraph graph(relation.size(), reference::edges_of(relation));
    const LoopForest forest(graph, entry);
    expect_as_defined(relation, forest, entry);
    expect_indices_in_order(graph, forest, entry);
  }
}

INSTANTIATE_TEST_SUITE_P(Any, LoopForestRandom, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Code, LoopForestRandom, testing::Values(true));

TEST(LoopForest, IndicesInOrderInLargeRandomGraphs) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 20 && !HasFailure(); i++) {
    const std::size_t size = 200 + random() % 800;
    std::vector<Edge> edges;
    for (NodeId node = 0; node + 1 < size; node++) edges.push_back({node, node + 1});
    for (std::size_t j = random() % (2 * size); j > 0; j--) {
      edges.push_back({static_cast<NodeId>(random() % size), static_cast<NodeId>(random() % size)});
    }
    const Digraph graph(size, edges);
    expect_indices_in_order(graph, LoopForest(graph, 0), 0);
  }
}

}  // namespace
}  // namespace loopfold::structure
