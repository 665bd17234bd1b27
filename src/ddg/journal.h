// What instances of one site did, waiting to be taken together.
//
// Following one instance touches a dozen streams, each with its folder, for one point each; that is mostly waiting for
// memory, and asking what was asked the last time. So what an instance did is only written down here, as a *row* of
// numbers: who it is, its integer results, the cells that it read, the places that it accessed. When there are enough
// rows, or when the streams of the site are needed, they are worked off stream by stream (settler.h): each stream gets
// its points in the order of the run, as if it had got them one by one. Rows are in a *batch*, which may be given away
// to be worked off by another thread (feed.h); the journal then gets another one. When rows are worked off, and what is
// accounted for them, does not depend on that.
//
// What depends on the state of the run (who wrote a cell, which object is where, origins) is found when the instance
// runs; a row refers to iteration vectors by their entries (entries.h), which are not collected while rows wait.
//
// A row, in numbers of 64 bits: entry and, above it, Builder::since_; counter; serial of the loop's entry; when it ran;
// results; two numbers (a cell) per register read; three per access (flags and object, block, offset) and for a load
// two more (the cell). Reads of several cells have the first of them in the row, if that is at the first byte that is
// read; the others are *extras*.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ddg/part_code.h"
#include "ddg/shadow_memory.h"
#include "ddg/streams.h"
#include "trace/types.h"

namespace loopfold::ddg {

/// Rows of a site, with what is beside them.
struct JournalBatch {
  /// Rows of one code, one behind the other.
  struct Segment {
    const PartCode* code = nullptr;
    std::uint32_t first_row = 0;
    std::uint32_t rows = 0;
    std::uint64_t first = 0;  // number
  };
  /// A further cell of a read, or of a load.
  struct Extra {
    std::uint32_t row = 0;
    std::uint16_t index = 0;  // of the read or access in the code
    bool memory = false;
    std::uint16_t lane = 0;
    Cell cell;
  };

  explicit JournalBatch(std::size_t words)
      : numbers(std::make_unique_for_overwrite<std::uint64_t[]>(words)), size(words) {}

  SiteId site = 0;
  std::size_t rows = 0;
  std::vector<Segment> segments;
  std::vector<Extra> extras;
  std::unique_ptr<std::uint64_t[]> numbers;
  std::size_t size = 0;

  void clear() {
    rows = 0;
    segments.clear();
    extras.clear();
  }
};

class Journal {
 public:
  using Segment = JournalBatch::Segment;
  using Extra = JournalBatch::Extra;
  static constexpr std::size_t kMostRows = 64;
  static constexpr std::size_t kHeader = RowCode::kHeader;
  static constexpr std::size_t kPlace = RowCode::kPlace;
  static constexpr std::uint64_t kHappened = std::uint64_t{1} << 32;  // beside the object
  static constexpr std::uint64_t kCopy = std::uint64_t{1} << 33;      // a spill or a reload

  static Cell cell(const std::uint64_t* at) {
    return {static_cast<std::uint32_t>(at[0]), static_cast<std::uint32_t>(at[0] >> 32), at[1]};
  }
  static void set_cell(std::uint64_t* at, const Cell& cell) {
    at[0] = std::uint64_t{cell.entry} << 32 | cell.producer;
    at[1] = cell.counter;
  }

  explicit Journal(SiteId site) : site_(site) {}

  SiteId site() const { return site_; }
  bool empty() const { return rows_ == 0; }
  std::size_t rows() const { return rows_; }

  /// A new row, to be filled in; null if there is no room.
  std::uint64_t* begin(const PartCode& code) {
    if (code_ != code.row.like || rows_ == kMostRows) [[unlikely]]
      if (!begin_segment(*code.row.like)) return nullptr;
    std::uint64_t* const row = next_;
    next_ += code.row.words;
    ++rows_;
    return row;
  }
  /// Of the row that was begun last.
  void add_extra(bool memory, std::size_t index, std::uint16_t lane, const Cell& cell) {
    batch_->extras.push_back(
        {static_cast<std::uint32_t>(rows_ - 1), static_cast<std::uint16_t>(index), memory, lane, cell});
  }

  /// Takes back the row that was begun last.
  void take_back(const PartCode& code) {
    next_ -= code.row.words;
    --rows_;
    while (!batch_->extras.empty() && batch_->extras.back().row == rows_) batch_->extras.pop_back();
    if (batch_->segments.back().first_row != rows_) return;
    batch_->segments.pop_back();
    code_ = nullptr;
  }
  /// How many rows of this code are the last ones; none, if there are extras. And one of them, counted from the end.
  std::size_t last_rows(const PartCode& code) const {
    if (rows_ == 0 || code_ != code.row.like || !batch_->extras.empty()) return 0;
    return rows_ - batch_->segments.back().first_row;
  }
  const std::uint64_t* last_row(const PartCode& code, std::size_t number) const {
    return next_ - (number + 1) * code.row.words;
  }
  bool has_extra() const { return !batch_->extras.empty() && batch_->extras.back().row + std::size_t{1} == rows_; }

  /// All rows, which are not empty; then clear() or give().
  const JournalBatch& close() {
    JournalBatch& batch = *batch_;
    for (std::size_t i = 0; i < batch.segments.size(); ++i) {
      const std::size_t end = i + 1 < batch.segments.size() ? batch.segments[i + 1].first_row : rows_;
      batch.segments[i].rows = static_cast<std::uint32_t>(end - batch.segments[i].first_row);
    }
    batch.site = site_;
    batch.rows = rows_;
    most_extras_ = std::max(most_extras_, batch.extras.size());
    return batch;
  }
  void clear() {
    batch_->clear();
    begin_batch();
  }
  std::unique_ptr<JournalBatch> give() {
    std::unique_ptr<JournalBatch> batch = std::move(batch_);
    begin_batch();
    return batch;
  }

  /// So many numbers are needed for this code or one that was here before; there are no rows now. Then ask
  /// wants_batch().
  std::size_t make_room(const PartCode& code) { return room_ = std::max(room_, kMostRows * code.row.words); }
  /// It has no batch with that room: take() is to be called.
  bool wants_batch() const { return !batch_ || batch_->size < room_; }
  void take(std::unique_ptr<JournalBatch> batch) {
    batch_ = std::move(batch);
    begin_batch();
  }

  /// What it has grown by since this was asked last.
  std::uint64_t growth() { return bytes() - std::exchange(accounted_, bytes()); }
  std::uint64_t bytes() const {
    return sizeof(Journal) + sizeof(JournalBatch) + room_ * sizeof(std::uint64_t) + most_extras_ * sizeof(Extra);
  }

 private:
  bool begin_segment(const PartCode& code) {
    if (!batch_) return false;
    const auto used = static_cast<std::size_t>(next_ - batch_->numbers.get());
    if (rows_ == kMostRows || room_ < used + (kMostRows - rows_) * code.row.words) return false;
    batch_->segments.push_back({&code, static_cast<std::uint32_t>(rows_), 0, used});
    code_ = &code;
    return true;
  }
  void begin_batch() {
    rows_ = 0;
    code_ = nullptr;
    next_ = batch_ ? batch_->numbers.get() : nullptr;
  }

  const PartCode* code_ = nullptr;  // of the last segment
  std::uint64_t* next_ = nullptr;
  std::size_t rows_ = 0;
  SiteId site_;
  std::size_t room_ = 0;  // in numbers: that of a batch may be larger
  std::unique_ptr<JournalBatch> batch_;
  std::size_t most_extras_ = 0;  // of a batch
  std::uint64_t accounted_ = 0;  // bytes
};

}  // namespace loopfold::ddg
