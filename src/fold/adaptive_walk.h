// Regenerating points: the points of blocks, in lexicographic order, with their labels.
//
// One walker per block keeps, for every dimension, the functions with the counts so far filled in; the next point is
// one addition per function of the innermost dimension. Several blocks are merged by taking points from the block whose
// next point is the smallest as long as it stays that. Costs the number of points times the number of blocks that are
// interleaved in the innermost dimension, plus a little per row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "fold/adaptive_block.h"
#include "fold/fold.h"
#include "fold/run.h"

namespace loopfold::fold::adaptive {

/// The points of one block.
class Walker {
 public:
  explicit Walker(const Placed& placed);
  const std::int64_t* point() const { return numbers_.data(); }
  const std::int64_t* labels() {
    return block_->windows ? labels_in_windows() : numbers_.data() + View::at(innermost_);
  }
  /// To the next point; false after the last one.
  bool next() {
    const int inner = layout_->dimensions - 1;
    if (block_->windows || count(inner) == outside(inner)[layout_->extent(inner)]) return next(inner);
    ++count(inner);
    const std::int64_t* const part = block_->words.get() + layout_->part(inner);
    numbers_[View::at(inner)] += view().stride(inner);
    std::int64_t* const labels = numbers_.data() + innermost_;
    for (int o = 0; o < layout_->outputs; ++o) labels[o] = wrapping_add(labels[o], part[1 + o]);
    return true;
  }
  /// At the first point of an innermost row: all of it, until something else is called; and to the next one. For blocks
  /// without moduli.
  Run row();
  bool next_row() { return next(layout_->dimensions - 2); }
  /// Whether its point comes before that of another walker of the same stream.
  bool before(const Walker& other) const {
    const std::int64_t* const end = point() + layout_->dimensions;
    return std::lexicographical_compare(point(), end, other.point(), other.point() + layout_->dimensions);
  }

 private:
  const std::int64_t* labels_in_windows();
  bool next(int innermost);
  void restart_inside(int q);
  void enter(int q);

  View view() const { return {*layout_, *block_, level_}; }
  std::int64_t& count(int q) { return numbers_[View::at(layout_->dimensions + q)]; }
  /// Numbers of functions of the dimensions inside q.
  int functions_inside(int q) const {
    const int inside = layout_->dimensions - 1 - q;
    return inside * layout_->outputs + inside * (inside - 1);
  }
  /// After the count of q is filled in.
  std::int64_t* functions(int q) {
    return numbers_.data() + 2 * layout_->dimensions + layout_->outputs + functions_inside(q);
  }
  const std::int64_t* outside(int q) { return q == level_ ? view().values() : functions(q - 1); }

  const Layout* layout_;
  const Block* block_;
  int level_;
  int innermost_;                      // in numbers_: functions of the innermost dimension
  std::vector<std::int64_t> numbers_;  // the point, counts, labels, functions by dimension
};

/// Gets a point and its labels; says whether it wants more.
using Visit = std::function<bool(const std::int64_t* point, const std::int64_t* labels)>;

void walk(std::vector<Walker>& walkers, const Visit& each);

}  // namespace loopfold::fold::adaptive
