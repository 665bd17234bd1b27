// For tests: what the walks make of a story, in words that can be compared with the reference's.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "structure/loop_walk.h"
#include "structure/structure.h"
#include "structure/testing.h"
#include "structure/vector_check.h"
#include "structure/walk_reference.h"

namespace loopfold::structure::testing {

/// A context as the reference writes it.
inline std::string describe(const Structure& structure, const LoopTree& tree, ContextId id) {
  if (id == LoopTree::root()) return {};
  const Context& c = tree[id];
  const auto address = [&](PlaceId place) { return place == kNoPlace ? 0 : structure.code.address(place); };
  const Function& function = structure.flow.functions()[c.function];
  const std::uint64_t caller = c.caller == kNoFunction ? 0 : address(structure.flow.functions()[c.caller].entry);
  const bool landing =
      c.caller != kNoFunction && c.site != kNoPlace && structure.flow.node_of(c.caller, c.site) != c.node;
  const std::string site = fmt::format("{:x}{}@{:x}", address(c.site), landing ? "'" : "", caller);
  const std::string outer = describe(structure, tree, c.parent);
  switch (c.kind) {
    case Context::Kind::kStart:
      return fmt::format("{}/{}@{:x}", outer,
                         c.origin == Origin::kThread          ? "thread"
                         : c.origin == Origin::kSignalHandler ? "handler"
                                                              : "coroutine",
                         address(function.entry));
    case Context::Kind::kCall:
      return fmt::format("{}/call {}>{:x}", outer, site, address(function.entry));
    case Context::Kind::kLoop:
      return fmt::format("{}/loop {:x}@{:x}", outer,
                         address(function.places[structure.forests[c.function].loops()[c.loop].header]),
                         address(function.entry));
    default:
      return fmt::format("{}/recursion {}>{:x}", outer, site, address(function.entry));
  }
}

/// Keeps where every part ran.
struct PartsSeen {
  static constexpr bool kEveryPart = true;

  template <class Walk>
  void part(const Walk& walk, const typename Walk::S& stack, const Part& part) {
    const auto [found, added] = stacks.try_emplace(stack.data.id, stacks.size());
    std::vector<std::uint64_t> counters;
    for (const Dimension& dimension : stack.data.dimensions) counters.push_back(dimension.counter);
    contexts.push_back(stack.data.context);
    parts.push_back({static_cast<std::uint32_t>(found->second), structure.code.address(part.place), {}, counters});
    walk.numbers(stack, numbers.emplace_back());
    const auto& frame = stack.frames.back().data;
    places.push_back(structure.code.address(structure.flow.functions()[frame.function].places[frame.current]));
    most_frames = std::max(most_frames, stack.frames.size());
    most_dimensions = std::max(most_dimensions, stack.data.dimensions.size());
  }

  const Structure& structure;
  std::map<std::uint64_t, std::size_t> stacks;
  std::vector<Located> parts;  // without contexts
  std::vector<ContextId> contexts;
  std::vector<std::vector<std::uint64_t>> numbers;
  std::vector<std::uint64_t> places;  // where the walk believes to be: that of the part, if it is in the graph
  std::size_t most_frames = 0;
  std::size_t most_dimensions = 0;
};

/// A story, walked both ways.
struct Walked {
  explicit Walked(const Story& story) : Walked(story, find_structure(*story.reader, story.facts, false)) {}
  Walked(const Story& story, Structure found) : structure(std::move(found)), seen{structure, {}, {}, {}, {}, {}} {
    LoopWalk<PartsSeen> events(structure, by_events, seen);
    events.walk(*story.reader, damage);
    NoObserver nothing;
    LoopWalk<NoObserver> runs(structure, by_runs, nothing);
    runs.walk(*story.reader, damage);
    for (std::size_t i = 0; i < seen.parts.size(); ++i)
      seen.parts[i].context = describe(structure, by_events, seen.contexts[i]);
    check = check_vectors(*story.reader, structure);
  }
  Walked(const Walked&) = delete;

  /// The context that describe() gives this text, in the tree of the walk by runs.
  const Context* find(const std::string& text) const {
    for (ContextId id = 0; id < by_runs.contexts().size(); ++id)
      if (describe(structure, by_runs, id) == text) return &by_runs[id];
    return nullptr;
  }
  std::size_t depth() const {
    std::vector<std::size_t> depths(by_runs.contexts().size(), 0);
    for (ContextId id = 1; id < depths.size(); ++id) depths[id] = depths[by_runs[id].parent] + 1;
    return *std::max_element(depths.begin(), depths.end());
  }

