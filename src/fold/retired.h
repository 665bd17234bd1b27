// Pieces that will not grow any more, and the box around all of them.
//
// A retired polyhedron is written down as the piece that it becomes, in a flat list of words: some 100 to 200 bytes, a
// tenth of what a Piece with its vectors takes. Irregular streams that are folded exactly have millions of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fold/fold.h"
#include "fold/label.h"
#include "fold/polyhedron.h"
#include "fold/run.h"

namespace loopfold::fold {

/// A polyhedron with its label functions.
struct LabelledPolyhedron {
  Polyhedron polyhedron;
  std::vector<LabelFunction> labels;
  std::uint64_t points = 0;

  std::size_t bytes() const;
};

/// The extremes of points, and of their labels: what is left of a stream after a geometric give-up. The paper's box
/// starts at the origin; this one is as tight as what was seen.
class Extent {
 public:
  explicit Extent(Shape shape);
  void add(const std::int64_t* point, const std::int64_t* labels);
  void add(const LabelledPolyhedron& piece);
  /// As many points of a run as have numbers that do not wrap; says how many.
  std::uint64_t add(const Run& run);
  std::uint64_t points() const { return points_; }
  /// The box, with outputs that are TOP along all dimensions.
  Piece piece() const;
  std::size_t bytes() const;

 private:
  struct Interval {
    std::int64_t minimum = 0;
    std::int64_t maximum = 0;
  };
  void extend(Interval& interval, std::int64_t minimum, std::int64_t maximum) const;

  Shape shape_;
  std::uint64_t points_ = 0;
  std::vector<Interval> coordinates_;  // outermost first
  std::vector<Interval> outputs_;
  std::vector<Interval> distances_;
};

class RetiredPieces {
 public:
  explicit RetiredPieces(Shape shape) : shape_(shape) {}
  void add(const LabelledPolyhedron& piece);
  void clear();
  /// Whether all could be written as nested ranges that fit into 64 bits; if not, there are none.
  bool exact() const { return exact_; }
  /// All pieces, in the order of their first points.
  std::vector<Piece> unpack() const;
  std::size_t bytes() const { return words_.size() * sizeof(std::int64_t); }

 private:
  std::size_t words_per_piece() const;
  bool write_ranges(const Polyhedron& polyhedron, std::uint64_t points);
  void write_output(const LabelFunction& label, const Polyhedron& polyhedron);
  Piece read(std::size_t at) const;

  Shape shape_;
  std::size_t count_ = 0;
  bool exact_ = true;
  std::vector<std::int64_t> words_;
};

}  // namespace loopfold::fold
