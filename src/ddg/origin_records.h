// What uses get through copies and from loads of other iterations, counted: Graph::origins.
//
// From what: every use of every instance that is followed, chunk by chunk, with the last writer and the origin of each.
// Which of them are records is said in graph.h. A record is found as streams are: operands are numbered, and each lane
// of an operand remembers the record that it used last. It also remembers the origin and the point of the last time,
// record or not, to count turns. Exact counts; constant cost per use, and that of walking from an instance to the
// innermost loop around both for those that are records. Iteration vectors are kept by reference, so entries are marked
// here too.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "ddg/entries.h"
#include "ddg/graph.h"
#include "ddg/shadow_memory.h"
#include "ddg/spills.h"
#include "ddg/steady.h"
#include "ddg/streams.h"
#include "structure/loop_tree.h"

namespace loopfold::ddg {

class OriginRecords {
 public:
  OriginRecords(const Streams& streams, const structure::LoopTree& tree, const Entries& entries,
                const ShadowMemory& memory)
      : streams_(streams), tree_(tree), entries_(entries), memory_(memory) {}

  /// Who reads, and when.
  class Uses;
  struct Reader {
    Uses* uses = nullptr;
    SiteId site = 0;
    EntryId entry = kNoEntry;
    std::uint64_t counter = 0;
    std::uint64_t serial = 0;  // of the entry of the innermost loop
    const std::int64_t* point = nullptr;
    std::uint16_t instruction = 0;
    std::uint8_t operand = 0;
    std::uint32_t dense = 0;  // number of the operand in the site's code
  };
  /// Where a chunk comes from.
  struct Value {
    Cell origin;
    bool none = false;
    const Provenance* load = nullptr;  // if the origin is a plain load
    bool unknown = false;              // several origins in one granule: taken for none, and said to be not known

    bool same(const Value& other) const { return none == other.none && (none || origin == other.origin); }
  };

  /// Those of a site that has at least so many operands; it stays where it is.
  Uses& uses(SiteId site, std::size_t operands);

  /// A chunk of a use, from byte `lane` on, that `writer` made: no record, but the next may be one.
  [[gnu::always_inline]] void use_directly(const Reader& reader, std::uint16_t lane, const Cell& writer) {
    Lane& at = lane_of(reader, lane);
    note(at, reader, writer, false);
    at.uneven = true;
  }
  /// A use of one chunk that an instruction made in the same iteration as the use.
  struct MadeUse {
    std::uint32_t dense = 0;
    std::uint16_t lane = 0;
    DefinitionId maker = 0;
  };
  /// The same for such uses.
  void use_made(Reader& reader, std::span<const MadeUse> uses);
  /// A chunk of a use that a plain load of the same instance got: no record either.
  [[gnu::always_inline]] void use_loaded(const Reader& reader, std::uint16_t lane, const Provenance& load) {
    Lane& at = lane_of(reader, lane);
    note(at, reader, load.origin, false);
    note_address(at, reader, load);
  }
  /// A chunk of a use that `writer` copied from what `origin` made, all in one iteration, and `origin` not in the same
  /// instance. `local`: `writer` is.
  void use_copied(const Reader& reader, std::uint16_t lane, DefinitionId writer, DefinitionId origin, bool local) {
    const Value value{{origin, reader.entry, reader.counter}, false, nullptr};
    if (count_copied(reader, lane, writer, value, local) != nullptr) lane_of(reader, lane).uneven = true;
  }
  /// The same of what a plain load got.
  void use_copied_load(const Reader& reader, std::uint16_t lane, DefinitionId writer, const Provenance& load,
                       bool local) {
    Record* const record = count_copied(reader, lane, writer, {load.origin, false, &load}, local);
    if (record == nullptr) return;
    if (is_rewritten(memory_, load)) record->levels[record->shared].rewritten += counted_;
    note_address(lane_of(reader, lane), reader, load);
  }
  /// A chunk of a use that `writer` wrote last: a copy, if it has no origin.
  void use(const Reader& reader, std::uint16_t lane, const Cell& writer, const Value& value);
  /// The same of what has no origin, but that is known.
  void use_none(const Reader& reader, std::uint16_t lane, const Cell& writer);
  /// The same of what a register keeps: it has an origin.
  void use_kept(const Reader& reader, std::uint16_t lane, const Cell& writer, const Provenance& kept);