  Structure structure;
  LoopTree by_events;
  LoopTree by_runs;
  PartsSeen seen;
  VectorCheck check;
  std::string damage;
};

inline std::string text_of(const Located& part) {
  return fmt::format("stack {} at {:x}: {} ({})", part.stack, part.address, part.context,
                     fmt::join(part.counters, ","));
}
inline std::string text_of(const EntryCounts& counts) {
  return fmt::format("{} from {} to {}", counts.total, counts.min, counts.max);
}
template <class Counts>
std::string text_of_counts(const Counts& c) {
  return fmt::format("{} instructions, {} memory, {} floating, {} entries, {} finished, iterations {}, trips {}",
                     c.instructions, c.memory, c.floating, c.entries, c.finished, text_of(c.iterations),
                     text_of(c.trips));
}

/// What happened up to the given part, for a person.
inline std::string history(const Story& story, std::size_t parts) {
  constexpr const char* kKinds[] = {"begin", "call", "unwind to", "jump", "fall", "behind", "ran", "end"};
  std::string text;
  for (const Happening& h : story.log) {
    text += fmt::format("\n  stack {}: {} {:x} {}", h.stack, kKinds[static_cast<int>(h.kind)], h.address, h.number);
    if (h.kind == Happening::Kind::kPart && story.places.contains(h.address) && parts-- == 0) break;
  }
  return text;
}

/// How many runs of loops the trace has.
inline std::size_t count_runs(const Story& story) {
  std::size_t count = 0;
  trace::RunCursor cursor = story.reader->runs();
  for (;;) {
    const trace::RunCursor::Item item = *cursor.next();
    if (item == trace::RunCursor::Item::kEnd) return count;
    count += item == trace::RunCursor::Item::kRun && !cursor.run().literal();
  }
}

/// Stacks numbered in the order of their first parts.
inline std::vector<Located> renumbered(std::vector<Located> parts) {
  std::map<std::uint32_t, std::uint32_t> numbers;
  for (Located& part : parts)
    part.stack = numbers.try_emplace(part.stack, static_cast<std::uint32_t>(numbers.size())).first->second;
  return parts;
}

inline void expect_tree(const Structure& structure, const LoopTree& tree, const std::map<std::string, Totals>& totals) {
  std::map<std::string, std::string> found;
  for (ContextId id = 1; id < tree.contexts().size(); ++id) {
    const std::string name = describe(structure, tree, id);
    EXPECT_FALSE(found.contains(name)) << name;
    found[name] = text_of_counts(tree[id]);
  }
  std::map<std::string, std::string> expected;
  for (const auto& [name, sums] : totals) expected[name] = text_of_counts(sums);
  for (const auto& [name, text] : expected) EXPECT_EQ(found.contains(name) ? found[name] : "nothing", text) << name;
  for (const auto& [name, text] : found) EXPECT_TRUE(expected.contains(name)) << name << " has " << text;
}

/// Every part is where the reference says, both trees have the reference's counts, and the vectors increase.
inline void expect_as_defined(const Story& story, const Walked& walked) {
  const WalkReference reference(story);
  const std::vector<Located> expected = renumbered(reference.parts);
  for (std::size_t i = 0; i < std::min(expected.size(), walked.seen.parts.size()); ++i)
    ASSERT_EQ(text_of(walked.seen.parts[i]), text_of(expected[i]))
        << "part " << i << history(story, std::getenv("LOOPFOLD_WHOLE") ? ~std::size_t{0} : i);
  ASSERT_EQ(walked.seen.parts.size(), expected.size());
  EXPECT_EQ(walked.damage, "");
  EXPECT_EQ(walked.check.problem, "");
  EXPECT_EQ(walked.check.parts, expected.size());
  {
    SCOPED_TRACE("event by event");
    expect_tree(walked.structure, walked.by_events, reference.totals);
  }
  SCOPED_TRACE("run by run");
  expect_tree(walked.structure, walked.by_runs, reference.totals);
}

}  // namespace loopfold::structure::testing
