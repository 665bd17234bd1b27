// Origins of values, as a part of code runs (graph.h: "Values behind copies").
//
// Beside the last writer of every granule of a thread's registers there is a byte that says where its origin is: it is
// the last writer (so for whatever is computed, and then this byte is all that has to be written), or there is none, or
// a provenance is kept for it. What a part does with them is in PartCode::origins; here it is looked up and counted, in
// the order of its instructions, since what a load would load if it were repeated depends on what was stored before.
//
// Use: begin(); for every access, read_registers() for what is read before it, then spill() or load(); finish_part(),
// before the registers get their new writers, and write() after.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "ddg/entries.h"
#include "ddg/origin_records.h"
#include "ddg/part_code.h"
#include "ddg/shadow_memory.h"
#include "ddg/spills.h"
#include "ddg/streams.h"

namespace loopfold::ddg {

/// The origins of a thread's registers, beside their last writers.
struct RegisterOrigins {
  enum Where : std::uint8_t { kWriter = 0, kKept = 1, kNowhere = 2 };
  static constexpr std::size_t kOfGeneral = 4;  // granules of a general register
  std::vector<std::uint8_t> where;              // by granule, and some more
  std::vector<Provenance> kept;                 // by granule

  /// Known to have the last writer and the origin of the one before. Whoever changes them without saying so here clears
  /// it.
  GranuleSet joined;

  explicit RegisterOrigins(std::size_t granules = 0) : where(granules + 8), kept(granules) {}
  void clear() {
    std::fill(where.begin(), where.end(), std::uint8_t{kWriter});
    joined.clear();
  }
  /// Eight at a time: mostly, that is once. Most are the four of a general register.
  [[gnu::always_inline]] void set_where(Granule first, std::size_t count, Where where_to) {
    const std::uint64_t all = where_to * std::uint64_t{0x0101010101010101};
    std::uint8_t* at = where.data() + first;
    if (count == kOfGeneral) [[likely]] {
      std::memcpy(at, &all, kOfGeneral);
      return;
    }
    for (; count >= 8; count -= 8, at += 8) std::memcpy(at, &all, sizeof(all));
    std::uint64_t eight = 0;
    std::memcpy(&eight, at, sizeof(eight));
    const std::uint64_t others = ~std::uint64_t{0} << count * 8;
    eight = (eight & others) | (all & ~others);
    std::memcpy(at, &eight, sizeof(eight));
  }
  /// Granules whose origin is their last writer.
  void set_written(Granule first, std::size_t count) { set_where(first, count, kWriter); }
};

class OriginTracker {
 public:
  OriginTracker(const Streams& streams, const structure::LoopTree& tree, const Entries& entries,
                const ShadowMemory& memory)
      : streams_(streams), memory_(memory), records_(streams, tree, entries, memory) {}

  struct Instance {
    SiteId site = 0;
    EntryId entry = kNoEntry;
    std::uint64_t counter = 0;
    std::uint64_t serial = 0;  // of the entry of the innermost loop
    const std::int64_t* point = nullptr;
    bool followed = true;                 // its uses are counted
    OriginRecords::Uses* uses = nullptr;  // of the site, if they are known
  };
  void begin(const PartCode& code, const Instance& instance, const std::vector<Cell>& writers,
             RegisterOrigins& registers) {
    OriginRecords::Uses* uses = instance.uses;
    if (uses == nullptr && instance.followed) uses = &records_.uses(instance.site, code.operands);
    begin(instance, uses);
    code_ = &code;
    look_at(writers, registers);
    next_use_ = code.origins.uses.data();
    last_use_ = followed_ ? next_use_ + code.origins.uses.size() : next_use_;
    if (loads_.size() < code.origins.loads.size()) [[unlikely]]
      loads_.resize(code.origins.loads.size());
  }

  /// The uses of registers by the instructions up to this one; `spilled`: it is a spill.
  void read_registers(std::uint16_t instruction, bool spilled) {
    if (next_use_ != last_use_ && next_use_->instruction <= instruction) use_registers(instruction, spilled);
  }

