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
// 4. a block that predicted otherwise: a modulus that is known already, or a break;
// 5. a block that has a break already: what is before the break is closed;
// 6. none: it is a block of its own.
// All rows at one coordinate are tried for 1 before any is tried for the rest, and a block takes one row per
// coordinate.
//
// The next point is usually the predicted one of the innermost block that grew last: a compare and an add. A finished
// row that is the predicted one costs a comparison of its functions, and its memory is used for the next row.
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

#include "fold/adaptive_walk.h"

namespace loopfold::fold::adaptive {

Exact::Exact(Shape shape, std::vector<std::uint16_t> select, std::uint32_t max_pieces) : max_pieces_(max_pieces) {
  grow_.layout.dimensions = shape.dimensions;
  grow_.layout.outputs = static_cast<int>(select.size());
  grow_.layout.shared = shape.shared;
  grow_.layout.select = std::move(select);
  levels_.resize(shape.dimensions);
  next_.resize(2 * (1 + grow_.layout.select.size()));
}

bool Exact::add_unexpected(const std::int64_t* point, const std::int64_t* labels) {
  const Layout& layout = grow_.layout;
  const int inner = layout.dimensions - 1;
  active_ = nullptr;
  if (!last_.empty()) {
    int changed = 0;
    while (changed < inner && point[changed] == last_[View::at(changed)]) ++changed;
    for (int level = inner; level > changed; --level) flush(level);
  }
  last_.assign(point, point + layout.dimensions);
  std::vector<Block> rows(1);
  rows[0].words = std::make_unique<std::int64_t[]>(View::at(layout.outputs));
  rows[0].points = 1;
  std::copy_n(labels, layout.outputs, rows[0].words.get());
  offer(inner, rows, point[inner]);
  expect_next();
  return !full_;
}

/// Finds the block that took the last point, and what would come next in it.
void Exact::expect_next() {
  const Layout& layout = grow_.layout;
  const int inner = layout.dimensions - 1;
  for (Block& block : levels_[View::at(inner)].blocks) {
    if (block.closed || block.windows || !block.knows(inner)) continue;
    std::int64_t* own = values_of(layout, block, inner);
    const std::int64_t* part = block.words.get() + layout.part(inner);
    const Wide count = static_cast<Wide>(own[layout.extent(inner)]) + 1;
    if (own[layout.start(inner)] + (count - 1) * part[0] != last_.back()) continue;
    const std::size_t outputs = View::at(layout.outputs);
    bool whole = true;
    const auto expect = [&](std::size_t i, std::int64_t start, std::int64_t step) {
      const Wide value = start + count * step;
      whole = whole && fits(value);
      next_[i] = static_cast<std::int64_t>(value);
      next_[1 + outputs + i] = step;
    };
    expect(0, own[layout.start(inner)], part[0]);
    for (std::size_t o = 0; o < outputs; ++o) expect(1 + o, own[o], part[1 + o]);
    if (whole) active_ = &own[layout.extent(inner)];
    return;
  }
}

/// Innermost blocks have grown without counting.
void Exact::sync_points(int level) {
  if (level != grow_.layout.dimensions - 1) return;
  for (Block& block : levels_[View::at(level)].blocks)
    for (Block* part : {&block, block.before.get()})
      if (part != nullptr) part->points = static_cast<std::uint64_t>(grow_.rows(*part, level));
}

/// The blocks of a level are complete: they are rows of the level outside.
void Exact::flush(int level) {
  Level& own = levels_[View::at(level)];
  if (own.blocks.empty()) return;
  sync_points(level);
  if (flush_as_predicted(level)) return;
  std::vector<Block> rows;
  for (Block& block : own.blocks) {
    if (block.before) rows.push_back(grow_.take_before(block, level));
    rows.push_back(std::move(block));
  }
  own.blocks.clear();
  offer(level - 1, rows, last_[View::at(level - 1)]);
}

/// The usual case: one row, and it is the predicted one.
bool Exact::flush_as_predicted(int level) {
  Level& own = levels_[View::at(level)];
  if (own.blocks.size() != 1 || own.blocks[0].before) return false;
  const Row row{own.blocks[0], level, last_[View::at(level - 1)]};
  for (Block& block : levels_[View::at(level - 1)].blocks) {
    if (!grow_.continues(block, row, level - 1)) continue;
    grow_.absorb(block, row, level - 1);
    own.spare = std::move(own.blocks[0].words);
    own.blocks.clear();
    return true;
  }
  return false;
}

void Exact::offer(int level, std::vector<Block>& rows, std::int64_t at) {
  std::vector<std::uint8_t> taken(levels_[View::at(level)].blocks.size());
  std::vector<const Block*> rest;
  for (const Block& row : rows)
    if (!offer_predicted(level, {row, level + 1, at}, taken)) rest.push_back(&row);
  for (const Block* row : rest) offer_other(level, {*row, level + 1, at}, taken);
  if (!rest.empty()) check_size(level);
}

bool Exact::offer_predicted(int level, const Row& row, std::vector<std::uint8_t>& taken) {
  std::vector<Block>& blocks = levels_[View::at(level)].blocks;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (taken[i] != 0 || !grow_.continues(blocks[i], row, level)) continue;
    grow_.absorb(blocks[i], row, level);
    taken[i] = 1;
    return true;
  }
  return false;
}

