// Exact folding, streaming.
//
// Level k holds the blocks that grow along dimension k; all have the coordinates before k of the last point. When a
// point arrives whose first new coordinate is number c, the rows along all dimensions inside c are complete: from the
// inside out, the blocks of level D-1 .. c+1 are offered as rows to the level outside theirs. The point itself is a row
// for the innermost level. At the end, the blocks of level 0 are the pieces.
//
// A row goes to the first of these that works (adaptive_grow.h):
// 1. a block that predicts it;
// 2. a block whose break it repeats: a swap, a modulus, a period;
// 3. a block of one row, one with the same known dimensions first;
// 4. a block that predicted otherwise, by a multiple of a modulus that is known already;
// 5. a block that predicted otherwise: a break; if it has one already, what is before that is closed. Blocks that grew
//    last are asked first;
// 6. none: it is a block of its own.
// All rows at one coordinate are tried for 1 before any is tried for the rest, and a block takes one row per
// coordinate.
//
// The next point is usually the predicted one of the innermost block that grew last: a compare and an add. Or the
// innermost blocks take turns: then it is that of the block that grew longest ago (adaptive_expect.cc). Once a level
// has a single block and this predicts the next row, rows are not even built (adaptive_cruise.h). What is expected is
// in adaptive_expect.cc.
//
// A level with more than max_pieces blocks (before and behind a break are two) is too much: none of them can vanish
// any more, so there would be as many pieces. Who made them is counted all along: a row whose geometry was as predicted
// accuses the outputs that were not, any other the geometry.
//
// Memory: D levels of at most 3 * max_pieces blocks, of O(D * (D + outputs)) numbers each; one block per level where
// the stream is regular.
#include "fold/adaptive_exact.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace loopfold::fold::adaptive {

namespace {

/// A point as a row, which is its labels: they are not copied, and nobody changes them.
struct PointRow {
  explicit PointRow(const std::int64_t* labels) {
    block.words.reset(const_cast<std::int64_t*>(labels));
    block.points = 1;
  }
  ~PointRow() { static_cast<void>(block.words.release()); }
  PointRow(const PointRow&) = delete;
  PointRow& operator=(const PointRow&) = delete;

  Block block;
};

}  // namespace

Exact::Exact(Shape shape, std::vector<std::uint16_t> select, std::uint32_t max_pieces)
    : state_(near_), max_pieces_(max_pieces) {
  if (const std::size_t numbers = shape.dimensions + 2 * (1 + select.size()); numbers > kNear) {
    far_ = std::make_unique<std::int64_t[]>(numbers);
    state_ = far_.get();
  }
  grow_.layout.dimensions = shape.dimensions;
  grow_.layout.outputs = static_cast<int>(select.size());
  grow_.layout.shared = shape.shared;
  grow_.layout.select = std::move(select);
  levels_.resize(shape.dimensions);
}

bool Exact::add_unexpected(const std::int64_t* point, const std::int64_t* labels) {
  const Layout& layout = grow_.layout;
  const int inner = layout.dimensions - 1;
  expect_nothing();
  if (take_turns()) rare_->turns = 0;
  if (cruise_) stop_cruise();
  int changed = 0;
  const std::int64_t before = last()[inner];
  if (started_) {
    while (changed < inner && point[changed] == last()[changed]) ++changed;
    if (in_convoy()) {
      stop_convoy(changed <= rare_->convoy->level() && rare_->convoy->is_complete(layout));
      return add(point, labels);
    }
    for (int level = inner; level > changed; --level) flush(level);
    if (changed < inner && (start_cruise(changed, point, labels) || start_convoy(changed, point, labels))) {
      std::copy_n(point, layout.dimensions, last());
      expect_in_cruise(point, labels);
      return !full_;
    }
  }
  std::copy_n(point, layout.dimensions, last());
  started_ = true;
  const PointRow row(labels);
  const bool predicted = offer(inner, {&row.block, 1}, point[inner]);
  if (!predicted || changed != inner || !may_take_turns(before) || !find_turns()) expect_next(labels);
  return !full_;
}

