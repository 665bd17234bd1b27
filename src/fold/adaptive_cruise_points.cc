#include "fold/adaptive_cruise_points.h"

#include <algorithm>

namespace loopfold::fold::adaptive {

/// What is known before the first point. False: numbers are large.
bool Odometer::begin(const std::int64_t* last) {
  const int inner = layout_.dimensions - 1;
  const Block& block = *cruise_.block_;
  const std::int64_t* const along = block.words.get();
  const std::int64_t* const own = cruise_.functions(layout_, inner - 1);
  const std::int64_t count = cruise_.words_[View::at(inner)];
  for (int q = cruise_.level_ + 1; q <= inner; ++q) {
    const std::int64_t* const around = cruise_.functions(layout_, q - 1);
    starts_[View::at(q)] = around[layout_.start(q)];
    extents_[View::at(q)] = around[layout_.extent(q)];
  }
  const std::int64_t extent = extents_[View::at(inner)];
  bool small = extent < kLargeExtent && (extent == 0 || (block.knows(inner) && is_below(along[0], kLargeStep)));
  for (int k = 0; k <= inner; ++k) small = small && is_below(last[k], kLargeNumber);
  Move& move = moves_[View::at(inner)];
  move.stride = extent == 0 ? 0 : along[0];
  for (int o = 0; o < layout_.outputs; ++o) {
    const std::int64_t step = extent == 0 ? 0 : along[1 + o];
    small = small && is_below(step, kLargeStep) && is_below(own[o], kLargeNumber);
    if (!small) return false;
    move.labels[View::at(o)] = step;
    labels_[View::at(o)] = own[o] + step * count;
    end_of_row_[View::at(o)] = step * extent;
  }
  known_ = inner;
  return small;
}

/// What happens when dimension q goes on, and those between it and the last one that is known. False: rows change, or
/// numbers are large.
bool Odometer::find_move(int q) {
  const Block& block = *cruise_.block_;
  while (known_ > q) {
    const int p = known_ - 1;
    if (!block.knows(p)) return false;
    const std::int64_t* const part = block.words.get() + layout_.part(p);
    for (int f = layout_.outputs; f < layout_.functions(p); ++f)
      if (part[1 + f] != 0) return false;
    // Of the level, rows have no end.
    const std::int64_t extent = p > cruise_.level_ ? extents_[View::at(p)] : 0;
    if (!is_below(part[0], kLargeStep) || extent >= kLargeExtent) return false;
    Move& move = moves_[View::at(p)];
    move.stride = part[0];
    for (int o = 0; o < layout_.outputs; ++o) {
      if (!is_below(part[1 + o], kLargeStep)) return false;
      const std::int64_t grown = part[1 + o] - end_of_row_[View::at(o)];
      if (!is_below(grown, kLargeMove)) return false;
      move.labels[View::at(o)] = grown;
    }
    for (int o = 0; o < layout_.outputs; ++o) end_of_row_[View::at(o)] += part[1 + o] * extent;
    known_ = p;
  }
  return true;
}

/// The counts are those of a point with these labels, and all rows on the way there were like the one before: the
/// functions follow.
void Cruise::move_functions(const Layout& layout, const std::int64_t* labels) {
  const int inner = layout.dimensions - 1;
  const std::int64_t* behind = labels;
  for (int q = inner - 1; q >= level_; --q) {
    const std::int64_t* const part = block_->words.get() + layout.part(q + 1);
    const std::int64_t count = words_[View::at(q + 1)];
    std::int64_t* const own = functions(layout, q);
    for (int o = 0; o < layout.outputs; ++o)
      own[o] = count == 0 ? behind[o] : wrapping_add(behind[o], -part[1 + o], static_cast<std::uint64_t>(count));
    behind = own;
  }
  easy_ = 0;
}

}  // namespace loopfold::fold::adaptive
