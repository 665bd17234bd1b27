// The constraints of a piece of a map as rows of numbers, for answers that are seen without isl.
//
// Two questions are asked of many pairs of pieces: whether they have nothing in common, and whether one is inside the
// other. isl solves systems of equations for that, some 20 to 100 microseconds for each pair. But mostly a single
// coordinate shows that two pieces are apart (a stage of a computation, a block), or every constraint of the larger one
// is a constraint of the smaller one, too, perhaps with a tighter bound, or follows from its equations.
//
// Rows have no parameters, no divisions, and no large numbers; constraints that have some are left out. So what is said
// holds, and what is not said may hold all the same (of pieces that do not fit together, nothing is said: isl refuses
// them):
// - is_apart(), ends_apart_from(): for some coordinate, the values that single constraints leave in both pieces are
// none.
// - is_inside(): the other piece has no constraint that was left out, and each of them is 0 <= row, where row, less
//   multiples of this piece's equations, is a row of this piece plus something that is not negative.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "poly/isl.h"

namespace loopfold::poly {

class PieceRows {
 public:
  explicit PieceRows(const Isl<isl_basic_map>& piece);

  /// Of pieces of one space: certainly nothing is in both.
  bool is_apart(const PieceRows& other) const;
  /// Of { x -> y } and { y -> z }: certainly there is no such y.
  bool ends_apart_from(const PieceRows& next) const;
  /// Of pieces of one space: certainly all of it is in the other.
  bool is_inside(const PieceRows& other) const;

  bool is_complete() const { return complete_; }

 private:
  struct Row {
    std::vector<std::int64_t> coefficients;  // by coordinate, those of the producer first
    std::int64_t constant = 0;
  };
  struct Interval {
    std::int64_t least = std::numeric_limits<std::int64_t>::min();
    std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
  };

  void take(isl_constraint* constraint);
  std::optional<Row> row_of(isl_constraint* constraint) const;
  void narrow(const Row& row, bool equation);
  bool implies(Row row) const;
  bool has_space_of(const PieceRows& other) const {
    return inputs_ == other.inputs_ && box_.size() == other.box_.size();
  }
  static bool are_apart(const Interval& a, const Interval& b) { return a.greatest < b.least || b.greatest < a.least; }
  static std::optional<std::size_t> last_of(const Row& row);
  static bool add_times(Row& row, const Row& other, std::int64_t factor);

  std::size_t inputs_ = 0;
  std::vector<Interval> box_;   // by coordinate
  std::vector<Row> equations_;  // = 0
  std::vector<Row> bounds_;     // >= 0
  bool complete_ = true;        // no constraint was left out
};

}  // namespace loopfold::poly
