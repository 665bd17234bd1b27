// Shadow memory against the obvious one: a map from each byte to its cell.
#include "ddg/shadow_memory.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace loopfold::ddg {
namespace {

constexpr std::uint64_t kPage = 1024;
constexpr std::uint64_t kRegion = 4096 * kPage;

struct Chunk {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  Cell cell;
  friend bool operator==(const Chunk&, const Chunk&) = default;
};

void PrintTo(const Chunk& chunk, std::ostream* out) {
  *out << "{" << chunk.offset << "+" << chunk.size << " by " << chunk.cell.producer << "," << chunk.cell.entry << ","
       << chunk.cell.counter << "}";
}

std::vector<Chunk> chunks_of(const ShadowMemory& memory, std::uint64_t address, std::uint64_t size) {
  std::vector<Chunk> chunks;
  memory.read(address, size, [&](std::uint64_t offset, std::uint64_t chunk_size, const Cell& cell) {
    chunks.push_back({offset, chunk_size, cell});
  });
  return chunks;
}

class Reference {
 public:
  void write(std::uint64_t address, std::uint64_t size, const Cell& cell) {
    for (std::uint64_t i = 0; i < size; ++i) bytes_[address + i] = cell;
  }
  void clear(std::uint64_t address, std::uint64_t size) {
    bytes_.erase(bytes_.lower_bound(address), bytes_.lower_bound(address + size));
  }
  void move(std::uint64_t from, std::uint64_t to, std::uint64_t size) {
    std::map<std::uint64_t, Cell> moved;
    for (auto at = bytes_.lower_bound(from); at != bytes_.end() && at->first - from < size; ++at) {
      moved[at->first - from + to] = at->second;
    }
    clear(from, size);
    clear(to, size);
    bytes_.merge(moved);
  }
  std::vector<Chunk> chunks(std::uint64_t address, std::uint64_t size) const {
    std::vector<Chunk> result;
    for (auto at = bytes_.lower_bound(address); at != bytes_.end() && at->first - address < size; ++at) {
      const std::uint64_t offset = at->first - address;
      const bool goes_on =
          !result.empty() && result.back().offset + result.back().size == offset && result.back().cell == at->second;
      if (goes_on)
        ++result.back().size;
      else
        result.push_back({offset, 1, at->second});
    }
    return result;
  }
  const std::map<std::uint64_t, Cell>& bytes() const { return bytes_; }

 private:
  std::map<std::uint64_t, Cell> bytes_;
};

/// Addresses that like borders, and sizes that like those of accesses.
struct RandomRanges {
  std::mt19937_64 random;
  std::uint64_t base = 0;
  std::uint64_t span = 0;

  std::uint64_t address() {
    const std::uint64_t any = base + random() % span;
    switch (random() % 4) {
      case 0:
        return any;
      case 1:
        return any & ~std::uint64_t{7};
      case 2:
        return any & ~std::uint64_t{3};
      default:
        return (any & ~(kPage - 1)) + random() % 24 - 8;
    }
  }
  std::uint64_t size() {
    switch (random() % 10) {
      case 0:
        return random() % 5000;
      case 1:
        return kPage * (random() % 4);
      case 2:
        return random() % 65;
      default:
        return std::uint64_t{1} << random() % 6;
    }
  }
  Cell cell() {
    return {static_cast<std::uint32_t>(1 + random() % 3), static_cast<std::uint32_t>(random() % 2), random() % 3};
  }
};

class ShadowMemoryFuzz : public testing::TestWithParam<std::uint64_t> {};

TEST_P(ShadowMemoryFuzz, AgreesWithAMapOfBytes) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    RandomRanges ranges{std::mt19937_64(seed), GetParam(), 6 * kPage + 2048 * (seed % 5)};
    ShadowMemory memory;
    Reference reference;
    for (int step = 0; step < 1500; ++step) {
      const std::uint64_t address = ranges.address();
      const std::uint64_t size = ranges.size();
      switch (ranges.random() % 12) {
        case 0:
          memory.clear(address, size);
          reference.clear(address, size);
          break;
        case 1: {
          const std::uint64_t to = ranges.random() % 3 == 0   ? address + ranges.random() % 200 - 100
                                   : ranges.random() % 2 == 0 ? address + kPage * (ranges.random() % 3)
                                                              : ranges.address();
          memory.move(address, to, size);
          reference.move(address, to, size);
          break;
        }
        default: {
          const Cell cell = ranges.cell();
          memory.write(address, size, cell);
          reference.write(address, size, cell);
        }
      }
      const std::uint64_t where = ranges.address();
      const std::uint64_t length = ranges.size();
      ASSERT_EQ(chunks_of(memory, where, length), reference.chunks(where, length))
          << "seed " << seed << " step " << step;
      ASSERT_EQ(chunks_of(memory, address, size), reference.chunks(address, size))
          << "seed " << seed << " step " << step;
    }
    const std::uint64_t all = ranges.span + 20 * kPage;
    EXPECT_EQ(chunks_of(memory, ranges.base - kPage, all), reference.chunks(ranges.base - kPage, all));
  }
}

