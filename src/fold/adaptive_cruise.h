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
  bool running() const { return level_ >= 0; }
  int level() const { return level_; }

  /// `point` comes after the last complete row of `block`, which is at last[level]. True if it starts the next row.
  bool start(const Layout& layout, const Block& block, int level, const std::vector<std::int64_t>& last,
             const std::int64_t* point, const std::int64_t* labels);
  /// `point` comes after the `last` one. True if it is the first of the next innermost row; the block absorbs the row
  /// of its level that may be complete.
  bool next_row(const Layout& layout, Block& block, const std::vector<std::int64_t>& last, const std::int64_t* point,
                const std::int64_t* labels);
  /// Within the innermost row: iterations done after the first one, and those that there are.
  std::int64_t& count() { return counts_.back(); }
  std::int64_t extent(const Layout& layout) const {
    return functions_[View::at(offset(layout, layout.dimensions - 2) + layout.extent(layout.dimensions - 1))];
  }
  /// The rows of the unfinished row of the block, by level: none for `level` and outside. An empty block: there are
  /// none.
  std::vector<Block> stop(const Layout& layout, const Block& block);

  /// Of the outputs that are only bounded, at the current point.
  void bound(const Window* bounds, std::size_t count);
  std::size_t bytes() const;

 private:
  int offset(const Layout& layout, int q) const { return layout.part(q) - (layout.dimensions - 1 - q); }
  bool step(const Layout& layout, const Block& block, int q, const std::vector<std::int64_t>& last,
            const std::int64_t* point, const std::int64_t* labels);

  int level_ = -1;
  std::uint64_t points_ = 0;                 // of complete innermost rows since the row of the block began
  std::vector<std::int64_t> counts_;         // by dimension
  std::vector<std::int64_t> functions_;      // for D-1 down to the level: with the counts up to this dimension
  std::vector<std::vector<Window>> bounds_;  // by dimension: of the complete rows of the unfinished one
};

}  // namespace loopfold::fold::adaptive
