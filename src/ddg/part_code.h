// What a part of a block does to registers and memory, worked out once from its instructions.
//
// Registers are cut into *granules*: the largest pieces that no instruction of the trace reads or writes in part. A
// granule is what the shadow of a register has one cell for. Within a part the writer of every granule that is read
// after it is known statically: that is *local flow*. What remains for every execution is the reads of granules that
// the part did not write before (its *live-ins*) and the last write of each granule (its *live-outs*).
//
// x87 registers are numbered from the top of the x87 stack, which is known only when the part runs: their granules are
// relative, and the top at the block's entry is added.
//
// Behind copies, the same is asked of origins (graph.h: "Values behind copies"): what a part writes comes from a
// granule that it found, from a load, or was made here. part_origins.cc follows that through the copies in the part;
// what is left to be looked up when it runs is in PartCode::origins.
//
// Exact, as far as trace::decode is.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "ddg/graph.h"
#include "structure/code_map.h"
#include "trace/decode.h"
#include "trace/types.h"

namespace loopfold::ddg {

using Granule = std::uint16_t;

inline constexpr std::uint8_t kStackPointer = 4;  // among the general registers

/// Numbers the granules of all registers.
class Granules {
 public:
  /// Of the vector registers: 1, 2, 4, 8 or 16 bytes each, so that every use is whole granules.
  explicit Granules(std::uint32_t vector_bytes = 4) : vector_bytes_(vector_bytes) {}

  static constexpr Granule kGeneral = 64;  // are those of the general registers
  static constexpr Granule kFlags = kGeneral;
  static constexpr Granule kX87 = 70;
  static constexpr Granule kMmx = 78;
  static constexpr Granule kVector = 86;
  static constexpr std::size_t kVectorRegister = 32;
  /// Whether its register has others.
  static bool has_neighbours(std::size_t granule) { return granule < kGeneral || granule >= kVector; }
  std::size_t count() const { return kVector + 16 * (kVectorRegister / vector_bytes_); }

  struct Piece {
    Granule granule = 0;
    std::uint8_t byte = 0;  // of the register
  };
  /// The granules that a use covers, in the order of their bytes; none if the register carries no dependence. An x87
  /// register is that with the index of the use.
  void of(const trace::RegisterUse& use, std::vector<Piece>& into) const;
  /// Whether b is the next granule of the register, general or vector, that a is of.
  bool are_neighbours(Granule a, Granule b) const {
    const std::size_t granules = b < kGeneral ? 4 : kVectorRegister / vector_bytes_;
    return a + 1 == b && (b < kGeneral || a >= kVector) && (b < kGeneral ? b : b - kVector) % granules != 0;
  }
  /// A register as a whole, as far as 8 bytes (general) or `bytes` (vector) go.
  void of_general(std::uint8_t index, std::vector<Piece>& into) const;
  void of_vector(std::uint8_t index, std::uint8_t bytes, std::vector<Piece>& into) const;

 private:
  std::uint32_t vector_bytes_;
};

/// The granules that all blocks of a trace allow.
Granules granules_for(std::span<const trace::Block> blocks, const std::vector<std::vector<trace::InstructionFacts>>&);

/// Granules of general and vector registers; others are left out.
class GranuleSet {
 public:
  /// Some neighbours of one register, to be looked at all at once.
  struct Some {
    std::uint8_t byte = 0;                   // of the set, where they begin
    std::uint64_t bits = ~std::uint64_t{0};  // of the eight bytes from there on: all are never in a set of joined ones
  };
  /// Those behind the first of so many, which are in one register.
  static Some behind(Granule first, std::uint32_t count) {
    return {static_cast<std::uint8_t>(first / 8), ((std::uint64_t{1} << count) - 2) << first % 8};
  }