  /// From here on, every use stands for so many, of as many iterations of the innermost loop: all alike, but that what
  /// the loop made is one iteration later each time.
  void set_times(std::uint64_t times) {
    times_ = times;
    counted_ = times * weight_;
    steps_ = {};
  }
  /// The same, but every use is that of the last of these iterations. `steps`: what the addresses of loads of the loop
  /// grow by each time.
  struct LoadStep {
    DefinitionId load = 0;
    std::uint64_t step = 0;
  };
  void set_times_before(std::uint64_t times, std::span<const LoadStep> steps) {
    times_ = times;
    counted_ = times * weight_;
    steps_ = steps;
  }
  /// From here on, every use stands for so many others beside that, which count the same: those of as many iterations
  /// of the loop that `around` is an entry of, at this level, each operand in one entry of a loop inside of it at the
  /// most. Only the first of them takes turns with what came before; all others with the one before, which is alike.
  void begin_weight(std::uint64_t weight, EntryId around, std::uint16_t level) {
    weight_ = weight;
    counted_ = times_ * weight;
    weighted_ = around;
    weighted_level_ = level;
    first_uses_.clear();
    first_points_.clear();
  }
  /// All of them were used.
  void end_weight();

  /// Dimensions that two sites share.
  std::uint16_t shared(SiteId a, SiteId b);

  /// Marks the entries that are still needed.
  void mark(Entries& entries);

  /// visit(DefinitionId) for all origins and last writers.
  template <class Visit>
  void for_each_producer(Visit&& visit) const {
    for (const Record& record : records_) {
      if (record.instances == 0) continue;
      if (record.key.by != 0) visit(record.key.by);
      if (record.key.from != 0) visit(record.key.from);
    }
  }

  /// When the streams are finished.
  void finish(Graph& graph) const;

  std::uint64_t bytes() const;

 private:
  struct Key {
    DefinitionId by = 0;
    DefinitionId from = 0;  // 0: none
    bool local = false;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Record {
    Key key;
    SiteId site = 0;
    std::uint16_t instruction = 0;
    std::uint8_t operand = 0;
    std::uint16_t lane = 0;
    std::uint32_t dense = 0;
    bool load = false;
    std::uint16_t shared = 0;
    std::uint64_t instances = 0;
    /// By level of the reader: as in Origin. Those up to `shared` may carry it, or 0 if there is no origin.
    struct AtLevel {
      std::uint64_t carried = 0, rewritten = 0, reread = 0, turns = 0;
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      std::int64_t greatest = std::numeric_limits<std::int64_t>::min();

      void include(std::int64_t along) {
        if (along < least) least = along;
        if (along > greatest) greatest = along;
      }
    };
    std::vector<AtLevel> levels;
    std::uint16_t dimensions = 0;  // of the reader
  };
  /// What most lanes of irregular code need only when they are new.
  struct Lane;
  struct LaneDetails {
    EvenAddresses even;
    std::vector<Record*> records;
    std::unique_ptr<std::map<Key, Record*>> index;  // of them, if they are many
    std::vector<Lane> others;                       // of the first lane: those of the operand
  };
  /// Whether the last use was a record, in a way that does not depend on how far the reader is in its innermost loop:
  /// the next one, of the same origin in the same entry of that loop, counts the same.
  enum class Again : std::uint8_t { kNo = 0, kYes = 1, kByOrigin = 2, kReread = 4 };
  static bool has(Again flags, Again flag) { return (static_cast<unsigned>(flags) & static_cast<unsigned>(flag)) != 0; }
  /// The bytes of an operand from one on, as of the last time. What is written for every use is first.
  struct Lane {
    Cell origin;
    std::uint64_t counter = 0;
    EntryId entry = kNoEntry;
    Again again = Again::kNo;
    bool none = false;
    std::uint16_t level = 0;  // as the record was counted, if it may be so again
    std::uint16_t lane = 0;
    bool met = false;
    bool uneven = false;
    Record* last = nullptr;    // record that was used last
    Record* before = nullptr;  // and another one, before that
    std::unique_ptr<LaneDetails> details;
  };
  /// One line of the cache: this is written for every use.
  struct alignas(64) Operand {
    Lane first;  // that was met
    template <class Visit>
    void for_each(Visit&& visit) const {
      visit(first);
      if (first.details)
        for (const Lane& lane : first.details->others) visit(lane);
    }
  };
  static_assert(sizeof(Operand) == 64);
  struct SharedEntry {
    SiteId a = 0;
    SiteId b = 0;
    std::uint16_t shared = 0;
  };
  /// What wrote a cell, as seen from a reader: dimensions that they share, and those that it has.
  struct Writer {
    DefinitionId definition = 0;
    SiteId reader = 0;
    std::uint16_t shared = 0;
    std::uint16_t dimensions = 0;
  };
  /// Whether a load was rewritten, when it was asked.
  struct Looked {
    const Provenance* load = nullptr;
    std::uint64_t changes = 0;
    Cell origin;
    std::uint64_t address = 0;
    bool rewritten = false;
  };
  static constexpr std::size_t kLooked = 16;
  static constexpr std::size_t kSharedEntries = 4096;
  static constexpr std::size_t kWriters = 4096;
  static constexpr std::size_t kFewRecords = 8;
  static constexpr std::size_t kMaxRecords = 4096;  // of one lane; all others are one that nothing is known of

