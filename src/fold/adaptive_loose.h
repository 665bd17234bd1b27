// What is kept of a stream where exactness was given up: a covering domain, and per output what can be said about it.
//
// The domain is the box of the points; a bound is replaced by +-(an outer coordinate) + constant where that cuts off
// more (a random guard in a triangular loop stays in the triangle), and a coordinate whose values are all congruent has
// a stride. Outputs: their range, that of their distance, and the claims of adaptive_fit.h.
//
// Most labels are simple: constant, or the counter of a shared loop minus a constant. Once a label has been that for a
// while, its range says whether it still is, and no more is done about it. Should it change, it goes on with what can
// be known without having looked at each point.
//
// Most points only move the ends of ranges, or not even that. It takes a few comparisons to see so.
//
// Points may come in any order. The cost per point is a few comparisons per output, and per dimension that changed and
// pair of it with another, once the labels are understood or hopeless; memory does not depend on the number of points.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "fold/adaptive_block.h"
#include "fold/adaptive_fit.h"
#include "fold/fold.h"
#include "fold/run.h"

namespace loopfold::fold::adaptive {

class Loose {
 public:
  enum class Domain : std::uint8_t { kCover, kIgnore };
  /// Follows the outputs `select` of the stream.
  Loose(Shape shape, std::vector<std::uint16_t> select, Domain domain);
  /// The same for all points of these blocks, whose outputs are those in `select`, and of which `last` is the last. See
  /// adaptive_cover.cc.
  Loose(Shape shape, std::vector<std::uint16_t> select, Domain domain, std::span<const Placed> blocks,
        const std::int64_t* last, std::uint64_t points);
  /// `labels` are all labels of the stream.
  void add(const std::int64_t* point, const std::int64_t* labels) {
    add_usual<false>(point, labels, shape_.dimensions, followed_);
  }
  /// The same where all outputs are followed; with the numbers of dimensions and outputs, which may be constants.
  [[gnu::always_inline]] void add_all(const std::int64_t* point, const std::int64_t* labels, std::size_t dimensions,
                                      std::size_t outputs) {
    add_usual<true>(point, labels, dimensions, outputs);
  }
  /// Adds a run if its points only move the ends of ranges; else false, and nothing has changed.
  bool add_whole(const Run& run);
  /// How many points of a run can be added at once: 0, or up to this number.
  std::uint64_t reach(const Run& run) const;
  /// Adds a run that is within reach. See adaptive_loose_run.cc.
  void add_reached(const Run& run);
  /// Adds as many of the first of several points as can be added at once, and says how many. See
  /// adaptive_loose_rows.cc.
  std::size_t add_rows(const Rows& rows);
  /// Takes the outputs of another one that got the same points.
  void take_outputs(Loose&& other);
  /// Forgets what costs much memory.
  void shrink();
  /// Sets minimum, maximum and distances of one of the outputs that are followed.
  void bound(Output& output, std::uint16_t number) const;
  /// Sets its function.
  void claim(Output& output, std::uint16_t number) const;
  /// One piece without outputs that covers all points; of kIgnore: without ranges.
  Piece cover() const;
  std::size_t bytes() const;

 private:
  struct Interval {
    std::int64_t low = 0;
    std::int64_t high = 0;
    bool constant() const { return low == high; }
    bool includes(std::int64_t value) const { return value >= low && value <= high; }
    void include(std::int64_t value) {
      low = value < low ? value : low;
      high = value > high ? value : high;
    }
  };
  struct Coordinate {
    Interval range;
    std::uint64_t common = 0;  // divides all differences
  };
  struct Pair {
    Interval difference;  // inner - outer
    Interval sum;
  };
  /// How the function of an output is found out.
  enum class Form : std::uint8_t {
    kHopeless = 0,  // there is none
    kConstant = 1,  // it was the same label for long, which is easier to see
    kShifted = 2,   // the same with the distance
    kFit = 4,
  };
  struct Tracked {
    Interval labels;
    Interval distance;
    std::uint16_t number = 0;
    Form form = Form::kFit;

