#include "poly/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "ddg/hot_contexts.h"
#include "poly/describe.h"
#include "poly/excluded.h"
#include "poly/hidden_loops.h"
#include "poly/pure_calls.h"
#include "poly/regions.h"
#include "poly/source_loops.h"
#include "poly/verdicts.h"
#include "poly/whole_loop.h"
#include "structure/function_facts.h"
#include "structure/loop_names.h"
#include "structure/loop_walk.h"
#include "structure/merged_loops.h"
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

/// Pass 2 as if all contexts had statements, for a program of little code: the tree that it makes says whether they
/// have. Nothing if they do not; what was done by then is lost.
std::optional<ddg::Graph> build_all(const trace::Reader& reader, const structure::Structure& structure,
                                    const AnalysisOptions& options, symbols::Symbolizer& symbolizer,
                                    structure::LoopTree& tree, std::uint64_t& threads) {
  std::atomic<bool> stop = false;
  ddg::Options all = ddg_options(options);
  all.stop = &stop;
  all.progress = [&, told = all.progress](double share, std::uint64_t instructions) {
    if (told) told(share, instructions);
    if (!ddg::hot_contexts(structure, tree, options.max_statements).empty()) stop = true;
  };
  ddg::Graph graph = ddg::build(reader, structure, tree, symbolizer, all, threads);
  if (!stop && ddg::hot_contexts(structure, tree, options.max_statements).empty()) return graph;
  tree = {};
  return std::nullopt;
}

