// Walks with splits against the same walks without: counters are the digits of the loop's counter, contexts and counts
// are those of the loop.
#include "structure/splits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "structure/random_program.h"
#include "structure/walk_testing.h"

namespace loopfold::structure::testing {
namespace {

using Periods = std::vector<std::uint64_t>;

/// Loops of the tree, some of them with periods.
Splits random_splits(const LoopTree& tree, std::mt19937_64& random) {
  Splits splits(tree);
  for (ContextId id = 1; id < tree.contexts().size(); ++id) {
    if (tree[id].kind != Context::Kind::kLoop || random() % 2 == 0) continue;
    Periods periods(1 + random() % 3);
    for (std::uint64_t& period : periods) period = 2 + random() % (random() % 4 == 0 ? 20 : 3);
    splits.add(id, periods);
  }
  return splits;
}

/// The counters of a part with the loops around it split, from those without.
std::vector<std::uint64_t> split_counters(const LoopTree& tree, const Splits& splits, ContextId context,
                                          std::vector<std::uint64_t> counters) {
  std::vector<std::uint64_t> reversed;
  for (; context != LoopTree::root(); context = tree[context].parent) {
    if (tree[context].kind == Context::Kind::kCall) continue;
    std::uint64_t counter = counters.back();
    counters.pop_back();
    const std::span<const std::uint64_t> periods = splits.periods(context);
    for (std::size_t i = periods.size(); i-- > 0; counter /= periods[i]) reversed.push_back(counter % periods[i]);
    reversed.push_back(counter);
  }
  return {reversed.rbegin(), reversed.rend()};
}

/// The hidden levels of a context, from the loop itself inwards.
std::vector<ContextId> levels_of(const LoopTree& tree, ContextId innermost) {
  std::vector<ContextId> levels{innermost};
  while (tree[levels.front()].hidden != 0) levels.insert(levels.begin(), tree[levels.front()].parent);
  return levels;
}

std::string without_levels(const Structure& structure, const LoopTree& tree, ContextId id) {
  std::string text = describe(structure, tree, id);
  for (ContextId at = id; at != LoopTree::root(); at = tree[at].parent) {
    if (tree[at].hidden == 0) continue;
    const std::string own = describe(structure, tree, at).substr(describe(structure, tree, tree[at].parent).size());
    text.erase(text.find(own), own.size());
  }
  return text;
}

void expect_split(const Story& story, const Splits& splits) {
  const Walked walked(story);
  Structure structure = find_structure(*story.reader, story.facts, false);
  structure.splits = splits;
  LoopTree tree;
  PartsSeen seen{structure, {}, {}, {}, {}, {}};
  LoopWalk<PartsSeen> walk(structure, tree, seen);
  std::string damage;
  walk.walk(*story.reader, damage);
  ASSERT_EQ(seen.parts.size(), walked.seen.parts.size());
  for (std::size_t i = 0; i < seen.parts.size(); ++i) {
    const ContextId context = walked.seen.contexts[i];
    ASSERT_EQ(seen.parts[i].counters, split_counters(walked.by_events, splits, context, walked.seen.parts[i].counters))
        << "part " << i;
    ASSERT_EQ(without_levels(structure, tree, seen.contexts[i]), walked.seen.parts[i].context) << "part " << i;
  }
  std::size_t split = 0;
  for (ContextId id = 1; id < tree.contexts().size(); ++id) {
    const Context& context = tree[id];
    if (context.kind != Context::Kind::kLoop || context.hidden == 0) continue;
    const bool innermost = std::none_of(tree.contexts().begin(), tree.contexts().end(), [&](const Context& other) {
      return other.hidden == context.hidden + 1 && other.parent == id;
    });
    if (!innermost) continue;
    ++split;
    const std::vector<ContextId> levels = levels_of(tree, id);
    const Context* const flat = walked.find(without_levels(structure, tree, id));
    ASSERT_NE(flat, nullptr);
    EXPECT_EQ(context.instructions, flat->instructions);
    EXPECT_EQ(context.iterations.total, flat->iterations.total);
    EXPECT_EQ(context.trips.total, flat->trips.total);
    EXPECT_EQ(tree[levels.front()].entries, flat->entries);
    const SplitCounts& counts = tree.splits().at(levels.front());
    EXPECT_EQ(counts.iterations.min, flat->iterations.min);
    EXPECT_EQ(counts.iterations.max, flat->iterations.max);
    EXPECT_EQ(counts.trips.min, flat->trips.min);
    EXPECT_EQ(counts.trips.max, flat->trips.max);
    for (std::size_t i = 1; i < levels.size(); ++i) {
      EXPECT_LE(tree[levels[i]].iterations.max, tree[levels[i]].period);
      EXPECT_LE(tree[levels[i]].trips.total, tree[levels[i]].iterations.total);
    }
  }
  EXPECT_EQ(split, splits.size());
  EXPECT_EQ(check_vectors(*story.reader, structure).problem, "");
}

constexpr std::uint64_t kMain = 0x1000, kF = 0x2000;

/// A loop of 10 iterations with a test at the top, in blocks of 4: 11 executions of its header.
TEST(Splits, CountsOfLevels) {
  Script script;
  script.start(kMain);
  script.jump(kMain + 0x20);
  for (int i = 0; i < 10; ++i) {
    script.jump(kMain + 0x40);
    script.jump(kMain + 0x20);
  }
  script.jump(kMain + 0x60);
  const Story story = script.finish();
  Structure structure = find_structure(*story.reader, story.facts, false);
  LoopTree unsplit;
  NoObserver nothing;
  std::string damage;
  LoopWalk<NoObserver>(structure, unsplit, nothing).walk(*story.reader, damage);
  const auto loop =
      static_cast<ContextId>(std::find_if(unsplit.contexts().begin(), unsplit.contexts().end(),
                                          [](const Context& context) { return context.kind == Context::Kind::kLoop; }) -
                             unsplit.contexts().begin());
  structure.splits = Splits(unsplit);
  structure.splits.add(loop, {4});
  LoopTree tree;
  LoopWalk<NoObserver>(structure, tree, nothing).walk(*story.reader, damage);
  ASSERT_EQ(tree.contexts().size(), unsplit.contexts().size() + 1);
  const Context& blocks = tree[loop];
  EXPECT_EQ(blocks.iterations.total, 3u);
  EXPECT_EQ(blocks.trips.total, 3u);
  const Context& hidden = tree[loop + 1];
  EXPECT_EQ(hidden.hidden, 1u);
  EXPECT_EQ(hidden.period, 4u);
  EXPECT_EQ(hidden.entries, 3u);
  EXPECT_EQ(hidden.iterations.total, 11u);
  EXPECT_EQ(hidden.iterations.min, 3u);
  EXPECT_EQ(hidden.trips.total, 10u);
  EXPECT_EQ(hidden.trips.min, 2u);
  EXPECT_EQ(tree.splits().at(loop).trips.max, 10u);
}

/// Long runs: several entries of the hidden level go by at once.
TEST(Splits, LongRunsAreNotExpanded) {
  Script script;
  script.start(kMain);
  script.jump(kMain + 0x20);
  for (int i = 0; i < 3000; ++i) {
    script.call(kF);
    script.ret();
    if (i % 7 == 3) script.jump(kMain + 0x40);
    script.jump(kMain + 0x20);
  }
  script.jump(kMain + 0x60);
  const Story story = script.finish();
  const Walked walked(story);
  for (const Periods& periods : {Periods{2}, Periods{5}, Periods{64}, Periods{4, 3}, Periods{2, 2, 2}, Periods{9000}}) {
    Splits splits(walked.by_runs);
    for (ContextId id = 1; id < walked.by_runs.contexts().size(); ++id)
      if (walked.by_runs[id].kind == Context::Kind::kLoop) splits.add(id, periods);
    expect_split(story, splits);
  }
}

TEST(Splits, RandomProgramsAsDigits) {
  const std::uint64_t count = 600 * soak();
  std::size_t loops = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed(i)));
    std::mt19937_64 random(seed(i));
    ProgramOptions options;
    options.functions = 1 + random() % 5;
    options.pieces = 1 + random() % 9;
    options.steps = 20 + random() % 400;
    options.depth = 2 + random() % 8;
    options.threads = random() % 4 == 0 ? 3 : 1;
    options.rare = random() % 3 == 0 ? 1000000 : 10 + random() % 100;
    options.symbols = random() % 2 == 0;
    const Story story = RandomProgram(random(), options).run();
    const Splits splits = random_splits(Walked(story).by_events, random);
    loops += splits.size();
    expect_split(story, splits);
    if (HasFailure()) return;
  }
  EXPECT_GT(loops, count);
}

}  // namespace
}  // namespace loopfold::structure::testing
