// A body that is begun anew and may have its paths again is what a body made from nothing is.
#include "trace/run_body.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "trace/run_testing.h"

namespace loopfold::trace {
namespace {

void expect_same(const RunBody& a, const RunBody& b) {
  ASSERT_EQ(a.paths(), b.paths());
  for (std::size_t path = 0; path < a.paths(); ++path) {
    EXPECT_TRUE(std::ranges::equal(a.exits(path), b.exits(path)));
    EXPECT_TRUE(std::ranges::equal(a.columns(path), b.columns(path)));
    EXPECT_EQ(a.instructions(path), b.instructions(path));
  }
  ASSERT_EQ(a.columns().size(), b.columns().size());
  for (std::size_t i = 0; i < a.columns().size(); ++i) {
    EXPECT_EQ(a.columns()[i].block, b.columns()[i].block);
    EXPECT_EQ(a.columns()[i].slot, b.columns()[i].slot);
    EXPECT_EQ(a.is_control(a.columns()[i]), b.is_control(b.columns()[i]));
  }
}

class RunBodyTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  RunBodyTest() : program_(GetParam(), 400), random_(GetParam()) {
    for (const Block& block : program_.machine.blocks) EXPECT_TRUE(shapes_.add_block(block));
    for (const Exit& exit : program_.machine.exits) EXPECT_TRUE(shapes_.add_exit(exit));
    for (int i = 0; i < 6; ++i) choice_.push_back(path(i == 0 ? kMaxPathEvents + 1 : 12));
  }
  std::vector<ExitId> path(std::size_t most) {
    std::vector<ExitId> exits(1 + random_() % most);
    for (ExitId& exit : exits) exit = static_cast<ExitId>(random_() % program_.machine.exits.size());
    return exits;
  }

  testing::RandomProgram program_;
  std::mt19937_64 random_;
  Shapes shapes_;
  std::vector<std::vector<ExitId>> choice_;
};

TEST_P(RunBodyTest, BegunAnewIsLikeNew) {
  RunBody again;
  for (int round = 0; round < 200; ++round) {
    RunBody fresh;
    again.restart();
    std::uint64_t order = random_() % 3;  // few orders, so that paths come again, for a while or to the end
    for (std::size_t n = random_() % (kMaxRunPaths + 4); n > 0; --n) {
      const std::vector<ExitId>& exits = choice_[order++ % choice_.size()];
      const bool added = fresh.add(exits, shapes_);
      EXPECT_EQ(again.add(exits, shapes_), added);
      if (added && random_() % 8 == 0) {
        fresh.remove_last();
        again.remove_last();
      }
      if (random_() % 16 == 0) order += 1;
    }
    expect_same(again, fresh);
    const std::vector<ExitId> other = random_() % 2 == 0 ? path(20) : choice_[random_() % choice_.size()];
    EXPECT_EQ(again.covered(other, shapes_), fresh.covered(other, shapes_));
  }
}

/// One that became too large stays as it was, and can be begun anew.
TEST(RunBody, IsAsItWasIfAPathDoesNotFit) {
  testing::Machine machine(1);
  const BlockId wide = machine.block(std::vector<testing::SlotKind>(kMaxRunColumns / 2, testing::SlotKind::kConstant));
  const BlockId narrow = machine.block({testing::SlotKind::kConstant});
  const BlockId last = machine.block({});
  for (const BlockId block : {narrow, wide, last}) machine.go(block);
  machine.finish();
  Shapes shapes;
  for (const Block& block : machine.blocks) ASSERT_TRUE(shapes.add_block(block));
  for (const Exit& exit : machine.exits) ASSERT_TRUE(shapes.add_exit(exit));
  const std::vector<ExitId> small = {machine.events[0].first};
  const std::vector<ExitId> large(3, machine.events[1].first);
  const std::vector<ExitId> medium = {machine.events[1].first, machine.events[0].first};
  RunBody body;
  for (int round = 0; round < 3; ++round) {
    body.restart();
    ASSERT_TRUE(body.add(small, shapes));
    ASSERT_FALSE(body.add(large, shapes));
    EXPECT_EQ(body.paths(), 1u);
    EXPECT_EQ(body.columns().size(), 1u);
    EXPECT_EQ(body.covered(large, shapes), 0u);
    ASSERT_TRUE(body.add(medium, shapes));
    RunBody fresh;
    ASSERT_TRUE(fresh.add(small, shapes));
    ASSERT_TRUE(fresh.add(medium, shapes));
    expect_same(body, fresh);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, RunBodyTest, ::testing::Range<std::uint64_t>(0, 20));

}  // namespace
}  // namespace loopfold::trace
