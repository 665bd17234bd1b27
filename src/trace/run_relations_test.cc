// Irregular columns made ready for coding: what is said to be coded gives the values back, and relations are found.
#include "trace/run_relations.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace loopfold::trace {
namespace {

/// A run of two paths, with columns 0, 1, 2 and 0, 3: all irregular data.
class TwoPaths : public ::testing::Test {
 protected:
  TwoPaths() {
    columns_.resize(4);
    for (RunColumn& column : columns_) column.kind = RunColumn::Kind::kIrregular;
    paths_ = {{{}, first_, 3, 1}, {{}, second_, 2, 1}};
    run_.paths = paths_;
    run_.columns = columns_;
    memory_.resize(4);
    const std::uint32_t masks[] = {3, 1, 1, 2};
    for (std::size_t i = 0; i < 4; ++i) memory_[i].paths = masks[i];
    loop_.columns = memory_;
  }

  /// Adds an iteration.
  void add(std::uint8_t path, const std::vector<std::uint64_t>& slots) {
    sequence_.push_back(path);
    rows_.insert(rows_.end(), slots.begin(), slots.end());
    for (std::size_t i = 0; i < slots.size(); ++i) stream_.push_back({paths_[path].columns[i], slots[i]});
  }

  std::size_t collect() {
    run_.sequence = sequence_;
    run_.iterations = sequence_.size();
    return irregular_.collect(run_, rows_, loop_, SlotClass::kData);
  }

  /// The column's values, computed from the choice the slow way: walking the stream.
  std::vector<std::uint64_t> values_of(std::uint32_t column, const IrregularColumns::Choice& choice) const {
    std::vector<std::uint64_t> values;
    for (std::size_t i = 0; i < stream_.size(); ++i) {
      if (stream_[i].first != column) continue;
      const std::size_t k = values.size();
      const std::uint64_t distance = choice.relation.distance;
      const std::uint64_t source = distance == 0 || k == 0 || distance > i ? 0 : stream_[i - distance].second;
      const std::uint64_t rest = choice.follows && k != 0 ? choice.relation.delta : choice.values[k];
      values.push_back(rest + (source << choice.relation.shift));
    }
    return values;
  }
  std::vector<std::uint64_t> values_of(std::uint32_t column) const {
    std::vector<std::uint64_t> values;
    for (const auto& [of, value] : stream_) {
      if (of == column) values.push_back(value);
    }
    return values;
  }
  void clear() {
    sequence_.clear();
    rows_.clear();
    stream_.clear();
  }

  const std::vector<std::uint32_t> first_ = {0, 1, 2};
  const std::vector<std::uint32_t> second_ = {0, 3};
  std::vector<RunPath> paths_;
  std::vector<RunColumn> columns_;
  std::vector<std::uint8_t> sequence_;
  std::vector<std::uint64_t> rows_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> stream_;
  trace::Run run_;
  std::vector<RunTables::Column> memory_;
  RunTables::Loop loop_;
  IrregularColumns irregular_;
};

TEST_F(TwoPaths, WhatIsChosenGivesTheValuesBack) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 500; ++round) {
    clear();
    const std::uint64_t noise = random() % 4;
    for (std::uint64_t i = 2 + random() % 40; i > 0; --i) {
      const std::uint64_t x = random();
      const auto near = [&](std::uint64_t value) { return value + (random() % 8 < noise ? random() % 1000 : 0); };
      if (random() % 3 == 0) {
        add(1, {x, near(4 * x + 7)});
      } else {
        add(0, {x, near(x + 8), near(x >> 60)});
      }
    }
    EXPECT_EQ(collect(), rows_.size());
    for (std::uint32_t column = 0; column < 4; ++column) {
      const std::vector<std::uint64_t> expected = values_of(column);
      if (expected.empty()) continue;
      const IrregularColumns::Choice choice = irregular_.choose(column, memory_[column]);
      EXPECT_EQ(values_of(column, choice), expected);
      EXPECT_EQ(irregular_.last_value(column), expected.back());
      if (choice.relation.distance != 0) memory_[column].relation = choice.relation;
    }
  }
}

TEST_F(TwoPaths, RelationsAreFoundOnAllPaths) {
  std::mt19937_64 random(4);
  std::uint64_t pointer = random();
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t next = random();
    if (i % 3 == 0) {
      add(1, {pointer + 16, next});
    } else {
      add(0, {pointer + 16, 8 * (pointer + 16) + 5, next});
    }
    pointer = next;
  }
  collect();
  const IrregularColumns::Choice chased = irregular_.choose(0, memory_[0]);
  EXPECT_TRUE(chased.follows);
  EXPECT_EQ(chased.relation.distance, 1);
  EXPECT_EQ(chased.relation.delta, 16u);
  const IrregularColumns::Choice scaled = irregular_.choose(1, memory_[1]);
  EXPECT_TRUE(scaled.follows);
  EXPECT_EQ(scaled.relation.shift, 3);
  EXPECT_EQ(scaled.relation.delta, 5u);
  EXPECT_EQ(irregular_.choose(2, memory_[2]).relation.distance, 0);
}

TEST_F(TwoPaths, WhatIsNotFoundIsNotLookedForEveryTime) {
  std::mt19937_64 random(5);
  unsigned waited = 0;
  for (int round = 0; round < 64; ++round) {
    clear();
    for (int i = 0; i < 20; ++i) add(0, {random(), random(), random()});
    collect();
    waited += memory_[0].wait != 0 ? 1 : 0;
    EXPECT_EQ(irregular_.choose(0, memory_[0]).relation.distance, 0);
  }
  EXPECT_GT(waited, 50u);
}

}  // namespace
}  // namespace loopfold::trace
