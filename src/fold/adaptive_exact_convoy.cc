// Exact folding in convoys (adaptive_convoy.h): when one begins, and how it is as if there were none.
//
// A row of a level in which all open blocks predict the next one is folded once more, to learn who is blamed in it;
// from the next row on they are walked. When a row stops in the middle, its points so far are folded; after that, more
// rows go by before the next attempt, and more again if that fails, too.
#include <algorithm>

#include "fold/adaptive_exact.h"

namespace loopfold::fold::adaptive {

/// All open blocks of this level have absorbed the last row, and the row before was folded to the same: whether the
/// point starts the row that they predict.
bool Exact::start_convoy(int level, const std::int64_t* point, const std::int64_t* labels) {
  if (!rare_ || !convoys_) return false;
  Rare& rare = *rare_;
  const std::size_t number = View::at(level);
  if (number < rare.learned.size())
    std::for_each(rare.learned.begin() + level + 1, rare.learned.end(), [](auto& inside) { inside.clear(); });
  if (levels_[number].size() < 2 || rare.blame.empty() || grow_.knows_moduli()) return false;
  if (rare.wait != 0) {
    --rare.wait;
    rare.learned.clear();
    return false;
  }
  const bool possible = Convoy::is_possible(grow_.layout, levels_[number], level, last());
  if (possible && number < rare.learned.size() && !rare.learned[number].empty()) {
    rare.convoy = Convoy::start(grow_.layout, levels_[number], level, last(), point, labels);
    if (rare.convoy) {
      rare.blame_by_row = rare.blame;
      for (std::size_t i = 0; i < rare.blame.size(); ++i) rare.blame_by_row[i] -= rare.learned[number][i];
      rare.learned[number].clear();
      set_steps(row_block());
      return true;
    }
  }
  if (possible) {
    rare.learned.resize(levels_.size());
    rare.learned[number] = rare.blame;
  } else if (number < rare.learned.size()) {
    rare.learned[number].clear();
  }
  return false;
}

/// The levels become what they would be without it. `complete`: the row is, and no point of it can come any more.
void Exact::stop_convoy(bool complete) {
  constexpr std::uint32_t kMostFailures = 10;
  const Layout& layout = grow_.layout;
  Rare& rare = *rare_;
  const std::unique_ptr<Convoy> convoy = std::move(rare.convoy);
  convoy->stop(layout, complete);
  for (std::size_t i = 0; i < rare.blame.size(); ++i) rare.blame[i] += rare.blame_by_row[i] * convoy->rows();
  rare.failures /= 2;
  if (complete) return;
  rare.failures = std::min(2 * rare.failures + 1, kMostFailures);
  rare.wait = 2u << rare.failures;
  const std::size_t level = View::at(convoy->level());
  const std::vector<std::int64_t> prefix(last(), last() + level);
  last()[level] = convoy->row_before(layout);
  convoy->replay(layout, convoy->points(layout), prefix, [&](const Run& run) { add_run(run); });
}

/// All is in the levels again. With `end`, no more points will come. (A row that is given out again may be another
/// convoy, of a level inside.)
void Exact::stop_all(bool end) {
  expect_nothing();
  while (in_convoy()) {
    stop_convoy(end && rare_->convoy->is_complete(grow_.layout));
    expect_nothing();
  }
  if (cruise_) stop_cruise();
}

/// Of points that cannot be too much.
void Exact::add_run(const Run& run) {
  const Shape shape{static_cast<std::uint16_t>(grow_.layout.dimensions),
                    static_cast<std::uint16_t>(grow_.layout.outputs), 0, false};
  add_in_parts(
      shape, run, 0, [this](const std::int64_t* point, const std::int64_t* labels) { add(point, labels); },
      [this](const Run& rest) { return expected_run(rest); });
}

/// In a convoy, those are added that would be there without it: the row that it is in is folded for that.
std::size_t Exact::bytes_of_blocks() const {
  const Layout& layout = grow_.layout;
  std::size_t bytes = cruise_ ? cruise_->bytes(layout) : 0;
  for (std::size_t level = 0; level < levels_.size(); ++level)
    for (const Block& block : levels_[level]) bytes += bytes_of(layout, block, static_cast<int>(level));
  if (!in_convoy()) return bytes;
  Shape shape;
  shape.dimensions = static_cast<std::uint16_t>(layout.dimensions);
  shape.shared = static_cast<std::uint16_t>(layout.shared);
  Exact row(shape, layout.select, max_pieces_);
  Convoy& convoy = *rare_->convoy;
  convoy.replay(layout, convoy.points(layout) + granted_ - remaining_, {last(), View::at(convoy.level())},
                [&](const Run& run) { row.add_run(run); });
  return bytes + row.bytes_of_blocks();
}

}  // namespace loopfold::fold::adaptive
