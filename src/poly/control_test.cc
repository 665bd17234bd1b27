// What decides what: hand-made programs, and random ones, where what ran must follow from what the deciders did.
#include "poly/control.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "poly/control_testing.h"

namespace loopfold::poly::testing {
namespace {

using ddg::StatementId;
using structure::Context;
using structure::ContextId;
using structure::testing::Script;

constexpr std::uint64_t kMain = 0x1000, kF = 0x2000, kG = 0x3000, kH = 0x4000;

/// The addresses of statements, increasing.
std::string addresses(const Scene& scene, std::span<const StatementId> statements) {
  std::set<std::uint64_t> found;
  for (const StatementId id : statements) found.insert(scene.address(id));
  std::string text;
  for (const std::uint64_t address : found) text += fmt::format("{}{:x}", text.empty() ? "" : " ", address);
  return text;
}

/// The deciders of every statement at an address, one list after the other.
std::string deciders(const Scene& scene, std::uint64_t address) {
  std::string text;
  for (const ddg::Statement& statement : scene.made.graph.statements) {
    if (scene.address(statement.id) != address) continue;
    text += fmt::format("{}{}", text.empty() ? "" : "; ", addresses(scene, scene.control->deciders(statement.id)));
    EXPECT_TRUE(scene.control->knows_deciders(statement.id));
  }
  return text;
}

std::string exits(const Scene& scene, std::uint64_t header) {
  std::string text;
  for (ContextId id = 1; id < scene.tree.contexts().size(); ++id) {
    const Context& context = scene.tree[id];
    if (context.kind != Context::Kind::kLoop) continue;
    const structure::Function& function = scene.structure.flow.functions()[context.function];
    const structure::NodeId node = scene.structure.forests[context.function].loops()[context.loop].header;
    if (scene.structure.code.address(function.places[node]) != header) continue;
    text += fmt::format("{}{}", text.empty() ? "" : "; ", addresses(scene, scene.control->exit_deciders(id)));
  }
  return text;
}

/// for (...) if (..) g(); with the test at the bottom; g branches too.
TEST(Control, CallUnderACondition) {
  Script script;
  script.start(kMain);
  for (int i = 0; i < 6; ++i) {
    script.jump(i % 2 == 0 ? kMain + 8 : kMain + 16);
    if (i % 2 == 0) {
      script.call(kG);
      script.jump(i == 2 ? kG + 8 : kG + 16);
      if (i == 2) script.jump(kG + 16);
      script.ret();
    }
    script.jump(i == 5 ? kMain + 24 : kMain);
  }
  script.ret_under(kH);
  script.jump(kH + 8);
  const Scene scene(script.finish());
  EXPECT_EQ(deciders(scene, kMain), "1010");
  EXPECT_EQ(deciders(scene, kMain + 8), "1000");
  EXPECT_EQ(deciders(scene, kG), "1000");
  EXPECT_EQ(deciders(scene, kG + 8), "3000");
  EXPECT_EQ(deciders(scene, kG + 16), "1000");
  EXPECT_EQ(deciders(scene, kMain + 16), "1010");
  EXPECT_EQ(deciders(scene, kMain + 24), "");
  EXPECT_EQ(exits(scene, kMain), "1010");
}

/// A loop that is left in the middle, on one of two ways to the step at its end.
TEST(Control, OnEveryRound) {
  Script script;
  script.start(kMain);
  for (int i = 0; i < 6; ++i) {
    script.jump(i == 0 ? kMain + 8 : kMain + 16);
    if (i == 5) break;
    script.jump(kMain + 24);
    script.jump(kMain);
  }
  script.jump(kMain + 32);
  script.ret_under(kH);
  script.jump(kH + 8);
  const Scene scene(script.finish());
  std::set<std::uint64_t> found;
  for (const ddg::Statement& statement : scene.made.graph.statements)
    if (scene.control->is_on_every_round(statement.id)) found.insert(scene.address(statement.id));
  EXPECT_EQ(found, (std::set<std::uint64_t>{kMain, kMain + 24}));
}

/// A callee decides by longjmp that the loop ends, two calls down; another one that is called there always returns.
TEST(Control, LongjmpEndsTheLoop) {
  Script script;
  for (const std::uint64_t start : {kMain, kF, kG, kH}) script.add_symbol(start, start + 0x400);
  script.start(kMain);
  for (int i = 0; i < 4; ++i) {
    script.call(kF);
    script.call(kG);
    script.jump(i == 3 ? kG + 8 : kG + 16);
    if (i == 3) {
      script.call(kH);
      script.unwind(1, kMain + 24);
      break;
    }
    script.ret();
    script.ret();
    script.jump(kMain);
  }
  script.jump(kMain + 32);
  script.jump(kMain + 40);
  const Scene scene(script.finish(true));
  EXPECT_EQ(exits(scene, kMain), "3000");
  EXPECT_EQ(deciders(scene, kMain + 8), "3000");
  EXPECT_EQ(deciders(scene, kMain), "3000");
  EXPECT_EQ(deciders(scene, kH), "3000");
  EXPECT_EQ(deciders(scene, kF + 8), "3000");
}

/// The same by the end of the thread; and if recording only stopped there, nothing was decided.
TEST(Control, TheEndOfTheThreadIsAnExitButTheEndOfRecordingIsNone) {
  for (const bool ends : {true, false}) {
    Script script;
    script.start(kMain);
    for (int i = 0; i < 5; ++i) {
      script.call(kF);
      script.jump(i == 4 ? kF + 8 : kF + 16);
      if (i == 4) break;
      script.ret();
      script.jump(kMain);
    }
    script.exit(trace::ExitKind::kSyscall, kF + 24);
    if (ends) script.end_thread();
    const Scene scene(script.finish());
    EXPECT_EQ(exits(scene, kMain), ends ? "2000" : "");
    EXPECT_EQ(deciders(scene, kMain + 8), ends ? "2000" : "");
  }
}

/// A call through a pointer decides what it calls if there are several, in this context.
TEST(Control, IndirectCalls) {
  Script script;
  script.start(kMain);
  for (int i = 0; i < 4; ++i) {
    script.call(kF);
    script.call_indirect(i % 2 == 0 ? kG : kH);
    script.ret();
    script.ret();
    script.call(kF);
    script.call_indirect(kG);
    script.ret();
    script.ret();
    script.jump(i == 3 ? kMain + 24 : kMain);
  }
  script.ret_under(0x7000);
  script.jump(0x7008);
  const Scene scene(script.finish());
  EXPECT_EQ(deciders(scene, kG), "2000; 1010");
  EXPECT_EQ(deciders(scene, kH), "2000");
  EXPECT_EQ(deciders(scene, kF), "1010; 1010");
  std::size_t calls = 0;
  for (const StatementId id : scene.control->one_way()) calls += scene.address(id) == kF;
  EXPECT_EQ(calls, 1u);
}

/// A branch on one of whose ways another function is jumped to decides all of that function.
TEST(Control, ConditionalTailCall) {
  Script script;
  for (const std::uint64_t start : {kMain, kF, kG}) script.add_symbol(start, start + 0x400);
  script.start(kMain);
  for (int i = 0; i < 4; ++i) {
    script.call(kF);
    script.jump(i % 2 == 0 ? kG : kF + 8);
    script.ret();
    script.jump(i == 3 ? kMain + 16 : kMain);
  }
  script.jump(kMain + 24);
  script.jump(kMain + 32);
  const Scene scene(script.finish(true));
  EXPECT_EQ(deciders(scene, kG), "2000");
  EXPECT_EQ(deciders(scene, kF + 8), "2000");
  EXPECT_EQ(deciders(scene, kMain + 8), "1008");
}

TEST(Control, BranchesThatWentOneWay) {
  Script script;
  script.start(kMain);
  for (int i = 0; i < 4; ++i) {
    script.jump(kMain + 8);
    script.jump_indirect(kMain + 16);
    script.jump_indirect(i % 2 == 0 ? kMain + 24 : kMain + 32);
    if (i % 2 == 0) script.jump(kMain + 32);
    script.jump(i == 3 ? kMain + 40 : kMain);
  }
  script.ret_under(kH);
  script.jump(kH + 8);
  const Scene scene(script.finish());
  EXPECT_EQ(addresses(scene, scene.control->one_way()), "1000 1008 1018 4000");
  EXPECT_EQ(deciders(scene, kMain + 24), "1010");
}

/// f calls itself under a condition, and has a loop of its own.
TEST(Control, Recursion) {
  Script script;
  script.start(kMain);
  for (int i = 0; i < 3; ++i) {
    script.call(kF);
    for (int depth = 0; depth < 3; ++depth) {
      for (int k = 0; k < 3; ++k) {
        script.jump(k == 1 ? kF + 8 : kF + 16);
        if (k == 1) script.jump(kF + 16);
        script.jump(k == 2 ? kF + 24 : kF);
      }
      script.jump(depth == 2 ? kF + 40 : kF + 32);
      if (depth < 2) script.call(kF);
    }
    for (int depth = 0; depth < 3; ++depth) script.ret();
    script.jump(i == 2 ? kMain + 16 : kMain);
  }
  script.ret_under(kH);
  script.jump(kH + 8);
  const Scene scene(script.finish());
  EXPECT_EQ(deciders(scene, kF + 8), "2000");
  EXPECT_EQ(deciders(scene, kF + 32), "2018");
  EXPECT_EQ(deciders(scene, kF), "1008 2010 2018");
  EXPECT_EQ(deciders(scene, kF + 40), "1008 2018");
  EXPECT_EQ(exits(scene, kF), "2010");
}

/// Where there are no statements, it is said that deciders may be missing.
TEST(Control, ContextsWithoutStatements) {
  Script script;
  script.start(kMain);
  for (int i = 0; i < 6; ++i) {
    script.jump(i % 2 == 0 ? kMain + 8 : kMain + 16);
    if (i % 2 == 0) {
      script.call(kG);
      script.ret();
    }
    script.jump(i == 5 ? kMain + 24 : kMain);
  }
  script.ret_under(kH);
  script.jump(kH + 8);
  const Scene scene(script.finish());
  ddg::Graph graph;
  for (const ddg::Statement& statement : scene.made.graph.statements) {
    if (scene.address(statement.id) != kG) continue;
    graph.statements.push_back(statement);
    graph.statements.back().id = 0;
  }
  ASSERT_EQ(graph.statements.size(), 1u);
  const Control control(graph, scene.structure, scene.tree);
  EXPECT_TRUE(control.deciders(0).empty());
  EXPECT_FALSE(control.knows_deciders(0));
}

// ---- Random programs ------------------------------------------------------------------------------------------------

/// What happened in one iteration of a loop.
struct Iteration {
  std::vector<std::size_t> steps;
  bool cut = false;
};

/// Checks, by what ran, that deciders decide. Of two iterations of a loop, look at the executions of a statement inside
/// it, of its deciders and of theirs: as long as the deciders went the same ways, the same statement of these comes
/// next. So it is for the entries of a loop, the beginnings of its iterations, and what decides its exit.
class Decided {
 public:
  explicit Decided(const Scene& scene) : scene_(scene), next_(scene.made.steps.size(), kEnd) {
    std::map<std::uint64_t, std::size_t> last;
    for (std::size_t i = 0; i < next_.size(); ++i) {
      const Step& step = scene.made.steps[i];
      const auto [found, added] = last.try_emplace(step.stack, i);
      if (!added) next_[found->second] = place_behind(found->second, i);
      found->second = i;
    }
    for (std::size_t i = 0; i < next_.size(); ++i) note(i);
  }