INSTANTIATE_TEST_SUITE_P(Places, ShadowMemoryFuzz,
                         testing::Values(0x10000, kRegion - 3 * kPage, (std::uint64_t{1} << 47) - 4 * kPage,
                                         0x7ffe12345678));

TEST(ShadowMemory, OneCellOfSeveralGranules) {
  ShadowMemory memory;
  EXPECT_EQ(memory.only_cell(0x1000, 32)->producer, 0u);
  memory.write(0x1000, 32, {7, 1, 2});
  memory.write(0x1020, 16, {7, 1, 3});
  ASSERT_NE(memory.only_cell(0x1000, 32), nullptr);
  EXPECT_EQ(*memory.only_cell(0x1000, 32), (Cell{7, 1, 2}));
  EXPECT_EQ(*memory.only_cell(0x1023, 9), (Cell{7, 1, 3}));
  EXPECT_TRUE(memory.holds(0x1000, 32, {7, 1, 2}) && memory.holds(0x1023, 9, {7, 1, 3}));
  EXPECT_FALSE(memory.holds(0x1000, 32, {7, 1, 3}) || memory.holds(0x1018, 16, {7, 1, 2}));
  EXPECT_TRUE(memory.holds(0x1000 + kPage, 8, {})) << "nothing wrote there";
  EXPECT_FALSE(memory.holds(0x1000 + kPage, 8, {7, 1, 2}));
  EXPECT_EQ(memory.only_cell(0x1018, 16), nullptr);
  EXPECT_EQ(memory.only_cell(0x1028, 16), nullptr);
  EXPECT_EQ(memory.only_cell(0x1000 + kPage - 8, 16), nullptr);
  EXPECT_EQ(memory.only_cell(~std::uint64_t{0} - 3, 8), nullptr);
  memory.write(0x1002, 1, {9, 1, 2});
  EXPECT_EQ(memory.only_cell(0x1000, 8), nullptr);
  EXPECT_EQ(*memory.only_cell(0x1003, 29), (Cell{7, 1, 2}));
}

TEST(ShadowMemory, BytesNobodyWroteAreNotVisited) {
  ShadowMemory memory;
  EXPECT_TRUE(chunks_of(memory, 0, 1 << 20).empty());
  memory.write(100, 4, {7, 0, 0});
  EXPECT_EQ(chunks_of(memory, 96, 16), (std::vector<Chunk>{{4, 4, {7, 0, 0}}}));
  EXPECT_TRUE(chunks_of(memory, 104, 500).empty());
}

