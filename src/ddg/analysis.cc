#include "ddg/analysis.h"

#include "ddg/builder.h"
#include "structure/loop_walk.h"
#include "support/stopwatch.h"

namespace loopfold::ddg {

namespace {

std::uint64_t intermediate(const Graph& graph) {
  std::uint64_t total = 0;
  for (const Statement& statement : graph.statements) total += statement.domain.max_intermediate;
  for (const Access& access : graph.accesses) total += access.address.max_intermediate;
  for (const Value& value : graph.values) total += value.value.max_intermediate;
  for (const Dependence& dependence : graph.dependences) total += dependence.map.max_intermediate;
  return total;
}

}  // namespace

Graph build(const trace::Reader& reader, const structure::Structure& structure, structure::LoopTree& tree,
            symbols::Symbolizer& symbolizer, const Options& options, std::uint64_t& threads) {
  Stopwatch watch;
  Graph graph;
  Builder builder(reader, structure, tree, symbolizer, options);
  structure::LoopWalk<Builder> walk(structure, tree, builder);
  std::function<void(double)> progress;
  if (options.progress) progress = [&](double share) { options.progress(share, builder.instructions()); };
  walk.walk(reader, graph.damage, progress, options.stop, options.jobs > 1);
  if (options.stop != nullptr && *options.stop) return {};
  threads = walk.threads();
  builder.finish(graph);
  graph.max_intermediate = intermediate(graph);
  graph.costs.seconds = watch.lap();
  return graph;
}

}  // namespace loopfold::ddg
