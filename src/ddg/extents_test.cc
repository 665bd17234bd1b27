// What is said of whole ranges of addresses must hold for each of them: extents of objects, and where spills ever were.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "ddg/objects.h"
#include "ddg/spills.h"
#include "symbols/symbolizer.h"

namespace loopfold::ddg {
namespace {

constexpr std::uint64_t kLow = 0x10000;
constexpr std::uint64_t kHigh = 0x18000;

class Extents : public ::testing::Test {
 protected:
  void allocate(std::uint64_t address, std::uint64_t size, std::uint64_t old = 0) {
    trace::Allocation allocation;
    allocation.function = old == 0 ? trace::Allocation::Function::kMalloc : trace::Allocation::Function::kRealloc;
    allocation.address = address;
    allocation.size = size;
    allocation.old_address = old;
    allocation.stack = 0;
    objects_.allocation(allocation);
  }
  void release(std::uint64_t address) {
    trace::Allocation allocation;
    allocation.function = trace::Allocation::Function::kFree;
    allocation.old_address = address;
    objects_.allocation(allocation);
  }
  void map(trace::Mapping::Operation operation, std::uint64_t address, std::uint64_t size) {
    trace::Mapping mapping;
    mapping.operation = operation;
    mapping.address = address;
    mapping.size = size;
    mapping.stack = 1;
    objects_.mapping(mapping);
  }
  /// All addresses of the extent are in one block, one byte after the other.
  void expect_one_block(std::uint64_t address) {
    const Objects::Extent extent = objects_.extent(address);
    ASSERT_LE(extent.first, address);
    ASSERT_GE(extent.last, address);
    const Objects::Place place = objects_.find(address);
    const std::uint64_t first = std::max(extent.first, kLow);
    const std::uint64_t last = std::min(extent.last, kHigh);
    for (std::uint64_t at = first; at <= last; at += 1 + (last - at) / 64) {
      const Objects::Place there = objects_.find(at);
      ASSERT_EQ(there.object, place.object) << std::hex << address << " and " << at;
      ASSERT_EQ(there.block, place.block) << std::hex << address << " and " << at;
      ASSERT_EQ(there.offset - place.offset, static_cast<std::int64_t>(at - address));
    }
  }

  std::vector<trace::Module> modules_;
  std::vector<trace::CallStack> stacks_ = {{100, 200}, {110, 200}};
  symbols::Symbolizer symbolizer_{modules_};
  Objects objects_{symbolizer_, stacks_, modules_};
};

TEST_F(Extents, AHeapBlockIsOne) {
  allocate(0x11000, 1000);
  EXPECT_EQ(objects_.extent(0x11000).first, 0x11000u);
  EXPECT_EQ(objects_.extent(0x11000).last, 0x11000u + 999);
  EXPECT_EQ(objects_.extent(0x11000 + 999).first, 0x11000u);
  EXPECT_GT(objects_.extent(0x11000 + 1000).first, 0x11000u + 999);
  EXPECT_LT(objects_.extent(0x11000 - 1).last, 0x11000u);
}

/// A block that comes into the middle of a mapping, and goes again, before and behind what was found there.
TEST_F(Extents, EndWhereSomethingElseBegins) {
  map(trace::Mapping::Operation::kMap, 0x10000, 0x4000);
  objects_.find(0x12000);
  EXPECT_GE(objects_.extent(0x12000).last, 0x12000u);
  allocate(0x12010, 32);
  EXPECT_LT(objects_.extent(0x12000).last, 0x12010u);
  EXPECT_GT(objects_.extent(0x12030).first, 0x1202fu);
  map(trace::Mapping::Operation::kUnmap, 0x13000, 0x1000);
  EXPECT_LT(objects_.extent(0x12fff).last, 0x13000u);
  EXPECT_GT(objects_.extent(0x13000).first, 0x12fffu);
}

/// What was found in the mapping before the block came says nothing about the whole of it any more.
TEST_F(Extents, OfAMappingThatGotABlockElsewhere) {
  map(trace::Mapping::Operation::kMap, 0x10000, 0x4000);
  objects_.find(0x10000);
  allocate(0x12010, 32);
  EXPECT_LT(objects_.extent(0x10000).last, 0x12010u);
}

TEST_F(Extents, RandomlyAsFound) {
  std::mt19937_64 random(1);
  std::set<std::uint64_t> live;
  for (int i = 0; i < 4000; ++i) {
    const std::uint64_t address = kLow + random() % (kHigh - kLow) / 16 * 16;
    const std::uint64_t kind = random() % 16;
    if (kind < 6) {
      allocate(address, 1 + random() % (random() % 8 == 0 ? 3000 : 200));
      live.insert(address);
    } else if (kind < 10 && !live.empty()) {
      const auto found = live.lower_bound(address);
      const std::uint64_t old = found == live.end() ? *live.begin() : *found;
      live.erase(old);
      if (kind == 9) {
        allocate(address, 1 + random() % 300, old);
        live.insert(address);
      } else {
        release(old);
      }
    } else if (kind < 12) {
      const auto operation = kind == 10 ? trace::Mapping::Operation::kMap : trace::Mapping::Operation::kUnmap;
      map(operation, address & ~std::uint64_t{0xfff}, 0x1000 * (1 + random() % 3));
    }
    for (int time = 0; time < 4; ++time) {
      const std::uint64_t at = kLow + random() % (kHigh - kLow);
      if (random() % 2 == 0) objects_.find(at);
      expect_one_block(at);
      if (HasFatalFailure()) return;
    }
  }
}

/// No byte of a spill is missed, however ranges lie to it; where no spill is for pages, none is said to be.
TEST(EverNear, NothingIsMissed) {
  std::mt19937_64 random(2);
  ShadowMemory memory;
  Spills spills;
  EXPECT_FALSE(spills.ever_near(0, ~std::uint64_t{0}));
  std::vector<std::pair<std::uint64_t, std::uint64_t>> bytes;  // first, last
  constexpr std::uint64_t kBase = 0x7fff0000;
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t page = random() % 40 * 0x5000;
    const std::uint64_t address = kBase + page + (random() % 2 == 0 ? 0x1000 - random() % 40 : random() % 0x1000);
    const auto size = static_cast<std::uint32_t>(std::uint64_t{1} << random() % 6);
    spills.at(address, size, memory);
    bytes.emplace_back(address, address + size - 1);
    for (int time = 0; time < 20; ++time) {
      const auto& [first, last] = bytes[random() % bytes.size()];
      const std::uint64_t before = random() % (random() % 2 == 0 ? 3 : 100000);
      const std::uint64_t behind = random() % (random() % 2 == 0 ? 3 : 100000);
      ASSERT_TRUE(spills.ever_near(first - before, first));
      ASSERT_TRUE(spills.ever_near(last, last + behind));
      ASSERT_TRUE(spills.ever_near(first - before, last + behind));
      ASSERT_TRUE(spills.ever_near(first, first));
    }
  }
  spills.drop_dead(memory);
  EXPECT_TRUE(spills.ever_near(bytes[0].first, bytes[0].first)) << "ever, not now";
  for (std::uint64_t k = 0; k < 40; ++k)
    EXPECT_FALSE(spills.ever_near(kBase + k * 0x5000 + 0x2000, kBase + k * 0x5000 + 0x4fff));
  EXPECT_FALSE(spills.ever_near(0, kBase - 1));
  EXPECT_FALSE(spills.ever_near(kBase + 0x1000000, ~std::uint64_t{0}));
}

}  // namespace
}  // namespace loopfold::ddg
