// The exact part of adaptive folding: points become rows, rows become blocks of rows, and so on outwards.
//
// See adaptive_exact.cc for how. It never approximates: everything that was added is in its blocks, exactly; when there
// are too many of them add() says so, and everything is still there, to be given to something coarser.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "fold/adaptive_block.h"
#include "fold/adaptive_cruise.h"
#include "fold/adaptive_grow.h"
#include "fold/adaptive_walk.h"
#include "fold/fold.h"
#include "fold/run.h"

namespace loopfold::fold::adaptive {

class Exact {
 public:
  /// Folds the outputs `select` of a stream; the labels that add() gets are these, in this order. The outputs `bounded`
  /// are not folded, but their bounds are kept for every piece.
  Exact(Shape shape, std::vector<std::uint16_t> select, std::vector<std::uint16_t> bounded, std::uint32_t max_pieces);

  /// If this is the point that was expected, adds it. If there are bounded outputs, bound_expected() must follow.
  bool expected(const std::int64_t* point, const std::int64_t* labels) {
    return expected_in_row(point, labels, grow_.layout.dimensions, grow_.layout.outputs) || expected_row(point, labels);
  }
  /// The usual part of that, with the numbers of dimensions and outputs, which may be constants.
  bool expected_in_row(const std::int64_t* point, const std::int64_t* labels, int dimensions, int outputs);
  /// The rest of it.
  bool expected_row(const std::int64_t* point, const std::int64_t* labels) {
    return remaining_ == 0 && cruise_ && start_row(point, labels);
  }
  void bound_expected(const Window* bounds);
  /// Adds as many points of a run of at least two as were expected, but maybe not all of these, and says how many.
  /// There are no bounded outputs, or in_row_of_cruise(); then bound_expected() with the bounds of all must follow.
  std::uint64_t expected_run(const Run& run);
  /// Whether what is expected is within a row that is predicted.
  bool in_row_of_cruise() const { return cruise_ && remaining_ != 0; }
  /// A point after all others; there is at least one dimension. `bounds` are those of the bounded outputs at this
  /// point. False: there are too many blocks.
  bool add(const std::int64_t* point, const std::int64_t* labels, const Window* bounds = nullptr) {
    if (!expected(point, labels)) return add_unexpected(point, labels, bounds);
    if (rare_) bound_expected(bounds);
    return true;
  }
  /// No more points. False as for add().
  bool end();
  /// After end(): the pieces, in the order of their first points. Of outputs that are not selected, only the bounds.
  std::vector<Piece> pieces(std::size_t outputs) const;

  /// All blocks, which together have all points so far.
  std::vector<Placed> blocks();
  /// All points so far in order, with the selected labels and with bounds of the bounded ones (those of a block that
  /// the point is in).
  void replay(const Visit& each);

  /// Why there are many blocks: how often an output broke one; the last entry is for the geometry.
  std::vector<std::uint32_t> blame() const;
  bool full() const { return full_; }
  std::uint64_t max_intermediate() const { return max_intermediate_; }
  std::size_t bytes() const;
  /// Null if there is none.
  const std::int64_t* last_point() {
    settle();
    return started_ ? last() : nullptr;
  }
  const std::vector<std::uint16_t>& select() const { return grow_.layout.select; }
  const std::vector<std::uint16_t>& bounded() const;

 private:
  using Level = std::vector<Block>;

