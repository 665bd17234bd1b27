#include "fold/adaptive_cruise.h"

#include <algorithm>

namespace loopfold::fold::adaptive {

namespace {

void include(std::vector<Window>& into, const Window* bounds, std::size_t count) {
  if (into.empty())
    into.assign(bounds, bounds + count);
  else
    for (std::size_t i = 0; i < count; ++i) into[i].include(bounds[i]);
}

}  // namespace

bool Cruise::start(const Layout& layout, const Block& block, int level, const std::vector<std::int64_t>& last,
                   const std::int64_t* point, const std::int64_t* labels) {
  const View view{layout, block, level};
  const std::int64_t rows = view.extent(level);
  counts_.assign(View::at(layout.dimensions), 0);
  counts_[View::at(level)] = rows;
  functions_.assign(View::at(offset(layout, level) + layout.functions(level)), 0);
  std::int64_t* own = functions_.data() + offset(layout, level);
  for (int f = 0; f < layout.functions(level); ++f) own[f] = view.at_row(f, rows);
  points_ = 0;
  bounds_.clear();
  if (step(layout, block, level, last, point, labels)) {
    level_ = level;
    return true;
  }
  counts_ = {};
  functions_ = {};
  return false;
}

/// To the first point of the next row along dimension q, if `point` is that.
bool Cruise::step(const Layout& layout, const Block& block, int q, const std::vector<std::int64_t>& last,
                  const std::int64_t* point, const std::int64_t* labels) {
  if (!block.knows(q)) return false;
  const std::int64_t* part = block.words.get() + layout.part(q);
  std::int64_t* own = functions_.data() + offset(layout, q);
  const auto next = [&](int f) { return static_cast<Wide>(own[f]) + part[1 + f]; };
  for (int p = 0; p < q; ++p)
    if (point[p] != last[View::at(p)]) return false;
  if (point[q] != static_cast<Wide>(last[View::at(q)]) + part[0]) return false;
  for (int p = q + 1; p < layout.dimensions; ++p)
    if (next(layout.start(p)) != point[p] || next(layout.extent(p)) < 0 || !fits(next(layout.extent(p)))) return false;
  for (int o = 0; o < layout.outputs; ++o)
    if (next(o) != labels[o]) return false;
  for (int f = 0; f < layout.functions(q); ++f) own[f] += part[1 + f];
  ++counts_[View::at(q)];
  for (int p = q + 1; p < layout.dimensions; ++p) {
    counts_[View::at(p)] = 0;
    std::copy_n(own, layout.functions(p), functions_.data() + offset(layout, p));
  }
  return true;
}

bool Cruise::next_row(const Layout& layout, Block& block, const std::vector<std::int64_t>& last,
                      const std::int64_t* point, const std::int64_t* labels) {
  const auto finished = [&](int p) {
    return counts_[View::at(p)] == functions_[View::at(offset(layout, p - 1) + layout.extent(p))];
  };
  int q = layout.dimensions - 1;
  if (!finished(q)) return false;
  const std::int64_t in_row = count() + 1;
  for (--q; q > level_ && finished(q);) --q;
  if (!step(layout, block, q, last, point, labels)) return false;
  points_ += static_cast<std::uint64_t>(in_row);
  if (block.bounds) {
    for (int p = layout.dimensions - 1; p > q; --p) {
      std::vector<Window>& row = bounds_[View::at(p)];
      if (p - 1 > level_)
        include(bounds_[View::at(p - 1)], row.data(), row.size());
      else
        block.bounds->add(row.data(), row.size());
      row.clear();
    }
  }
  if (q > level_) return true;
  ++values_of(layout, block, level_)[layout.extent(level_)];
  block.points += points_;
  points_ = 0;
  return true;
}

std::vector<Block> Cruise::stop(const Layout& layout, const Block& block) {
  std::vector<Block> rows(View::at(layout.dimensions));
  for (int k = level_ + 1; k < layout.dimensions; ++k) {
    const std::int64_t complete = counts_[View::at(k)] + (k == layout.dimensions - 1 ? 1 : 0);
    if (complete == 0) continue;
    Block& row = rows[View::at(k)];
    row.words = std::make_unique<std::int64_t[]>(View::at(layout.words(k)));
    std::copy_n(block.words.get(), layout.values(k), row.words.get());
    std::int64_t* values = values_of(layout, row, k);
    std::copy_n(functions_.data() + offset(layout, k - 1), layout.functions(k - 1), values);
    values[layout.extent(k)] = complete - 1;
    row.known = block.known & (~std::uint32_t{0} << k);
    forget_degenerate(layout, row, k);
    row.points = count_points({layout, row, k}, complete);
    if (block.bounds) row.bounds = std::make_unique<Bounds>(Bounds{bounds_[View::at(k)], {}});
  }
  level_ = -1;
  counts_ = {};
  functions_ = {};
  return rows;
}

void Cruise::bound(const Window* bounds, std::size_t count) {
  if (count == 0) return;
  bounds_.resize(counts_.size());
  include(bounds_.back(), bounds, count);
}

std::size_t Cruise::bytes() const {
  std::size_t bytes = sizeof(std::int64_t) * (counts_.size() + functions_.size());
  for (const std::vector<Window>& row : bounds_) bytes += sizeof(row) + sizeof(Window) * row.size();
  return bytes;
}

}  // namespace loopfold::fold::adaptive