/// Innermost blocks have grown without counting.
void Exact::sync_points(int level) {
  if (level != grow_.layout.dimensions - 1) return;
  for (Block& block : levels_[View::at(level)])
    for (Block* part : {&block, block.before.get()})
      if (part != nullptr) part->points = static_cast<std::uint64_t>(grow_.rows(*part, level));
}

/// The blocks of a level are complete: they are rows of the level outside.
void Exact::flush(int level) {
  Level& own = levels_[View::at(level)];
  if (own.empty()) return;
  sync_points(level);
  if (flush_as_predicted(level)) return;
  if (std::none_of(own.begin(), own.end(), [](const Block& block) { return block.before != nullptr; })) {
    Level rows;
    rows.swap(own);
    offer(level - 1, rows, last()[level - 1]);
    rows.clear();
    rows.swap(own);  // its memory is of use again
    return;
  }
  std::vector<Block> rows;
  rows.reserve(2 * own.size());
  for (Block& block : own) {
    if (block.before) rows.push_back(grow_.take_before(block, level));
    rows.push_back(std::move(block));
  }
  own.clear();
  offer(level - 1, rows, last()[level - 1]);
}

/// The usual case: one row, and it is the predicted one.
bool Exact::flush_as_predicted(int level) {
  Level& own = levels_[View::at(level)];
  if (own.size() != 1 || own[0].before) return false;
  const Row row{own[0], level, last()[level - 1]};
  for (Block& block : levels_[View::at(level - 1)]) {
    if (!grow_.continues(block, row, level - 1)) continue;
    grow_.absorb(block, row, level - 1);
    own.clear();
    return true;
  }
  return false;
}

/// True if it was one, and predicted.
bool Exact::offer(int level, std::span<const Block> rows, std::int64_t at) {
  Taken taken(levels_[View::at(level)].size());
  if (rows.size() == 1) {
    const Row row{rows[0], level + 1, at};
    if (offer_predicted(level, row, taken)) return true;
    offer_other(level, row, taken);
    check_size(level);
    return false;
  }
  std::vector<const Block*> rest;
  for (const Block& row : rows)
    if (!offer_predicted(level, {row, level + 1, at}, taken)) rest.push_back(&row);
  for (const Block* row : rest) offer_other(level, {*row, level + 1, at}, taken);
  if (!rest.empty()) check_size(level);
  return false;
}

bool Exact::offer_predicted(int level, const Row& row, Taken& taken) {
  std::vector<Block>& blocks = levels_[View::at(level)];
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (taken[i] != 0 || !grow_.continues(blocks[i], row, level)) continue;
    grow_.absorb(blocks[i], row, level);
    taken[i] = 1;
    return true;
  }
  return false;
}

/// Whether some block that has no row of this coordinate yet takes the row.
template <typename Attempt>
bool Exact::offer_by(int level, Taken& taken, const Attempt& attempt) {
  const std::size_t count = levels_[View::at(level)].size();
  for (std::size_t i = 0; i < count; ++i) {
    if (taken[i] != 0 || levels_[View::at(level)][i].closed || !attempt(i)) continue;
    taken[i] = 1;
    return true;
  }
  return false;
}

void Exact::offer_other(int level, const Row& row, Taken& taken) {
  std::vector<Block>& blocks = levels_[View::at(level)];
  const auto by = [&](const auto& attempt) { return offer_by(level, taken, attempt); };
  const std::uint32_t inside = ~std::uint32_t{0} << (level + 1);
  bool breaks = false;
  bool singles = false;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (taken[i] != 0 || blocks[i].closed) continue;
    breaks |= blocks[i].before != nullptr;
    singles |= !grow_.has_step(blocks[i], level);
  }
  if (breaks && by([&](std::size_t i) { return blocks[i].before && repeat_break(level, i, row, taken); })) return;
  bool others = false;  // that know other dimensions
  if (singles && by([&](std::size_t i) {
        const bool same = ((blocks[i].known ^ row.block.known) & inside) == 0;
        others |= !same;
        return same && grow_.try_second_row(blocks[i], row, level);
      }))
    return;
  if (others && by([&](std::size_t i) {
        return ((blocks[i].known ^ row.block.known) & inside) != 0 && grow_.try_second_row(blocks[i], row, level);
      }))
    return;
  if (grow_.knows_moduli() && by([&](std::size_t i) { return grow_.try_known_modulus(blocks[i], row, level); })) return;
  accuse(row, level);
  if (offer_behind_break(level, row, taken)) return;
  blocks.push_back(grow_.block_of(row, level));
  taken.push_back(1);
}

