// How one block grows by one row: continuing, a second row, breaks, moduli, periods.
//
// A block of level k grows along dimension k by rows, which are blocks of level k+1. With two rows it has a step (of
// the coordinate, and of every function of the row), and predicts every further row.
//
// A row that is not the predicted one but could be a row of the block otherwise (its own coefficients agree) is a
// *break*: the rows so far are put aside (Block::before), and the block goes on behind the break with the same step.
// What the break was is seen later:
// - the very first rows were two by accident (a peeled iteration): the second and third step agree, so the first row is
//   left alone and the others become the block (swap);
// - the break repeats, in labels only, and all labels stay in a window of the size of the jump: they are modular;
// - the break repeats at the same distance: rows of different kinds take turns (a checkerboard, i % 4 != 3). They
//   become several blocks with a larger stride;
// - none of these: what is before the break is a block for good.
// All of this is exact: every row is compared with what the block says about it, in 128 bits.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "fold/adaptive_array.h"
#include "fold/adaptive_block.h"
#include "fold/run.h"

namespace loopfold::fold::adaptive {

/// A block that is offered to blocks of `level` - 1, with the coordinate along that dimension that it is at. (A block
/// of that level with one row can stand for its row, too.)
struct Row {
  const Block& block;
  int level;
  std::int64_t at;
};

/// Coordinates and functions along one dimension: from one row to the next.
struct Step {
  std::int64_t stride = 0;
  SmallArray<std::int64_t, 16> steps;
  friend bool operator==(const Step&, const Step&) = default;
};

class Grow {
 public:
  Layout layout;

  /// A block of one row.
  Block block_of(const Row& row, int level) const;
  /// Whether `row` is the next one that the block predicts.
  bool continues(const Block& block, const Row& row, int level) const {
    return !block.closed && has_step(block, level) && is_at_next(block, row, level) && is_next(block, row, level);
  }
  void absorb(Block& block, const Row& row, int level) const;
  /// Absorbs if the block has one row and the two can be rows of one block.
  bool try_second_row(Block& block, const Row& row, int level) const;
  /// Absorbs if the row is as predicted modulo something that was a modulus of this output before.
  bool try_known_modulus(Block& block, const Row& row, int level) const;
  /// Whether the row can come behind a break.
  bool can_break(const Block& block, const Row& row, int level) const;
  void start_break(Block& block, const Row& row, int level) const;
  /// Whether the block has a break and the row can be a row of it.
  bool can_repeat(const Block& block, const Row& row, int level) const;
  /// Whether the step from the block's last row to this one is that of its break.
  bool repeats_break(const Block& block, const Row& row, int level) const;
  bool try_swap(Block& block, const Row& row, int level) const;
  /// If labels jump again as they did at the break, or by a multiple: they are modular. The row is absorbed, or there
  /// is a break before it because of other outputs.
  bool try_modular(Block& block, const Row& row, int level);
  /// The blocks that take turns, the first of them with `row`; none if they do not.
  std::vector<Block> try_periodic(const Block& block, const Row& row, int level, std::int64_t longest) const;
  /// Puts rows that came before all of these, at the end of a period, in front of the blocks that take turns.
  bool try_prepend(std::vector<Block>& turns, const Block& partial, int level) const;
  /// Takes the rows before the break away.
  Block take_before(Block& block, int level) const;

  std::int64_t rows(const Block& block, int level) const { return view(block, level).extent(level) + 1; }
  bool has_step(const Block& block, int level) const { return block.knows(level) || block.before != nullptr; }
  bool knows_moduli() const { return moduli_ != nullptr; }
  /// The coordinate of the last row.
  std::int64_t last_row_at(const Block& block, int level) const {
    const View own = view(block, level);
    return wrapping_add(own.start(level), own.stride(level), static_cast<std::uint64_t>(own.extent(level)));
  }
  Wide last_at(const Block& block, int level) const { return last_row_at(block, level); }
  /// Whether the coordinate is not before the one of the next row.
  bool due(const Block& block, const Row& row, int level) const;
  View view(const Block& block, int level) const { return {layout, block, level}; }
  /// Whether geometry is as predicted, and which outputs are not: 1 in `wrong`, which was 0. For finding who is to
  /// blame.
  bool same_geometry(const Block& block, const Row& row, int level, std::uint8_t* wrong) const;

 private:
  using Moduli = std::vector<std::pair<int, std::int64_t>>;  // by output

  bool is_at_next(const Block& block, const Row& row, int level) const {
    const View own = view(block, level);
    return row.at == own.start(level) + static_cast<Wide>(own.extent(level) + 1) * *step_words(block, level);
  }
  /// Its stride, then the steps of functions, whether it is known that there is a second row or not.
  const std::int64_t* step_words(const Block& block, int level) const { return block.words.get() + layout.part(level); }
  bool is_next(const Block& block, const Row& row, int level) const;
  bool find_moduli(const Block& block, const Row& row, int level, Moduli& found) const;
  const std::int64_t* values(const Row& row) const { return row.block.words.get() + layout.values(row.level); }
  std::int64_t modulus(const Block& a, const Block& b, int function) const;
  /// Whether the coefficients of the dimensions inside agree where both are known.
  bool same_inside(const Block& block, const Row& row, int level) const {
    return level == layout.dimensions - 1 || compare_inside(block, row, level);
  }
  bool compare_inside(const Block& block, const Row& row, int level) const;
  /// Whether modular labels of both stay in one window each.
  bool windows_join(const Block& block, const Row& row, int level) const {
    return (!block.windows && !row.block.windows) || compare_windows(block, row, level);
  }
  bool compare_windows(const Block& block, const Row& row, int level) const;
  bool may_be_fractional(const Block& block, const Block& row, int level) const;
  bool step_to(const Block& block, const Row& row, int level, Step& into) const;
  bool is_whole(const Step& step, const Row& row, int level) const;
  bool set_step(Block& block, const Step& step, int level) const;
  Step step_of(const Block& block, int level) const;
  bool break_of(const Block& block, int level, Step& into) const;
  Window window(const Row& row, int output, int level) const;
  void join_windows(Block& block, const Row& row, int level) const;
  void set_modulus(Block& block, int output, std::int64_t modulus, int level) const;
  bool representable_with(const Block& block, const Row& row, int level) const;

  std::unique_ptr<std::vector<std::int64_t>> moduli_;  // by output: one that was seen
};

}  // namespace loopfold::fold::adaptive