bool Exact::offer_by(int level, std::vector<std::uint8_t>& taken,
                     const std::function<bool(std::size_t index)>& attempt) {
  const std::size_t count = levels_[View::at(level)].blocks.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (taken[i] != 0 || levels_[View::at(level)].blocks[i].closed || !attempt(i)) continue;
    taken[i] = 1;
    return true;
  }
  return false;
}

void Exact::offer_other(int level, const Row& row, std::vector<std::uint8_t>& taken) {
  std::vector<Block>& blocks = levels_[View::at(level)].blocks;
  const auto by = [&](const std::function<bool(std::size_t)>& attempt) { return offer_by(level, taken, attempt); };
  const std::uint32_t inside = ~std::uint32_t{0} << (level + 1);
  if (by([&](std::size_t i) { return repeat_break(level, i, row, taken); })) return;
  if (by([&](std::size_t i) {
        return ((blocks[i].known ^ row.block.known) & inside) == 0 && grow_.try_second_row(blocks[i], row, level);
      }))
    return;
  if (by([&](std::size_t i) { return grow_.try_second_row(blocks[i], row, level); })) return;
  if (by([&](std::size_t i) { return grow_.try_known_modulus(blocks[i], row, level); })) return;
  accuse(row, level);
  const auto open = [](const Block& block) { return !block.closed; };
  const bool alone = std::count_if(blocks.begin(), blocks.end(), open) == 1;
  if (by([&](std::size_t i) {
        if (!(alone || grow_.due(blocks[i], row, level)) || !grow_.can_break(blocks[i], row, level)) return false;
        grow_.start_break(blocks[i], row, level);
        return true;
      }))
    return;
  if (by([&](std::size_t i) { return end_break(level, i, row, taken); })) return;
  blocks.push_back(grow_.block_of(row, level, std::move(levels_[View::at(level)].spare)));
  taken.push_back(1);
}

/// The row repeats the break of a block: finds out what the break was.
bool Exact::repeat_break(int level, std::size_t index, const Row& row, std::vector<std::uint8_t>& taken) {
  std::vector<Block>& blocks = levels_[View::at(level)].blocks;
  if (!grow_.repeats_break(blocks[index], row, level)) return false;
  sync_points(level);
  if (grow_.try_swap(blocks[index], row, level) || grow_.try_modular(blocks[index], row, level)) return true;
  std::vector<Block> turns = grow_.try_periodic(blocks[index], row, level, max_pieces_ / 2);
  if (turns.empty()) return false;
  blocks[index] = std::move(turns[0]);
  for (std::size_t i = 1; i < turns.size(); ++i) {
    blocks.push_back(std::move(turns[i]));
    taken.push_back(1);
  }
  return true;
}

