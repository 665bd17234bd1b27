#include "fold/adaptive_convoy.h"

#include <cmath>
#include <cstring>

namespace loopfold::fold::adaptive {

namespace {

double size(std::int64_t number) { return std::abs(static_cast<double>(number)); }

}  // namespace

/// Whether all that folding may compute of rows of the block, now and later, surely fits: products of a label and one
/// coordinate of each dimension.
bool Convoy::are_small(const Layout& layout, const Block& block, int level) {
  const View view{layout, block, level};
  double extents[kMostDimensions] = {};
  const auto greatest = [&](int function, int outside) {
    double sum = size(view.values()[function]);
    for (int q = level; q < outside; ++q) sum += size(view.step(q, function)) * extents[View::at(q)];
    return sum;
  };
  double product = 1;
  for (int q = level; q < layout.dimensions; ++q) {
    extents[View::at(q)] = greatest(layout.extent(q), q) + (q == level ? kLongest : 0);
    const double coordinate = greatest(layout.start(q), q) + size(view.stride(q)) * extents[View::at(q)];
    if (q > level) product *= 4 * (coordinate + 1);
    if (coordinate > 0x1p50) return false;
  }
  for (int o = 0; o < layout.outputs; ++o)
    if (4 * (greatest(o, layout.dimensions) + 1) * product > 0x1p60) return false;
  return product < 0x1p60;
}

bool Convoy::is_possible(const Layout& layout, const std::vector<Block>& blocks, int level, const std::int64_t* last) {
  const std::int64_t* step = nullptr;
  std::size_t open = 0;
  for (const Block& block : blocks) {
    if (block.closed || is_behind(layout, block, level, last[level])) continue;
    const View view{layout, block, level};
    if (block.windows || !block.knows(level)) return false;
    if (wrapping_add(view.start(level), view.stride(level), static_cast<std::uint64_t>(view.extent(level))) !=
        last[level])
      return false;
    const std::int64_t* const own = block.words.get() + layout.part(level);
    const std::size_t words = View::at(1 + layout.functions(level));
    if (step != nullptr && std::memcmp(step, own, words * sizeof(std::int64_t)) != 0) return false;
    step = own;
    ++open;
  }
  if (open < 2 || open > kMostBlocks) return false;
  for (int q = level + 1; q < layout.dimensions; ++q)
    if (step[1 + layout.extent(q)] != 0) return false;
  for (const Block& block : blocks)
    if (!block.closed && !is_behind(layout, block, level, last[level]) && !are_small(layout, block, level)) return false;
  return true;
}

/// About how many innermost rows a row of the level has, all blocks together: as in their first rows.
double Convoy::rows_of(const Layout& layout, const std::vector<Block>& blocks, int level, const std::int64_t* last) {
  double sum = 0;
  for (const Block& block : blocks) {
    if (block.closed || is_behind(layout, block, level, last[level])) continue;
    double rows = 1;
    for (int q = level + 1; q < layout.dimensions - 1; ++q)
      rows *= static_cast<double>(View{layout, block, level}.extent(q)) + 1;
    sum += rows;
  }
  return sum;
}

std::unique_ptr<Convoy> Convoy::start(const Layout& layout, std::vector<Block>& blocks, int level,
                                      const std::int64_t* last, const std::int64_t* point, const std::int64_t* labels) {
  if (rows_of(layout, blocks, level, last) > kMostRows) return nullptr;
  std::unique_ptr<Convoy> convoy(new Convoy(level));
  std::size_t first = kNone;
  for (Block& block : blocks) {
    if (block.closed || is_behind(layout, block, level, last[level])) continue;
    Member& member = convoy->members_.emplace_back(Member{Cruise(layout, block, level), nullptr});
    member.last = std::make_unique<std::int64_t[]>(View::at(layout.dimensions));
    std::copy_n(last, layout.dimensions, member.last.get());
    if (first != kNone || !member.cruise.start(layout, last, point, labels)) continue;
    first = convoy->members_.size() - 1;
    member.begun = true;
    std::copy_n(point, layout.dimensions, member.last.get());
  }
  if (first == kNone || !convoy->find_order(layout, last) || convoy->order_[0] != first) return nullptr;
  convoy->now_ = static_cast<std::uint32_t>(first);
  convoy->at_ = 1;
  return convoy;
}

template <class Number>
std::vector<Walker> Convoy::walk_rows(const Layout& layout, std::vector<Block>& rows,
                                      std::span<const std::int64_t> prefix, const Number& number) const {
  std::vector<Walker> walkers;
  rows.reserve(members_.size());
  walkers.reserve(members_.size());
  for (const Member& member : members_) {
    rows.push_back(row_of({layout, member.cruise.block(), level_}, number(member)));
    walkers.emplace_back(Placed{{layout, rows.back(), level_}, prefix});
  }
  return walkers;
}

/// From the last row of the blocks.
bool Convoy::find_order(const Layout& layout, const std::int64_t* last) {
  const std::size_t dimensions = View::at(layout.dimensions);
  std::vector<Block> rows;
  std::vector<Walker> walkers = walk_rows(layout, rows, {last, View::at(level_)}, [&](const Member& member) {
    return View{layout, member.cruise.block(), level_}.extent(level_);
  });
  std::vector<std::uint8_t> left;
  for (std::size_t i = 0; i < walkers.size(); ++i) left.push_back(static_cast<std::uint8_t>(i));
  std::vector<std::int64_t> end(dimensions);
  while (!left.empty()) {
    const auto next = std::min_element(left.begin(), left.end(),
                                       [&](std::uint8_t a, std::uint8_t b) { return walkers[a].before(walkers[b]); });
    const std::uint8_t index = *next;
    if (order_.size() == kMostRows) return false;
    order_.push_back(index);
    const Run row = walkers[index].row();
    std::copy_n(row.point, dimensions, end.begin());
    end.back() = wrapping_add(end.back(), row.stride, row.n - 1);
    if (!walkers[index].next_row()) left.erase(next);
    for (const std::uint8_t other : left)
      if (!std::lexicographical_compare(end.begin(), end.end(), walkers[other].point(),
                                        walkers[other].point() + dimensions))
        return false;
  }
  return true;
}

bool Convoy::next_row(const Layout& layout, const std::int64_t* point, const std::int64_t* labels) {
  if (count(layout) != extent(layout)) return false;
  const bool again = at_ == order_.size();
  if (again && rows_ == kLongest) return false;
  const std::uint8_t next = order_[again ? 0 : at_];
  Member& member = members_[next];
  const bool is_next = member.begun ? member.cruise.next_row(layout, member.last.get(), point, labels)
                                    : member.cruise.start(layout, member.last.get(), point, labels);
  if (!is_next) return false;
  if (again) {
    ++rows_;
    at_ = 0;
  }
  ++at_;
  now_ = next;
  member.begun = true;
  member.row = rows_;
  std::copy_n(point, layout.dimensions, member.last.get());
  return true;
}

std::uint64_t Convoy::points(const Layout& layout) {
  std::uint64_t points = 0;
  for (Member& member : members_)
    if (member.begun && member.row == rows_) points += member.cruise.points(layout);
  return points;
}

void Convoy::stop(const Layout& layout, bool all) {
  for (Member& member : members_)
    if (member.begun && (all || member.row != rows_)) member.cruise.absorb_all(layout);
  if (all) ++rows_;
}

void Convoy::replay(const Layout& layout, std::uint64_t points, std::span<const std::int64_t> prefix,
                    const std::function<void(const Run& run)>& each) const {
  std::vector<Block> rows;
  std::vector<Walker> walkers = walk_rows(layout, rows, prefix, [&](const Member& member) {
    const bool here = member.begun && member.row == rows_;
    return member.cruise.row() + (here ? 0 : 1);
  });
  for (std::size_t i = 0; points != 0; ++i) {
    Walker& walker = walkers[order_[i]];
    Run run = walker.row();
    run.n = std::min(run.n, points);
    points -= run.n;
    each(run);
    walker.next_row();
  }
}

}  // namespace loopfold::fold::adaptive
