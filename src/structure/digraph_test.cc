#include "structure/digraph.h"

#include <gtest/gtest.h>

#include "structure/graph_reference.h"

namespace loopfold::structure {
namespace {

std::vector<NodeId> copy(std::span<const NodeId> nodes) { return {nodes.begin(), nodes.end()}; }

TEST(Digraph, KeepsEachEdgeOnceInOrder) {
  const std::vector<Edge> edges{{2, 1}, {0, 2}, {2, 1}, {2, 0}, {1, 1}, {0, 2}, {0, 1}};
  const Digraph graph(4, edges);
  EXPECT_EQ(graph.size(), 4u);
  EXPECT_EQ(graph.edges(), 5u);
  EXPECT_EQ(copy(graph.successors(0)), (std::vector<NodeId>{1, 2}));
  EXPECT_EQ(copy(graph.successors(1)), (std::vector<NodeId>{1}));
  EXPECT_EQ(copy(graph.successors(2)), (std::vector<NodeId>{0, 1}));
  EXPECT_TRUE(graph.successors(3).empty());
  EXPECT_EQ(copy(graph.predecessors(0)), (std::vector<NodeId>{2}));
  EXPECT_EQ(copy(graph.predecessors(1)), (std::vector<NodeId>{0, 1, 2}));
  EXPECT_EQ(copy(graph.predecessors(2)), (std::vector<NodeId>{0}));
  EXPECT_TRUE(graph.predecessors(3).empty());
}

TEST(Digraph, MayBeEmpty) {
  EXPECT_EQ(Digraph().size(), 0u);
  EXPECT_EQ(Digraph(0, {}).size(), 0u);
  EXPECT_TRUE(strong_component_heads(Digraph(0, {}), {}).empty());
}

TEST(Digraph, DoesNotDependOnTheOrderOfEdges) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; i++) {
    const reference::Relation relation = reference::random_relation(random, 20);
    std::vector<Edge> edges = reference::edges_of(relation);
    std::shuffle(edges.begin(), edges.end(), random);
    const Digraph graph(relation.size(), edges);
    for (NodeId node = 0; node < graph.size(); node++) {
      EXPECT_TRUE(std::is_sorted(graph.successors(node).begin(), graph.successors(node).end()));
      EXPECT_TRUE(std::is_sorted(graph.predecessors(node).begin(), graph.predecessors(node).end()));
      reference::Nodes successors = 0;
      for (const NodeId to : graph.successors(node)) successors |= reference::only(to);
      EXPECT_EQ(successors, relation[node]);
      for (const NodeId from : graph.predecessors(node)) EXPECT_TRUE(reference::has(relation[from], node));
    }
    std::size_t predecessors = 0;
    for (NodeId node = 0; node < graph.size(); node++) predecessors += graph.predecessors(node).size();
    EXPECT_EQ(predecessors, edges.size());
  }
}

TEST(StrongComponents, HeadIsTheFirstMemberThatASearchMeets) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 3000; i++) {
    const reference::Relation relation = reference::random_relation(random, 14);
    const Digraph graph(relation.size(), reference::edges_of(relation));
    const NodeId start = static_cast<NodeId>(random() % relation.size());
    const std::vector<NodeId> heads = strong_component_heads(graph, {&start, 1});
    std::vector<NodeId> order;
    reference::search(relation, start, order);
    for (NodeId node = 0; node < graph.size(); node++) reference::search(relation, node, order);
    const std::vector<reference::Nodes> components =
        reference::cyclic_components(relation, reference::all(relation.size()));
    for (NodeId node = 0; node < graph.size(); node++) {
      NodeId head = node;
      for (const reference::Nodes members : components) {
        if (reference::has(members, node)) head = reference::first_of(order, members);
      }
      ASSERT_EQ(heads[node], head);
    }
  }
}

TEST(StrongComponents, OfALongCycle) {
  constexpr NodeId kSize = 100'000;
  std::vector<Edge> edges;
  for (NodeId node = 0; node < kSize; node++) edges.push_back({node, (node + 1) % kSize});
  EXPECT_EQ(strong_component_heads(Digraph(kSize, edges), {}), std::vector<NodeId>(kSize, 0));
}

}  // namespace
}  // namespace loopfold::structure