TEST(ShadowMemory, AChunkMayCoverManyPagesAndRegions) {
  ShadowMemory memory;
  const std::uint64_t address = kRegion - 5 * kPage - 3;
  memory.write(address, 20 * kPage, {1, 2, 3});
  EXPECT_EQ(chunks_of(memory, address - 10, 21 * kPage), (std::vector<Chunk>{{10, 20 * kPage, {1, 2, 3}}}));
}

TEST(ShadowMemory, AScalarReadOfAVectorStoreIsOneChunk) {
  ShadowMemory memory;
  memory.write(0x1000, 32, {1, 0, 0});
  memory.write(0x1008, 4, {2, 0, 0});
  EXPECT_EQ(chunks_of(memory, 0x1004, 8), (std::vector<Chunk>{{0, 4, {1, 0, 0}}, {4, 4, {2, 0, 0}}}));
  EXPECT_EQ(chunks_of(memory, 0x100e, 2), (std::vector<Chunk>{{0, 2, {1, 0, 0}}}));
}

TEST(ShadowMemory, AddressesDoNotWrap) {
  ShadowMemory memory;
  const std::uint64_t top = ~std::uint64_t{0} - 9;  // ten bytes
  memory.write(top, 100, {1, 0, 0});
  EXPECT_EQ(chunks_of(memory, top, 1000), (std::vector<Chunk>{{0, 10, {1, 0, 0}}}));
  EXPECT_TRUE(chunks_of(memory, 0, 1000).empty());
  memory.move(top, 5, 100);
  EXPECT_EQ(chunks_of(memory, 0, 1000), (std::vector<Chunk>{{5, 10, {1, 0, 0}}}));
  memory.move(5, top, 100);
  EXPECT_EQ(chunks_of(memory, top, 1000), (std::vector<Chunk>{{0, 10, {1, 0, 0}}}));
  memory.clear(top + 3, ~std::uint64_t{0});
  EXPECT_EQ(chunks_of(memory, top, 1000), (std::vector<Chunk>{{0, 3, {1, 0, 0}}}));
}

TEST(ShadowMemory, HugeClearsAndMovesPassOverWhatIsNotThere) {
  ShadowMemory memory;
  const std::uint64_t huge = std::uint64_t{1} << 46;
  for (int i = 0; i < 1000; ++i) memory.write(huge / 1000 * static_cast<std::uint64_t>(i) + 8, 8, {1, 0, 0});
  memory.move(0, huge, huge);
  EXPECT_TRUE(chunks_of(memory, 0, 1 << 20).empty());
  EXPECT_EQ(chunks_of(memory, huge, 100), (std::vector<Chunk>{{8, 8, {1, 0, 0}}}));
  memory.move(huge, huge + 24, huge - 24);
  EXPECT_EQ(chunks_of(memory, huge, 100), (std::vector<Chunk>{{32, 8, {1, 0, 0}}}));
  memory.clear(16, 2 * huge);
  EXPECT_TRUE(chunks_of(memory, huge, 1 << 20).empty());
  int left = 0;
  memory.for_each([&](Cell&) { ++left; });
  EXPECT_EQ(left, 0);
}

TEST(ShadowMemory, ForEachReachesEveryByte) {
  RandomRanges ranges{std::mt19937_64(7), kRegion - 3 * kPage, 6 * kPage};
  ShadowMemory memory;
  for (int i = 0; i < 200; ++i) memory.write(ranges.address(), ranges.size(), ranges.cell());
  const std::vector<Chunk> before = chunks_of(memory, ranges.base - kPage, 20 * kPage);
  memory.for_each([](Cell& cell) { cell.entry += 100; });
  std::vector<Chunk> after = chunks_of(memory, ranges.base - kPage, 20 * kPage);
  for (Chunk& chunk : after) chunk.cell.entry -= 100;
  EXPECT_EQ(after, before);
}

