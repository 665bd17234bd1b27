// The exact part of adaptive folding: points become rows, rows become blocks of rows, and so on outwards.
//
// See adaptive_exact.cc for how. It never approximates: everything that was added is in its blocks, exactly; when there
// are too many of them add() says so, and everything is still there, to be given to something coarser.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "fold/adaptive_block.h"
#include "fold/adaptive_convoy.h"
#include "fold/adaptive_cruise.h"
#include "fold/adaptive_cruise_points.h"
#include "fold/adaptive_grow.h"
#include "fold/adaptive_walk.h"
#include "fold/fold.h"
#include "fold/run.h"

namespace loopfold::fold::adaptive {

class Exact {
 public:
  /// Folds the outputs `select` of a stream; the labels that add() gets are these, in this order.
  Exact(Shape shape, std::vector<std::uint16_t> select, std::uint32_t max_pieces);
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;

  /// If this is the point that was expected, adds it.
  bool expected(const std::int64_t* point, const std::int64_t* labels) {
    return expected_in_row(point, labels, grow_.layout.dimensions, grow_.layout.outputs) || expected_row(point, labels);
  }
  /// The usual part of that, with the numbers of dimensions and outputs, which may be constants.
  bool expected_in_row(const std::int64_t* point, const std::int64_t* labels, int dimensions, int outputs);
  /// The rest of it.
  bool expected_row(const std::int64_t* point, const std::int64_t* labels) {
    return remaining_ == 0 &&
           (cruise_ || in_convoy() ? start_row(point, labels) : take_turns() && in_turn(point, labels));
  }
  /// If a run is a whole row that was expected, and simple, adds it. The numbers of dimensions and outputs may be
  /// constants.
  [[gnu::always_inline]] bool expected_whole(const Run& run, int dimensions, int outputs) {
    if (remaining_ != 0) return false;
    std::int64_t* const state = dimensions + 2 * (1 + outputs) <= kNear ? near_ : state_;
    std::int64_t* const last = state + 2 * (1 + outputs);
    if (cruise_) return cruise_->take_row(run, last, dimensions, outputs);
    return in_convoy() && rare_->convoy->take_row(run, last, dimensions, outputs);
  }
  /// The same for rows beside each other: adds as many of the first of them, but maybe not all that were expected, and
  /// says how many.
  std::uint64_t expected_ranks(const Run& run, const Ranks& ranks) {
    if (remaining_ != 0 || !cruise_) return 0;
    const std::uint64_t taken = cruise_->take_ranks(run, ranks, last(), grow_.layout.dimensions, grow_.layout.outputs);
    return taken != 0 ? taken : cruise_->take_ranks_outside(grow_.layout, run, ranks, last());
  }
  /// Of the next points: adds as many of the first as were expected, but maybe not all of these, and says how many. The
  /// numbers of dimensions and outputs may be constants.
  [[gnu::always_inline]] std::size_t expected_points(const NextPoints& points, int dimensions, int outputs) {
    if (!cruise_) return 0;
    settle();
    Odometer odometer(grow_.layout, *cruise_);
    const std::size_t taken = odometer.take(points, last(), dimensions, outputs);
    if (taken != 0) expect_behind(odometer.labels());
    return taken;
  }
  /// Adds as many points of a run of at least two as were expected, but maybe not all of these, and says how many.
  std::uint64_t expected_run(const Run& run);
  /// A point after all others; there is at least one dimension. False: there are too many blocks.
  bool add(const std::int64_t* point, const std::int64_t* labels) {
    return expected(point, labels) || add_unexpected(point, labels);
  }
  /// The same for one that was not expected.
  bool add_unexpected(const std::int64_t* point, const std::int64_t* labels);
  /// No more points. False as for add().
  bool end();
  /// After end(): the pieces, in the order of their first points. Outputs that are not selected are empty.
  std::vector<Piece> pieces(std::size_t outputs) const;

  /// All blocks, which together have all points so far; until something is added.
  std::vector<Placed> blocks();
  /// All points so far in order, with the selected labels.
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

