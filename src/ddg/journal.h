// What instances of one site did, waiting to be taken together.
//
// Following one instance touches a dozen streams, each with its folder, for one point each; that is mostly waiting for
// memory, and asking what was asked the last time. So what an instance did is only written down here, as a *row* of
// numbers: who it is, its integer results, the cells that it read, the places that it accessed. When there are enough
// rows, or when the streams of the site are needed, they are worked off stream by stream (builder_journal.cc): each
// stream gets its points in the order of the run, as if it had got them one by one.
//
// What depends on the state of the run (who wrote a cell, which object is where, origins) is found when the instance
// runs; a row refers to iteration vectors by their entries (entries.h), which are not collected while rows wait.
//
// A row, in numbers of 64 bits: entry and, above it, Builder::since_; counter; serial of the loop's entry; when it ran;
// results; two numbers (a cell) per register read; three per access (flags and object, block, offset) and for a load
// two more (the cell). Reads of several cells have the first of them in the row, if that is at the first byte that is
// read; the others are *extras*.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ddg/part_code.h"
#include "ddg/shadow_memory.h"
#include "ddg/streams.h"
#include "trace/types.h"

namespace loopfold::ddg {

class Journal {
 public:
  static constexpr std::size_t kMostRows = 64;
  static constexpr std::size_t kHeader = RowCode::kHeader;
  static constexpr std::size_t kPlace = RowCode::kPlace;
  static constexpr std::uint64_t kHappened = std::uint64_t{1} << 32;  // beside the object
  static constexpr std::uint64_t kCopy = std::uint64_t{1} << 33;      // a spill or a reload

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
  std::size_t extras() const { return extras_.size(); }

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
    extras_.push_back({static_cast<std::uint32_t>(rows_ - 1), static_cast<std::uint16_t>(index), memory, lane, cell});
  }

  /// All of them; then there are none.
  template <class Visit>
  void take(Visit&& visit) {
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      Segment& segment = segments_[i];
      const std::size_t end = i + 1 < segments_.size() ? segments_[i + 1].first_row : rows_;
      segment.rows = static_cast<std::uint32_t>(end - segment.first_row);
      visit(segment, numbers_.get() + segment.first, extras_);
    }
    segments_.clear();
    extras_.clear();
    rows_ = 0;
    next_ = numbers_.get();
    code_ = nullptr;
  }

  /// Room for rows of this code; there are none now.
  void make_room(const PartCode& code) {
    const std::size_t words = kMostRows * code.row.words;
    if (words <= size_) return;
    numbers_ = std::make_unique_for_overwrite<std::uint64_t[]>(words);
    size_ = words;
    next_ = numbers_.get();
  }
  /// What it has grown by since this was asked last.
  std::uint64_t growth() { return bytes() - std::exchange(accounted_, bytes()); }
  std::uint64_t bytes() const {
    return sizeof(Journal) + size_ * sizeof(std::uint64_t) + extras_.capacity() * sizeof(Extra);
  }

 private:
  bool begin_segment(const PartCode& code) {
    const auto used = static_cast<std::size_t>(next_ - numbers_.get());
    if (rows_ == kMostRows || size_ - used < (kMostRows - rows_) * code.row.words) return false;
    segments_.push_back({&code, static_cast<std::uint32_t>(rows_), 0, used});
    code_ = &code;
    return true;
  }

  const PartCode* code_ = nullptr;  // of the last segment
  std::uint64_t* next_ = nullptr;
  std::size_t rows_ = 0;
  SiteId site_;
  std::size_t size_ = 0;
  std::unique_ptr<std::uint64_t[]> numbers_;
  std::vector<Segment> segments_;
  std::vector<Extra> extras_;
  std::uint64_t accounted_ = 0;  // bytes
};

}  // namespace loopfold::ddg
