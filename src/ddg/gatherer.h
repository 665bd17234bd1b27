// Loads that are elsewhere in each iteration of a stretch: what they got goes to the streams in lists.
//
// From the cells of up to 64 consecutive iterations of one entry of a loop, in their order. Each producer is a stream,
// and gets its points together, as rows of a journal do (settler.h); iteration vectors of producers are made here, from
// entries. Where an operand has nearly as many producers as are kept apart, points come one by one, in the order of the
// run. The result is that of one call of Streams::dependence() for each iteration whose cell has a producer.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ddg/entries.h"
#include "ddg/shadow_memory.h"
#include "ddg/streams.h"

namespace loopfold::ddg {

class Gatherer {
 public:
  static constexpr std::size_t kMost = 64;

  Gatherer(Streams& streams, const Entries& entries) : streams_(streams), entries_(entries) {}

  /// The first of the iterations.
  struct First {
    EntryId entry = kNoEntry;
    std::uint64_t counter = 0;
    std::uint64_t serial = 0;  // of the entry
  };
  /// No cell is lost; one without a producer counts for nothing.
  void take(const Streams::Reader& reader, const First& first, const Cell* cells, std::size_t n);

 private:
  void set_points(const First& first, std::size_t n);
  void take_some(const Streams::Reader& reader, const Cell* cells, std::uint64_t rows);
  void take_one(const Streams::Reader& reader, const Cell& cell, std::size_t row);
  Streams::Instances choose(std::uint64_t rows);
  const std::int64_t* point(std::size_t row) const { return points_.data() + row * dimensions_; }

  Streams& streams_;
  const Entries& entries_;
  Streams::Located at_;
  std::size_t dimensions_ = 0;
  Streams::Instances all_;
  std::vector<std::int64_t> points_;
  std::vector<EntryId> around_;  // by coordinate: entries that all are in
  std::vector<fold::Ends> ends_;
  std::array<std::uint64_t, kMost> serials_{};
  // Of some of them.
  std::vector<std::int64_t> chosen_points_;
  std::array<std::uint8_t, kMost> chosen_{};
  std::vector<std::int64_t> producers_;
  std::array<std::uint16_t, kMost> equal_{};
};

}  // namespace loopfold::ddg