  // For tests: every row is folded; and whether the last one was not.
  void fold_every_row() { convoys_ = false; }
  void never_cruise() { cruises_ = false; }
  bool in_convoy() const { return rare_ && rare_->convoy; }

 private:
  using Level = std::vector<Block>;
  static constexpr int kNear = 10;
  static constexpr std::uint8_t kManyBreaks = std::numeric_limits<std::uint8_t>::max();
  /// By block of a level: whether it has a row of this coordinate already.
  class Taken {
   public:
    explicit Taken(std::size_t blocks) : size_(blocks) {
      if (blocks > kFew) many_.resize(blocks);
      if (blocks > kFew) all_ = many_.data();
    }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    std::uint8_t& operator[](std::size_t block) { return all_[block]; }
    void push_back(std::uint8_t taken) {
      if (many_.empty() && size_ < kFew) {
        few_[size_++] = taken;
        return;
      }
      if (many_.empty()) many_.assign(few_.begin(), few_.end());
      many_.push_back(taken);
      all_ = many_.data();
      ++size_;
    }

   private:
    static constexpr std::size_t kFew = 64;
    std::size_t size_;
    std::array<std::uint8_t, kFew> few_{};
    std::uint8_t* all_ = few_.data();
    std::vector<std::uint8_t> many_;
  };

  bool start_row(const std::int64_t* point, const std::int64_t* labels);
  bool enter_row(const std::int64_t* point, const std::int64_t* labels);
  std::uint64_t whole_row(const Run& run);
  std::uint64_t within_reach(std::uint64_t n) const;
  void expect_next(const std::int64_t* labels);
  bool wrap_next();
  bool expect_after(const std::int64_t* point, const std::int64_t* labels);
  void set_steps(const Block& block);
  Block* only_block(int level);
  bool start_cruise(int level, const std::int64_t* point, const std::int64_t* labels);
  void expect_in_cruise(const std::int64_t* point, const std::int64_t* labels);
  void expect_behind(const std::int64_t* labels);
  void stop_cruise();
  bool start_convoy(int level, const std::int64_t* point, const std::int64_t* labels);
  void stop_convoy(bool complete);
  void stop_all(bool end);
  void add_run(const Run& run);
  std::size_t bytes_of_blocks() const;
  /// Of the innermost row while it cruises, alone or in a convoy.
  std::int64_t row_extent() const {
    return cruise_ ? cruise_->extent(grow_.layout) : rare_->convoy->extent(grow_.layout);
  }
  std::int64_t& row_count() { return cruise_ ? cruise_->count(grow_.layout) : rare_->convoy->count(grow_.layout); }
  const Block& row_block() const { return cruise_ ? cruise_->block() : rare_->convoy->block(); }
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
  std::int64_t most() const { return cruise_ || in_convoy() ? row_extent() : std::numeric_limits<std::int64_t>::max(); }
  void flush(int level);
  bool flush_as_predicted(int level);
  bool offer(int level, std::span<const Block> rows, std::int64_t at);
  bool offer_predicted(int level, const Row& row, Taken& taken);
  void offer_other(int level, const Row& row, Taken& taken);
  template <typename Attempt>
  bool offer_by(int level, Taken& taken, const Attempt& attempt);
  std::size_t next_to_break(int level, const Row& row, Taken& taken, std::size_t count, bool alone,
                            std::size_t from) const;
  bool offer_behind_break(int level, const Row& row, Taken& taken);
  bool repeat_break(int level, std::size_t index, const Row& row, Taken& taken);
  bool end_break(int level, std::size_t index, const Row& row, Taken& taken);
  void accuse(const Row& row, int level);
  void check_size(int level);
  void note_break() {
    if (breaks_ != kManyBreaks) ++breaks_;
  }
  void sync_points(int level);

