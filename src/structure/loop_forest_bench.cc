// How the cost of a loop-nesting forest grows: time per edge should stay about the same (but for caches) while graphs
// grow. Random code, a deep nest, and a deep nest whose innermost loop is entered from outside by as many edges as it
// is deep, which is quadratic if an edge is looked at once for each loop that it enters.
#include <benchmark/benchmark.h>

#include <random>

#include "structure/loop_forest.h"

namespace loopfold::structure {
namespace {

/// Going on to the next node, and a jump from every third, mostly near.
Digraph random_code(NodeId size) {
  std::mt19937_64 random(1);
  std::vector<Edge> edges;
  for (NodeId node = 0; node + 1 < size; node++) edges.push_back({node, node + 1});
  for (NodeId node = 0; node < size; node += 3) {
    const std::uint64_t reach = random() % 16 == 0 ? size : 50;
    const std::uint64_t target = node + random() % (2 * reach + 1);
    if (target >= reach && target - reach < size) edges.push_back({node, static_cast<NodeId>(target - reach)});
  }
  return Digraph(size, edges);
}

/// Half of the nodes are headers, one inside the other; the other half close their loops.
std::vector<Edge> nest_edges(NodeId size) {
  std::vector<Edge> edges;
  for (NodeId node = 0; node + 1 < size; node++) edges.push_back({node, node + 1});
  for (NodeId node = 0; node < size / 2; node++) edges.push_back({size - 1 - node, node});
  return edges;
}

Digraph deep_nest(NodeId size) { return Digraph(size, nest_edges(size)); }

/// Two thirds of the nodes are a nest, the others lead from the entry into its innermost loop.
Digraph entered_nest(NodeId size) {
  const NodeId nest = size / 3 * 2;
  std::vector<Edge> edges;
  for (const Edge& edge : nest_edges(nest)) edges.push_back({edge.from + 1, edge.to + 1});
  edges.push_back({0, 1});
  for (NodeId outside = nest + 1; outside < size; outside++) {
    edges.push_back({0, outside});
    edges.push_back({outside, 1 + nest / 2});
  }
  return Digraph(size, edges);
}

void measure(benchmark::State& state, Digraph (*make)(NodeId)) {
  const Digraph graph = make(static_cast<NodeId>(state.range(0)));
  for (auto _ : state) {
    const LoopForest forest(graph, 0);
    benchmark::DoNotOptimize(forest.loops().data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * graph.edges()));
}

void loop_forest_random_code(benchmark::State& state) { measure(state, random_code); }
BENCHMARK(loop_forest_random_code)->RangeMultiplier(10)->Range(1'000, 1'000'000)->Unit(benchmark::kMillisecond);

void loop_forest_deep_nest(benchmark::State& state) { measure(state, deep_nest); }
BENCHMARK(loop_forest_deep_nest)->RangeMultiplier(10)->Range(1'000, 1'000'000)->Unit(benchmark::kMillisecond);

void loop_forest_entered_nest(benchmark::State& state) { measure(state, entered_nest); }
BENCHMARK(loop_forest_entered_nest)->RangeMultiplier(10)->Range(1'000, 1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace loopfold::structure
