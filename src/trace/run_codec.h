// The runs of one thread in one group as bytes: the bulk of every trace. docs/trace-format.md is the specification.
//
// A chunk is a list of *items*, literals and loops, in the order of the thread's events. What they are made of is kept
// apart by how it repeats:
//   items        one byte each: is it the item that was guessed, and are its values as they were guessed
//   definitions  numbers of items that were not guessed, new paths and loops, iteration counts that were not guessed
//   sequences    the path of every iteration, for runs that need it: 1, 2, 4 or 8 bits each
//   values       codes and bytes (value_stream.h), apart for slots that stack pointers need and for all others
// The values of the latter kind are a chunk of their own, which a reading of control alone does not touch.
//
// Guesses. The next item is guessed from the two before it. Values of literals are guessed by the predictor of their
// (block, slot), those of an irregular column by a predictor of the column, after what relates them to other columns
// was taken off (run_relations.h); what is stored is the difference. Of a loop, the iteration count, the strides and
// the starts are guessed from the loop's run before: starts and counts advance as they did. A fully predicted run is
// one zero byte.
//
// Cost: about 8 ns for each slot of a literal, 6 ns for each irregular value, one table lookup for each path; for a
// run, 2 ns for each column.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/bytes.h"
#include "trace/run.h"
#include "trace/run_encoder.h"
#include "trace/run_relations.h"
#include "trace/run_tables.h"
#include "trace/shapes.h"
#include "trace/value_stream.h"

namespace loopfold::trace {

/// `events` consecutive events of a thread, all in one slice.
struct SliceEvents {
  std::uint64_t slice = 0;
  std::uint64_t events = 0;
  friend bool operator==(const SliceEvents&, const SliceEvents&) = default;
};

/// What the byte of an item says.
enum ItemFlag : std::uint8_t {
  kOtherItem = 1,      // not the guessed item; its number is in the definitions
  kControlValues = 2,  // not all as guessed
  kDataValues = 4,
  kOtherCount = 8,  // loops only
  kSequence = 16,   // loops only
};

/// Numbers of items in the definitions. Behind kKnownItem, an item is 2 * path, or 2 * loop + 1.
enum ItemCode : std::uint64_t { kNewPath = 0, kNewLoop = 1, kKnownItem = 2 };

/// What a column is, as a code among the values: if regular, what was not guessed; if irregular, how it is coded
/// (run_relations.h).
enum ColumnCode : std::uint8_t {
  kOtherStart = 1,
  kOtherStride = 2,
  kPlain = 4,         // values
  kFollows = 5,       // by the relation as it was
  kFollowsDelta = 6,  // with another rest
  kFollowsOther = 7,  // by another relation
  kRests = 8,         // by the relation as it was
  kRestsOther = 9,
};

/// Guesses the next exit in the definitions of paths: what followed the one before last time.
class ExitFollowers {
 public:
  void clear() {
    next_.clear();
    last_ = 0;
  }
  std::uint32_t guess() const { return next_.find(last_); }
  ExitId last() const { return last_; }
  void learn(ExitId exit) {
    next_.set(last_, exit);
    last_ = exit;
  }

 private:
  IdMap next_;
  ExitId last_ = 0;
};

/// Bits per iteration in the sequences.
constexpr unsigned sequence_bits(std::size_t paths) { return paths <= 2 ? 1 : paths <= 4 ? 2 : paths <= 16 ? 4 : 8; }

class ChunkEncoder : public RunSink {
 public:
  explicit ChunkEncoder(const Shapes& shapes) : shapes_(shapes) { clear(); }

  void clear();
  void literal(std::span<const ExitId> exits, std::span<const std::uint64_t> slots) override;
  void loop(const Run& run, std::span<const std::uint64_t> rows) override;

  std::size_t bytes() const;  // encoded so far
  /// The tables, or what a reader would expand, is so large that the chunk should end.
  bool full() const;
  /// Appends the payloads of the two chunks. The second one stays empty if there are no such values.
  void finish(std::uint64_t first_position, std::span<const SliceEvents> slices, ByteWriter& control,
              ByteWriter& data) const;
  std::uint64_t data_codes() const { return values_[static_cast<std::size_t>(SlotClass::kData)].codes(); }

 private:
  std::uint32_t find_path(std::span<const ExitId> exits, std::uint64_t hash) const;
  std::uint32_t define_path(std::span<const ExitId> exits, std::uint64_t hash);
  std::uint32_t find_loop(std::span<const std::uint32_t> paths, std::uint64_t hash) const;
  std::uint32_t loop_number(const Run& run, std::uint8_t& flags);
  std::uint8_t announce(std::uint32_t item);
  bool literal_values(std::uint32_t path, SlotClass slot_class, const std::uint64_t* slots);
  bool column_values(RunTables::Loop& loop, SlotClass slot_class, const Run& run, std::span<const std::uint64_t> rows);
  void irregular_column(ValueWriter::Pen& pen, RunTables::Column& memory, std::size_t column);
  void sequence(const Run& run);

  const Shapes& shapes_;
  RunTables tables_;
  std::array<SlotRows, kSlotClasses> rows_;
  ItemPredictor next_item_;
  ExitFollowers followers_;
  std::uint64_t expanded_slots_ = 0;  // of literals and irregular columns

  // Open-addressed tables of numbers of paths and loops, by hash.
  struct Index {
    struct Entry {
      std::uint64_t hash = 0;
      std::uint32_t number = IdMap::kNone;
    };
    std::vector<Entry> entries;
    std::size_t used = 0;
    void clear();
    void add(std::uint64_t hash, std::uint32_t number);
  };
  Index path_index_;
  Index loop_index_;
  std::vector<std::uint32_t> numbers_;
  IrregularColumns irregular_;

  std::vector<std::uint8_t> items_;
  ByteWriter definitions_;
  ByteWriter sequences_;
  std::array<ValueWriter, kSlotClasses> values_;
};

}  // namespace loopfold::trace