  /// One of them, which is not of what a load of the part got, or may be of what it got back.
  [[gnu::always_inline]] void use_as_found(const OriginCode::Use& use) {
    const OriginRecords::Reader& reader = this->reader(use.instruction, use.operand, use.dense);
    if (registers_->joined.has(use.behind))
      use_chunk(reader, use.lane, use.granule);
    else
      use_register(reader, use);
  }

  /// A store that is a spill, before memory knows of it.
  void spill(const MemoryAccess& access, std::uint64_t address, const Cell& store);

  /// What shadow memory says of the bytes of a load.
  struct Chunk {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    Cell cell;
  };
  /// Any load. True if it is a reload.
  bool load(const MemoryAccess& access, std::uint64_t address, std::span<const Chunk> chunks);

  /// A load of an instance that was not followed got this in some of its bytes, which nothing spilled.
  void note_load(const PartCode& code, const Instance& instance, const MemoryAccess& access, std::uint16_t lane,
                 const Cell& cell) {
    begin(instance, &records_.uses(instance.site, code.operands));
    records_.use_directly(
        reader(access.instruction, static_cast<std::uint8_t>(kFirstMemoryOperand + access.index), access.operand), lane,
        cell);
  }

  void finish_part() {
    read_registers(0xffff, false);
    if (code_->origins.moved_outs != 0) move_outs();
  }

  /// The same for parts of a trail (trail.h), whose code names instructions by definitions; what they write waits until
  /// the trail ends. Use: begin_trail() where it begins; for each part begin_in_trail() instead of begin(),
  /// use_in_trail() for what is read before an access or behind the last, load_one() where one instance wrote what is
  /// loaded.
  void begin_trail(EntryId entry, std::uint64_t counter, std::uint64_t serial, const std::int64_t* point,
                   const std::vector<Cell>& writers, RegisterOrigins& registers) {
    reader_.entry = entry;
    reader_.counter = counter;
    reader_.serial = serial;
    reader_.point = point;
    first_maker_ = 0;
    followed_ = true;
    look_at(writers, registers);
  }
  /// `loads`: that the trail has so far.
  [[gnu::always_inline]] void begin_in_trail(const PartCode& code, SiteId site, DefinitionId first_definition,
                                             OriginRecords::Uses* uses, std::span<const OriginRecords::MadeUse> made,
                                             std::size_t loads) {
    code_ = &code;
    first_definition_ = first_definition;
    reader_.uses = uses;
    reader_.site = site;
    mixed_ = false;
    if (loads_.size() < loads) [[unlikely]]
      loads_.resize(loads);
    records_.use_made(reader_, made);
  }
  /// These uses, which all come before the next access. `spill`: the instruction that is a spill, if one is.
  void use_in_trail(const OriginCode::Use* use, const OriginCode::Use* end, std::uint32_t spill);
  /// What the loads of a trail got: as long as they are needed, they can be kept elsewhere.
  class Loads {
    friend class OriginTracker;
    struct Loaded {
      bool reload = false;
      std::uint32_t size = 0;
      Provenance itself;
      ProvenanceBytes reloaded;
    };
    std::vector<Loaded> all_;
  };
  void exchange_loads(Loads& other) { loads_.swap(other.all_); }
  /// A load of a part of a trail, as load_one() needs it.
  struct OneLoad {
    DefinitionId definition = 0;  // of its instruction
    std::uint32_t operand = 0;    // dense number
    std::uint32_t size = 0;
    bool kept = false;       // what it loads is needed later
    std::uint16_t load = 0;  // if so: among those of the trail
  };
  /// As load() of one chunk, or of none if the cell has no producer.
  bool load_one(const MemoryAccess& access, const OneLoad& load, std::uint64_t address, const Cell& cell);
  /// A load got back values of several origins: the trail must end behind the part.
  bool took_several() const { return mixed_; }
  /// What the trail leaves: before the registers get their new writers; then write().
  void end_trail(const PartCode& end) {
    code_ = &end;
    if (end.origins.moved_outs != 0) move_outs();
  }
  /// Once the registers have their new writers.
  void write() {
    if (!code_->origins.outs.empty()) write_outs();
  }

