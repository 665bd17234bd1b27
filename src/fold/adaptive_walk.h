// Regenerating points: the points of blocks, in lexicographic order, with their labels.
//
// One walker per block keeps, for every dimension, the functions with the counts so far filled in; the next point is
// one addition per function of the innermost dimension. Several blocks are merged by taking points from the block whose
// next point is the smallest as long as it stays that. Costs the number of points times the number of blocks that are
// interleaved in the innermost dimension, plus a little per row.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fold/adaptive_block.h"

namespace loopfold::fold::adaptive {

/// The points of one block.
class Walker {
 public:
  explicit Walker(const Placed& placed);
  const std::vector<std::int64_t>& point() const { return point_; }
  const std::int64_t* labels();
  /// To the next point; false after the last one.
  bool next();

 private:
  void restart_inside(int q);
  void enter(int q);

  View view() const { return {*layout_, *block_, level_}; }

  const Layout* layout_;
  const Block* block_;
  int level_;
  std::vector<std::int64_t> point_;
  std::vector<std::int64_t> counts_;
  std::vector<std::vector<std::int64_t>> functions_;  // by dimension: after its count is filled in
  std::vector<std::int64_t> labels_;
};

/// Gets a point and its labels; says whether it wants more.
using Visit = std::function<bool(const std::int64_t* point, const std::int64_t* labels)>;

void walk(std::vector<Walker> walkers, const Visit& each);

}  // namespace loopfold::fold::adaptive