  bool add_unexpected(const std::int64_t* point, const std::int64_t* labels, const Window* bounds);
  bool start_row(const std::int64_t* point, const std::int64_t* labels);
  bool enter_row(const std::int64_t* point, const std::int64_t* labels);
  std::uint64_t whole_row(const Run& run);
  std::uint64_t within_reach(std::uint64_t n) const;
  void expect_next(const std::int64_t* labels);
  bool wrap_next();
  bool expect_after(const std::int64_t* point, const std::int64_t* labels);
  void set_steps(const Block& block);
  bool start_cruise(int level, const std::int64_t* point, const std::int64_t* labels);
  void expect_in_cruise(const std::int64_t* point, const std::int64_t* labels);
  void stop_cruise();
  void expect_more();
  void grant();
  std::uint64_t grant_at_least(std::uint64_t n);
  void settle();
  void expect_nothing() {
    settle();
    granted_ = remaining_ = 0;
  }
  bool next_fits() const;
  const std::vector<Window>& windows() const;
  /// What `active_` can become before something else is expected.
  std::int64_t most() const {
    return cruise_ ? cruise_->extent(grow_.layout) : std::numeric_limits<std::int64_t>::max();
  }
  void flush(int level);
  bool flush_as_predicted(int level);
  void offer(int level, std::vector<Block>& rows, std::int64_t at);
  bool offer_predicted(int level, const Row& row, std::vector<std::uint8_t>& taken);
  void offer_other(int level, const Row& row, std::vector<std::uint8_t>& taken);
  template <typename Attempt>
  bool offer_by(int level, std::vector<std::uint8_t>& taken, const Attempt& attempt);
  bool offer_behind_break(int level, const Row& row, std::vector<std::uint8_t>& taken);
  bool repeat_break(int level, std::size_t index, const Row& row, std::vector<std::uint8_t>& taken);
  bool end_break(int level, std::size_t index, const Row& row, std::vector<std::uint8_t>& taken);
  void accuse(const Row& row, int level);
  void check_size(int level);
  void sync_points(int level);

  /// What most streams do not need.
  struct Rare {
    std::vector<std::uint16_t> bounded;
    std::vector<std::uint32_t> blame;
  };
  Rare& rare() {
    if (!rare_) rare_ = std::make_unique<Rare>();
    return *rare_;
  }
  std::size_t bounded_count() const { return rare_ ? rare_->bounded.size() : 0; }
  // Number 0 is the innermost coordinate, the others are labels.
  std::int64_t& next(int number) const { return state_[View::at(2 * number)]; }      // what is expected
  std::int64_t& step(int number) const { return state_[View::at(2 * number + 1)]; }  // to what comes after that
  /// One by one: vectors of numbers that were just written one by one would have to wait for these.
  void set_next(int number, std::int64_t value) const { *static_cast<volatile std::int64_t*>(&next(number)) = value; }
  std::int64_t* last() const { return state_.get() + 2 * (1 + grow_.layout.outputs); }  // the last point

  Grow grow_;
  std::uint32_t max_pieces_;
  bool full_ = false;
  bool started_ = false;  // there was a point
  bool modular_ = false;  // some of the expected labels are
  std::uint64_t max_intermediate_ = 0;
  std::vector<Level> levels_;
  std::unique_ptr<std::int64_t[]> state_;
  std::int64_t* active_ = nullptr;  // what counts the points that were as expected; see settle()
  std::uint32_t granted_ = 0;       // so many points may come before more has to be looked at; 0: nothing is expected
  std::uint32_t remaining_ = 0;     // of these
  std::unique_ptr<Rare> rare_;
  std::unique_ptr<Cruise> cruise_;
};

[[gnu::always_inline]] inline bool Exact::expected_in_row(const std::int64_t* point, const std::int64_t* labels,
                                                          int dimensions, int outputs) {
  if (remaining_ == 0) return false;
  const int inner = dimensions - 1;
  const std::int64_t* last = state_.get() + 2 * (1 + outputs);
  std::int64_t other = point[inner] ^ next(0);
  for (int k = 0; k < inner; ++k) other |= point[k] ^ last[k];
  for (int o = 0; o < outputs; ++o) other |= labels[o] ^ next(1 + o);
  if (other != 0) return false;
  set_next(0, wrapping_add(point[inner], step(0)));
  for (int o = 0; o < outputs; ++o) set_next(1 + o, wrapping_add(labels[o], step(1 + o)));
  if (--remaining_ == 0) [[unlikely]]
    expect_more();
  return true;
}

}  // namespace loopfold::fold::adaptive
