// Cruising: checking points against a whole block instead of building rows.
//
// Once a block of level L predicts its next row, the row need not be built from its points, level by level, to be
// compared and thrown away: it is enough to walk along the prediction. Cruise keeps the counts of the point that it is
// at, and the functions of the block with these counts filled in. Inside the innermost row the next point is a compare
// and an add (Exact::expected); at its end the first point of the next row, one addition per function, is compared. How
// many rows can come before one is complete that is around them, or a number becomes large, is found out once: these
// are *easy*. A run that is a whole easy row is one comparison and one addition per number.
//
// When a point is not the predicted one, stop() gives what folding would have built by then: for every level inside L
// the complete rows of the unfinished one. So nothing is lost and nothing is approximated.
#pragma once

#include <cstdint>
#include <vector>

#include "fold/adaptive_block.h"
#include "fold/run.h"

namespace loopfold::fold::adaptive {

class Cruise {
  friend class Odometer;  // adaptive_cruise_points.h

 public:
  /// Along the rows that `block` has, which stays where it is.
  Cruise(const Layout& layout, Block& block, int level);
  int level() const { return level_; }
  const Block& block() const { return *block_; }

  /// `point` comes after the last complete row of the block, which is at last[level]. True if it starts the next row.
  bool start(const Layout& layout, const std::int64_t* last, const std::int64_t* point, const std::int64_t* labels) {
    return step(layout, level_, last, point, labels);
  }
  /// `point` comes after the `last` one. True if it is the first of the next innermost row; the block absorbs the row
  /// of its level that may be complete.
  bool next_row(const Layout& layout, const std::int64_t* last, const std::int64_t* point, const std::int64_t* labels) {
    const int q = layout.dimensions - 2;
    if (words_[View::at(q + 1)] != extent(layout)) return false;
    if (q > level_ && finished(layout, q)) return next_row_outside(layout, last, point, labels);
    std::int64_t* own = words_.get() + layout.dimensions;
    const std::int64_t* part = block_->words.get() + layout.outputs + 1;
    if (!block_->knows(q) || !is_next(layout, q, {last, point, labels}, own, part)) return false;
    points_ += static_cast<std::uint64_t>(words_[View::at(q + 1)]) + 1;
    for (int f = 0; f < layout.outputs + 2; ++f) own[f] += part[1 + f];
    ++words_[View::at(q)];
    words_[View::at(q + 1)] = 0;
    absorb_rows(layout, q);
    if (easy_ != 0)
      --easy_;
    else
      find_easy_rows(layout, point);
    return true;
  }
  /// If a run is all of the next innermost row, and that is easy, takes it; `last` is then its last point. The numbers
  /// of dimensions and outputs may be constants.
  [[gnu::always_inline]] bool take_row(const Run& run, std::int64_t* last, int dimensions, int outputs);
  /// The same for rows beside each other: as many of the first of them as can be taken at once. Says how many.
  std::uint64_t take_ranks(const Run& run, const Ranks& ranks, std::int64_t* last, int dimensions, int outputs);
  /// Where an innermost row, and rows around it, are complete: if `run` is all of the next one, takes it, and as many
  /// of the ranks behind it as can be taken with it. Says how many, and that `last` is their last point.
  std::uint64_t take_ranks_outside(const Layout& layout, const Run& run, const Ranks& ranks, std::int64_t* last);
  /// Whether the innermost row that it is in is complete.
  bool is_at_end(int dimensions, int outputs) const {
    return words_[View::at(dimensions - 1)] == words_[View::at(dimensions + outputs + 1)];
  }
  /// The row of the block that it is in; its points so far; and, if it is complete, the block absorbs it.
  std::int64_t row() const { return words_[View::at(level_)]; }
  std::uint64_t points(const Layout& layout) { return points_ + static_cast<std::uint64_t>(count(layout)) + 1; }
  void absorb_all(const Layout& layout) {
    points_ = points(layout);
    absorb_rows(layout, level_);
  }
  /// Within the innermost row: iterations done after the first one, and those that there are.
  std::int64_t& count(const Layout& layout) { return words_[View::at(layout.dimensions - 1)]; }
  std::int64_t extent(const Layout& layout) const { return words_[View::at(layout.dimensions + layout.outputs + 1)]; }
  /// The rows of the unfinished row of the block, by level: none for `level` and outside. An empty block: there are
  /// none.
  std::vector<Block> stop(const Layout& layout);

  std::size_t bytes(const Layout& layout) const;