  /// An operand of a statement that is no code.
  void use_arguments(const Instance& instance, std::uint8_t operand, std::span<const LiveIn> granules,
                     const std::vector<Cell>& writers, const RegisterOrigins& registers);

  /// References to entries, and what must be known of memory before entries are used again.
  void mark(Entries& entries, std::span<RegisterOrigins* const> registers);

  OriginRecords& records() { return records_; }
  /// Whether a load here gets a spilled value back, as a whole.
  bool is_reload(const MemoryAccess& access, std::uint64_t address, std::span<const Chunk> chunks) const {
    return reloaded(access, address, chunks) != nullptr;
  }
  /// What was spilled last, as so many bytes that begin here; null if nothing was.
  const Spill* spilled_at(std::uint64_t address, std::uint32_t size) const { return spills_.last_at(address, size); }
  /// It becomes what it is some iterations of a loop later: move(Cell&) of the store and of all origins. None of these
  /// was loaded in this entry of the loop.
  template <class Move>
  void move_spill(std::uint64_t address, std::uint32_t size, Move&& move) {
    Spill& spill = spills_.at(address, size, memory_);
    move(spill.cell);
    spill.value.for_each([&](Provenance& value) { move(value.origin); });
  }
  /// Whether something is so for all values in a chunk of a load that were spilled.
  template <class Test>
  bool are_all_of(std::uint64_t address, const Chunk& chunk, Test&& test) const {
    const std::uint8_t size = spilled(chunk.cell);
    const Spill* const spill = size != 0 ? spills_.covering(address + chunk.offset, size, chunk.cell) : nullptr;
    return spill == nullptr || spill->value.all_of(test);
  }
  /// Whether an instruction has spilled something.
  bool has_spilled(DefinitionId id) const { return spilled({id, kNoEntry, 0}) != 0; }
  /// Whether a load of some of these bytes may get a spilled value.
  bool may_be_spilled(std::uint64_t first, std::uint64_t last) const { return spills_.ever_near(first, last); }
  std::uint64_t bytes() const { return spills_.bytes() + records_.bytes() + spilled_.size(); }

 private:
  using Value = OriginRecords::Value;
  using Loaded = Loads::Loaded;

  struct Moved {
    std::uint16_t run = 1;  // outs that get it
    RegisterOrigins::Where where = RegisterOrigins::kNowhere;
    Provenance provenance;  // if it is kept
  };