  void expect_statements_decided() {
    for (const auto& [loop, iterations] : iterations_) {
      if (broken_by_recursion(loop)) continue;
      for (const ddg::Statement& statement : scene_.made.graph.statements) {
        if (!scene_.inside(loop, statement.context)) continue;
        const std::span<const StatementId> direct = scene_.control->deciders(statement.id);
        std::set<StatementId> watched = closure(loop, direct);
        const bool plain = watched.insert(statement.id).second;
        expect_decided(loop, iterations, watched, plain ? statement.id : ddg::kNoStatement, false);
      }
    }
  }

  /// What is on every round of a loop runs in each of its iterations but the last of an entry.
  void expect_rounds() {
    for (const ddg::Statement& statement : scene_.made.graph.statements) {
      if (!scene_.control->is_on_every_round(statement.id)) continue;
      for (const auto& [loop, serial, counter] : order_) {
        if (loop != statement.context || !iteration_of_.contains({serial, counter + 1})) continue;
        const std::vector<std::size_t>& steps = iteration_of_[{serial, counter}].steps;
        ASSERT_TRUE(std::any_of(steps.begin(), steps.end(),
                                [&](std::size_t i) { return scene_.made.steps[i].statement == statement.id; }))
            << "S" << statement.id << " in context " << loop << ", iteration " << counter;
        ++rounds;
      }
    }
  }

