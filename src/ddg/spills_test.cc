// Provenance of bytes, and the table of spills, by hand and against a map.
#include "ddg/spills.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

namespace loopfold::ddg {
namespace {

Cell cell(std::uint32_t producer, std::uint64_t counter = 0) { return {producer, 1, counter}; }

Provenance from(std::uint32_t producer) {
  Provenance provenance;
  provenance.origin = cell(producer);
  return provenance;
}

TEST(ProvenanceBytes, NeighboursOfOneOriginAreOne) {
  ProvenanceBytes bytes;
  bytes.add(1, from(7));
  bytes.add(4, from(7));
  EXPECT_EQ(bytes.end_at(0), 4);
  bytes.add(8, from(9));
  EXPECT_EQ(bytes.at(3).origin, cell(7));
  EXPECT_EQ(bytes.at(4).origin, cell(9));
  EXPECT_EQ(bytes.end_at(5), 8);
  EXPECT_TRUE(bytes.at(8).none);
  bytes.clear();
  EXPECT_TRUE(bytes.at(0).none);
}

class LoadedBytes : public testing::Test {
 protected:
  Provenance load() const {
    Provenance provenance;
    provenance.load = true;
    provenance.address = 0x1000;
    provenance.size = 8;
    note_writers(memory, provenance);
    return provenance;
  }
  ShadowMemory memory;
};

TEST_F(LoadedBytes, AreRewrittenByAnotherInstance) {
  memory.write(0x1000, 8, cell(3, 5));
  const Provenance before = load();
  EXPECT_FALSE(before.mixed);
  EXPECT_FALSE(is_rewritten(memory, before));
  memory.write(0x1007, 1, cell(3, 6));
  EXPECT_TRUE(is_rewritten(memory, before));
}

TEST_F(LoadedBytes, OfSeveralWriters) {
  memory.write(0x1000, 4, cell(3));
  const Provenance half = load();
  EXPECT_TRUE(half.mixed);
  memory.write(0x1004, 4, cell(4));
  EXPECT_TRUE(is_rewritten(memory, half));
  const Provenance whole = load();
  EXPECT_FALSE(is_rewritten(memory, whole));
  memory.clear(0x1004, 4);
  EXPECT_TRUE(is_rewritten(memory, whole));
}

TEST_F(LoadedBytes, ThatNothingWrote) {
  const Provenance input = load();
  EXPECT_FALSE(is_rewritten(memory, input));
  memory.write(0x1002, 2, cell(3));
  EXPECT_TRUE(is_rewritten(memory, input));
}

TEST(Spills, ASmallerOneAtTheSameAddressLeavesTheRest) {
  ShadowMemory memory;
  Spills spills;
  spills.at(0x2000, 8, memory).cell = cell(1);
  spills.at(0x2000, 4, memory).cell = cell(2);
  ASSERT_NE(spills.find(0x2000, 8, cell(1)), nullptr);
  EXPECT_EQ(spills.covering(0x2004, 8, cell(1))->address, 0x2000u);
  EXPECT_EQ(spills.covering(0x2004, 4, cell(2)), nullptr);
  EXPECT_EQ(spills.find(0x2000, 8, cell(2)), nullptr);
}

/// Nothing is lost while memory knows of it, however much comes and goes.
TEST(Spills, WhatIsAliveIsFound) {
  ShadowMemory memory;
  Spills spills;
  std::mt19937_64 random(1);
  std::map<std::uint64_t, Cell> alive;
  for (std::uint32_t i = 1; i < 60000; ++i) {
    const std::uint64_t address = 0x7000 + random() % 4000 * 8;
    if (random() % 4 == 0) {
      memory.clear(address, 8);
      alive.erase(address);
      continue;
    }
    Spill& spill = spills.at(address, 8, memory);
    spill.cell = cell(i);
    spill.value.clear();
    spill.value.add(8, from(i + 1));
    memory.write(address, 8, cell(i));
    alive[address] = cell(i);
    if (i % 1000 == 0) spills.drop_dead(memory);
  }
  for (const auto& [address, writer] : alive) {
    const Spill* spill = spills.find(address, 8, writer);
    ASSERT_NE(spill, nullptr);
    EXPECT_EQ(spill->value.at(0).origin, cell(writer.producer + 1));
  }
  EXPECT_LT(spills.bytes(), 16384 * sizeof(Spill) + 1);
}

}  // namespace
}  // namespace loopfold::ddg