/// Pass 2. Where there is much code, the contexts that ran most are looked for first. With several jobs pass 2 begins
/// meanwhile, as if all had statements; in most programs they have. If not, what was done by then, which is little, is
/// done again.
ddg::Graph build(const trace::Reader& reader, const structure::Structure& structure, const AnalysisOptions& options,
                 symbols::Symbolizer& symbolizer, structure::LoopTree& tree, std::uint64_t& threads,
                 const std::function<void()>& chosen) {
  ddg::Options ddg = ddg_options(options);
  if (options.max_statements != 0 && ddg::expected_statements(structure) <= options.max_statements) {
    chosen();
    if (std::optional<ddg::Graph> graph = build_all(reader, structure, options, symbolizer, tree, threads))
      return std::move(*graph);
  }
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

/// What pass 2 gives.
struct Walked {
  structure::LoopTree tree;
  ddg::Graph graph;
  std::uint64_t threads = 0;
  std::vector<std::uint32_t> nodes;  // by context; filled by describe_tree()
};

/// Loops that are split, as the binary has them.
struct Unsplit {
  profile::Profile profile;                         // with rows for these loops only
  std::map<structure::ContextId, WholeLoop> loops;  // by context without splits
  std::vector<structure::ContextId> contexts;       // by context with splits
};

/// Whether both walks have numbered their statements alike.
bool have_same_statements(const ddg::Graph& unsplit, const ddg::Graph& split,
                          const std::vector<structure::ContextId>& contexts) {
  return std::equal(unsplit.statements.begin(), unsplit.statements.end(), split.statements.begin(),
                    split.statements.end(), [&](const ddg::Statement& a, const ddg::Statement& b) {
                      return a.kind == b.kind && a.function == b.function && a.node == b.node && a.place == b.place &&
                             a.context == contexts[b.context] && a.instructions.size() == b.instructions.size();
                    });
}

class Analysis {
 public:
  Analysis(const trace::Reader& reader, const AnalysisOptions& options, AnalysisCosts& costs)
      : reader_(reader),
        options_(options),
        costs_(costs),
        symbolizer_(reader.modules()),
        structure_{structure::CodeMap(reader, structure::function_facts(symbolizer_)), {}, {}, {}, {}, {}} {
    lap(&StageSeconds::code);
  }

  profile::Profile run() {
    structure_.flow =
        structure::find_control_flow(reader_, structure_.code, structure_.damage, pass1_progress(options_));
    lap(&StageSeconds::pass1);
    structure::find_loops(structure_);
    structure::separate_loops(reader_, structure_);
    lap(&StageSeconds::loops);
    names_.emplace(structure_, symbolizer_);
    structure::find_tests(structure_, *names_, symbolizer_);
    lap(&StageSeconds::naming);

    Walked walked = walk();
    std::optional<Walked> split = split_loops(walked);
    profile::Profile profile = split ? describe_all(*split, &walked) : describe_all(walked, nullptr);
    note_costs(split ? *split : walked);
    return profile;
  }

 private:
  void lap(double StageSeconds::*stage) {
    costs_.cpu.*stage += watch_.lap();
    costs_.wall.*stage += clock_.lap();
  }

  Walked walk() {
    Walked walked;
    walked.graph = build(reader_, structure_, options_, symbolizer_, walked.tree, walked.threads,
                         [&] { lap(&StageSeconds::choosing); });
    lap(&StageSeconds::pass2);
    return walked;
  }

  /// Once more with hidden loops, if there are some and more is affine then. Otherwise nothing is split.
  std::optional<Walked> split_loops(const Walked& walked) {
    if (!options_.hidden_loops) return std::nullopt;
    structure::Splits splits =
        find_hidden_loops(reader_, structure_, walked.tree, walked.graph, hidden_candidates(walked.graph, walked.tree));
    lap(&StageSeconds::hidden);
    if (splits.empty()) return std::nullopt;
    structure_.splits = std::move(splits);
    Walked again = walk();
    if (is_worth_it(quality_of(walked.graph), quality_of(again.graph), again.graph.costs.instructions)) return again;
    structure_.splits = {};
    return std::nullopt;
  }

  Context context_of(const Walked& walked) {
    return {walked.tree,
            walked.nodes,
            [&](std::uint64_t address) -> const symbols::Location& { return symbolizer_.locate(address); },
            reader_.end() ? reader_.end()->hidden_instructions : 0,
            options_.jobs,
            &structure_,
            &symbolizer_};
  }

  profile::Profile describe_graph(Walked& walked) {
    profile::Profile profile =
        structure::describe(reader_, structure_, walked.tree, walked.threads, *names_, symbolizer_, &walked.nodes);
    lap(&StageSeconds::naming);
    describe(walked.graph, context_of(walked), profile);
    costs_.unmatched_excluded = exclude(options_.exclude, profile);
    lap(&StageSeconds::describing);
    return profile;
  }

  /// `unsplit`: the same without hidden loops, if there are some.
  profile::Profile describe_all(Walked& walked, Walked* unsplit) {
    profile::Profile profile = describe_graph(walked);
    if (!options_.verdicts) return profile;
    const Context context = context_of(walked);
    PureCalls pure = pure_calls(options_.pure, context, profile);
    add_quality(pure, options_, profile);
    const std::vector<SourceLoop> loops = loops_in_regions(source_loops(structure_, walked.tree, *names_, symbolizer_),
                                                           context, options_.min_percent, profile);
    RegionFlow flow(walked.graph, structure_, walked.tree);
    VerdictOptions verdict_options{std::move(pure.contexts), &symbolizer_, {}, {}, options_.jobs};
    std::optional<Unsplit> whole;
    if (unsplit != nullptr) {
      whole = judge_unsplit(*unsplit, walked);
      verdict_options.whole = [&](const SourceLoop& loop) { return whole_of(loop, walked.tree, *whole); };
    }
    if (options_.advise) verdict_options.on_loop = [&](const JudgedLoop& judged) { flow.add(judged); };
    describe_regions(walked.graph, judge(walked.graph, structure_, walked.tree, loops, verdict_options), context,
                     options_.min_percent, profile);
    if (whole) judge_as_written(whole->profile, unsplit->nodes, whole->contexts, context, profile);
    costs_.unmatched_pure = std::move(pure.unmatched);
    lap(&StageSeconds::judging);
    if (options_.advise) {
      flow.finish();
      options_.advise(walked.graph, context, flow, profile);
    }
    lap(&StageSeconds::advising);
    return profile;
  }

  /// Judges the loops that are split, on the graph in which they are not.
  Unsplit judge_unsplit(Walked& unsplit, const Walked& split) {
    Unsplit result;
    result.profile = describe_graph(unsplit);
    result.contexts = structure::unsplit_contexts(structure_.splits, split.tree);
    const Context context = context_of(unsplit);
    std::vector<SourceLoop> loops = source_loops(structure_, unsplit.tree, *names_, symbolizer_);
    std::erase_if(loops, [&](const SourceLoop& loop) {
      return std::all_of(loop.loops.begin(), loop.loops.end(),
                         [&](structure::ContextId id) { return structure_.splits.periods(id).empty(); });
    });
    VerdictOptions options{
        pure_calls(options_.pure, context, result.profile).contexts, &symbolizer_, {}, {}, options_.jobs};
    if (have_same_statements(unsplit.graph, split.graph, result.contexts))
      options.on_loop = [&](const JudgedLoop& judged) {
        WholeLoop whole;
        if (!describe_whole(judged, whole)) return;
        for (const structure::ContextId id : judged.verdict.loop.loops) result.loops[id] = whole;
      };
    describe_regions(unsplit.graph, judge(unsplit.graph, structure_, unsplit.tree, loops, options), context, 0,
                     result.profile);
    return result;
  }

  /// Of a level; none for other loops.
  static const WholeLoop* whole_of(const SourceLoop& loop, const structure::LoopTree& tree, const Unsplit& unsplit) {
    const structure::ContextId first = loop.loops.front();
    const auto found = unsplit.loops.find(unsplit.contexts[first]);
    const bool is_level = tree[first].hidden != 0 || std::any_of(loop.loops.begin(), loop.loops.end(),
                                                                 [&](auto id) { return tree.splits().contains(id); });
    return is_level && found != unsplit.loops.end() ? &found->second : nullptr;
  }

  void note_costs(const Walked& walked) {
    costs_.functions = structure_.flow.functions().size();
    costs_.places = structure_.code.places();
    for (const structure::LoopForest& forest : structure_.forests) costs_.static_loops += forest.loops().size();
    costs_.contexts = walked.tree.contexts().size();
    costs_.ddg = walked.graph.costs;
    costs_.fold = statistics(walked.graph);
    costs_.max_intermediate = walked.graph.max_intermediate;
  }

  const trace::Reader& reader_;
  const AnalysisOptions& options_;
  AnalysisCosts& costs_;
  Stopwatch watch_;
  WallClock clock_;
  symbols::Symbolizer symbolizer_;
  structure::Structure structure_;
  std::optional<structure::LoopNames> names_;
};

}  // namespace

profile::Profile analyse(const trace::Reader& reader, const AnalysisOptions& options, AnalysisCosts& costs) {
  return Analysis(reader, options, costs).run();
}

}  // namespace loopfold::poly