  void expect_exits_decided() {
    for (const auto& [loop, entries] : entries_) {
      const std::set<StatementId> watched = closure(loop, scene_.control->exit_deciders(loop));
      expect_decided(loop, entries, watched, ddg::kNoStatement, true);
    }
  }

  std::size_t compared = 0;  // times that what came next had to be what came before
  std::size_t rounds = 0;

 private:
  /// Function, node, and how many activations more there are.
  using Place = std::tuple<structure::FunctionId, structure::NodeId, std::ptrdiff_t>;
  static constexpr Place kEnd = {structure::kNoFunction, structure::kNoNode, 0};

  Place place_behind(std::size_t before, std::size_t step) const {
    const ddg::Statement& statement = scene_.made.graph.statements[scene_.made.steps[step].statement];
    return {statement.function, statement.node, scene_.made.steps[step].depth - scene_.made.steps[before].depth};
  }

  void note(std::size_t i) {
    for (const structure::Dimension& dimension : scene_.made.steps[i].dimensions) {
      if (scene_.tree[dimension.context].kind != Context::Kind::kLoop) continue;
      Iteration& iteration = iteration_of_[{dimension.serial, dimension.counter}];
      Iteration& entry = entry_of_[dimension.serial];
      if (iteration.steps.empty()) order_.push_back({dimension.context, dimension.serial, dimension.counter});
      iteration.steps.push_back(i);
      entry.steps.push_back(i);
    }
    if (i + 1 == next_.size()) sort_out();
  }

