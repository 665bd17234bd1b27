// Rows of a journal go to the streams of its site, stream by stream.
//
// Points of all rows are made once; rows in one entry of a loop differ in their last coordinate only. Integer results
// are a column of numbers. What reads and accesses have is sorted by the stream that it belongs to: by producer, by
// object; mostly all rows have the same. Each stream gets its points in the order of the run.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ddg/entries.h"
#include "ddg/journal.h"
#include "ddg/stable_array.h"
#include "ddg/streams.h"

namespace loopfold::ddg {

/// When the loops were entered that rows are in, as slices (entries.h), by level, one row's behind the other's.
using Sinces = StableArray<std::uint64_t, 13>;

class Settler {
 public:
  Settler(Streams& streams, const Entries& entries, const Sinces& sinces)
      : streams_(streams), entries_(entries), sinces_(sinces) {}

  void settle(const JournalBatch& batch);

 private:
  /// Rows of one code that are being worked off.
  struct Rows {
    Streams::Located at;
    const PartCode* code = nullptr;
    std::size_t dimensions = 0;
    const std::uint64_t* numbers = nullptr;
    Streams::Instances all;
    std::vector<std::int64_t> points;
    std::vector<fold::Ends> ends;
    std::vector<EntryId> around;                               // of a row, by coordinate: entries that it is in
    std::array<std::uint32_t, Journal::kMostRows> around_row;  // by row: where these are
    std::array<std::uint64_t, Journal::kMostRows> serials;
    std::array<std::int64_t, 2 * Journal::kMostRows> labels;
    std::array<DefinitionId, Journal::kMostRows> from;  // producers of an operand
    // Of an access.
    std::array<ObjectId, Journal::kMostRows> objects;
    bool one_object = false;   // then `objects` are not set
    std::uint64_t copies = 0;  // rows that are spills or reloads, as bits
    // Of some of the rows.
    std::array<std::uint8_t, Journal::kMostRows> chosen_rows;
    const std::uint8_t* chosen = nullptr;
    std::array<std::uint16_t, Journal::kMostRows> equal;
    std::array<std::uint64_t, Journal::kMostRows> chosen_serials;
    std::vector<std::int64_t> chosen_points;
    std::vector<std::int64_t> producers;

    const std::uint64_t* row(std::size_t i) const { return numbers + i * code->row.words; }
    const std::int64_t* point(std::size_t i) const { return points.data() + i * dimensions; }
    std::uint64_t time(std::size_t i) const { return row(i)[3]; }
    std::uint32_t since(std::size_t i) const { return static_cast<std::uint32_t>(row(i)[0] >> 32); }
  };
  void settle_rows(const Journal::Segment& segment, const std::uint64_t* numbers,
                   std::span<const Journal::Extra> extras);
  void set_points(const Journal::Segment& segment);
  std::size_t set_points_of_entry(std::size_t first, std::size_t n, bool& ordered, std::uint64_t& follows);
  bool set_from(std::size_t number);
  void settle_value(const IntegerValue& value, std::size_t number);
  void settle_access(const MemoryAccess& access);
  std::uint64_t note_objects(const MemoryAccess& access);
  void settle_object(const MemoryAccess& access, std::uint64_t rows, ObjectId object);
  void settle_operand(Streams::Reader& reader, std::size_t number, bool memory);
  void settle_producer(Streams::Reader& reader, std::size_t number, bool memory, DefinitionId from, std::uint64_t rows);
  template <std::size_t kDepth>
  std::size_t set_producers(const Streams::Instances& some, std::size_t number, std::size_t depth);
  bool are_of_same_iteration(const Streams::Instances& some, std::size_t number) const;
  void note_late_rows(const Streams::Instances& some, std::size_t number);
  void settle_extra(const Journal::Extra& extra, std::uint32_t row);
  std::size_t producer_of(std::size_t row, const Cell& cell, std::int64_t* into) const;
  Streams::Instances choose(std::uint64_t rows, bool entries);
  std::uint64_t alike(std::uint64_t left, const std::uint32_t* keys) const;
  void note_late_then(const Cell& cell, std::uint32_t since, std::size_t dimensions);

  Streams& streams_;
  const Entries& entries_;
  const Sinces& sinces_;
  Rows rows_;
};

}  // namespace loopfold::ddg
