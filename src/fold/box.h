// The least that can be known about a stream: the box that its points are in, and the range of every output.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fold/fold.h"

namespace loopfold::fold {

/// Covers points in any order, in memory that does not depend on their number.
class Box {
 public:
  explicit Box(Shape shape);
  void add(const std::int64_t* point, const std::int64_t* labels);
  /// One piece with an inexact domain and outputs that are TOP along all dimensions; none if there was no point.
  Folded finish(std::string_view why) const;
  std::size_t bytes() const;

 private:
  struct Interval {
    std::int64_t minimum = 0;
    std::int64_t maximum = 0;
  };
  static void extend(Interval& interval, std::int64_t value, bool first);

  Shape shape_;
  std::uint64_t points_ = 0;
  std::vector<Interval> coordinates_;
  std::vector<Interval> outputs_;
  std::vector<Interval> distances_;
};

}  // namespace loopfold::fold