  /// By loop. What was cut off does not count.
  void sort_out() {
    std::set<std::uint64_t> met;
    for (const auto& [loop, serial, counter] : order_) {
      const Iteration& iteration = iteration_of_[{serial, counter}];
      if (next_[iteration.steps.back()] != kEnd) iterations_[loop].push_back(iteration);
      const Iteration& entry = entry_of_[serial];
      if (met.insert(serial).second && next_[entry.steps.back()] != kEnd) entries_[loop].push_back(entry);
    }
  }

  /// The loop tree leaves a loop when its component calls itself.
  bool broken_by_recursion(ContextId loop) const {
    return scene_.structure.recursion.component_of(scene_.tree[loop].function) != structure::kNoComponent;
  }

  std::size_t level_of(ContextId loop) const {
    std::size_t level = 0;
    for (ContextId id = scene_.tree[loop].parent; id != structure::LoopTree::root(); id = scene_.tree[id].parent)
      level += scene_.tree[id].kind != Context::Kind::kCall;
    return level;
  }

  std::set<StatementId> closure(ContextId loop, std::span<const StatementId> direct) const {
    std::set<StatementId> found;
    std::vector<StatementId> pending(direct.begin(), direct.end());
    while (!pending.empty()) {
      const StatementId id = pending.back();
      pending.pop_back();
      if (!scene_.inside(loop, scene_.made.graph.statements[id].context) || !found.insert(id).second) continue;
      const std::span<const StatementId> more = scene_.control->deciders(id);
      pending.insert(pending.end(), more.begin(), more.end());
    }
    return found;
  }

