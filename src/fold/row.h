// The polyhedron that a stream is at: consecutive points along the innermost dimension.
//
// Nearly all points of nearly all streams are the next of a row with labels that advance as they did before, so this is
// where folding is fast: a point is compared with the one that is expected, its labels with those that are expected,
// and the expectation is advanced. Nothing is looked up or allocated. Extremes of affine labels are at the ends of a
// row, and are computed when it ends; only labels that have become TOP along it cost a hash and two comparisons each.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "fold/label.h"
#include "fold/polyhedron.h"
#include "fold/run.h"

namespace loopfold::fold {

class Row {
 public:
  enum class Answer : std::uint8_t { kTaken, kNotNext, kOtherLabel };

  Row(Shape shape, bool widen);

  bool empty() const { return length_ == 0; }
  std::uint64_t length() const { return length_; }
  void start(const std::int64_t* point, const std::int64_t* labels);

  /// Takes a point that comes next, if its labels go on or may be widened.
  Answer add(const std::int64_t* point, const std::int64_t* labels) {
    if (!comes_next(point)) return Answer::kNotNext;
    if (affine_ && labels_as_expected(labels)) {
      advance();
      return Answer::kTaken;
    }
    return add_unexpected(labels);
  }

  /// Takes as many points of a run of at least two as go on exactly as expected, and says how many.
  std::uint64_t add(const Run& run);

  /// The first coordinate in which `point` differs from the last point of the row; the number of coordinates if none.
  std::size_t first_difference(const std::int64_t* point) const;
  /// Whether `point` is after the last point of the row.
  bool is_before(const std::int64_t* point) const;

  /// The row as a polyhedron with label functions; the row is empty afterwards.
  void finish(Polyhedron& polyhedron, std::vector<LabelFunction>& labels);

  std::size_t bytes() const;

 private:
  struct Column {
    std::int64_t first = 0;
    std::int64_t step = 0;
    bool top = false;
    std::int64_t minimum = 0;  // these only if top
    std::int64_t maximum = 0;
    std::int64_t distance_minimum = 0;
    std::int64_t distance_maximum = 0;
    Fingerprint fingerprint;
  };

  bool comes_next(const std::int64_t* point) const {
    std::int64_t difference = 0;
    for (std::size_t k = 0; k < expected_.size(); ++k) difference |= point[k] ^ expected_[k];
    return difference == 0 && can_go_on_;
  }
  bool labels_as_expected(const std::int64_t* labels) const {
    std::int64_t difference = 0;
    for (std::size_t o = 0; o < next_.size(); ++o) difference |= labels[o] ^ next_[o];
    return difference == 0;
  }
  void advance() {
    ++length_;
    can_go_on_ = !__builtin_add_overflow(expected_.back(), 1, &expected_.back());
    bool overflow = false;
    for (std::size_t o = 0; o < next_.size(); ++o) overflow |= __builtin_add_overflow(next_[o], steps_[o], &next_[o]);
    if (overflow) [[unlikely]]
      affine_ = false;
  }

  Answer add_unexpected(const std::int64_t* labels);
  bool goes_on(const Column& column, std::int64_t label) const;
  std::int64_t last_affine(const Column& column) const;
  std::int64_t distance(std::size_t output, std::int64_t label, std::uint64_t index) const;
  void take(std::size_t output, std::int64_t label);
  void make_top(std::size_t output);
  void predict();

  Shape shape_;
  bool widen_;
  bool affine_ = false;     // two points or more, no column is TOP, and next_ is what is expected
  bool can_go_on_ = false;  // expected_ is a point
  std::uint64_t length_ = 0;
  std::vector<std::int64_t> start_;     // outermost coordinate first, as in expected_
  std::vector<std::int64_t> expected_;  // the next point
  std::vector<std::int64_t> next_;      // its labels, if affine_
  std::vector<std::int64_t> steps_;
  std::vector<Column> columns_;
};

}  // namespace loopfold::fold