/// A block with a break gets a row that does not fit behind it either: what is before the break is closed.
bool Exact::end_break(int level, std::size_t index, const Row& row, std::vector<std::uint8_t>& taken) {
  std::vector<Block>& blocks = levels_[View::at(level)].blocks;
  if (!blocks[index].before) return false;
  sync_points(level);
  Block before = grow_.take_before(blocks[index], level);
  before.closed = true;
  blocks.push_back(std::move(before));
  taken.push_back(1);
  if (grow_.try_second_row(blocks[index], row, level)) return true;
  if (!grow_.can_break(blocks[index], row, level)) return false;
  grow_.start_break(blocks[index], row, level);
  return true;
}

/// Why none of the blocks predicted the row: compares it with the newest one.
void Exact::accuse(const Row& row, int level) {
  const std::vector<Block>& blocks = levels_[View::at(level)].blocks;
  const auto newest = std::find_if(blocks.rbegin(), blocks.rend(), [](const Block& block) { return !block.closed; });
  if (newest == blocks.rend()) return;
  if (blame_.empty()) blame_.resize(View::at(grow_.layout.outputs) + 1);
  std::vector<bool> wrong;
  if (!grow_.same_geometry(*newest, row, level, wrong)) {
    ++blame_.back();
    return;
  }
  for (std::size_t o = 0; o < wrong.size(); ++o)
    if (wrong[o]) ++blame_[o];
}

std::vector<std::uint32_t> Exact::blame() const {
  return blame_.empty() ? std::vector<std::uint32_t>(View::at(grow_.layout.outputs) + 1) : blame_;
}

void Exact::check_size(int level) {
  std::uint64_t live = 0;
  std::uint64_t here = 0;
  for (std::size_t k = 0; k < levels_.size(); ++k)
    for (const Block& block : levels_[k].blocks) {
      const std::uint64_t count = block.before ? 2 : 1;
      live += count;
      if (static_cast<int>(k) == level) here += count;
    }
  max_intermediate_ = std::max(max_intermediate_, live);
  if (here > max_pieces_) full_ = true;
}

bool Exact::end() {
  active_ = nullptr;
  for (int level = grow_.layout.dimensions - 1; level > 0; --level) flush(level);
  sync_points(0);
  std::vector<Block>& blocks = levels_[0].blocks;
  for (std::size_t i = 0, count = blocks.size(); i < count; ++i) {
    if (!blocks[i].before) continue;
    Block before = grow_.take_before(blocks[i], 0);
    blocks.push_back(std::move(before));
  }
  check_size(0);
  return !full_;
}

std::vector<Piece> Exact::pieces(std::size_t outputs) const {
  const std::vector<Block>& blocks = levels_[0].blocks;
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto first_point = [&](std::size_t i) {
    std::vector<std::int64_t> point;
    for (int q = 0; q < grow_.layout.dimensions; ++q) point.push_back(grow_.view(blocks[i], 0).start(q));
    return point;
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return first_point(a) < first_point(b); });
  std::vector<Piece> pieces;
  for (const std::size_t i : order) pieces.push_back(piece_of(grow_.view(blocks[i], 0), outputs));
  return pieces;
}

void Exact::replay(const std::function<void(const std::int64_t* point, const std::int64_t* labels)>& each) const {
  std::vector<Walker> walkers;
  std::vector<std::int64_t> prefix;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    for (const Block& block : levels_[level].blocks) {
      walkers.emplace_back(grow_.layout, block, static_cast<int>(level), prefix);
      if (block.before) walkers.emplace_back(grow_.layout, *block.before, static_cast<int>(level), prefix);
    }
    if (!last_.empty()) prefix.push_back(last_[level]);
  }
  walk(std::move(walkers), each);
}

std::size_t Exact::bytes() const {
  std::size_t bytes =
      sizeof(*this) + sizeof(Level) * levels_.size() + sizeof(std::int64_t) * (last_.size() + next_.size());
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    for (const Block& block : levels_[level].blocks) bytes += bytes_of(grow_.layout, block, static_cast<int>(level));
    if (levels_[level].spare) bytes += sizeof(std::int64_t) * View::at(grow_.layout.words(static_cast<int>(level)));
  }
  return bytes + sizeof(std::uint32_t) * blame_.size() + sizeof(std::uint16_t) * grow_.layout.select.size();
}

}  // namespace loopfold::fold::adaptive
