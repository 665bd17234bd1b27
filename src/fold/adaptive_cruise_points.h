// Cruising over several short rows at once.
//
// Where all rows of a block begin at the same place and are equally long, as in a box, walking along it is what an
// odometer does: the innermost coordinate goes on; at the end of its row it begins again and the one before it goes on,
// and so on outwards. What each label grows by then depends on nothing but the dimension that went on, since the steps
// of labels are constants. These numbers are worked out when a dimension goes on for the first time; from then on a
// point is one comparison per number, with no look at the functions of the cruise. These are brought up to date in the
// end.
//
// Exactly what Cruise::next_row() and Exact::expected() would do, point by point. Left to them: dimensions along which
// rows change (a triangle's), and large numbers.
#pragma once

#include <array>
#include <cstdint>

#include "fold/adaptive_cruise.h"

namespace loopfold::fold::adaptive {

/// The next points of a stream, and where their labels are.
struct NextPoints {
  const std::int64_t* points = nullptr;
  const std::int64_t* labels = nullptr;
  std::size_t n = 0;
  std::size_t between = 0;                // numbers from a label of a point to that of the next
  const std::uint16_t* select = nullptr;  // by output: its number among the labels; null: its own
};

class Odometer {
 public:
  static constexpr int kMostDimensions = 8;
  static constexpr int kMostOutputs = 8;

  Odometer(const Layout& layout, Cruise& cruise) : layout_(layout), cruise_(cruise) {}

  /// Adds as many of the first points as are the next ones, and says how many. `last` is the last point, before and
  /// after. The numbers of dimensions and outputs may be constants.
  [[gnu::always_inline]] std::size_t take(const NextPoints& next, std::int64_t* last, int dimensions, int outputs);

  /// The labels at the last point, once take() has added some.
  const std::int64_t* labels() const { return labels_.data(); }

 private:
  // Sums of so many steps of this size, to a number of that size, fit.
  static constexpr std::size_t kMostPoints = 1024;
  static constexpr std::int64_t kLargeNumber = std::int64_t{1} << 59;
  static constexpr std::int64_t kLargeMove = std::int64_t{1} << 48;
  static constexpr std::int64_t kLargeStep = std::int64_t{1} << 40;
  static constexpr std::int64_t kLargeExtent = std::int64_t{1} << 16;

  /// Dimension q goes on by one, and all inside of it begin again.
  struct Move {
    std::int64_t stride = 0;
    std::array<std::int64_t, kMostOutputs> labels;  // what they grow by
  };
  static bool is_below(std::int64_t number, std::int64_t limit) { return number > -limit && number < limit; }
  bool begin(const std::int64_t* last);
  bool find_move(int q);

  const Layout& layout_;
  Cruise& cruise_;
  int known_ = 0;                                        // moves that are known: of this dimension and those inside
  std::array<Move, kMostDimensions> moves_;              // by dimension
  std::array<std::int64_t, kMostDimensions> extents_;    // by dimension inside the level
  std::array<std::int64_t, kMostDimensions> starts_;     // the same
  std::array<std::int64_t, kMostOutputs> labels_;        // at the last point
  std::array<std::int64_t, kMostOutputs> end_of_row_{};  // what they have grown by at the end of rows inside known_
};

inline std::size_t Odometer::take(const NextPoints& next, std::int64_t* last, int dimensions, int outputs) {
  if (dimensions < 2 || dimensions > kMostDimensions || outputs > kMostOutputs || !begin(last)) return 0;
  const std::size_t inner = View::at(dimensions - 1);
  const std::size_t level = View::at(cruise_.level_);
  std::int64_t* const counts = cruise_.words_.get();
  std::array<std::int64_t, kMostDimensions> at;
  std::array<std::int64_t, kMostOutputs> labels = labels_;
  for (std::size_t k = 0; k <= inner; ++k) at[k] = last[k];
  const std::int64_t extent = extents_[inner];
  std::int64_t count = counts[inner];
  const std::int64_t* point = next.points;
  const std::int64_t* label = next.labels;
  const auto is_next = [&](std::size_t q) __attribute__((always_inline)) {
    const Move& move = moves_[q];
    std::int64_t other = point[q] ^ (at[q] + move.stride);
    for (std::size_t k = 0; k < q; ++k) other |= point[k] ^ at[k];
    for (std::size_t k = q + 1; k <= inner; ++k) other |= point[k] ^ starts_[k];
    std::array<std::int64_t, kMostOutputs> then;
    for_all(
        View::at(outputs), [&](std::size_t o) __attribute__((always_inline)) {
          then[o] = labels[o] + move.labels[o];
          other |= label[next.select != nullptr ? next.select[o] : o] ^ then[o];
        });
    if (other != 0) return false;
    for_all(
        View::at(outputs), [&](std::size_t o) __attribute__((always_inline)) { labels[o] = then[o]; });
    return true;
  };
  const std::size_t n = std::min(next.n, kMostPoints);
  std::size_t taken = 0;
  bool rows = false;
  for (; taken < n; ++taken, point += dimensions, label += next.between) {
    if (count < extent) {
      if (!is_next(inner)) break;
      at[inner] = point[inner];
      ++count;
      continue;
    }
    counts[inner] = count;
    std::size_t q = inner - 1;
    while (q > level && counts[q] == extents_[q]) --q;
    if ((static_cast<int>(q) < known_ && !find_move(static_cast<int>(q))) || !is_next(q)) break;
    rows = true;
    ++counts[q];
    at[q] = point[q];
    for (std::size_t k = q + 1; k <= inner; ++k) {
      counts[k] = 0;
      at[k] = point[k];
    }
    count = 0;
    cruise_.points_ += static_cast<std::uint64_t>(extent) + 1;
    cruise_.absorb_rows(layout_, static_cast<int>(q));
  }
  if (taken == 0) return 0;
  counts[inner] = count;
  for (std::size_t k = 0; k <= inner; ++k) last[k] = at[k];
  labels_ = labels;
  if (rows) cruise_.move_functions(layout_, labels.data());
  return taken;
}

}  // namespace loopfold::fold::adaptive