/// The next block that may take a row behind a break: those first that grew last. `from` is the one before it, of
/// `count` blocks; the same number if there is no further one.
std::size_t Exact::next_to_break(int level, const Row& row, Taken& taken, std::size_t count, bool alone,
                                 std::size_t from) const {
  const Level& blocks = levels_[View::at(level)];
  const bool first = from == count;
  const std::int64_t limit = first ? 0 : grow_.last_row_at(blocks[from], level);
  std::size_t best = count;
  std::int64_t best_at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Block& block = blocks[i];
    if (block.closed || taken[i] != 0) continue;
    if (!block.before && (!block.knows(level) || !(alone || grow_.due(block, row, level)))) continue;
    const std::int64_t at = grow_.last_row_at(block, level);
    if (!first && (at > limit || (at == limit && i <= from))) continue;
    if (best != count && at <= best_at) continue;
    best = i;
    best_at = at;
  }
  return best;
}

/// Asks blocks for a break.
bool Exact::offer_behind_break(int level, const Row& row, Taken& taken) {
  std::vector<Block>& blocks = levels_[View::at(level)];
  const std::size_t count = blocks.size();
  const auto open = std::count_if(blocks.begin(), blocks.end(), [](const Block& block) { return !block.closed; });
  std::size_t i = count;
  while ((i = next_to_break(level, row, taken, count, open == 1, i)) != count) {
    if (blocks[i].before) {
      if (!end_break(level, i, row, taken)) continue;
    } else {
      if (!grow_.can_break(blocks[i], row, level)) continue;
      grow_.start_break(blocks[i], row, level);
      note_break();
    }
    taken[i] = 1;
    return true;
  }
  return false;
}

/// The row repeats the break of a block: finds out what the break was.
bool Exact::repeat_break(int level, std::size_t index, const Row& row, Taken& taken) {
  std::vector<Block>& blocks = levels_[View::at(level)];
  if (!grow_.can_repeat(blocks[index], row, level)) return false;
  sync_points(level);
  const bool repeats = grow_.repeats_break(blocks[index], row, level);
  if (repeats && grow_.try_swap(blocks[index], row, level)) return true;
  if (grow_.try_modular(blocks[index], row, level)) return true;
  if (!repeats) return false;
  std::vector<Block> turns = grow_.try_periodic(blocks[index], row, level, max_pieces_ / 2);
  if (turns.empty()) return false;
  for (Block& block : blocks) {
    if (!block.closed || !grow_.try_prepend(turns, block, level)) continue;
    std::swap(block, turns.back());
    turns.pop_back();
    block.closed = false;
    break;
  }
  blocks[index] = std::move(turns[0]);
  for (std::size_t i = 1; i < turns.size(); ++i) {
    blocks.push_back(std::move(turns[i]));
    taken.push_back(1);
  }
  return true;
}

/// A block with a break gets a row that does not fit behind it either: what is before the break is closed.
bool Exact::end_break(int level, std::size_t index, const Row& row, Taken& taken) {
  std::vector<Block>& blocks = levels_[View::at(level)];
  if (!blocks[index].before) return false;
  sync_points(level);
  Block before = grow_.take_before(blocks[index], level);
  before.closed = true;
  blocks.push_back(std::move(before));
  taken.push_back(1);
  if (grow_.try_second_row(blocks[index], row, level)) return true;
  if (!grow_.can_break(blocks[index], row, level)) return false;
  grow_.start_break(blocks[index], row, level);
  note_break();
  return true;
}

