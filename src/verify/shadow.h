// Which value every byte of memory and of every register holds.
//
// One cell per byte, as plain as can be: pages of memory in a hash table, registers in an array. A cell also says in
// which iteration a copy brought the value there (which may be long after it was made), and, of memory that a register
// was spilled to, which register that was and where in the spilled bytes it is.
//
// A value may be copied again and again on its way. What matters is whether an earlier iteration had a hand in it, so
// two of the copies are remembered: the last one that was in another iteration of the innermost loop than the copies
// that followed it, and the first one that was in another iteration of any loop.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "verify/paths.h"
#include "verify/values.h"

namespace loopfold::verify {

struct Cell {
  ValueId value = kNoValue;
  IterationId by = kNoIteration;   // where in its loops the copy was, or whoever made it: the last
  IterationId old = kNoIteration;  // and the first
  PathId path = kNoPath;           // all copies on the way, if they are followed
  std::uint8_t spill = 0;         // of memory: 0, or 1 + the byte's place in what was spilled
  std::uint8_t reg = 0;           // of a spill: the register that was spilled (Registers::general, vector)
};

/// Takes over the references of cells.
class Cells {
 public:
  Cells(Iterations& iterations, Values& values, Paths& paths)
      : iterations_(iterations), values_(values), paths_(paths) {}
  void set(Cell& cell, const Cell& to) {
    if (to.value != kNoValue) values_.keep(to.value);
    if (to.by != kNoIteration) iterations_.keep(to.by);
    if (to.old != kNoIteration) iterations_.keep(to.old);
    if (to.path != kNoPath) paths_.keep(to.path);
    values_.drop(cell.value);
    iterations_.drop(cell.by);
    iterations_.drop(cell.old);
    paths_.drop(cell.path);
    cell = to;
  }
  void clear(Cell& cell) { set(cell, {}); }

 private:
  Iterations& iterations_;
  Values& values_;
  Paths& paths_;
};

/// The bytes of all registers that carry values, in a row.
class Registers {
 public:
  static constexpr std::size_t kGeneral = 0;         // 16 of 8 bytes
  static constexpr std::size_t kVector = 16 * 8;     // 16 of 32 bytes
  static constexpr std::size_t kX87 = kVector + 512;  // 8 of one cell
  static constexpr std::size_t kMmx = kX87 + 8;       // 8 of one cell
  static constexpr std::size_t kFlags = kMmx + 8;     // carry, parity, adjust, zero, sign, overflow
  static constexpr std::size_t kCount = kFlags + 6;

  Cell& operator[](std::size_t index) { return cells_[index]; }
  std::span<Cell> all() { return cells_; }

 private:
  std::array<Cell, kCount> cells_{};
};

class Memory {
 public:
  explicit Memory(Cells& cells) : cells_(cells) {}
  ~Memory() { clear(); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// The cell of a byte; an empty one if nothing was ever written there.
  Cell read(std::uint64_t address) const {
    const Page* page = find(address >> kPageBits);
    return page == nullptr ? Cell{} : (*page)[address & kMask];
  }
  void write(std::uint64_t address, const Cell& cell) { cells_.set(page(address >> kPageBits)[address & kMask], cell); }
  /// Nothing is known of these bytes any more.
  void forget(std::uint64_t address, std::uint64_t size);
  /// What was at `from` is at `to`, and nothing at `from`.
  void move(std::uint64_t from, std::uint64_t to, std::uint64_t size);
  void clear();

 private:
  static constexpr unsigned kPageBits = 12;
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << kPageBits) - 1;
  using Page = std::array<Cell, std::size_t{1} << kPageBits>;

  Page* find(std::uint64_t number) const {
    if (number == last_number_) return last_;
    const auto found = pages_.find(number);
    if (found == pages_.end()) return nullptr;
    last_number_ = number;
    last_ = found->second.get();
    return last_;
  }
  Page& page(std::uint64_t number);

  Cells& cells_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  mutable std::uint64_t last_number_ = ~std::uint64_t{0};
  mutable Page* last_ = nullptr;
};

}  // namespace loopfold::verify