  /// Of an instruction of the code.
  Cell cell(std::uint32_t instruction) const { return {first_maker_ + instruction, reader_.entry, reader_.counter}; }
  /// Who reads: the instance, with this operand. Holds until the next call.
  const OriginRecords::Reader& reader(std::uint16_t instruction, std::uint8_t operand, std::uint32_t dense) {
    reader_.instruction = instruction;
    reader_.operand = operand;
    reader_.dense = dense;
    return reader_;
  }
  void look_at(const std::vector<Cell>& writers, RegisterOrigins& registers) {
    writers_ = writers.data();
    registers_ = &registers;
    where_ = registers.where.data();
    kept_ = registers.kept.data();
  }
  void begin(const Instance& instance, OriginRecords::Uses* uses) {
    followed_ = instance.followed;
    first_definition_ = streams_.definition(instance.site, 0);
    first_maker_ = first_definition_;
    reader_.uses = uses;
    reader_.site = instance.site;
    reader_.entry = instance.entry;
    reader_.counter = instance.counter;
    reader_.serial = instance.serial;
    reader_.point = instance.point;
  }
  /// What a granule had when the part began.
  Value found(std::size_t granule) const {
    const Cell& writer = writers_[granule];
    const std::uint8_t where = where_[granule];
    if (writer.producer == 0 || where == RegisterOrigins::kNowhere) return {{}, true, nullptr};
    return where == RegisterOrigins::kKept ? value_of(kept_[granule]) : Value{writer, false, nullptr};
  }
  Value value(const Source& source) const;
  static Value together(const Value& a, const Value& b);
  Value loaded(const Source& source) const;
  static Value value_of(const Provenance& provenance) {
    return {provenance.origin, provenance.none, provenance.load ? &provenance : nullptr};
  }
  static Provenance provenance_of(const Value& value);
  /// That of a source, which may be put into `made`.
  const Provenance& provenance(const Source& source, Provenance& made) const;
  void keep(Granule granule, const Value& value);
  void move_outs();
  void move(const OriginCode::Out& out, Moved& into);
  void write_outs();
  void fill(const OriginCode::Out& out, std::uint16_t run, RegisterOrigins::Where where, const Provenance& kept);
  const Provenance* got_as_a_whole(const OriginCode::Out* outs, Provenance& made) const;
  void use_registers(std::uint16_t instruction, bool spilled);
  void use_loaded(const OriginCode::Use& use);
  void use_made(const OriginCode::Use& use);
  bool is_one_chunk(Granule first, std::uint32_t count);
  bool compare_chunk(Granule first, std::uint32_t count) const;
  void use_register(const OriginRecords::Reader& reader, const OriginCode::Use& use);
  void use_chunks(const OriginRecords::Reader& reader, const OriginCode::Use& use);
  static const Provenance* reloaded_as_a_whole(const Loaded& load, const Source& last);
  std::uint32_t goes_on_for(const OriginCode::Piece& piece);
  /// A use of what a granule, and those behind it, had when the part began.
  [[gnu::always_inline]] void use_chunk(const OriginRecords::Reader& reader, std::uint16_t lane, Granule granule) {
    const Cell& writer = writers_[granule];
    if (writer.producer == 0) return;
    const std::uint8_t where = where_[granule];
    if (where == RegisterOrigins::kKept) return records_.use_kept(reader, lane, writer, kept_[granule]);
    if (where == RegisterOrigins::kWriter) return records_.use_directly(reader, lane, writer);
    records_.use_none(reader, lane, writer);
  }
  void use_memory(const MemoryAccess& access, std::uint64_t address, std::span<const Chunk> chunks);
  void keep_load(const MemoryAccess& access, std::uint64_t address, std::span<const Chunk> chunks, const Spill* spill);
  void use_spilled(const OriginRecords::Reader& reader, const Spill& spill, std::uint64_t address, const Chunk& chunk);
  const Spill* reloaded(const MemoryAccess& access, std::uint64_t address, std::span<const Chunk> chunks) const;
  /// How large the spills of an instruction are; 0: it is none.
  std::uint8_t spilled(const Cell& cell) const {
    return cell.producer < spilled_.size() ? spilled_[cell.producer] : std::uint8_t{0};
  }

  const Streams& streams_;
  const ShadowMemory& memory_;
  OriginRecords records_;
  Spills spills_;
  std::vector<std::uint8_t> spilled_;  // by definition: bytes, if it was a spill, at least once

