#include "verify/shadow.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace loopfold::verify {
namespace {

struct World {
  Iterations iterations;
  Values values{iterations};
  Paths paths{iterations};
  Cells cells{iterations, values, paths};
};

ValueId make(World& world, NodeIndex node) {
  Value value;
  value.node = node;
  return world.values.make(value);
}

/// Random writes, moves and losses, compared with a map.
TEST(VerifyShadow, MemoryIsAMap) {
  World world;
  std::mt19937_64 random(3);
  {
    Memory memory(world.cells);
    std::map<std::uint64_t, NodeIndex> expected;
    const std::uint64_t base = 0x7ffff000;
    for (NodeIndex step = 1; step < 400; ++step) {
      const std::uint64_t at = base + random() % 9000;
      const std::uint64_t size = 1 + random() % 64;
      switch (random() % 4) {
        case 0:
          memory.forget(at, size * 100);
          for (std::uint64_t i = 0; i < size * 100; ++i) expected.erase(at + i);
          break;
        case 1: {
          const std::uint64_t to = base + random() % 9000;
          memory.move(at, to, size);
          std::map<std::uint64_t, NodeIndex> moved;
          for (std::uint64_t i = 0; i < size; ++i)
            if (expected.contains(at + i)) moved[to + i] = expected[at + i];
          for (std::uint64_t i = 0; i < size; ++i) expected.erase(at + i);
          for (std::uint64_t i = 0; i < size; ++i) expected.erase(to + i);
          expected.insert(moved.begin(), moved.end());
          break;
        }
        default: {
          const ValueId value = make(world, step);
          for (std::uint64_t i = 0; i < size; ++i) {
            memory.write(at + i, {value, kNoIteration, kNoIteration, kNoPath, 0, 0});
            expected[at + i] = step;
          }
          world.values.drop(value);
        }
      }
    }
    for (std::uint64_t address = base; address < base + 16000; ++address) {
      const Cell cell = memory.read(address);
      const auto found = expected.find(address);
      ASSERT_EQ(cell.value != kNoValue, found != expected.end()) << address - base;
      if (found != expected.end()) {
        ASSERT_EQ(world.values[cell.value].node, found->second);
      }
    }
  }
  EXPECT_EQ(world.values.live(), 0u);
}

TEST(VerifyShadow, LevelsSeeThroughCopiesThatOthersDoNot) {
  World world;
  const ValueId made = make(world, 1);
  Value copy;
  copy.kind = Value::Kind::kHanded;
  copy.node = 2;
  copy.inner = made;
  copy.levels = 0b100;
  const ValueId handed = world.values.make(copy);
  EXPECT_EQ(world.values.at_level(handed, 2), handed);
  EXPECT_EQ(world.values.at_level(handed, 1), made);
  world.values.drop(made);
  EXPECT_EQ(world.values[world.values.at_level(handed, 1)].node, 1u);
  world.values.drop(handed);
  EXPECT_EQ(world.values.live(), 0u);
}

TEST(VerifyShadow, LongPathsForgetTheirOldestStep) {
  World world;
  const IterationId now = world.iterations.make(kNoIteration, 1, 0);
  PathId path = kNoPath;
  for (NodeIndex node = 0; node < 20; ++node) {
    const PathId next = world.paths.make(node, now, path);
    world.paths.drop(path);
    path = next;
  }
  std::vector<NodeIndex> nodes;
  for (PathId id = path; id != kNoPath; id = world.paths[id].before) nodes.push_back(world.paths[id].node);
  EXPECT_EQ(nodes, (std::vector<NodeIndex>{19, 18, 17, 16, 15, 14, 13, 12}));
  world.paths.drop(path);
  world.iterations.drop(now);
  EXPECT_EQ(world.iterations.live(), 0u);
}

}  // namespace
}  // namespace loopfold::verify
