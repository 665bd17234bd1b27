#include "structure/recursive_components.h"

#include <gtest/gtest.h>

#include "structure/graph_reference.h"

namespace loopfold::structure {
namespace {

enum : NodeId { kMain, F, G, H, I };

RecursiveComponents components_of(std::size_t functions, const std::vector<Edge>& calls,
                                  const std::vector<NodeId>& roots = {kMain}) {
  return RecursiveComponents(Digraph(functions, calls), roots);
}

template <typename Holds>
std::vector<NodeId> where(std::size_t functions, Holds holds) {
  std::vector<NodeId> found;
  for (NodeId function = 0; function < functions; function++) {
    if (holds(function)) found.push_back(function);
  }
  return found;
}

std::vector<NodeId> headers(const RecursiveComponents& components, std::size_t functions) {
  return where(functions, [&](NodeId function) { return components.is_header(function); });
}

std::vector<NodeId> entries(const RecursiveComponents& components, std::size_t functions) {
  return where(functions, [&](NodeId function) { return components.is_entry(function); });
}

TEST(RecursiveComponents, NoneWithoutRecursion) {
  const RecursiveComponents components = components_of(3, {{kMain, F}, {kMain, G}, {F, G}});
  EXPECT_EQ(components.size(), 0u);
  EXPECT_EQ(components.component_of(kMain), kNoComponent);
  EXPECT_FALSE(components.is_entry(kMain));
  EXPECT_FALSE(components.is_header(F));
}

TEST(RecursiveComponents, SelfRecursion) {
  const RecursiveComponents components = components_of(3, {{kMain, F}, {F, F}, {F, G}});
  ASSERT_EQ(components.size(), 1u);
  EXPECT_EQ(components.component_of(F), 0u);
  EXPECT_EQ(components.component_of(G), kNoComponent);
  EXPECT_EQ(headers(components, 3), (std::vector<NodeId>{F}));
  EXPECT_EQ(entries(components, 3), (std::vector<NodeId>{F}));
}

TEST(RecursiveComponents, MutualRecursionHasOneHeader) {
  const RecursiveComponents components = components_of(3, {{kMain, G}, {F, G}, {G, F}});
  ASSERT_EQ(components.size(), 1u);
  EXPECT_EQ(headers(components, 3), (std::vector<NodeId>{G}));
  EXPECT_EQ(entries(components, 3), (std::vector<NodeId>{G}));
}

TEST(RecursiveComponents, MutualRecursionEnteredAtBothHasOneHeader) {
  const RecursiveComponents components = components_of(3, {{kMain, F}, {kMain, G}, {F, G}, {G, F}});
  EXPECT_EQ(headers(components, 3), (std::vector<NodeId>{F}));
  EXPECT_EQ(entries(components, 3), (std::vector<NodeId>{F, G}));
}

TEST(RecursiveComponents, ACycleLeftInsideHasAHeaderOfItsOwn) {
  const RecursiveComponents components = components_of(4, {{kMain, F}, {F, G}, {G, H}, {H, F}, {H, G}});
  ASSERT_EQ(components.size(), 1u);
  EXPECT_EQ(headers(components, 4), (std::vector<NodeId>{F, G}));
  EXPECT_EQ(entries(components, 4), (std::vector<NodeId>{F}));
}

TEST(RecursiveComponents, ExampleOfTheEssay) {
  const RecursiveComponents components = components_of(3, {{kMain, F}, {F, G}, {G, F}, {G, G}});
  EXPECT_EQ(headers(components, 3), (std::vector<NodeId>{F, G}));
  EXPECT_EQ(entries(components, 3), (std::vector<NodeId>{F}));
}

TEST(RecursiveComponents, AreNumberedByTheirSmallestFunction) {
  const RecursiveComponents components = components_of(5, {{kMain, I}, {I, F}, {F, I}, {I, G}, {G, H}, {H, G}});
  ASSERT_EQ(components.size(), 2u);
  EXPECT_EQ(std::vector<NodeId>(components.functions(0).begin(), components.functions(0).end()),
            (std::vector<NodeId>{F, I}));
  EXPECT_EQ(std::vector<NodeId>(components.functions(1).begin(), components.functions(1).end()),
            (std::vector<NodeId>{G, H}));
}

TEST(RecursiveComponents, RecursiveRootIsAnEntry) {
  const RecursiveComponents components = components_of(3, {{F, G}, {G, F}}, {kMain, G});
  EXPECT_EQ(entries(components, 3), (std::vector<NodeId>{G}));
  EXPECT_EQ(headers(components, 3), (std::vector<NodeId>{G}));
}

TEST(RecursiveComponents, WithoutACallerTheSmallestFunctionIsTheEntry) {
  const RecursiveComponents components = components_of(5, {{H, I}, {I, H}, {I, G}, {F, G}, {G, F}}, {kMain});
  ASSERT_EQ(components.size(), 2u);
  EXPECT_EQ(entries(components, 5), (std::vector<NodeId>{G, H}));
  EXPECT_EQ(headers(components, 5), (std::vector<NodeId>{G, H}));
}

TEST(RecursiveComponents, LongCycle) {
  constexpr NodeId kSize = 100'000;
  std::vector<Edge> calls;
  for (NodeId function = 0; function < kSize; function++) calls.push_back({function, (function + 1) % kSize});
  const RecursiveComponents components = components_of(kSize, calls, {7});
  ASSERT_EQ(components.size(), 1u);
  EXPECT_EQ(components.functions(0).size(), kSize);
  EXPECT_EQ(headers(components, kSize), (std::vector<NodeId>{7}));
}

/// Without the calls of headers from inside their component no cycle is left.
void expect_headers_cut_all_cycles(const reference::Relation& calls, const RecursiveComponents& components) {
  reference::Relation left = calls;
  for (const Edge& call : reference::edges_of(calls)) {
    const ComponentId component = components.component_of(call.to);
    if (components.is_header(call.to) && components.component_of(call.from) == component) {
      left[call.from] &= ~reference::only(call.to);
    }
  }
  EXPECT_TRUE(reference::cyclic_components(left, reference::all(left.size())).empty());
}

void expect_set(reference::Nodes expected, const std::vector<NodeId>& found) {
  reference::Nodes set = 0;
  for (const NodeId function : found) set |= reference::only(function);
  EXPECT_EQ(set, expected);
}

TEST(RecursiveComponents, AreAsDefinedOnRandomGraphs) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 10'000 && !HasFailure(); i++) {
    const reference::Relation calls = reference::random_relation(random, 14);
    std::vector<NodeId> roots;
    for (std::size_t j = random() % 3; j > 0; j--) roots.push_back(static_cast<NodeId>(random() % calls.size()));
    const RecursiveComponents components(Digraph(calls.size(), reference::edges_of(calls)), roots);
    const reference::Components expected = reference::recursive_components(calls, roots);
    ASSERT_EQ(components.size(), expected.members.size());
    for (ComponentId id = 0; id < components.size(); id++) {
      const std::span<const NodeId> functions = components.functions(id);
      EXPECT_TRUE(std::is_sorted(functions.begin(), functions.end()));
      expect_set(expected.members[id], {functions.begin(), functions.end()});
      const auto in = [&](NodeId function) { return components.component_of(function) == id; };
      const std::size_t size = calls.size();
      expect_set(expected.members[id], where(size, in));
      expect_set(expected.entries[id], where(size, [&](NodeId f) { return in(f) && components.is_entry(f); }));
      expect_set(expected.headers[id], where(size, [&](NodeId f) { return in(f) && components.is_header(f); }));
      EXPECT_NE(expected.entries[id] & expected.headers[id], 0u);
    }
    for (NodeId function = 0; function < calls.size(); function++) {
      if (components.component_of(function) != kNoComponent) continue;
      EXPECT_FALSE(components.is_entry(function) || components.is_header(function));
    }
    expect_headers_cut_all_cycles(calls, components);
  }
}

}  // namespace
}  // namespace loopfold::structure
