// Rows come out as they went in, by code and in order, with what is beside them.
#include "ddg/journal.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace loopfold::ddg {
namespace {

/// A code whose rows have so many numbers.
PartCode code_of(std::uint32_t words) {
  PartCode code;
  code.row.possible = true;
  code.row.words = words;
  return code;
}

struct Taken {
  const PartCode* code = nullptr;
  std::vector<std::uint64_t> numbers;
};

std::vector<Taken> take(Journal& journal, std::vector<Journal::Extra>* extras = nullptr) {
  std::vector<Taken> all;
  const JournalBatch& batch = journal.close();
  for (const Journal::Segment& segment : batch.segments) {
    const std::uint64_t* const numbers = batch.numbers.get() + segment.first;
    all.push_back({segment.code, {numbers, numbers + segment.rows * segment.code->row.words}});
  }
  if (extras != nullptr) *extras = batch.extras;
  journal.clear();
  return all;
}

void make_room(Journal& journal, const PartCode& code) {
  const std::size_t room = journal.make_room(code);
  if (journal.wants_batch()) journal.take(std::make_unique<JournalBatch>(room));
}

TEST(Journal, RowsComeOutByCodeAndInOrder) {
  PartCode small = code_of(2);
  PartCode large = code_of(3);
  PartCode other = code_of(3);
  small.row.like = &small;
  large.row.like = &large;
  other.row.like = &large;  // rows of both can be taken together
  Journal journal(7);
  EXPECT_EQ(journal.begin(large), nullptr);
  make_room(journal, large);
  std::uint64_t next = 0;
  const auto add = [&](const PartCode& code) {
    std::uint64_t* const row = journal.begin(code);
    ASSERT_NE(row, nullptr);
    for (std::uint32_t i = 0; i < code.row.words; ++i) row[i] = next++;
  };
  add(large);
  add(other);
  add(small);
  journal.add_extra(true, 5, 4, {9, 8, 7});
  add(large);
  EXPECT_EQ(journal.rows(), 4u);
  std::vector<Journal::Extra> extras;
  const std::vector<Taken> all = take(journal, &extras);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].code, &large);
  EXPECT_EQ(all[0].numbers, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(all[1].code, &small);
  EXPECT_EQ(all[1].numbers, (std::vector<std::uint64_t>{6, 7}));
  EXPECT_EQ(all[2].numbers, (std::vector<std::uint64_t>{8, 9, 10}));
  ASSERT_EQ(extras.size(), 1u);
  EXPECT_EQ(extras[0].row, 2u);
  EXPECT_EQ(extras[0].index, 5u);
  EXPECT_EQ(extras[0].cell, (Cell{9, 8, 7}));
  EXPECT_TRUE(journal.empty());
  EXPECT_TRUE(take(journal, &extras).empty());
}

/// When there is no more room does not depend on how large a batch is, nor on who has worked it off.
TEST(Journal, BatchesAreGivenAway) {
  PartCode code = code_of(4);
  code.row.like = &code;
  Journal journal(7);
  const std::size_t room = journal.make_room(code);
  EXPECT_EQ(room, Journal::kMostRows * 4);
  ASSERT_TRUE(journal.wants_batch());
  journal.take(std::make_unique<JournalBatch>(2 * room));
  EXPECT_FALSE(journal.wants_batch());
  for (std::uint64_t i = 0; i < Journal::kMostRows; ++i) journal.begin(code)[3] = i;
  EXPECT_EQ(journal.begin(code), nullptr);
  const std::uint64_t bytes = journal.bytes();
  journal.close();
  const std::unique_ptr<JournalBatch> given = journal.give();
  EXPECT_EQ(given->site, 7u);
  EXPECT_EQ(given->rows, Journal::kMostRows);
  EXPECT_EQ(given->numbers[4 * 9 + 3], 9u);
  EXPECT_TRUE(journal.empty());
  EXPECT_EQ(journal.begin(code), nullptr);
  EXPECT_TRUE(journal.wants_batch());
  EXPECT_EQ(journal.bytes(), bytes);
}

TEST(Journal, ThereIsRoomForSoManyRows) {
  PartCode code = code_of(4);
  PartCode larger = code_of(5);
  code.row.like = &code;
  larger.row.like = &larger;
  Journal journal(1);
  make_room(journal, code);
  for (std::size_t i = 0; i < Journal::kMostRows; ++i) ASSERT_NE(journal.begin(code), nullptr);
  EXPECT_EQ(journal.begin(code), nullptr);
  take(journal);
  ASSERT_NE(journal.begin(code), nullptr);
  EXPECT_EQ(journal.begin(larger), nullptr);
  take(journal);
  make_room(journal, larger);
  ASSERT_NE(journal.begin(larger), nullptr);
  EXPECT_GE(journal.bytes(), Journal::kMostRows * 5 * sizeof(std::uint64_t));
  EXPECT_EQ(journal.growth(), journal.bytes());
  EXPECT_EQ(journal.growth(), 0u);
  for (int i = 0; i < 100; ++i) journal.add_extra(true, 0, 4, {});
  journal.close();
  EXPECT_EQ(journal.growth(), 100 * sizeof(Journal::Extra));
}

TEST(Journal, CellsComeBackAsTheyWere) {
  std::uint64_t numbers[2] = {};
  const Cell cell{0xffffffff, 0x12345678, ~std::uint64_t{5}};
  Journal::set_cell(numbers, cell);
  EXPECT_EQ(Journal::cell(numbers), cell);
}

}  // namespace
}  // namespace loopfold::ddg
