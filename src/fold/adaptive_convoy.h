// Cruising of several blocks at once: a row of level L that is made of several blocks, again and again.
//
// What scalar loads get of what vector stores wrote, or what two of four iterations use, lies on several lattices. Such
// a row of level L is several blocks, and finding that out takes breaks, periods and trials, each time anew. But once
// all open blocks of level L have taken the last row, each predicts its part of the next one; and if all of them move
// by one and the same step, and have constant extents, the next row is the last one moved along. What folding does
// inside of a row depends on differences only, as long as numbers are small, so it would do the same again: the row
// need not be folded. A Convoy walks along the predictions of all blocks, in the order in which their innermost rows
// come, with a Cruise for each. What is counted while a row is folded (who is to blame for blocks) is as much as in the
// row before.
//
// A row that stops in the middle is given out again, point by point, to be folded as it would have been (Exact does
// that). So nothing is lost and nothing is approximated; what was walked in vain costs its folding, and Exact waits
// longer each time before it tries again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "fold/adaptive_block.h"
#include "fold/adaptive_cruise.h"
#include "fold/adaptive_walk.h"
#include "fold/run.h"

namespace loopfold::fold::adaptive {

class Convoy {
 public:
  static constexpr std::size_t kMostBlocks = 16;

  /// Whether the next row of a level would be the last one, which ends at `last`, moved along, if all open blocks
  /// predict it.
  static bool is_possible(const Layout& layout, const std::vector<Block>& blocks, int level, const std::int64_t* last);
  /// Of blocks for which it is, which stay where they are, beginning with this point. Null if that is not the first of
  /// the next row, or if innermost rows overlap.
  static std::unique_ptr<Convoy> start(const Layout& layout, std::vector<Block>& blocks, int level,
                                       const std::int64_t* last, const std::int64_t* point, const std::int64_t* labels);

  int level() const { return level_; }
  /// `point` comes after the last one. True if it is the first of the next innermost row.
  bool next_row(const Layout& layout, const std::int64_t* point, const std::int64_t* labels);
  /// If a run is all of the next innermost row, and that is easy, takes it; `last` is then its last point. The numbers
  /// of dimensions and outputs may be constants.
  [[gnu::always_inline]] bool take_row(const Run& run, std::int64_t* last, int dimensions, int outputs);

  /// Of the innermost row that it is in.
  const Block& block() const { return members_[now_].cruise.block(); }
  std::int64_t& count(const Layout& layout) { return members_[now_].cruise.count(layout); }
  std::int64_t extent(const Layout& layout) const { return members_[now_].cruise.extent(layout); }

  /// Whether the row of its level is complete, and not only so far.
  bool is_complete(const Layout& layout) {
    return at_ == order_.size() && count(layout) == members_[now_].cruise.extent(layout);
  }
  /// Points of the row that it is in, so far.
  std::uint64_t points(const Layout& layout);
  /// The blocks take what is complete; with `all`, the row that it is in is.
  void stop(const Layout& layout, bool all);
  /// Rows that were complete, after stop().
  std::uint32_t rows() const { return rows_; }
  /// The first points of the row that it is in, in runs; `prefix` are the coordinates before its level.
  void replay(const Layout& layout, std::uint64_t points, std::span<const std::int64_t> prefix,
              const std::function<void(const Run& run)>& each) const;
  /// The coordinate of the row before that.
  std::int64_t row_before(const Layout& layout) const {
    return members_[now_].last[View::at(level_)] - block().words[View::at(layout.part(level_))];
  }

 private:
  struct Member {
    Cruise cruise;
    std::unique_ptr<std::int64_t[]> last;  // point, but for its last coordinate
    bool begun = false;
    std::uint32_t row = 0;  // in which it was last, if it has begun
  };
  static constexpr std::size_t kMostRows = 256;        // innermost ones, of a row
  static constexpr std::uint32_t kLongest = 1u << 16;  // rows, so that numbers stay small
  static constexpr std::uint32_t kNone = 0xffffffff;

  explicit Convoy(int level) : level_(level) {}
  static bool are_small(const Layout& layout, const Block& block, int level);
  static double rows_of(const Layout& layout, const std::vector<Block>& blocks, int level, const std::int64_t* last);
  bool find_order(const Layout& layout, const std::int64_t* last);
  /// Rows of the members, by number, in blocks of their own.
  template <class Number>
  std::vector<Walker> walk_rows(const Layout& layout, std::vector<Block>& rows, std::span<const std::int64_t> prefix,
                                const Number& number) const;

  int level_;
  std::uint32_t now_ = kNone;        // member
  std::uint32_t rows_ = 0;           // of the level: complete
  std::size_t at_ = 0;               // innermost rows of the row that have begun
  std::vector<std::uint8_t> order_;  // by innermost row of a row: its member
  std::vector<Member> members_;
};

inline bool Convoy::take_row(const Run& run, std::int64_t* last, int dimensions, int outputs) {
  if (at_ == order_.size() || !members_[now_].cruise.is_at_end(dimensions, outputs)) return false;
  const std::uint8_t next = order_[at_];
  Member& member = members_[next];
  if (!member.begun || !member.cruise.take_row(run, member.last.get(), dimensions, outputs)) return false;
  now_ = next;
  ++at_;
  member.row = rows_;
  for_all(
      View::at(dimensions), [&](std::size_t k) __attribute__((always_inline)) { last[k] = member.last[k]; });
  return true;
}

}  // namespace loopfold::fold::adaptive
