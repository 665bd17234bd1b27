// Pass 1, pass 2, names.
#include "structure/analysis.h"

#include "structure/function_facts.h"
#include "structure/loop_names.h"
#include "structure/loop_walk.h"
#include "structure/merged_loops.h"
#include "structure/structure.h"
#include "structure/tree_profile.h"
#include "support/stopwatch.h"
#include "symbols/symbolizer.h"

namespace loopfold::structure {

namespace {

/// The share of the whole that `share` of one half is.
std::function<void(double)> half(const std::function<void(double)>& progress, double from) {
  if (!progress) return {};
  return [progress, from](double share) { progress(from + share / 2); };
}

}  // namespace

profile::Profile analyse(const trace::Reader& reader, const AnalysisOptions& options, Costs& costs) {
  Stopwatch watch;
  symbols::Symbolizer symbolizer(reader.modules());
  const FunctionFacts facts = function_facts(symbolizer);
  Structure structure{CodeMap(reader, facts), {}, {}, {}, {}, {}};
  costs.code = watch.lap();
  structure.flow = find_control_flow(reader, structure.code, structure.damage, half(options.progress, 0.0));
  costs.pass1 = watch.lap();
  find_loops(structure);
  separate_loops(reader, structure);
  costs.loops = watch.lap();
  LoopNames names(structure, symbolizer);
  find_tests(structure, names, symbolizer);
  costs.naming = watch.lap();
  LoopTree tree;
  NoObserver nothing;
  LoopWalk<NoObserver> walk(structure, tree, nothing);
  walk.walk(reader, structure.damage, half(options.progress, 0.5));
  costs.pass2 = watch.lap();
  profile::Profile profile = describe(reader, structure, tree, walk.threads(), names, symbolizer);
  costs.naming += watch.lap();
  costs.instructions = profile.program.instructions;
  costs.functions = structure.flow.functions().size();
  costs.places = structure.code.places();
  for (const LoopForest& forest : structure.forests) costs.static_loops += forest.loops().size();
  costs.contexts = tree.contexts().size();
  return profile;
}

}  // namespace loopfold::structure
