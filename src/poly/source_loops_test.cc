// Loops that are one in the source, and loops that only look so.
#include "poly/source_loops.h"

#include <gtest/gtest.h>

#include <set>

#include "poly/placed_code.h"

namespace loopfold::poly {
namespace {

using testing::PlacedCode;
using testing::Scene;

/// The loops, each as the names of the first instructions of its copies' headers.
std::set<std::set<std::string>> loops_of(const std::vector<std::pair<std::string, int>>& instructions,
                                         const std::vector<std::string>& run) {
  const PlacedCode code(instructions);
  Scene scene(code.run(run));
  structure::LoopNames names(scene.structure, *code.symbolizer);
  std::set<std::set<std::string>> result;
  for (const SourceLoop& loop : source_loops(scene.structure, scene.tree, names, *code.symbolizer)) {
    std::set<std::string> headers;
    for (const structure::ContextId id : loop.loops) {
      const structure::Context& context = scene.tree[id];
      const structure::NodeId header = scene.structure.forests[context.function].loops()[context.loop].header;
      const std::uint64_t address =
          scene.structure.code.address(scene.structure.flow.functions()[context.function].places[header]);
      for (const auto& [name, line] : instructions)
        if (code.at(name) == address) headers.insert(name);
    }
    result.insert(headers);
  }
  return result;
}

using Loops = std::set<std::set<std::string>>;

TEST(SourceLoops, CopiesWithOneName) {
  EXPECT_EQ(loops_of({{"start", 1}, {"a", 10}, {"b", 11}, {"end", 20}}, {"start", "a", "a", "b", "b", "end"}),
            (Loops{{"a"}, {"b"}}));
  EXPECT_EQ(loops_of({{"start", 1}, {"a", 10}, {"b", 10}, {"end", 20}}, {"start", "a", "a", "b", "b", "end"}),
            (Loops{{"a", "b"}}));
}

TEST(SourceLoops, CopiesWithOneBody) {
  const Loops one = {{"a", "b"}};
  EXPECT_EQ(loops_of({{"start", 1}, {"a", 10}, {"a2", 11}, {"b", 10}, {"b2", 12}, {"end", 20}},
                     {"start", "a", "a2", "a", "a2", "b", "b2", "b", "b2", "end"}),
            one);
}

// for i (lines 11, 14 and 16) { for j (lines 12, 15 and 13) }, and an iteration of it that is left over.
const std::vector<std::pair<std::string, int>> kNest = {{"start", 1}, {"o", 11},  {"i", 12},  {"i2", 15},
                                                        {"i3", 13},   {"o2", 14}, {"o3", 16}, {"p", 11},
                                                        {"j", 12},    {"j2", 15}, {"j3", 13}, {"end", 20}};
const std::vector<std::string> kTwice = {"start", "o", "i", "i2", "i3", "i",  "i2", "i3", "o2",
                                         "o3",    "o", "i", "i2", "i3", "o2", "o3", "p"};

Loops loops_after_nest(const std::vector<std::string>& more) {
  std::vector<std::string> run = kTwice;
  run.insert(run.end(), more.begin(), more.end());
  return loops_of(kNest, run);
}

TEST(SourceLoops, AnInnerLoopThatIsLeftOverIsNotTheLoopAroundIt) {
  EXPECT_EQ(loops_after_nest({"j", "j2", "j3", "j", "j2", "j3", "end"}), (Loops{{"o"}, {"i"}, {"j"}}));
}

TEST(SourceLoops, ACopyOfTheLoopAroundIsOne) {
  // It goes back in the inner loop's line, whose iterations it no longer has as a loop: what it does outside of that
  // tells.
  EXPECT_EQ(loops_after_nest({"j", "j2", "j3", "p", "j", "j2", "j3", "end"}), (Loops{{"o", "p"}, {"i"}}));
}

}  // namespace
}  // namespace loopfold::poly
