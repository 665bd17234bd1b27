// The lines of loops whose way back is not the branch that closes them.
#include "structure/loop_names.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "poly/placed_code.h"

namespace loopfold::structure {
namespace {

using Lines = std::map<std::string, int>;
using Code = std::vector<std::pair<std::string, int>>;

/// The same instructions at addresses at which they add (structure/testing.h), so that they are no moves.
Code adding(const Code& instructions) {
  Code spread;
  for (const auto& [name, line] : instructions) {
    for (int i = 0; i < 4; ++i) spread.emplace_back(i == 2 ? name : name + " beside " + std::to_string(i), line);
  }
  return spread;
}

/// The line of each loop, by the name of its header's instruction.
Lines lines_of(const Code& instructions, const std::vector<std::string>& run) {
  const poly::testing::PlacedCode code(adding(instructions), "-falign-functions=16");
  const poly::testing::Scene scene(code.run(run));
  LoopNames names(scene.structure, *code.symbolizer);
  std::map<std::string, int> lines;
  for (FunctionId id = 0; id < scene.structure.forests.size(); ++id) {
    const std::span<const Loop> loops = scene.structure.forests[id].loops();
    for (LoopId loop = 0; loop < loops.size(); ++loop) {
      const PlaceId header = scene.structure.flow.functions()[id].places[loops[loop].header];
      for (const auto& [name, line] : instructions)
        if (code.at(name) == scene.structure.code.address(header)) lines[name] = names.of(id, loop).source->line;
    }
  }
  return lines;
}

// for o (line 10) { for i (line 11) { 12 } }, whose outer loop goes back over code of the inner one's body.
const Code kNest = {{"start", 1}, {"o", 12},    {"i", 12},   {"i2", 11},
                    {"test", 10}, {"back", 12}, {"end", 20}, {"stop", 21}};
const std::vector<std::string> kRun = {"start", "o",  "i",  "i2", "i",    "i2",   "test", "back",
                                       "o",     "i",  "i2", "i",  "i2",   "test", "back", "o",
                                       "i",     "i2", "i",  "i2", "test", "end",  "stop"};

TEST(LoopNames, AWayBackOverCodeOfAnInnerLoop) { EXPECT_EQ(lines_of(kNest, kRun), (Lines{{"o", 10}, {"i", 11}})); }

TEST(LoopNames, AWayBackOverCodeOfItsOwn) {
  // for o (line 10) { for i (line 11) { 12 } if (...) break; }: the increment goes back, and has the head's line.
  Code code = kNest;
  code[4].second = 13;
  code[5].second = 10;
  EXPECT_EQ(lines_of(code, kRun), (Lines{{"o", 10}, {"i", 11}}));
}

TEST(LoopNames, AWayBackBehindATestInALineOfAnInnerLoop) {
  // Both are the inner loop's: neither says more than the other.
  Code code = kNest;
  code[4].second = 11;
  EXPECT_EQ(lines_of(code, kRun), (Lines{{"o", 12}, {"i", 11}}));
}

/// Whether the loop with header "a" is taken for two.
bool is_two_loops(const Code& instructions, const std::vector<std::string>& run) {
  const poly::testing::PlacedCode code(adding(instructions), "-falign-functions=16");
  const poly::testing::Scene scene(code.run(run));
  LoopNames names(scene.structure, *code.symbolizer);
  for (FunctionId id = 0; id < scene.structure.forests.size(); ++id) {
    const std::span<const Loop> loops = scene.structure.forests[id].loops();
    for (LoopId loop = 0; loop < loops.size(); ++loop) {
      const PlaceId header = scene.structure.flow.functions()[id].places[loops[loop].header];
      if (code.at("a") == scene.structure.code.address(header)) return names.is_two_loops(id, loop);
    }
  }
  ADD_FAILURE() << "no such loop";
  return false;
}

// Two ways back: from b, and from d, behind c.
const std::vector<std::string> kTwoWays = {"start", "a", "b", "a", "b", "c", "d", "a", "b", "c", "d", "end"};

TEST(LoopNames, TwoNestedLoopsWithOneHeader) {
  // while (10) { for (12) { 13 } 15 }
  EXPECT_TRUE(is_two_loops({{"start", 1}, {"a", 13}, {"b", 12}, {"c", 15}, {"d", 10}, {"end", 20}}, kTwoWays));
}

TEST(LoopNames, ContinueIsAWayBackOfTheSameLoop) {
  // for (10) { 11; if (12) continue; 15 }
  EXPECT_FALSE(is_two_loops({{"start", 1}, {"a", 11}, {"b", 12}, {"c", 15}, {"d", 10}, {"end", 20}}, kTwoWays));
  // while (10) { if (11) continue; 15 }, whose test is at its top
  EXPECT_FALSE(is_two_loops({{"start", 1}, {"a", 10}, {"b", 11}, {"c", 15}, {"d", 15}, {"end", 20}}, kTwoWays));
}

TEST(LoopNames, ConditionsInSeveralLines) {
  // while (10 || 11) { 12 }
  EXPECT_FALSE(is_two_loops({{"start", 1}, {"a", 12}, {"b", 10}, {"c", 11}, {"d", 11}, {"end", 20}}, kTwoWays));
}

TEST(LoopNames, WaysBackOfOneLine) {
  EXPECT_FALSE(is_two_loops({{"start", 1}, {"a", 13}, {"b", 12}, {"c", 15}, {"d", 12}, {"end", 20}}, kTwoWays));
}

}  // namespace
}  // namespace loopfold::structure