    /// Extends a range unless it says what the form is: then false. `end` is kLabelEnd or kDistanceEnd.
    [[gnu::always_inline]] bool extend(Interval& range, std::int64_t value, unsigned end) {
      if (range.includes(value)) [[likely]]
        return true;
      if ((static_cast<unsigned>(form) & end) != 0) return false;
      range.include(value);
      return true;
    }
  };
  template <bool kAll>
  [[gnu::always_inline]] inline void add_usual(const std::int64_t* point, const std::int64_t* labels,
                                               std::size_t dimensions, std::size_t followed);
  template <bool kAll>
  [[gnu::always_inline]] inline void add_simply(const std::int64_t* point, const std::int64_t* labels,
                                                std::size_t first, std::size_t dimensions, std::size_t followed);
  void add_watched(const std::int64_t* point, const std::int64_t* labels, std::size_t first);
  void add_covered(const std::int64_t* point, const std::int64_t* labels, std::size_t first);
  /// The number of dimensions, or 0 if it is not one of those that there is code for.
  template <std::size_t kDimensions>
  [[gnu::noinline]] void add_fitting(const std::int64_t* point, const std::int64_t* labels);
  template <std::size_t kDimensions>
  [[gnu::always_inline]] inline bool try_fitting(const std::int64_t* point, const std::int64_t* labels);
  [[gnu::always_inline]] inline bool take_simply(Tracked& output, std::size_t number, const std::int64_t* point,
                                                 std::int64_t label);
  bool cover_point(const std::int64_t* point, std::size_t first);
  bool changes_watched(const std::int64_t* point, std::size_t first) const;
  void sort_outputs();
  void watch();
  void add_other(const std::int64_t* point, const std::int64_t* labels);
  void add_first(const std::int64_t* point, const std::int64_t* labels);
  void add_pairs(const std::int64_t* point, std::size_t first);
  void start_pairs(std::size_t outer);
  void add_label(std::size_t index, const Move& move, std::int64_t label, std::int64_t before);
  bool repeats(std::size_t index, const Run& run, const Move& move) const;
  void settle();
  std::span<Tracked> outputs() { return {outputs_.data(), followed_}; }
  std::span<const Tracked> outputs() const { return {outputs_.data(), followed_}; }
  void set_form(Tracked& output, Form form) {
    if (output.form == Form::kFit) --fitting_;
    if (form == Form::kFit) ++fitting_;
    output.form = form;
  }
  bool still(const Tracked& output) const {
    return output.form == Form::kConstant ? output.labels.constant() : output.distance.constant();
  }
  std::size_t usual_rows(const Rows& rows) const;
  bool cover_rows(const Rows& rows);
  struct OutputEnds;
  [[gnu::always_inline]] inline bool find_ends(const Rows& rows, const Tracked& output, OutputEnds& into) const;
  std::size_t simple_rows(const Rows& rows, const Tracked& output) const;
  void fit_rows(const Moves& moves, const std::int64_t* labels);
  static void add_difference(Coordinate& coordinate, std::int64_t step, bool upwards);
  void tighten(std::size_t inner, Range& range) const;

  struct Common;
  static constexpr std::uint64_t kSettled = 64;    // points after which simple labels are believed to stay so
  static constexpr std::uint64_t kLongRow = 4096;  // points that a row may have to be compared with later ones
  static constexpr unsigned kLabelEnd = 1;         // moves: kConstant ends
  static constexpr unsigned kDistanceEnd = 2;      // moves: kShifted ends
  static constexpr std::size_t kMostAtOnce = 32;   // dimensions
  static constexpr std::uint64_t kLongestAtOnce = std::uint64_t{1} << 62;  // points
  static constexpr std::int64_t kLargeCoordinate = std::int64_t{1} << 60;
  static constexpr std::size_t kMostDimensionsWithPairs = 8;
  bool wants_pairs() const { return covers_ && shape_.dimensions <= kMostDimensionsWithPairs; }
  static bool is_small(std::int64_t x) {
    return static_cast<std::uint64_t>(x) + kLargeCoordinate <= 2 * static_cast<std::uint64_t>(kLargeCoordinate);
  }
  void cover_coordinates(const Placed& placed, const std::vector<Function>& coordinates, bool first);
  void cover_output(const Placed& placed, const std::vector<Function>& coordinates, std::size_t index, bool first,
                    Common& common);
  bool follow(const Common& common, std::uint32_t varied, LabelFit& fit) const;

