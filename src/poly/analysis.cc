#include "poly/analysis.h"

#include <fmt/format.h>

#include <algorithm>

#include "ddg/hot_contexts.h"
#include "poly/describe.h"
#include "poly/pure_calls.h"
#include "poly/regions.h"
#include "poly/source_loops.h"
#include "poly/verdicts.h"
#include "structure/function_facts.h"
#include "structure/loop_names.h"
#include "structure/loop_walk.h"
#include "structure/structure.h"
#include "structure/tree_profile.h"
#include "support/stopwatch.h"
#include "symbols/symbolizer.h"

namespace loopfold::poly {

namespace {

/// How much of the time goes into pass 1, for progress: it reads control only.
constexpr double kPass1Share = 0.1;

ddg::Options ddg_options(const AnalysisOptions& options) {
  ddg::Options result;
  result.fold = options.fold;
  result.max_memory = options.max_memory;
  result.jobs = options.jobs;
  result.by_runs = options.by_runs;
  result.origins = options.verdicts;
  if (options.progress)
    result.progress = [&options](double share, std::uint64_t instructions) {
      options.progress(kPass1Share + share * (1 - kPass1Share), instructions);
    };
  return result;
}

/// The contexts that get statements.
std::vector<bool> choose(const trace::Reader& reader, const structure::Structure& structure,
                         std::uint64_t max_statements) {
  if (max_statements == 0) return {};
  structure::LoopTree tree;
  structure::NoObserver nothing;
  structure::LoopWalk<structure::NoObserver> walk(structure, tree, nothing);
  std::string damage;
  walk.walk(reader, damage);
  return ddg::hot_contexts(structure, tree, max_statements);
}

std::function<void(double)> pass1_progress(const AnalysisOptions& options) {
  if (!options.progress) return {};
  return [&options](double share) { options.progress(share * kPass1Share, 0); };
}

/// What was taken on trust is said.
void add_quality(const PureCalls& pure, const AnalysisOptions& options, profile::Profile& profile) {
  if (pure.unmatched.size() == options.pure.size()) return;
  std::vector<std::string> names;
  for (const std::string& name : options.pure)
    if (std::find(pure.unmatched.begin(), pure.unmatched.end(), name) == pure.unmatched.end()) names.push_back(name);
  const auto whole = static_cast<double>(std::max<std::uint64_t>(profile.program.instructions, 1));
  profile.quality.push_back({"taken for pure",
                             fmt::format("calls of {} may be reordered (--pure)", fmt::join(names, ", ")),
                             static_cast<double>(pure.instructions) / whole});
}

}  // namespace

profile::Profile analyse(const trace::Reader& reader, const AnalysisOptions& options, AnalysisCosts& costs) {
  Stopwatch watch;
  symbols::Symbolizer symbolizer(reader.modules());
  const structure::FunctionFacts facts = structure::function_facts(symbolizer);
  structure::Structure structure{structure::CodeMap(reader, facts), {}, {}, {}, {}, {}};
  costs.code = watch.lap();
  structure.flow = structure::find_control_flow(reader, structure.code, structure.damage, pass1_progress(options));
  costs.pass1 = watch.lap();
  structure::find_loops(structure);
  costs.loops = watch.lap();
  structure::LoopNames names(structure, symbolizer);
  structure::find_tests(structure, names, symbolizer);
  costs.naming = watch.lap();

  ddg::Options ddg = ddg_options(options);
  ddg.hot = choose(reader, structure, options.max_statements);
  costs.choosing = watch.lap();
  structure::LoopTree tree;
  std::uint64_t threads = 0;
  const ddg::Graph graph = ddg::build(reader, structure, tree, symbolizer, ddg, threads);
  costs.pass2 = watch.lap();

  std::vector<std::uint32_t> nodes;
  profile::Profile profile = structure::describe(reader, structure, tree, threads, names, symbolizer, &nodes);
  costs.naming += watch.lap();
  const Context context{tree, nodes,
                        [&](std::uint64_t address) -> const symbols::Location& { return symbolizer.locate(address); },
                        reader.end() ? reader.end()->hidden_instructions : 0};
  describe(graph, context, profile);
  costs.describing = watch.lap();

  if (options.verdicts) {
    PureCalls pure = pure_calls(options.pure, context, profile);
    add_quality(pure, options, profile);
    const std::vector<SourceLoop> loops =
        loops_in_regions(source_loops(structure, tree, names, symbolizer), context, options.min_percent, profile);
    RegionFlow flow(graph, tree);
    VerdictOptions verdict_options{std::move(pure.contexts), &symbolizer, {}};
    if (options.advise) verdict_options.on_loop = [&](const JudgedLoop& judged) { flow.add(judged); };
    describe_regions(graph, judge(graph, structure, tree, loops, verdict_options), context, options.min_percent,
                     profile);
    costs.unmatched_pure = std::move(pure.unmatched);
    costs.judging = watch.lap();
    if (options.advise) {
      flow.finish();
      options.advise(graph, context, flow, profile);
    }
    costs.advising = watch.lap();
  }

  costs.functions = structure.flow.functions().size();
  costs.places = structure.code.places();
  for (const structure::LoopForest& forest : structure.forests) costs.static_loops += forest.loops().size();
  costs.contexts = tree.contexts().size();
  costs.ddg = graph.costs;
  costs.fold = statistics(graph);
  costs.max_intermediate = graph.max_intermediate;
  return profile;
}

}  // namespace loopfold::poly