 private:
  /// With the counts up to dimension q < D-1: in the order of D-2 down to the level, behind the counts.
  int offset(const Layout& layout, int q) const {
    return layout.dimensions + layout.part(q) - layout.part(layout.dimensions - 2) - (layout.dimensions - 2 - q);
  }
  int words(const Layout& layout) const { return offset(layout, level_) + layout.functions(level_); }
  std::int64_t* functions(const Layout& layout, int q) { return words_.get() + offset(layout, q); }
  const std::int64_t* functions(const Layout& layout, int q) const { return words_.get() + offset(layout, q); }
  bool step(const Layout& layout, int q, const std::int64_t* last, const std::int64_t* point,
            const std::int64_t* labels);
  bool next_row_outside(const Layout& layout, const std::int64_t* last, const std::int64_t* point,
                        const std::int64_t* labels);
  struct Move {
    const std::int64_t* last;
    const std::int64_t* point;
    const std::int64_t* labels;
  };
  static bool is_next(const Layout& layout, int q, const Move& move, const std::int64_t* own, const std::int64_t* part);
  bool finished(const Layout& layout, int p) const {
    return words_[View::at(p)] == functions(layout, p - 1)[layout.extent(p)];
  }
  void find_easy_rows(const Layout& layout, const std::int64_t* point);
  bool has_small_steps(const Layout& layout) const;
  std::uint64_t take_more_ranks(const Ranks& ranks, std::uint64_t most, std::int64_t* last, std::size_t q,
                                std::size_t labels);
  /// The first dimension, from D-2 on, that is not complete.
  int unfinished(const Layout& layout) const {
    int q = layout.dimensions - 2;
    while (q > level_ && finished(layout, q)) --q;
    return q;
  }
  void move_functions(const Layout& layout, const std::int64_t* labels);
  /// The rows along the dimensions inside q are complete.
  void absorb_rows(const Layout& layout, int q) {
    if (q > level_) return;
    ++values_of(layout, *block_, level_)[layout.extent(level_)];
    block_->points += points_;
    points_ = 0;
  }

  int level_;
  enum class Steps : std::uint8_t { kUnknown, kSmall, kLarge };
  Steps steps_ = Steps::kUnknown;  // of innermost rows, and along D-2, if that is known
  std::uint16_t easy_ = 0;  // rows along D-2 that can come next: these are there, and no number of theirs is large
  Block* block_;
  std::uint64_t points_ = 0;               // of complete innermost rows since the row of the block began
  std::unique_ptr<std::int64_t[]> words_;  // counts by dimension, then functions
};

/// Whether `move` is to the first point of the next row along dimension q, where `own` are the functions of this row
/// and `part` is the part of q.
[[gnu::always_inline]] inline bool Cruise::is_next(const Layout& layout, int q, const Move& move,
                                                   const std::int64_t* own, const std::int64_t* part) {
  std::int64_t next = 0;
  if (__builtin_add_overflow(move.last[q], part[0], &next) || next != move.point[q]) return false;
  for (int p = 0; p < q; ++p)
    if (move.point[p] != move.last[p]) return false;
  const std::int64_t* steps = part + 1;
  for (int o = 0; o < layout.outputs; ++o)
    if (__builtin_add_overflow(own[o], steps[o], &next) || next != move.labels[o]) return false;
  for (int p = layout.dimensions - 1, f = layout.outputs; p > q; --p, f += 2) {
    if (__builtin_add_overflow(own[f], steps[f], &next) || next != move.point[p]) return false;
    if (__builtin_add_overflow(own[f + 1], steps[f + 1], &next) || next < 0) return false;
  }
  return true;
}

inline bool Cruise::take_row(const Run& run, std::int64_t* last, int dimensions, int outputs) {
  if (easy_ == 0) return false;
  const std::size_t inner = View::at(dimensions - 1);
  const std::size_t q = inner - 1;
  const std::size_t labels = View::at(outputs);
  std::int64_t* const counts = words_.get();
  std::int64_t* const own = counts + dimensions;
  const std::int64_t* const along = block_->words.get();  // the part of D-1: the stride and the steps of labels
  const std::int64_t* const part = along + 1 + labels;    // of D-2
  const std::int64_t* const steps = part + 1;
  const std::int64_t extent = own[labels + 1] + steps[labels + 1];
  std::int64_t other = (counts[inner] ^ own[labels + 1]) | (run.point[q] ^ (last[q] + part[0])) |
                       (run.point[inner] ^ (own[labels] + steps[labels]));
  other |= static_cast<std::int64_t>(run.n - 1) ^ extent;
  for_all(
      q, [&](std::size_t p) __attribute__((always_inline)) { other |= run.point[p] ^ last[p]; });
  for_all(
      labels, [&](std::size_t o) __attribute__((always_inline)) { other |= run.labels[o] ^ (own[o] + steps[o]); });
  if (other != 0) return false;
  std::int64_t stride = 0;
  if (extent != 0) {
    stride = along[0];
    other = run.stride ^ stride;
    for_all(
        labels, [&](std::size_t o) __attribute__((always_inline)) { other |= run.steps[o] ^ along[1 + o]; });
    if (other != 0) return false;
  }
  points_ += static_cast<std::uint64_t>(counts[inner]) + 1;
  for_all(
      labels, [&](std::size_t o) __attribute__((always_inline)) { own[o] += steps[o]; });
  own[labels] += steps[labels];
  own[labels + 1] = extent;
  ++counts[q];
  counts[inner] = extent;
  last[q] = run.point[q];
  last[inner] = run.point[inner] + stride * extent;
  --easy_;
  if (static_cast<int>(q) == level_) {
    const std::size_t values = 2 * (labels + 2);  // of the block, as Layout has it
    ++block_->words[values + labels + 3];
    block_->points += points_;
    points_ = 0;
  }
  return true;
}

}  // namespace loopfold::fold::adaptive
