// Rows of memory that were read before: who wrote them.
//
// A loop often reads rows that it has read before, and that nothing has written since: the operands of a matrix
// product, the vector in a matrix times vector. What a row had is kept with the time when it was looked at; where
// shadow memory has not changed since, it is not looked at again. Rows are those that nothing wrote, or that one evenly
// counting producer did, in one entry or in entries that follow each other evenly, or a few that take turns. Exact:
// time is that of shadow memory. A fixed number of rows, found by their address; a new one takes the place of an old
// one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ddg/entries.h"
#include "ddg/shadow_memory.h"

namespace loopfold::ddg {

class RowMemo {
 public:
  /// n accesses of `size` bytes, each `step` bytes behind the one before.
  struct Row {
    std::uint64_t address = 0;
    std::uint64_t step = 0;
    std::uint64_t n = 0;
    std::uint64_t size = 0;
  };
  struct Writer {
    Cell first;
    std::uint64_t counter_step = 0;  // from one of its turns to the next
  };
  static constexpr std::size_t kMostWriters = 4;
  struct Writers {
    std::array<Writer, kMostWriters> all{};  // in the order of their turns
    std::size_t count = 0;                   // 0: nothing wrote the row
    Rise rise = {};                          // of the entries of the only writer, if they change too
  };

  /// Rows that are worth it: long enough, and not spread so far that to ask for changes takes longer than to look. None
  /// goes round the end of the address space.
  static bool is_worth_it(const Row& row) {
    const auto step = static_cast<std::int64_t>(row.step);
    const std::uint64_t pace = step < 0 ? std::uint64_t{0} - row.step : row.step;
    if (row.n < kShortest || row.n > kLongest || pace > kFarthest) return false;
    const std::uint64_t span = pace * row.n + row.size;
    return row.address >= span && row.address <= ~span;
  }

  /// What is known of a row that is worth it, if that still holds; else null.
  const Writers* find(const Row& row, const ShadowMemory& memory) const {
    if (rows_.empty()) return nullptr;
    const Known& known = rows_[slot_of(row)];
    const bool same = known.row.address == row.address && known.row.step == row.step && known.row.size == row.size &&
                      known.row.n >= row.n;
    if (!same) return nullptr;
    const std::uint64_t last = row.address + row.step * (row.n - 1);
    const std::uint64_t lowest = std::min(row.address, last);
    const std::uint64_t highest = std::max(row.address, last) + (row.size - 1);
    return memory.unchanged_since(known.time, lowest, highest) ? &known.writers : nullptr;
  }

  void remember(const Row& row, const Writers& writers, ShadowMemory& memory) {
    if (rows_.empty()) rows_.resize(kRows);
    rows_[slot_of(row)] = {row, writers, memory.time()};
  }

 private:
  static constexpr std::size_t kRows = 8192;
  static constexpr std::uint64_t kShortest = 8;
  static constexpr std::uint64_t kLongest = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kFarthest = std::uint64_t{16} << 10;  // bytes from one access to the next

  struct Known {
    Row row;
    Writers writers;
    std::uint64_t time = 0;
  };

  /// Columns of a matrix are neighbours.
  static std::size_t slot_of(const Row& row) {
    return static_cast<std::size_t>((row.address >> 2 ^ row.address >> 15) % kRows);
  }

  std::vector<Known> rows_;
};

}  // namespace loopfold::ddg