  void use_of_now(const Reader& reader, std::uint16_t lane, const Cell& writer, const Cell& origin,
                  const Provenance* load, Lane& at);
  void use_otherwise(const Reader& reader, std::uint16_t lane, const Cell& writer, const Value& value);
  Lane& lane_of(const Reader& reader, std::uint16_t lane);
  Lane& other_lane(Operand& operand, std::uint16_t lane);
  static void note(Lane& lane, const Reader& reader, const Cell& origin, bool none) {
    lane.met = true;
    lane.again = Again::kNo;
    lane.none = none;
    lane.origin = origin;
    lane.entry = reader.entry;
    lane.counter = reader.counter;
  }
  /// Without loops, there is nothing to be even along.
  void note_address(Lane& lane, const Reader& reader, const Provenance& load) {
    if (lane.uneven || !in_loop(reader)) return;
    note_even_address(lane, reader, load);
  }
  /// Whether what a load got was rewritten. A register is often used several times between two stores.
  bool was_rewritten(const Provenance& load) {
    if (load.stale) return true;
    Looked& last = looked_[reinterpret_cast<std::uintptr_t>(&load) / 64 % kLooked];
    if (last.load == &load && last.changes == memory_.changes() && last.origin == load.origin &&
        last.address == load.address)
      return last.rewritten;
    const bool rewritten = is_rewritten(memory_, load);
    last = {&load, memory_.changes(), load.origin, load.address, rewritten};
    return rewritten;
  }
  void note_even_address(Lane& lane, const Reader& reader, const Provenance& load);
  static bool in_loop(const Reader& reader);
  static LaneDetails& details_of(Lane& lane) {
    if (!lane.details) lane.details = std::make_unique<LaneDetails>();
    return *lane.details;
  }
  void note_first_address(Lane& lane, const Reader& reader, const Provenance& load);
  using LaneKey = std::tuple<StatementId, std::uint32_t, std::uint16_t>;  // operand's number, lane
  std::map<LaneKey, bool> even_lanes() const;
  /// Mostly that of the last time.
  Record& record_of(const Reader& reader, Lane& lane, Key key, bool load) {
    if (lane.last != nullptr && lane.last->key == key) [[likely]]
      return *lane.last;
    if (lane.before != nullptr && lane.before->key == key) {
      std::swap(lane.last, lane.before);
      return *lane.last;
    }
    lane.before = lane.last;
    return find_record(reader, lane, key, load);
  }
  /// Null if all of it is done.
  Record* count_copied(const Reader& reader, std::uint16_t lane, DefinitionId writer, const Value& value, bool local) {
    Lane& at = lane_of(reader, lane);
    Record& record = record_of(reader, at, {writer, value.origin.producer, local}, value.load != nullptr);
    if (record.shared != record.dimensions) [[unlikely]] {
      use(reader, lane, {writer, reader.entry, reader.counter}, value);
      return nullptr;
    }
    record.levels[record.shared].carried += counted_;
    record.instances += counted_;
    note(at, reader, value.origin, false);
    return &record;
  }
  /// `load`: the origin is a plain load.
  Record& find_record(const Reader& reader, Lane& lane, Key key, bool load);
  /// Dimensions that the reader and an instance share, and the first of these in which they differ.
  struct Distance {
    std::uint16_t shared = 0;
    std::uint16_t level = 0;
    /// The outermost loop that was entered after it: the first of those around the reader that are not around it, or
    /// that are inside the one that carries it.
    std::uint16_t newer() const { return level < shared ? static_cast<std::uint16_t>(level + 1) : shared; }
  };
  Distance distance(const Reader& reader, const Cell& cell, std::uint16_t common) const {
    return {common, parting(reader, cell, common).level};
  }
  /// Of what the record comes from, mostly.
  Distance distance(const Reader& reader, const Cell& cell, const Record& record) {
    const bool same = cell.producer == record.key.from;
    return distance(reader, cell, same ? record.shared : shared(reader.site, streams_.site_of(cell.producer)));
  }
  Entries::Parting parting(const Reader& reader, const Cell& cell, std::uint16_t shared) const {
    return entries_.parting(cell.entry, cell.counter, reader.entry, reader.point, shared);
  }
  static bool is_now(const Reader& reader, const Cell& cell) {
    return cell.entry == reader.entry && cell.counter == reader.counter;
  }
  bool is_instance(const Reader& reader, const Cell& cell) const {
    return is_now(reader, cell) && streams_.site_of(cell.producer) == reader.site;
  }
  bool count_again(const Reader& reader, const Cell& writer, const Cell& origin, const Provenance* load, Lane& lane);
  bool count_of_loop(const Reader& reader, const Cell& writer, const Cell& origin, const Provenance* load, Lane& lane);
  bool is_carried(const Reader& reader, const Cell& cell, std::uint16_t level, const Record& record);
  bool is_any_carried(const Reader& reader, const Provenance& load, std::uint16_t level, const Record& record);
  const Writer& writer(SiteId reader, DefinitionId definition) {
    Writer& known = writers_[(definition + reader * 31) % kWriters];
    if (known.definition != definition || known.reader != reader) [[unlikely]]
      look_up(reader, definition, known);
    return known;
  }
  void look_up(SiteId reader, DefinitionId definition, Writer& into);
  static bool counts_again(const Value& value, const Distance& far, const Record& record);
  bool count(const Reader& reader, const Value& value, bool by_origin, Record& record, Distance& far, Again& again);
  /// What it counted.
  enum class Loads : std::uint8_t { kNone, kRewritten, kReread };
  Loads count_load(const Reader& reader, const Provenance& load, std::uint16_t level, Record& record);
  void count_turns(const Reader& reader, const Lane& lane, const Value& value, const Distance& far, Record& record);
  /// Of what one use stands for: that of the operand in its first iteration of a loop.
  struct FirstUse {
    Reader reader;
    Value value;
    std::uint16_t lane = 0;
    std::uint16_t newer = 0;  // the outermost loop that was entered after its origin
    Record* record = nullptr;
  };
  bool is_weighted_first(const Reader& reader, const Lane& lane) const {
    return weighted_ != kNoEntry && reader.entry != weighted_ && lane.entry != reader.entry;
  }
  void note_first_use(const Reader& reader, const Lane& lane, const Value& value, std::uint16_t newer, Record& record);

