// Cruising: checking points against a whole block instead of building rows.
//
// Once a block of level L predicts its next row, the row need not be built from its points, level by level, to be
// compared and thrown away: it is enough to walk along the prediction. Cruise keeps the counts of the point that it is
// at, and the functions of the block with these counts filled in. Inside the innermost row the next point is a compare
// and an add (Exact::expected); at its end the first point of the next row, one addition per function, is compared.
//
// When a point is not the predicted one, stop() gives what folding would have built by then: for every level inside L
// the complete rows of the unfinished one. So nothing is lost and nothing is approximated.
#pragma once

#include <cstdint>
#include <vector>

#include "fold/adaptive_block.h"

namespace loopfold::fold::adaptive {

class Cruise {
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
  bool next_row(const Layout& layout, const std::int64_t* last, const std::int64_t* point, const std::int64_t* labels);
  /// Within the innermost row: iterations done after the first one, and those that there are.
  std::int64_t& count(const Layout& layout) { return words_[View::at(layout.dimensions - 1)]; }
  std::int64_t extent(const Layout& layout) const {
    return functions(layout, layout.dimensions - 2)[layout.extent(layout.dimensions - 1)];
  }
  /// The rows of the unfinished row of the block, by level: none for `level` and outside. An empty block: there are
  /// none.
  std::vector<Block> stop(const Layout& layout);

  /// Of the outputs that are only bounded, at the current point.
  void bound(const Layout& layout, const Window* bounds, std::size_t count);
  std::size_t bytes(const Layout& layout) const;

 private:
  using Windows = std::vector<std::vector<Window>>;

  /// With the counts up to dimension q < D-1: in the order of D-2 down to the level, behind the counts.
  int offset(const Layout& layout, int q) const {
    return layout.dimensions + layout.part(q) - layout.part(layout.dimensions - 2) - (layout.dimensions - 2 - q);
  }
  int words(const Layout& layout) const { return offset(layout, level_) + layout.functions(level_); }
  std::int64_t* functions(const Layout& layout, int q) { return words_.get() + offset(layout, q); }
  const std::int64_t* functions(const Layout& layout, int q) const { return words_.get() + offset(layout, q); }
  bool step(const Layout& layout, int q, const std::int64_t* last, const std::int64_t* point,
            const std::int64_t* labels);
  void bound_rows(const Layout& layout, int q);

  int level_;
  Block* block_;
  std::uint64_t points_ = 0;               // of complete innermost rows since the row of the block began
  std::unique_ptr<std::int64_t[]> words_;  // counts by dimension, then functions
  std::unique_ptr<Windows> bounds_;        // by dimension: of the complete rows of the unfinished one
};

}  // namespace loopfold::fold::adaptive
