// Who wrote what last, and who made what was written: registers and memory byte by byte, and the heap blocks that are
// live, for the reference.
//
// Registers are numbered as one array of cells. A byte of a general or vector register is a cell, an x87 or MMX
// register is one, a flag is one. No producer (kNobody) means that nothing in the trace wrote it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "trace/decode.h"
#include "trace/types.h"

namespace loopfold::reference {

inline constexpr std::uint32_t kNobody = 0xffffffff;

/// An instruction of an instance. Instances are numbered as they happen.
struct Producer {
  std::uint32_t instance = kNobody;
  std::uint16_t instruction = 0;
  bool known() const { return instance != kNobody; }
};

/// What a plain load found: the bytes that it loaded, and who had written each of them last.
struct Loaded {
  std::uint64_t address = 0;
  std::vector<Producer> writers;  // by byte
};

/// One byte, or one cell of a register.
struct Written {
  Producer writer;                     // the last one
  Producer origin;                     // who made the value, before all copies
  bool copy = false;                   // the writer is a copy
  std::uint64_t spill = 0;             // memory: the address at which the spill begins that wrote it; 0: none did
  std::shared_ptr<const Loaded> load;  // if the origin is a plain load: what it loaded
};

/// What an instruction writes that is no copy: it is the origin itself, of all of it.
Written made_by(const Producer& producer);

/// Cells of registers, or addresses, in the order in which an operand has them.
using Cells = std::vector<std::size_t>;

class Registers {
 public:
  static constexpr std::size_t kGeneral = 0;
  static constexpr std::size_t kVector = kGeneral + 16 * 8;
  static constexpr std::size_t kX87 = kVector + 16 * 32;
  static constexpr std::size_t kMmx = kX87 + 8;
  static constexpr std::size_t kFlags = kMmx + 8;
  static constexpr std::size_t kCells = kFlags + 6;

  /// The cells of a register operand, `top` being the x87 top of stack before the instruction; none for registers that
  /// carry no dependences.
  static Cells read_by(const trace::RegisterUse& use, unsigned top);
  static Cells written_by(const trace::RegisterUse& use, unsigned top);
  /// The cells of a set of flags, lowest first.
  static Cells flags(std::uint8_t set);
  static Cells general(unsigned number);
  static Cells low_vector(unsigned number);  // 16 bytes

  const Written& operator[](std::size_t cell) const { return cells_[cell]; }
  void write(std::size_t cell, const Written& written) { cells_[cell] = written; }
  /// By an instruction that made the value.
  void write(const Cells& cells, const Producer& producer);
  void clear() { cells_.fill({}); }
  /// Takes the producers of all registers away that a call may change.
  void clear_call_clobbered();

 private:
  std::array<Written, kCells> cells_;
};

class Memory {
 public:
  Written read(std::uint64_t address) const;
  /// By an instruction that made the value.
  void write(std::uint64_t address, std::uint64_t size, const Producer& producer);
  void write(std::uint64_t address, const Written& written) { bytes_[address] = written; }
  void clear(std::uint64_t address, std::uint64_t size);
  /// `from` is left without producers, but for what `to` has of it.
  void move(std::uint64_t from, std::uint64_t to, std::uint64_t size);

 private:
  std::map<std::uint64_t, Written> bytes_;
};

/// Heap blocks that were allocated while recording and not freed.
class Heap {
 public:
  struct Block {
    std::uint64_t size = 0;
    std::uint64_t number = 0;
  };
  void allocate(std::uint64_t address, std::uint64_t size) { blocks_[address] = {size, ++allocations_}; }
  /// nullptr if no block starts there.
  const Block* starts_at(std::uint64_t address) const;
  void free(std::uint64_t address) { blocks_.erase(address); }
  /// Number of the block that the address is in, 0 if in none.
  std::uint64_t number_at(std::uint64_t address) const;

 private:
  std::map<std::uint64_t, Block> blocks_;
  std::uint64_t allocations_ = 0;
};

/// What an allocation does to producers in memory: a fresh block has none, a freed one neither, realloc moves them.
void apply(const trace::Allocation& call, Heap& heap, Memory& memory);

}  // namespace loopfold::reference
