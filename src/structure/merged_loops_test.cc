#include "structure/merged_loops.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "structure/random_program.h"
#include "structure/walk_testing.h"

namespace loopfold::structure::testing {
namespace {

constexpr std::uint64_t kMain = 0x1000, kBody = kMain + 0x20, kNext = kMain + 0x40, kThird = kMain + 0x60,
                        kEnd = kMain + 0x80;
constexpr const char* kOuter = "/thread@1000/loop 1020@1000";
constexpr const char* kInner = "/thread@1000/loop 1020@1000/loop 1020@1000";

/// Trees by events and by runs are the same, and iteration vectors increase.
void expect_sound(const Walked& walked) {
  EXPECT_EQ(walked.damage, "");
  EXPECT_EQ(walked.check.problem, "");
  ASSERT_EQ(walked.by_events.contexts().size(), walked.by_runs.contexts().size());
  for (ContextId id = 1; id < walked.by_events.contexts().size(); ++id) {
    const std::string name = describe(walked.structure, walked.by_events, id);
    const Context* const other = walked.find(name);
    ASSERT_NE(other, nullptr) << name;
    EXPECT_EQ(text_of_counts(walked.by_events[id]), text_of_counts(*other)) << name;
  }
}

std::string iterations_of(const Walked& walked, const char* name) {
  const Context* const found = walked.find(name);
  return found == nullptr ? "no such loop" : fmt::format("{} of {}", found->entries, text_of(found->iterations));
}

/// An inner loop of one piece, and one more piece around it. It goes round as often as is said, each time.
Story nest(const std::vector<int>& lengths, int entries = 1) {
  Script script;
  script.start(kMain);
  for (int entry = 0; entry < entries; ++entry) {
    script.jump(kBody);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      for (int k = 1; k < lengths[i]; ++k) script.jump(kBody);
      script.jump(kNext);
      if (i + 1 < lengths.size()) script.jump(kBody);
    }
    script.jump(kEnd);
    if (entry + 1 < entries) script.jump(kMain);
  }
  return script.finish();
}

TEST(MergedLoops, ANestOfTwo) {
  const Story story = nest({7, 7, 7, 7, 7});
  const Walked walked(story, find_structure(*story.reader, story.facts));
  expect_sound(walked);
  EXPECT_EQ(iterations_of(walked, kOuter), "1 of 5 from 5 to 5");
  EXPECT_EQ(iterations_of(walked, kInner), "5 of 35 from 7 to 7");
  // The second iteration of the inner loop, in the third of the outer one; then what is behind the inner loop.
  const std::size_t at = 1 + 2 * 8 + 1;
  EXPECT_EQ(walked.seen.parts[at].counters, (std::vector<std::uint64_t>{0, 2, 1}));
  EXPECT_EQ(walked.seen.parts[at + 6].counters, (std::vector<std::uint64_t>{0, 2}));
  EXPECT_EQ(walked.seen.parts[at + 6].address, kNext);
}

TEST(MergedLoops, ATriangle) {
  const Story story = nest({2, 3, 4, 5, 6, 7});
  const Walked walked(story, find_structure(*story.reader, story.facts));
  expect_sound(walked);
  EXPECT_EQ(iterations_of(walked, kInner), "6 of 27 from 2 to 7");
}

TEST(MergedLoops, WhatIsTheSameInEachEntry) {
  const Story story = nest({2, 9, 4, 3, 11}, 8);
  const Walked walked(story, find_structure(*story.reader, story.facts));
  expect_sound(walked);
  const Structure& structure = walked.structure;
  EXPECT_EQ(structure.forests[structure.flow.function_at(structure.flow.functions()[0].entry)].loops().size(), 3u);
}

TEST(MergedLoops, WhatDataDecideStaysOneLoop) {
  const Story story = nest({2, 9, 4, 3, 11, 2, 5, 1, 8, 3, 3, 7});
  const Walked walked(story, find_structure(*story.reader, story.facts));
  expect_sound(walked);
  EXPECT_EQ(iterations_of(walked, kInner), "no such loop");
  EXPECT_EQ(iterations_of(walked, kOuter), "1 of 58 from 58 to 58");
}

TEST(MergedLoops, ContinueStaysOneLoop) {
  // Every third iteration goes back from a place of its own, evenly; but the loop may end there, not go on.
  Script script;
  script.start(kMain);
  script.jump(kBody);
  for (int i = 1; i < 30; ++i) {
    script.jump(i % 3 == 0 ? kThird : kNext);
    script.jump(kBody);
  }
  script.jump(kNext);
  script.jump(kEnd);
  const Story story = script.finish();
  const Walked walked(story, find_structure(*story.reader, story.facts));
  expect_sound(walked);
  EXPECT_EQ(iterations_of(walked, kInner), "no such loop");
  EXPECT_EQ(iterations_of(walked, kOuter), "1 of 30 from 30 to 30");
}

TEST(MergedLoops, ANestOfThree) {
  Script script;
  script.start(kMain);
  script.jump(kBody);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 5; ++j) {
      for (int k = 1; k < 6; ++k) script.jump(kBody);
      script.jump(kNext);
      if (j < 4) script.jump(kBody);
    }
    script.jump(kThird);
    if (i < 5) script.jump(kBody);
  }
  script.jump(kEnd);
  const Story story = script.finish();
  const Walked walked(story, find_structure(*story.reader, story.facts));
  expect_sound(walked);
  EXPECT_EQ(iterations_of(walked, kOuter), "1 of 6 from 6 to 6");
  EXPECT_EQ(iterations_of(walked, kInner), "6 of 30 from 5 to 5");
  const std::string third = std::string(kInner) + "/loop 1020@1000";
  EXPECT_EQ(iterations_of(walked, third.c_str()), "30 of 180 from 6 to 6");
}

/// Whatever is taken for two loops, instances that were one are one, and others are others.
TEST(MergedLoops, AnotherNameForTheSameIterations) {
  std::size_t separated = 0;
  for (std::uint64_t number = 0; number < 1500 * soak(); ++number) {
    SCOPED_TRACE(number);
    ProgramOptions options;
    options.functions = 1 + number % 3;
    options.pieces = 4 + number % 5;
    options.symbols = number % 2 == 0;
    const Story story = RandomProgram(seed(number), options).run();
    const Walked merged(story);
    Structure structure = find_structure(*story.reader, story.facts, false);
    const std::size_t found = separate_loops(*story.reader, structure, false);
    if (found == 0) continue;
    separated += found;
    const Walked apart(story, std::move(structure));
    expect_sound(apart);
    ASSERT_EQ(apart.seen.parts.size(), merged.seen.parts.size());
    using Instance = std::tuple<std::uint64_t, std::uint32_t, std::string, std::vector<std::uint64_t>>;
    std::map<Instance, Instance> to;
    std::map<Instance, Instance> from;
    for (std::size_t i = 0; i < apart.seen.parts.size(); ++i) {
      const auto instance = [&](const Walked& walked) {
        const Located& part = walked.seen.parts[i];
        return Instance{part.address, part.stack, part.context, part.counters};
      };
      const Instance a = instance(merged);
      const Instance b = instance(apart);
      ASSERT_EQ(to.try_emplace(a, b).first->second, b) << "part " << i;
      ASSERT_EQ(from.try_emplace(b, a).first->second, a) << "part " << i;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(separated, 30u);
}

}  // namespace
}  // namespace loopfold::structure::testing
