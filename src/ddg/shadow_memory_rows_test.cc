// Rows against single accesses, and what is remembered of rows against what memory says.
#include <gtest/gtest.h>

#include <random>

#include "ddg/row_memo.h"
#include "ddg/shadow_memory.h"

namespace loopfold::ddg {
namespace {

constexpr std::uint64_t kBase = (std::uint64_t{4} << 20) - 3000;  // rows cross the border of two regions

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t end) { return engine_() % end; }
  RowMemo::Row row() {
    static constexpr std::uint64_t kSteps[] = {0, 1, 4, 8, 8, 8, 16, 24, 1000, 1024, 4096};
    const std::uint64_t step = kSteps[below(std::size(kSteps))];
    const std::uint64_t size = std::uint64_t{1} << below(5);
    const bool aligned = below(4) != 0;
    const std::uint64_t address = kBase + (aligned ? below(600) * 16 : below(6000));
    return {address, below(3) == 0 ? std::uint64_t{0} - step : step, 1 + below(60), size};
  }

 private:
  std::mt19937_64 engine_;
};

/// What matching() says, by looking at one access after the other.
std::uint64_t matching(const ShadowMemory& memory, const RowMemo::Row& row, Cell expected, std::uint64_t counter_step) {
  for (std::uint64_t k = 0; k < row.n; ++k, expected.counter += counter_step) {
    const Cell* const cell = memory.cell_of(row.address + row.step * k, row.size);
    if (cell == nullptr || !(*cell == expected)) return k;
  }
  return row.n;
}

std::uint64_t matching_at_once(const ShadowMemory& memory, const RowMemo::Row& row, const Cell& expected,
                               std::uint64_t counter_step) {
  return memory.matching(row.address, row.size, row.step, row.n, expected, counter_step);
}

void expect_equal(const ShadowMemory& a, const ShadowMemory& b) {
  for (std::uint64_t address = kBase - (60 * 4096); address < kBase + 16000 + (60 * 4096); ++address) {
    const Cell* const one = a.only_cell(address, 1);
    const Cell* const other = b.only_cell(address, 1);
    ASSERT_NE(one, nullptr);
    ASSERT_NE(other, nullptr);
    ASSERT_TRUE(*one == *other) << address;
  }
}

TEST(ShadowMemoryRows, AreAsSingleAccesses) {
  std::uint64_t long_matches = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    ShadowMemory by_rows;
    ShadowMemory one_by_one;
    for (std::uint32_t i = 1; i <= 40; ++i) {
      const RowMemo::Row row = random.row();
      const Cell cell{i, i + 1, random.below(100)};
      by_rows.write_row(row.address, row.size, row.step, row.n, cell);
      for (std::uint64_t k = 0; k < row.n; ++k)
        one_by_one.write(row.address + row.step * k, row.size, {cell.producer, cell.entry, cell.counter + k});
      EXPECT_EQ(by_rows.bytes(), one_by_one.bytes());
      const std::uint64_t matches = matching_at_once(by_rows, row, cell, 1);
      EXPECT_EQ(matches, matching(one_by_one, row, cell, 1));
      long_matches += matches > 10 ? 1 : 0;
      const RowMemo::Row other = random.row();
      const Cell* const first = one_by_one.cell_of(other.address, other.size);
      const Cell expected = first != nullptr ? *first : Cell{};
      for (const std::uint64_t step : {0, 1, 2})
        EXPECT_EQ(matching_at_once(by_rows, other, expected, step), matching(one_by_one, other, expected, step));
    }
    expect_equal(by_rows, one_by_one);
  }
  EXPECT_GT(long_matches, 500u);
}

TEST(ShadowMemoryRows, OfNothingAreEmpty) {
  ShadowMemory memory;
  EXPECT_EQ(memory.matching(kBase, 8, 8, 1000, {}, 0), 1000u);
  memory.write(kBase + 8 * 700, 8, {1, 1, 1});
  EXPECT_EQ(memory.matching(kBase, 8, 8, 1000, {}, 0), 700u);
  memory.set_limit(0);
  memory.write(kBase + 4096 * 8, 8, {1, 1, 1});  // lost
  EXPECT_LT(memory.matching(kBase + 4096 * 8 - 800, 8, 8, 1000, {}, 0), 101u);
}

