// Reads the runs of one thread in one group, one after the other.
//
// The counterpart of ChunkEncoder. Items are decoded when they are asked for, into buffers that the next one uses
// again, so a group needs the memory of its bytes and tables, not of its events. Nothing in the bytes is believed: a
// count is compared with the events that the chunk has left, or with the bytes that would have to be there, before
// anything is made of that size; ids are compared with what is described.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/result.h"
#include "trace/bytes.h"
#include "trace/run.h"
#include "trace/run_body.h"
#include "trace/run_codec.h"
#include "trace/run_tables.h"
#include "trace/shapes.h"
#include "trace/value_stream.h"

namespace loopfold::trace {

class ChunkDecoder {
 public:
  struct Chunk {
    std::span<const std::uint8_t> control;
    std::span<const std::uint8_t> data;  // empty if the chunk has none
    ThreadId thread = 0;
    std::uint64_t events = 0;     // as the header says
    std::size_t known_exits = 0;  // only these may occur
    bool control_only = false;
  };

  /// `scratch` may be shared by decoders that are used in turn.
  ChunkDecoder(const Shapes& shapes, RunBody& scratch) : shapes_(shapes), body_(scratch) {}

  /// Begins a chunk, whose bytes must stay where they are.
  Result<void> begin(const Chunk& chunk);
  /// The next run, valid until the following call; false if there is none or the chunk cannot be what an encoder wrote.
  bool next(Run& run);
  /// Why next() returned false before the end, or nullptr.
  const char* problem() const { return problem_; }

  std::uint64_t first_position() const { return first_position_; }
  std::span<const SliceEvents> slices() const { return slices_; }

 private:
  /// An irregular column whose values are being made from rests.
  struct Filling {
    std::uint64_t* at = nullptr;  // the next rest, which the value will replace
    std::uint64_t mask = 0;       // 0 if the next value relates to nothing
    std::uint64_t full_mask = 0;  // from the second value on
    std::uint8_t distance = 1;
    std::uint8_t shift = 0;
  };

  bool fail(const char* problem) {
    problem_ = problem;
    return false;
  }
  bool decode_slices(ByteReader& in, std::uint64_t events);
  bool next_item(std::uint8_t flags, std::uint32_t& item);
  bool new_path(std::uint32_t& number);
  bool new_loop(std::uint32_t& number);
  bool literal(std::uint8_t flags, std::uint32_t path, Run& run);
  bool literal_values(std::uint32_t path, SlotClass slot_class, bool coded);
  bool loop(std::uint8_t flags, RunTables::Loop& loop, Run& run);
  bool sequence(std::uint8_t flags, std::size_t paths, Run& run);
  bool column_values(RunTables::Loop& loop, SlotClass slot_class, bool coded, const Run& run);
  bool irregular_column(std::uint8_t code, ValueReader& reader, RunTables::Column& memory,
                        std::span<std::uint64_t> values);
  void list_places(RunTables::Loop& loop, SlotClass slot_class);
  void relate(RunTables::Loop& loop, SlotClass slot_class, const Run& run);
  bool consumed() const;

  const Shapes& shapes_;
  RunBody& body_;
  ThreadId thread_ = 0;
  std::size_t known_exits_ = 0;
  bool control_only_ = false;
  const char* problem_ = nullptr;

  std::uint64_t first_position_ = 0;
  std::vector<SliceEvents> slices_;
  std::size_t slice_ = 0;
  std::uint64_t slice_left_ = 0;
  std::uint64_t events_left_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t expanded_slots_ = 0;  // of literals and irregular columns

  RunTables tables_;
  std::array<SlotRows, kSlotClasses> rows_;
  ItemPredictor next_item_;
  ExitFollowers followers_;
  ByteReader items_{{}};
  ByteReader definitions_{{}};
  ByteReader sequences_{{}};
  std::array<std::vector<std::uint8_t>, kSlotClasses> codes_;  // of the readers
  std::array<ValueReader, kSlotClasses> readers_;

  std::vector<std::uint64_t> slots_;   // of the literal
  std::vector<std::uint64_t> values_;  // of the run's irregular columns: the first values_used_
  std::size_t values_used_ = 0;
  bool related_ = false;               // some of them are rests
  std::vector<Filling> fillings_;      // by column
  std::vector<std::uint32_t> places_;  // the irregular columns of each path, in the order of its slots
  std::array<std::size_t, kMaxRunPaths + 1> places_at_{};
  std::vector<std::uint64_t> stream_;  // the values, iteration by iteration
  std::vector<std::uint8_t> sequence_;
  std::array<std::uint64_t, kMaxRunPaths> uses_{};
  RunPath literal_path_;
  std::vector<RunPath> new_paths_;
  std::vector<RunColumn> new_columns_;
  std::vector<std::uint32_t> numbers_;
};

}  // namespace loopfold::trace