  bool has(std::size_t granule) const { return (words_[granule / 64] >> granule % 64 & 1) != 0; }
  bool has(const Some& some) const { return (~eight(some.byte) & some.bits) == 0; }
  void add(std::size_t granule) {
    if (Granules::has_neighbours(granule)) words_[granule / 64] |= std::uint64_t{1} << granule % 64;
  }
  void add(const Some& some) {
    const std::uint64_t with = eight(some.byte) | some.bits;
    std::memcpy(bytes() + some.byte, &with, sizeof(with));
  }
  void remove(std::size_t granule) { words_[granule / 64] &= ~(std::uint64_t{1} << granule % 64); }
  void clear() { words_.fill(0); }
  /// Words, from the first on, that have all of them.
  std::size_t words() const {
    std::size_t words = words_.size();
    while (words > 0 && words_[words - 1] == 0) --words;
    return words;
  }
  /// Those of `out` leave, those of `in` come; both have so many words at most.
  void exchange(const GranuleSet& out, const GranuleSet& in, std::size_t words) {
    for (std::size_t i = 0; i < words; ++i) words_[i] = (words_[i] & ~out.words_[i]) | in.words_[i];
  }
  void remove(const GranuleSet& out, std::size_t words) {
    for (std::size_t i = 0; i < words; ++i) words_[i] &= ~out.words_[i];
  }

 private:
  static constexpr std::size_t kMost = Granules::kVector + 16 * Granules::kVectorRegister;

  unsigned char* bytes() { return reinterpret_cast<unsigned char*>(words_.data()); }
  std::uint64_t eight(std::size_t byte) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, reinterpret_cast<const unsigned char*>(words_.data()) + byte, sizeof(bits));
    return bits;
  }

  std::array<std::uint64_t, kMost / 64 + 2> words_{};  // eight bytes can be taken from every one of them on
};

/// One granule that is read from outside of the part.
struct LiveIn {
  Granule granule = 0;
  std::uint8_t lane = 0;
};

/// Consecutive live-in granules of one operand.
struct RegisterRead {
  std::uint16_t instruction = 0;  // of the part
  std::uint8_t operand = 0;
  bool address = false;
  bool x87 = false;         // granules are relative to the top
  std::uint32_t dense = 0;  // number of the operand in the part
  std::uint32_t first = 0;  // in PartCode::live_ins
  std::uint32_t count = 0;
  bool consecutive = true;   // the granules' numbers are, and they are not relative
  GranuleSet::Some behind;   // the first, if they are consecutive
  std::uint32_t in_row = 0;  // where its cell is in a row (journal.h)
  std::uint16_t number = 0;  // of the part's reads
};

/// Consecutive granules that one instruction wrote last.
struct LiveOut {
  Granule granule = 0;  // the first one
  std::uint16_t count = 1;
  std::uint16_t instruction = 0;  // of the part
};

struct MemoryAccess {
  std::uint16_t instruction = 0;  // of the part
  std::uint8_t index = 0;         // among the accesses of the instruction
  bool store = false;
  bool guarded = false;
  std::uint32_t size = 0;
  std::uint32_t dense = 0;    // number of the access in the part
  std::uint32_t operand = 0;  // of a load: its dense number as an operand
  trace::Value address;
  static constexpr std::uint16_t kNo = 0xffff;
  std::uint16_t spill = kNo;  // in OriginCode::spills
  std::uint16_t load = kNo;   // of a plain load: in OriginCode::loads
  bool reloads = false;       // a plain load that may be a reload
  std::uint32_t in_row = 0;   // where it is in a row (journal.h)
};

struct IntegerValue {
  std::uint16_t instruction = 0;  // of the part
  std::uint8_t index = 0;         // among the results of the instruction
  std::uint8_t reg = 0;
  std::uint8_t width = 0;
  bool loaded = false;      // from memory, as it is
  bool moved = false;       // the stack pointer: what it was, moved by a push, call, subtraction, ...
  std::uint32_t dense = 0;  // number of the value in the part
  trace::Value value;
};

/// In a part, or in what ran before it (OriginCompiler): written before that.
inline constexpr std::uint32_t kOutside = 0xffffffff;

/// Where some bytes of a register come from, before the copies in the part.
struct Source {
  enum class Kind : std::uint8_t {
    kHere,     // made by an instruction of the part
    kLiveIn,   // what a granule had when the part began
    kLoaded,   // bytes of what a plain load got
    kSeveral,  // several sources side by side
    kNone,     // nothing made it
  };
  Kind kind = Kind::kHere;
  std::uint8_t byte = 0;    // kLoaded: the first one
  std::uint8_t bytes = 0;   // kLoaded: how many; kSeveral: how many sources
  std::uint32_t index = 0;  // instruction, granule, in OriginCode::loads, in OriginCode::several
  friend bool operator==(const Source&, const Source&) = default;
};