  /// What happens in turn: a statement runs, or (kBegins) an iteration begins; and where a decider goes.
  using Events = std::vector<std::pair<StatementId, Place>>;
  static constexpr StatementId kBegins = 0xfffffffe;

  /// `plain` is watched, but no decider.
  Events events_of(ContextId loop, const Iteration& iteration, const std::set<StatementId>& watched, StatementId plain,
                   bool with_iterations) const {
    const std::size_t level = level_of(loop);
    Events events = {{scene_.made.steps[iteration.steps.front()].statement, kEnd}};
    std::uint64_t counter = 0;
    for (const std::size_t i : iteration.steps) {
      const Step& step = scene_.made.steps[i];
      const std::uint64_t now = step.dimensions[level].counter;
      if (with_iterations && now != std::exchange(counter, now)) events.push_back({kBegins, kEnd});
      if (watched.contains(step.statement))
        events.push_back({step.statement, step.statement == plain ? kEnd : next_[i]});
    }
    return events;
  }

  void expect_decided(ContextId loop, const std::vector<Iteration>& all, const std::set<StatementId>& watched,
                      StatementId plain, bool with_iterations) {
    std::map<Events, StatementId> next;  // what came next, by what was before
    for (const Iteration& iteration : all) {
      Events events = events_of(loop, iteration, watched, plain, with_iterations);
      for (StatementId then = ddg::kNoStatement; !events.empty(); events.pop_back()) {
        const auto [found, added] = next.try_emplace(events, then);
        compared += !added;
        ASSERT_EQ(found->second, then) << "in context " << loop << ", for S" << static_cast<int>(plain) << ", behind S"
                                       << events.back().first;
        then = events.back().first;
      }
    }
  }

  const Scene& scene_;
  std::vector<Place> next_;  // by step: where its stack goes on
  std::map<std::pair<std::uint64_t, std::uint64_t>, Iteration> iteration_of_;
  std::map<std::uint64_t, Iteration> entry_of_;
  std::vector<std::tuple<ContextId, std::uint64_t, std::uint64_t>> order_;
  std::map<ContextId, std::vector<Iteration>> iterations_;
  std::map<ContextId, std::vector<Iteration>> entries_;
};

void expect_decided(const DecidedOptions& options, std::uint64_t first_seed) {
  std::size_t compared = 0;
  std::size_t rounds = 0;
  for (std::uint64_t i = 0; i < 60 * structure::testing::soak() && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(fmt::format("seed {}", first_seed + i));
    const Scene scene(DecidedProgram(structure::testing::seed(first_seed + i), options).run());
    Decided decided(scene);
    decided.expect_statements_decided();
    decided.expect_exits_decided();
    decided.expect_rounds();
    compared += decided.compared;
    rounds += decided.rounds;
  }
  EXPECT_GT(compared, 1000u);
  EXPECT_GT(rounds, 100u);
}

TEST(Control, DecidesWhatRunsInRandomPrograms) { expect_decided({}, 1); }

TEST(Control, DecidesWhatRunsInRandomProgramsWithRecursion) {
  DecidedOptions options;
  options.recursion = true;
  expect_decided(options, 100'000);
}

TEST(Control, DecidesWhatRunsInRandomProgramsWithLongjmp) {
  DecidedOptions options;
  options.unwinding = true;
  expect_decided(options, 200'000);
}

TEST(Control, DecidesWhatRunsInRandomProgramsWithBoth) {
  DecidedOptions options;
  options.recursion = options.unwinding = true;
  expect_decided(options, 300'000);
}

}  // namespace
}  // namespace loopfold::poly::testing
