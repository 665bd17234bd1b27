#include "poly/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "ddg/hot_contexts.h"
#include "poly/describe.h"
#include "poly/excluded.h"
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

/// Pass 2. With several jobs it begins while the contexts that ran most are still being looked for, as if all had
/// statements; in most programs they have. If not, what was done by then, which is little, is done again.
ddg::Graph build(const trace::Reader& reader, const structure::Structure& structure, const AnalysisOptions& options,
                 symbols::Symbolizer& symbolizer, structure::LoopTree& tree, std::uint64_t& threads,
                 const std::function<void()>& chosen) {
  ddg::Options ddg = ddg_options(options);
  if (options.jobs > 1 && options.max_statements != 0) {
    std::atomic<bool> stop = false;
    std::thread chooser([&] {
      ddg.hot = choose(reader, structure, options.max_statements);
      stop = !ddg.hot.empty();
    });
    ddg::Options all = ddg_options(options);
    all.stop = &stop;
    ddg::Graph graph = ddg::build(reader, structure, tree, symbolizer, all, threads);
    chooser.join();
    if (!stop) return graph;
    tree = {};
  } else {
    ddg.hot = choose(reader, structure, options.max_statements);
  }
  chosen();
  return ddg::build(reader, structure, tree, symbolizer, ddg, threads);
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
  WallClock clock;
  const auto lap = [&](double StageSeconds::*stage) {
    costs.cpu.*stage += watch.lap();
    costs.wall.*stage += clock.lap();
  };
  symbols::Symbolizer symbolizer(reader.modules());
  const structure::FunctionFacts facts = structure::function_facts(symbolizer);
  structure::Structure structure{structure::CodeMap(reader, facts), {}, {}, {}, {}, {}};
  lap(&StageSeconds::code);
  structure.flow = structure::find_control_flow(reader, structure.code, structure.damage, pass1_progress(options));
  lap(&StageSeconds::pass1);
  structure::find_loops(structure);
  lap(&StageSeconds::loops);
  structure::LoopNames names(structure, symbolizer);
  structure::find_tests(structure, names, symbolizer);
  lap(&StageSeconds::naming);

  structure::LoopTree tree;
  std::uint64_t threads = 0;
  const ddg::Graph graph =
      build(reader, structure, options, symbolizer, tree, threads, [&] { lap(&StageSeconds::choosing); });
  lap(&StageSeconds::pass2);

  std::vector<std::uint32_t> nodes;
  profile::Profile profile = structure::describe(reader, structure, tree, threads, names, symbolizer, &nodes);
  lap(&StageSeconds::naming);
  const Context context{tree, nodes,
                        [&](std::uint64_t address) -> const symbols::Location& { return symbolizer.locate(address); },
                        reader.end() ? reader.end()->hidden_instructions : 0, options.jobs, &structure, &symbolizer};
  describe(graph, context, profile);
  costs.unmatched_excluded = exclude(options.exclude, profile);
  lap(&StageSeconds::describing);

  if (options.verdicts) {
    PureCalls pure = pure_calls(options.pure, context, profile);
    add_quality(pure, options, profile);
    const std::vector<SourceLoop> loops =
        loops_in_regions(source_loops(structure, tree, names, symbolizer), context, options.min_percent, profile);
    RegionFlow flow(graph, structure, tree);
    VerdictOptions verdict_options{std::move(pure.contexts), &symbolizer, {}, options.jobs};
    if (options.advise) verdict_options.on_loop = [&](const JudgedLoop& judged) { flow.add(judged); };
    describe_regions(graph, judge(graph, structure, tree, loops, verdict_options), context, options.min_percent,
                     profile);
    costs.unmatched_pure = std::move(pure.unmatched);
    lap(&StageSeconds::judging);
    if (options.advise) {
      flow.finish();
      options.advise(graph, context, flow, profile);
    }
    lap(&StageSeconds::advising);
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