  /// What most streams do not need.
  struct Rare {
    std::vector<std::uint32_t> blame;
    // Of innermost blocks that take turns.
    static constexpr std::size_t kMostTurns = 16;
    std::array<std::uint8_t, kMostTurns> order{};  // blocks
    std::uint8_t turns = 0;                        // how many; 0: it is not known that they do
    std::uint8_t turn = 0;                         // whose it is, in that order
    std::uint32_t streak = 0;                      // of points that were not expected, but predicted by some block
    std::int64_t last = 0;                         // coordinate of the last of these
    // Of convoys.
    std::unique_ptr<Convoy> convoy;
    std::vector<std::uint32_t> blame_by_row;  // of the convoy
    std::vector<std::vector<std::uint32_t>>
        learned;             // by level: `blame` when its row began, if that may be like others
    std::uint32_t wait = 0;  // rows that are not looked at, since the last one failed
    std::uint32_t failures = 0;
    /// Accounted. A convoy is not, but what would be there instead of it.
    static constexpr std::size_t kBytes = 56;
  };
  bool take_turns() const { return rare_ && rare_->turns != 0; }
  bool may_take_turns(std::int64_t before);
  bool find_turns();
  bool in_turn(const std::int64_t* point, const std::int64_t* labels);
  template <typename Label>
  bool takes_turn(std::int64_t at, const Label& label);
  std::uint64_t turns_in(const Run& run);
  bool in_last_row(const std::int64_t* point) const;
  Rare& rare() {
    if (!rare_) rare_ = std::make_unique<Rare>();
    return *rare_;
  }
  // Number 0 is the innermost coordinate, the others are labels.
  std::int64_t& next(int number) const { return state_[2 * number]; }      // what is expected
  std::int64_t& step(int number) const { return state_[2 * number + 1]; }  // to what comes after that
  /// One by one: vectors of numbers that were just written one by one would have to wait for these.
  static void set(std::int64_t& number, std::int64_t value) { *static_cast<volatile std::int64_t*>(&number) = value; }
  std::int64_t* last() const { return state_ + 2 * (1 + grow_.layout.outputs); }  // the last point

  // In the order in which expected() needs them.
  std::uint32_t remaining_ = 0;     // of what was granted
  std::uint32_t granted_ = 0;       // so many points may come before more has to be looked at; 0: nothing is expected
  std::int64_t* active_ = nullptr;  // what counts the points that were as expected; see settle()
  std::unique_ptr<Cruise> cruise_;
  std::int64_t* state_;  // what is expected and the last point: near_ if there is room
  std::int64_t near_[kNear] = {};
  std::unique_ptr<std::int64_t[]> far_;
  Grow grow_;
  std::uint32_t max_pieces_;
  bool full_ = false;
  bool started_ = false;      // there was a point
  bool modular_ : 1 = false;  // some of the expected labels are
  bool convoys_ : 1 = true;
  bool cruises_ : 1 = true;
  /// At most so many blocks have a break; the greatest number: that is not known.
  std::uint8_t breaks_ = 0;
  std::uint64_t max_intermediate_ = 0;
  std::vector<Level> levels_;
  std::unique_ptr<Rare> rare_;
};

[[gnu::always_inline]] inline bool Exact::expected_in_row(const std::int64_t* point, const std::int64_t* labels,
                                                          int dimensions, int outputs) {
  if (remaining_ == 0) return false;
  const int inner = dimensions - 1;
  std::int64_t* const state = dimensions + 2 * (1 + outputs) <= kNear ? near_ : state_;
  const std::int64_t* const last = state + 2 * (1 + outputs);
  std::int64_t other = point[inner] ^ state[0];
  for_all(
      View::at(inner), [&](std::size_t k) __attribute__((always_inline)) { other |= point[k] ^ last[k]; });
  for_all(
      View::at(outputs), [&](std::size_t o)
                             __attribute__((always_inline)) { other |= labels[o] ^ state[2 * (1 + o)]; });
  if (other != 0) return false;
  set(state[0], wrapping_add(point[inner], state[1]));
  for_all(
      View::at(outputs), [&](std::size_t o) __attribute__((always_inline)) {
        set(state[2 * (1 + o)], wrapping_add(labels[o], state[2 * (1 + o) + 1]));
      });
  if (--remaining_ == 0) [[unlikely]]
    expect_more();
  return true;
}

}  // namespace loopfold::fold::adaptive