/// What a part does with origins.
struct OriginCode {
  struct Piece {
    std::uint32_t writer = kOutside;  // instruction of the part, or the granule had it before
    std::uint8_t lane = 0;
    Granule granule = 0;
    Source source;
    /// So many of a use or a spill, this one and the next, have one writer, and one origin if their sources do: one
    /// instruction, one load, or consecutive granules of one register.
    std::uint8_t run = 1;
  };
  /// A register operand that is a use, or may turn out to be one, and not only of what is made in the part.
  struct Use {
    std::uint16_t instruction = 0;
    std::uint8_t operand = 0;
    bool spilled = false;             // no use if the instruction is a spill
    bool direct = false;              // all of it was written before the part
    std::uint32_t load = kOutside;    // it is one chunk that this load got: in loads
    std::uint32_t maker = kOutside;   // it is one chunk that this instruction made, of a part before (trail.h)
    std::uint32_t copier = kOutside;  // of that, or of what a load of a part before got: what wrote it last, if that
                                      // is another one
    bool local = false;               // and of this part
    GranuleSet::Some behind;          // the first granule, if it is direct
    std::uint32_t dense = 0;          // number of the operand in the part
    std::uint32_t first = 0;          // in pieces
    std::uint32_t count = 0;
    Granule granule = 0;  // of the first piece
    std::uint8_t lane = 0;
  };
  struct Load {
    std::uint32_t instruction = 0;
    bool kept = false;  // what it loads reaches a use in the part, a spill, or what comes after the part
  };
  /// A store that is a spill if it is in the youngest frame.
  struct Spill {
    std::uint32_t first = 0;  // in pieces; the lane is the byte in memory
    std::uint32_t count = 0;  // 0: a constant
  };
  struct Out {
    Granule granule = 0;
    Source source;
    /// So many, this one and the next, are consecutive granules of one register, and got what one load loaded, what
    /// one instruction made, what consecutive granules of one register had, or nothing.
    std::uint16_t run = 1;
    GranuleSet::Some joined;  // of these, if one instruction wrote it and the one before
  };
  std::vector<Use> uses;  // in the order of execution
  std::vector<Piece> pieces;
  std::vector<Load> loads;
  std::vector<Spill> spills;
  std::vector<Source> several;
  std::vector<Out> outs;  // live-outs that were not made by the instruction that wrote them last, and plain loads
  std::uint32_t moved_outs = 0;  // of these, the first: from what granules had before
  GranuleSet parted;             // these, and the next of each
  std::size_t parted_words = 0;
};

struct PartCode;

/// Where things are in a row of a journal (journal.h).
struct RowCode {
  static constexpr std::uint32_t kHeader = 4;
  static constexpr std::uint32_t kCell = 2;
  static constexpr std::uint32_t kPlace = 3;
  bool possible = false;  // instances can be rows
  std::uint32_t reads = 0;
  std::uint32_t words = 0;
  const PartCode* like = nullptr;  // the first one whose rows are the same
};

struct PartCode {
  trace::BlockId block = 0;
  std::uint16_t first_instruction = 0;
  std::uint16_t instructions = 0;
  std::uint32_t operands = 0;  // how many dense numbers there are
  std::vector<RegisterRead> reads;
  std::vector<LiveIn> live_ins;
  std::vector<LiveOut> live_outs;      // granules that are not x87, each once
  std::vector<LiveOut> x87_live_outs;  // relative to the top at the block's entry; one granule each
  GranuleSet parted;                   // these, and the next of each
  GranuleSet joined;                   // one instruction wrote it and the one before
  std::size_t parted_words = 0;
  std::vector<LocalFlow> local;
  std::vector<MemoryAccess> accesses;  // in the order of execution
  std::vector<IntegerValue> values;
  std::vector<std::uint32_t> pointers;  // of the values: that are the stack pointer
  bool moves_stack_pointer = false;     // there are some
  OriginCode origins;
  RowCode row;
  bool unknown = false;  // it has an instruction that could not be decoded
};