  const Streams& streams_;
  const structure::LoopTree& tree_;
  const Entries& entries_;
  const ShadowMemory& memory_;
  std::vector<std::unique_ptr<Uses>> uses_;  // by site
  std::deque<Record> records_;
  std::array<SharedEntry, kSharedEntries> shared_{};
  std::array<Looked, kLooked> looked_{};
  std::array<Writer, kWriters> writers_{};  // of cells that loads got
  std::uint64_t times_ = 1;
  std::uint64_t weight_ = 1;
  EntryId weighted_ = kNoEntry;  // the entry of the loop that begin_weight() is about
  std::uint16_t weighted_level_ = 0;
  std::vector<FirstUse> first_uses_;
  std::vector<std::int64_t> first_points_;
  std::uint64_t counted_ = 1;        // both together
  std::span<const LoadStep> steps_;  // empty: the use is that of the first of so many times
  std::uint64_t operands_ = 0;
  std::uint64_t lanes_ = 0;  // but for the first ones of operands
};

class OriginRecords::Uses {
  friend class OriginRecords;
  std::vector<Operand> operands_;
  bool in_loop_ = false;
};

inline bool OriginRecords::in_loop(const Reader& reader) { return reader.uses->in_loop_; }

[[gnu::always_inline]] inline OriginRecords::Lane& OriginRecords::lane_of(const Reader& reader, std::uint16_t lane) {
  Operand& operand = reader.uses->operands_[reader.dense];
  if (operand.first.lane == lane && operand.first.met) return operand.first;
  return other_lane(operand, lane);
}

[[gnu::always_inline]] inline void OriginRecords::use_made(Reader& reader, std::span<const MadeUse> uses) {
  for (const MadeUse& use : uses) {
    reader.dense = use.dense;
    use_directly(reader, use.lane, {use.maker, reader.entry, reader.counter});
  }
}

}  // namespace loopfold::ddg