TEST(ShadowMemory, AccountsPagesAndGivesThemBack) {
  ShadowMemory memory;
  EXPECT_EQ(memory.bytes(), 0U);
  memory.write(0x1000, 8, {1, 0, 0});
  const std::uint64_t coarse = memory.bytes();
  memory.write(0x1010, 4, {1, 0, 0});
  EXPECT_EQ(memory.bytes(), coarse + kPage / 4 * sizeof(Cell) - kPage / 8 * sizeof(Cell));
  memory.write(0x1400, 1, {1, 0, 0});
  memory.clear(0x1000, 2 * kPage);
  EXPECT_EQ(memory.bytes(), coarse - kPage / 8 * sizeof(Cell));
}

/// What is not lost must be right, and what is wrong or was cleared must be lost.
TEST(ShadowMemory, UnderALimitEveryByteIsRightOrLost) {
  std::uint64_t lost_bytes = 0;
  std::uint64_t right_bytes = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    RandomRanges ranges{std::mt19937_64(seed), kRegion - 16 * kPage, 32 * kPage};
    ShadowMemory memory;
    memory.write(kRegion - 8, 16, {1, 0, 0});
    memory.clear(kRegion - 8, 16);
    const std::uint64_t limit = memory.bytes() + 20000 + 6000 * (seed % 6);
    memory.set_limit(limit);
    Reference reference;
    for (int step = 0; step < 2000; ++step) {
      const std::uint64_t address = ranges.address();
      const std::uint64_t size = ranges.size();
      switch (ranges.random() % 10) {
        case 0:
          memory.clear(address, size);
          reference.clear(address, size);
          break;
        case 1: {
          const std::uint64_t to = ranges.address();
          memory.move(address, to, size);
          reference.move(address, to, size);
          break;
        }
        default: {
          const Cell cell = ranges.cell();
          memory.write(address, size, cell);
          reference.write(address, size, cell);
        }
      }
      ASSERT_LE(memory.bytes(), limit);
    }
    EXPECT_GT(memory.lost_writes(), 0U);
    std::map<std::uint64_t, Cell> seen;
    const std::uint64_t start = ranges.base - 10 * kPage;
    for (const Chunk& chunk : chunks_of(memory, start, ranges.span + 40 * kPage)) {
      for (std::uint64_t i = 0; i < chunk.size; ++i) seen[start + chunk.offset + i] = chunk.cell;
    }
    for (const auto& [address, cell] : reference.bytes()) ASSERT_TRUE(seen.count(address)) << address;
    for (const auto& [address, cell] : seen) {
      if (cell.producer == kLostProducer) {
        ++lost_bytes;
        continue;
      }
      ++right_bytes;
      const auto truth = reference.bytes().find(address);
      ASSERT_NE(truth, reference.bytes().end());
      ASSERT_EQ(truth->second, cell);
    }
  }
  EXPECT_GT(lost_bytes, 1000U);
  EXPECT_GT(right_bytes, 1000U);
}

TEST(ShadowMemory, ALostPageIsLostUntilItIsCleared) {
  ShadowMemory memory;
  memory.set_limit(0);
  memory.write(0x1000, 8, {1, 0, 0});
  EXPECT_EQ(memory.lost_writes(), 1U);
  EXPECT_EQ(chunks_of(memory, 0x1000, 8), (std::vector<Chunk>{{0, 8, {kLostProducer, 0, 0}}}));
  EXPECT_TRUE(chunks_of(memory, 0x2000, 8).empty());
  memory.set_limit(1 << 20);
  memory.write(0x1000, 8, {1, 0, 0});
  EXPECT_EQ(chunks_of(memory, 0x1000, 8), (std::vector<Chunk>{{0, 8, {kLostProducer, 0, 0}}}));
  memory.clear(0x1000, kPage);
  EXPECT_TRUE(chunks_of(memory, 0x1000, 8).empty());
  memory.write(0x1000, 8, {1, 0, 0});
  EXPECT_EQ(chunks_of(memory, 0x1000, 8), (std::vector<Chunk>{{0, 8, {1, 0, 0}}}));
}

}  // namespace
}  // namespace loopfold::ddg