  // In the order in which add() needs them.
  std::uint64_t points_ = 0;
  Shape shape_;
  bool covers_;
  bool ordered_ = true;               // all points came in order
  std::uint16_t lead_;                // so many of the first coordinates are the same in all points
  std::uint16_t fitting_ = 0;         // so many outputs are kFit
  std::uint16_t followed_ = 0;        // so many of outputs_ are there
  std::uint32_t watched_;             // coordinates whose change does more than move the ends of ranges, as bits
  SmallArray<std::int64_t, 4> last_;  // the last point
  SmallArray<Tracked, 4> outputs_;    // by number
  SmallArray<Coordinate, 4> coordinates_;
  std::vector<Pair> pairs_;     // (0,1), (0,2), (1,2), (0,3) ... except with coordinates before lead_; none if they are
                                // not wanted, or numbers are large
  std::vector<LabelFit> fits_;  // by output
};

/// Extends the ranges of an output with this number; false if there is more to it. Of one that is kFit, that is not
/// all.
inline bool Loose::take_simply(Tracked& output, std::size_t number, const std::int64_t* point, std::int64_t label) {
  if (!output.extend(output.labels, label, kLabelEnd)) return false;
  if (number >= shape_.shared) return true;
  std::int64_t distance = 0;
  return !__builtin_sub_overflow(point[number], label, &distance) &&
         output.extend(output.distance, distance, kDistanceEnd);
}

/// Adds a point. What is not usual is elsewhere, at the end: then nothing needs to be saved for it.
template <bool kAll>
inline void Loose::add_usual(const std::int64_t* point, const std::int64_t* labels, std::size_t dimensions,
                             std::size_t followed) {
  if (fitting_ != 0) {
    switch (dimensions) {
      case 1:
        return add_fitting<1>(point, labels);
      case 2:
        return add_fitting<2>(point, labels);
      case 3:
        return add_fitting<3>(point, labels);
      case 4:
        return add_fitting<4>(point, labels);
      case 5:
        return add_fitting<5>(point, labels);
      case 6:
        return add_fitting<6>(point, labels);
      case 7:
        return add_fitting<7>(point, labels);
      default:
        return add_fitting<0>(point, labels);
    }
  }
  if (dimensions > kMostAtOnce) return add_other(point, labels);
  const std::int64_t* const last = last_.data(dimensions);
  const std::size_t first = first_where(
      dimensions, [&](std::size_t k) __attribute__((always_inline)) { return point[k] != last[k]; });
  if (first == dimensions || point[first] < last[first]) return add_other(point, labels);
  if (watched_ >> first != 0) return add_watched(point, labels, first);
  add_simply<kAll>(point, labels, first, dimensions, followed);
}

/// The same if no output is kFit and no watched coordinate changes; `first` is the first one that does. Where there is
/// more to it than ends of ranges, some have been moved already; add_other() moves them in any case.
template <bool kAll>
inline void Loose::add_simply(const std::int64_t* point, const std::int64_t* labels, std::size_t first,
                              std::size_t dimensions, std::size_t followed) {
  Tracked* const outputs = outputs_.data(kAll ? followed : outputs_.size());
  const std::size_t simple = first_where(
      followed, [&](std::size_t i) __attribute__((always_inline)) {
        const std::size_t number = kAll ? i : outputs[i].number;
        return !take_simply(outputs[i], number, point, labels[number]);
      });
  if (simple != followed) return add_other(point, labels);
  if (covers_) return add_covered(point, labels, first);
  ++points_;
  std::int64_t* const last = last_.data(dimensions);
  for_all(
      dimensions, [&](std::size_t k) __attribute__((always_inline)) { last[k] = point[k]; });
}

}  // namespace loopfold::fold::adaptive