  // Of the part that runs.
  const PartCode* code_ = nullptr;
  bool followed_ = false;
  DefinitionId first_definition_ = 0;
  DefinitionId first_maker_ = 0;  // what numbers of instructions in the code are behind
  bool mixed_ = false;
  const Cell* writers_ = nullptr;
  RegisterOrigins* registers_ = nullptr;
  const std::uint8_t* where_ = nullptr;  // of the registers, as what they keep
  const Provenance* kept_ = nullptr;
  const OriginCode::Use* next_use_ = nullptr;  // none are left if its uses are not counted
  const OriginCode::Use* last_use_ = nullptr;  // behind the last one
  OriginRecords::Reader reader_;
  std::vector<Loaded> loads_;
  std::vector<Moved> moved_;  // what granules had that others get: of outs, but for the rest of a run
};

inline void OriginTracker::use_registers(std::uint16_t instruction, bool spilled) {
  const OriginCode::Use* next = next_use_;
  do {
    const OriginCode::Use& use = *next;
    if (use.spilled && spilled && use.instruction == instruction) continue;
    if (use.load != kOutside && !loads_[use.load].reload)
      use_loaded(use);
    else if (use.maker != kOutside)
      use_made(use);
    else
      use_as_found(use);
  } while (++next != last_use_ && next->instruction <= instruction);
  next_use_ = next;
}

[[gnu::always_inline]] inline void OriginTracker::use_in_trail(const OriginCode::Use* use, const OriginCode::Use* end,
                                                               std::uint32_t spill) {
  const Loaded* const loads = loads_.data();
  for (; use != end; ++use) {
    if (use->spilled && use->instruction == spill) continue;
    if (use->load != kOutside && !loads[use->load].reload)
      use_loaded(*use);
    else if (use->maker != kOutside)
      use_made(*use);
    else
      use_as_found(*use);
  }
}

[[gnu::always_inline]] inline void OriginTracker::use_loaded(const OriginCode::Use& use) {
  const OriginRecords::Reader& reader = this->reader(use.instruction, use.operand, use.dense);
  const Provenance& load = loads_[use.load].itself;
  if (use.copier == kOutside)
    records_.use_loaded(reader, use.lane, load);
  else
    records_.use_copied_load(reader, use.lane, use.copier, load, use.local);
}

inline void OriginTracker::use_made(const OriginCode::Use& use) {
  const OriginRecords::Reader& reader = this->reader(use.instruction, use.operand, use.dense);
  if (use.copier == kOutside)
    records_.use_directly(reader, use.lane, cell(use.maker));
  else
    records_.use_copied(reader, use.lane, use.copier, use.maker, use.local);
}

/// The spill that a load gets back, if it is a reload.
inline const Spill* OriginTracker::reloaded(const MemoryAccess& access, std::uint64_t address,
                                            std::span<const Chunk> chunks) const {
  if (!access.reloads || chunks.size() != 1 || chunks[0].size != access.size) return nullptr;
  const std::uint8_t size = spilled(chunks[0].cell);
  return size != 0 ? spills_.find(address, size, chunks[0].cell) : nullptr;
}

inline bool OriginTracker::load(const MemoryAccess& access, std::uint64_t address, std::span<const Chunk> chunks) {
  const Spill* const spill = reloaded(access, address, chunks);
  if (spill == nullptr && followed_) use_memory(access, address, chunks);
  if (access.load != MemoryAccess::kNo && code_->origins.loads[access.load].kept)
    keep_load(access, address, chunks, spill);
  return spill != nullptr;
}

[[gnu::always_inline]] inline bool OriginTracker::load_one(const MemoryAccess& access, const OneLoad& load,
                                                           std::uint64_t address, const Cell& cell) {
  if (cell.producer >= spilled_.size() ? cell.producer == kLostProducer : spilled_[cell.producer] != 0) [[unlikely]] {
    const Chunk chunk{0, access.size, cell};
    return this->load(access, address, {&chunk, 1});
  }
  if (cell.producer != 0) {
    reader_.dense = load.operand;
    records_.use_directly(reader_, 0, cell);
  }
  if (!load.kept) return false;
  Loaded& loaded = loads_[load.load];
  loaded.reload = false;
  loaded.size = load.size;
  loaded.itself = {
      {load.definition, reader_.entry, reader_.counter}, cell, address, load.size, false, true, false, false};
  return false;
}

inline void OriginTracker::use_memory(const MemoryAccess& access, std::uint64_t address,
                                      std::span<const Chunk> chunks) {
  const OriginRecords::Reader& reader =
      this->reader(access.instruction, static_cast<std::uint8_t>(kFirstMemoryOperand + access.index), access.operand);
  for (const Chunk& chunk : chunks) {
    if (chunk.cell.producer == kLostProducer) continue;
    const std::uint8_t size = spilled(chunk.cell);
    const Spill* spill = size != 0 ? spills_.covering(address + chunk.offset, size, chunk.cell) : nullptr;
    if (spill != nullptr)
      use_spilled(reader, *spill, address, chunk);
    else
      records_.use_directly(reader, static_cast<std::uint16_t>(chunk.offset), chunk.cell);
  }
}

}  // namespace loopfold::ddg
