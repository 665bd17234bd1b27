// Blocks: what adaptive folding grows, dimension by dimension, from points to pieces.
//
// A block of level k has folded dimensions k .. D-1; its coordinates before k are the same at all its points. A point
// is a block of level D, a final piece a block of level 0. Inside a block everything is a function of *counts*: t_q =
// 0, 1, 2 ... is the number of the iteration along dimension q within its row, whatever the coordinates are. So
//   coordinate q     = start_q(t_k .. t_{q-1}) + stride_q * t_q,   0 <= t_q <= extent_q(t_k .. t_{q-1}),
//   label o          = label_o(t_k .. t_{D-1}),
// and start_q, extent_q and label_o are affine. Written this way, a dimension that never had a second iteration
// contributes nothing (t_q is always 0): its coefficients are *unknown* for all functions at once, which is one bit,
// and merging a block that does not know them with one that does is copying them. Any slope and any stride is fine;
// the way back to coordinates gives fractions where a stride is larger than 1 (Range::divisor, Output::divisor), which
// representable() tells to fit.
//
// A label may be modular: then it is congruent to its affine function modulo m, and all labels of the block lie in a
// window [low, high] that is shorter than m, which determines them.
//
// Layout. All numbers of a block are in one array: for q = D-1 down to k a *part* (stride_q, then the step along t_q of
// every function that can depend on t_q), then the values at t = 0 of all functions: labels, then (start, extent) of
// dimensions D-1 .. k. With this order the functions of level k+1 are a prefix of those of level k, and the parts of a
// row are a prefix of the parts of the chain of rows that absorbs it.
//
// Exact: a block describes its points and labels completely. Arithmetic is in 128 bits and checked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "fold/adaptive_array.h"
#include "fold/fold.h"
#include "support/wide.h"

namespace loopfold::fold::adaptive {

inline bool fits(Wide value) { return value == static_cast<std::int64_t>(value); }

inline std::int64_t distance(std::int64_t to, std::int64_t from) {
  std::int64_t difference = 0;
  return __builtin_sub_overflow(to, from, &difference) ? saturated(static_cast<Wide>(to) - from) : difference;
}

/// Of a block.
constexpr std::size_t kMostDimensions = 16;

/// Where the numbers of a block are.
struct Layout {
  int dimensions = 0;
  int outputs = 0;                    // that are folded exactly
  int shared = 0;                     // as in Shape, for the distances
  std::vector<std::uint16_t> select;  // by output here: its number in the stream

  /// The dimension that an output has a distance along; -1 if none.
  int distance_dimension(int output) const {
    const int number = select[static_cast<std::size_t>(output)];
    return number < shared ? number : -1;
  }

  /// Functions that can depend on t_q, of the labels and the dimensions inside q.
  int functions(int q) const { return outputs + 2 * (dimensions - 1 - q); }
  int start(int q) const { return functions(q); }  // as an index among functions
  int extent(int q) const { return functions(q) + 1; }
  /// Of the part of t_q: its stride; the steps follow it.
  int part(int q) const {
    const int inside = dimensions - 1 - q;
    return inside * (1 + outputs) + inside * (inside - 1);
  }
  int values(int level) const { return part(level - 1); }
  int words(int level) const { return values(level) + functions(level - 1); }
};

/// Of a modular label; modulus 0 if it is not.
struct Window {
  std::int64_t modulus = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t distance_low = 0;
  std::int64_t distance_high = 0;

  void include(const Window& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
    distance_low = std::min(distance_low, other.distance_low);
    distance_high = std::max(distance_high, other.distance_high);
  }
};

struct Block {
  std::unique_ptr<std::int64_t[]> words;
  std::uint64_t points = 0;
  std::uint32_t known = 0;                       // bit q: some row along dimension q has more than one iteration
  bool closed = false;                           // will not grow any more
  std::unique_ptr<std::vector<Window>> windows;  // by output, if one is modular
  std::unique_ptr<Block> before;                 // the rows before a break, in the same steps; see adaptive_exact.cc

  bool knows(int q) const { return (known >> q & 1) != 0; }
  std::int64_t modulus(int output) const { return windows ? (*windows)[static_cast<std::size_t>(output)].modulus : 0; }
};

/// One affine function of counts, with room for sums of products.
struct Function {
  Wide constant = 0;
  FewNumbers<Wide, kMostDimensions> steps;  // by dimension; 0 before the level
};

/// A block and how to read it.
struct View {
  const Layout& layout;
  const Block& block;
  int level;

  const std::int64_t* values() const { return block.words.get() + layout.values(level); }
  std::int64_t stride(int q) const { return block.knows(q) ? block.words[at(layout.part(q))] : 1; }
  /// The step of a function along t_q; 0 if it is not known.
  std::int64_t step(int q, int function) const {
    return block.knows(q) ? block.words[at(layout.part(q) + 1 + function)] : 0;
  }
  std::int64_t start(int q) const { return values()[layout.start(q)]; }
  std::int64_t extent(int q) const { return values()[layout.extent(q)]; }

  /// The value of a function of rows at row t, which there is: it fits.
  std::int64_t at_row(int function, std::int64_t t) const {
    return static_cast<std::int64_t>(values()[function] + static_cast<Wide>(step(level, function)) * t);
  }

  Function function(int index) const;
  Function coordinate(int q) const;       // as a function of counts up to t_q
  Function last_coordinate(int q) const;  // at the end of the row: of counts before t_q

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
};

/// A block and the coordinates before its level, as long as both are there.
struct Placed {
  View view;
  std::span<const std::int64_t> prefix;
};

inline std::int64_t* values_of(const Layout& layout, Block& block, int level) {
  return block.words.get() + layout.values(level);
}

/// A copy, without `before`.
Block copy_of(const Layout& layout, const Block& block, int level);

/// Smallest and largest value over the block; false if that does not fit into 64 bits (`low`, `high` are then cut).
bool extremes(const View& view, const Function& function, std::int64_t& low, std::int64_t& high);

/// Smallest and largest label, and distance where its dimension is part of the block.
Window window_of(const View& view, int output);

/// The function in coordinates instead of counts, times the least positive number that makes all coefficients (of
/// dimensions level .. D-1; 0 before) and the constant integers: the divisor. False if that does not fit.
bool in_coordinates(const View& view, Function function, Affine& into, std::int64_t& divisor);

/// Whether all numbers fit when it is written in coordinates.
bool representable(const View& view);

/// The number of points with t_level = 0 .. rows - 1.
std::uint64_t count_points(const View& view, std::int64_t rows);

/// Row number t of a block of `level` as a block of that level with one row.
Block row_of(const View& view, std::int64_t t);

/// Forgets the coefficients of dimensions that have one iteration in all rows.
void forget_degenerate(const Layout& layout, Block& block, int level);

/// A block of level 0 as a piece of a stream with so many outputs; those that are not folded here are left empty.
Piece piece_of(const View& view, std::size_t outputs);

std::size_t bytes_of(const Layout& layout, const Block& block, int level);

/// Of a block of a level whose last row is at this coordinate: whether the block cannot predict a row any more, since
/// the next one of it would have come before that. Rows come in the order of their coordinates.
bool is_behind(const Layout& layout, const Block& block, int level, std::int64_t last);

}  // namespace loopfold::fold::adaptive
