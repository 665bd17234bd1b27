// What is kept of a stream where exactness was given up: a covering domain, and per output what can be said about it.
//
// The domain is the box of the points; a bound is replaced by +-(an outer coordinate) + constant where that cuts off
// more (a random guard in a triangular loop stays in the triangle), and a coordinate whose values are all congruent has
// a stride. Outputs: their range, that of their distance, and the claims of adaptive_fit.h.
//
// Points may come in any order. The cost per point is a few comparisons per output, and per dimension that changed and
// pair of it with another, once the labels are understood or hopeless; memory does not depend on the number of points.
#pragma once

#include <cstdint>
#include <vector>

#include "fold/adaptive_fit.h"
#include "fold/fold.h"

namespace loopfold::fold::adaptive {

class Loose {
 public:
  enum class Domain : std::uint8_t { kCover, kIgnore };
  /// Follows the outputs `select` of the stream.
  Loose(Shape shape, std::vector<std::uint16_t> select, Domain domain);
  /// `labels` are all labels of the stream.
  void add(const std::int64_t* point, const std::int64_t* labels);
  /// Takes the outputs of another one that got the same points.
  void take_outputs(Loose&& other);
  /// Forgets what costs much memory.
  void shrink();
  /// Sets minimum, maximum and distances of one of the outputs that are followed.
  void bound(Output& output, std::uint16_t number) const;
  /// Sets its function.
  void claim(Output& output, std::uint16_t number) const;
  /// One piece without outputs that covers all points; only of kCover.
  Piece cover() const;
  std::size_t bytes() const;

 private:
  struct Interval {
    std::int64_t low = 0;
    std::int64_t high = 0;
    void include(std::int64_t value) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  };
  struct Coordinate {
    std::int64_t last = 0;
    Interval range;
    std::uint64_t common = 0;  // divides all differences
  };
  struct Pair {
    Interval difference;  // inner - outer
    Interval sum;
  };
  struct Tracked {
    std::uint16_t number = 0;
    Interval labels;
    Interval distance;
    LabelFit fit;
  };
  void add_first(const std::int64_t* point, const std::int64_t* labels);
  void add_pairs(const std::int64_t* point, std::size_t first);
  static void add_difference(Coordinate& coordinate, std::int64_t step, bool upwards);
  void tighten(std::size_t inner, Range& range) const;

  Shape shape_;
  bool pairs_wanted_;
  std::uint64_t points_ = 0;
  std::vector<Coordinate> coordinates_;
  std::vector<Pair> pairs_;  // (0,1), (0,2), (1,2), (0,3) ...; none if they are not wanted, or numbers are large
  std::vector<Tracked> outputs_;
};

}  // namespace loopfold::fold::adaptive