/// Why none of the blocks predicted the row: compares it with the newest one.
void Exact::accuse(const Row& row, int level) {
  const std::vector<Block>& blocks = levels_[View::at(level)];
  const auto newest = std::find_if(blocks.rbegin(), blocks.rend(), [](const Block& block) { return !block.closed; });
  if (newest == blocks.rend()) return;
  std::vector<std::uint32_t>& blame = rare().blame;
  if (blame.empty()) blame.resize(View::at(grow_.layout.outputs) + 1);
  SmallArray<std::uint8_t, 16> wrong(View::at(grow_.layout.outputs));
  if (!grow_.same_geometry(*newest, row, level, wrong.data())) {
    ++blame.back();
    return;
  }
  for (std::size_t o = 0; o < wrong.size(); ++o) blame[o] += wrong[o];
}

std::vector<std::uint32_t> Exact::blame() const {
  const bool some = rare_ && !rare_->blame.empty();
  return some ? rare_->blame : std::vector<std::uint32_t>(View::at(grow_.layout.outputs) + 1);
}

void Exact::check_size(int level) {
  std::uint64_t blocks = 0;
  for (const Level& all : levels_) blocks += all.size();
  const std::uint64_t own = levels_[View::at(level)].size();
  const std::uint64_t breaks = breaks_ == kManyBreaks ? blocks : breaks_;
  if (blocks + std::min(breaks, blocks) <= max_intermediate_ && own + std::min(breaks, own) <= max_pieces_) return;
  std::uint64_t live = 0;
  std::uint64_t here = 0;
  for (std::size_t k = 0; k < levels_.size(); ++k)
    for (const Block& block : levels_[k]) {
      const std::uint64_t count = block.before ? 2 : 1;
      live += count;
      if (static_cast<int>(k) == level) here += count;
    }
  breaks_ = static_cast<std::uint8_t>(std::min<std::uint64_t>(live - blocks, kManyBreaks));
  max_intermediate_ = std::max(max_intermediate_, live);
  if (here > max_pieces_) full_ = true;
}

bool Exact::end() {
  stop_all(true);
  for (int level = grow_.layout.dimensions - 1; level > 0; --level) flush(level);
  sync_points(0);
  std::vector<Block>& blocks = levels_[0];
  for (std::size_t i = 0, count = blocks.size(); i < count; ++i) {
    if (!blocks[i].before) continue;
    Block before = grow_.take_before(blocks[i], 0);
    blocks.push_back(std::move(before));
  }
  check_size(0);
  return !full_;
}

std::vector<Piece> Exact::pieces(std::size_t outputs) const {
  const std::vector<Block>& blocks = levels_[0];
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const View one = grow_.view(blocks[a], 0);
    const View other = grow_.view(blocks[b], 0);
    int q = 0;
    while (q < grow_.layout.dimensions - 1 && one.start(q) == other.start(q)) ++q;
    return one.start(q) < other.start(q);
  });
  std::vector<Piece> pieces;
  pieces.reserve(order.size());
  for (const std::size_t i : order) pieces.push_back(piece_of(grow_.view(blocks[i], 0), outputs));
  return pieces;
}

std::vector<Placed> Exact::blocks() {
  stop_all(false);
  std::size_t count = 0;
  for (const Level& level : levels_) count += 2 * level.size();
  std::vector<Placed> all;
  all.reserve(count);
  for (std::size_t k = 0; k < levels_.size(); ++k) {
    const int level = static_cast<int>(k);
    const std::span<const std::int64_t> prefix(last(), k);
    for (const Block& block : levels_[k]) {
      all.push_back({grow_.view(block, level), prefix});
      if (block.before) all.push_back({grow_.view(*block.before, level), prefix});
    }
  }
  return all;
}

void Exact::replay(const Visit& each) {
  const std::vector<Placed> all = blocks();
  std::vector<Walker> walkers(all.begin(), all.end());
  walk(walkers, each);
}

std::size_t Exact::bytes() const {
  const Layout& layout = grow_.layout;
  std::size_t bytes = sizeof(*this) + sizeof(Level) * levels_.size() + sizeof(std::uint16_t) * layout.select.size();
  if (far_) bytes += sizeof(std::int64_t) * View::at(layout.dimensions + 2 * (1 + layout.outputs));
  if (rare_) bytes += Rare::kBytes + sizeof(std::uint32_t) * rare_->blame.size();
  return bytes + bytes_of_blocks();
}

}  // namespace loopfold::fold::adaptive