TEST(ShadowMemoryRows, ChangesAreSeen) {
  ShadowMemory memory;
  memory.write(kBase, 8, {1, 1, 1});
  const auto changes = [&](auto&& change) {
    const std::uint64_t before = memory.time();
    change();
    return !memory.unchanged_since(before, kBase, kBase + 7);
  };
  EXPECT_FALSE(changes([] {}));
  EXPECT_FALSE(changes([&] { memory.write(kBase + (1 << 20), 8, {1, 1, 1}); }));
  EXPECT_TRUE(changes([&] { memory.write(kBase, 8, {1, 1, 2}); }));
  EXPECT_TRUE(changes([&] { memory.write(kBase + 1, 2, {1, 1, 3}); }));
  EXPECT_TRUE(changes([&] { memory.write_row(kBase - 80, 8, 8, 11, {2, 1, 1}); }));
  EXPECT_TRUE(changes([&] { memory.clear(kBase, 4); }));
  EXPECT_TRUE(changes([&] { memory.clear(kBase - 100000, 200000); }));
  EXPECT_TRUE(changes([&] { memory.write(kBase, 8, {1, 1, 4}); }));
  EXPECT_TRUE(changes([&] { memory.move(kBase, kBase + (1 << 20), 8); }));
  memory.write(kBase + (1 << 21), 8, {1, 1, 5});
  EXPECT_TRUE(changes([&] { memory.move(kBase + (1 << 21), kBase, 8); }));
  const std::uint64_t page = kBase & ~std::uint64_t{1023};
  EXPECT_TRUE(changes([&] { memory.move(page, page + (1 << 22), 1024); }));
  EXPECT_TRUE(changes([&] { memory.move(page + (1 << 22), page, 1024); }));
}

TEST(RowMemo, SomeRowsAreNotWorthIt) {
  const auto worth = [](std::uint64_t address, std::uint64_t step, std::uint64_t n) {
    return RowMemo::is_worth_it({address, step, n, 8});
  };
  const std::uint64_t back = std::uint64_t{0} - 8;
  EXPECT_TRUE(worth(kBase, 8, 100));
  EXPECT_TRUE(worth(kBase, back, 100));
  EXPECT_FALSE(worth(kBase, 8, 3));
  EXPECT_FALSE(worth(kBase, 1 << 20, 100));
  EXPECT_FALSE(worth(~std::uint64_t{0} - 80, 8, 100));
  EXPECT_FALSE(worth(80, back, 100));
}

TEST(RowMemo, HoldsUntilMemoryChanges) {
  Random random(7);
  std::uint64_t found = 0;
  ShadowMemory memory;
  RowMemo memo;
  std::vector<RowMemo::Row> rows;
  for (std::uint32_t i = 1; i <= 20000; ++i) {
    if (random.below(20) == 0) {
      const RowMemo::Row row = random.row();
      memory.write_row(row.address, row.size, row.step, row.n, {i, 1, 5});
      rows.push_back(row);
      continue;
    }
    if (rows.empty()) continue;
    RowMemo::Row row = rows[rows.size() - 1 - random.below(std::min<std::size_t>(rows.size(), 5))];
    if (!RowMemo::is_worth_it(row)) continue;
    if (random.below(4) == 0 && row.n > 20) row.n = 16 + random.below(row.n - 16);
    if (const RowMemo::Writers* const writers = memo.find(row, memory)) {
      ASSERT_EQ(writers->count, 1u);
      ASSERT_EQ(matching(memory, row, writers->all[0].first, writers->all[0].counter_step), row.n);
      ++found;
      continue;
    }
    const Cell* const first = memory.cell_of(row.address, row.size);
    if (first != nullptr && matching(memory, row, *first, 1) == row.n)
      memo.remember(row, {{RowMemo::Writer{*first, 1}}, 1}, memory);
  }
  EXPECT_GT(found, 500u);
}

}  // namespace
}  // namespace loopfold::ddg