/// Fills in code.origins and what the accesses say of it.
void compile_origins(const std::vector<trace::InstructionFacts>& facts, const Granules& granules, PartCode& code);

/// The same for parts that run one after the other, without anything between them: what a part gets from one before it
/// is known as well as what it made itself. Numbers of instructions, of loads and of several sources are those of all
/// parts together.
class OriginCompiler {
 public:
  /// Of a granule.
  struct State {
    std::uint32_t writer = kOutside;
    Source source;
  };

  explicit OriginCompiler(const Granules& granules);

  /// The next part: its uses and spills, and what its accesses say of them. Its instructions have the numbers from
  /// `first` on.
  void add(const std::vector<trace::InstructionFacts>& facts, PartCode& code, std::uint32_t first);
  /// What the parts so far leave behind.
  void finish(OriginCode& into) const;

 private:
  void keep(const Source& source);
  void uses(const trace::InstructionFacts& facts, std::uint16_t number, bool spills);
  void use(const trace::RegisterUse& read, std::uint16_t number, std::uint8_t operand, bool spilled);
  void find_runs(std::size_t first);
  std::uint32_t only_load(std::size_t first) const;
  void find_maker(OriginCode::Use& use) const;
  bool is_of_part(std::uint32_t maker) const { return maker >= first_ && maker - first_ < code_->instructions; }
  bool is_made_here(const Source& source) const;
  void add_spill(const trace::InstructionFacts& facts, MemoryAccess& access);
  void load(const trace::InstructionFacts& facts, std::uint16_t number, MemoryAccess& access);
  void write(const trace::InstructionFacts& facts, std::uint16_t number);
  Source taken(const std::vector<State>& before, trace::RegisterUse from, std::uint8_t byte, std::uint8_t bytes);
  MemoryAccess* only_access(std::uint16_t instruction);
  std::vector<Granules::Piece> pieces_of(const trace::RegisterUse& use) const;
  std::vector<Granules::Piece> written_by(trace::RegisterUse use) const;
  std::uint8_t bytes_of(const trace::RegisterUse& use, std::uint8_t byte) const;
  GranuleSet::Some joined(const OriginCode::Out& out) const;
  bool goes_on(const OriginCode::Out& a, const OriginCode::Out& b) const;
  bool goes_on(const OriginCode::Piece& a, const OriginCode::Piece& b) const;
  bool goes_on(const Source& a, const Source& b) const;

  const Granules& granules_;
  PartCode* code_ = nullptr;
  std::uint32_t first_ = 0;       // instruction of the part
  std::uint32_t first_load_ = 0;  // of the part
  std::vector<State> granule_;
  std::vector<OriginCode::Load> loads_;
  std::vector<bool> reloads_;  // by load: it may be one
  std::vector<Source> several_;
};

/// Whether both read, access and compute the same: rows of both can be taken together.
bool have_same_rows(const PartCode& a, const PartCode& b);

/// Dense numbers for all parts of one place. Blocks that run over the same place need not list the same accesses and
/// results: what an instruction does with values that are known when its block is translated may be left out there.
class PartNumbers {
 public:
  /// Gives what is the same in all of them the same numbers.
  void renumber(PartCode& code);

 private:
  using Key = std::array<std::uint32_t, 4>;
  static std::uint32_t number(std::map<Key, std::uint32_t>& numbers, const Key& key) {
    return numbers.try_emplace(key, static_cast<std::uint32_t>(numbers.size())).first->second;
  }
  std::map<Key, std::uint32_t> operands_;
  std::map<Key, std::uint32_t> accesses_;
  std::map<Key, std::uint32_t> values_;
};

/// `accesses` and `results`: so many of the block's ran in this execution.
PartCode compile_part(const trace::Block& block, const std::vector<trace::InstructionFacts>& facts,
                      const structure::Part& part, std::size_t accesses, std::size_t results, const Granules& granules);

}  // namespace loopfold::ddg
