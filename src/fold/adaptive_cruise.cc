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

Cruise::Cruise(const Layout& layout, Block& block, int level) : level_(level), block_(&block) {
  const View view{layout, block, level};
  const std::int64_t rows = view.extent(level);
  words_ = std::make_unique<std::int64_t[]>(View::at(words(layout)));
  words_[View::at(level)] = rows;
  std::int64_t* own = functions(layout, level);
  for (int f = 0; f < layout.functions(level); ++f) own[f] = view.at_row(f, rows);
}

/// To the first point of the next row along dimension q, if `point` is that.
bool Cruise::step(const Layout& layout, int q, const std::int64_t* last, const std::int64_t* point,
                  const std::int64_t* labels) {
  if (!block_->knows(q)) return false;
  const std::int64_t* part = block_->words.get() + layout.part(q);
  std::int64_t* own = functions(layout, q);
  std::int64_t next = 0;
  for (int p = 0; p < q; ++p)
    if (point[p] != last[p]) return false;
  if (__builtin_add_overflow(last[q], part[0], &next) || next != point[q]) return false;
  const std::int64_t* steps = part + 1;
  for (int o = 0; o < layout.outputs; ++o)
    if (__builtin_add_overflow(own[o], steps[o], &next) || next != labels[o]) return false;
  for (int p = layout.dimensions - 1, f = layout.outputs; p > q; --p, f += 2) {
    if (__builtin_add_overflow(own[f], steps[f], &next) || next != point[p]) return false;
    if (__builtin_add_overflow(own[f + 1], steps[f + 1], &next) || next < 0) return false;
  }
  for (int f = 0; f < layout.functions(q); ++f) own[f] += steps[f];
  ++words_[View::at(q)];
  for (int p = q + 1; p < layout.dimensions; ++p) {
    words_[View::at(p)] = 0;
    if (p < layout.dimensions - 1) std::copy_n(own, layout.functions(p), functions(layout, p));
  }
  return true;
}

bool Cruise::next_row(const Layout& layout, const std::int64_t* last, const std::int64_t* point,
                      const std::int64_t* labels) {
  const auto finished = [&](int p) { return words_[View::at(p)] == functions(layout, p - 1)[layout.extent(p)]; };
  int q = layout.dimensions - 1;
  if (!finished(q)) return false;
  const std::int64_t in_row = count(layout) + 1;
  for (--q; q > level_ && finished(q);) --q;
  if (!step(layout, q, last, point, labels)) return false;
  points_ += static_cast<std::uint64_t>(in_row);
  if (block_->bounds) bound_rows(layout, q);
  if (q > level_) return true;
  ++values_of(layout, *block_, level_)[layout.extent(level_)];
  block_->points += points_;
  points_ = 0;
  return true;
}

/// The rows along the dimensions inside q are complete.
void Cruise::bound_rows(const Layout& layout, int q) {
  for (int p = layout.dimensions - 1; p > q; --p) {
    std::vector<Window>& row = (*bounds_)[View::at(p)];
    if (p - 1 > level_)
      include((*bounds_)[View::at(p - 1)], row.data(), row.size());
    else
      block_->bounds->add(row.data(), row.size());
    row.clear();
  }
}

std::vector<Block> Cruise::stop(const Layout& layout) {
  const Block& block = *block_;
  std::vector<Block> rows(View::at(layout.dimensions));
  for (int k = level_ + 1; k < layout.dimensions; ++k) {
    const std::int64_t complete = words_[View::at(k)] + (k == layout.dimensions - 1 ? 1 : 0);
    if (complete == 0) continue;
    Block& row = rows[View::at(k)];
    row.words = std::make_unique<std::int64_t[]>(View::at(layout.words(k)));
    std::copy_n(block.words.get(), layout.values(k), row.words.get());
    std::int64_t* values = values_of(layout, row, k);
    std::copy_n(functions(layout, k - 1), layout.functions(k - 1), values);
    values[layout.extent(k)] = complete - 1;
    row.known = block.known & (~std::uint32_t{0} << k);
    forget_degenerate(layout, row, k);
    row.points = count_points({layout, row, k}, complete);
    if (block.bounds) row.bounds = std::make_unique<Bounds>(Bounds{(*bounds_)[View::at(k)], {}});
  }
  return rows;
}

void Cruise::bound(const Layout& layout, const Window* bounds, std::size_t count) {
  if (count == 0) return;
  if (!bounds_) bounds_ = std::make_unique<Windows>(View::at(layout.dimensions));
  include(bounds_->back(), bounds, count);
}

std::size_t Cruise::bytes(const Layout& layout) const {
  std::size_t bytes = sizeof(*this) + sizeof(std::int64_t) * View::at(words(layout));
  if (bounds_)
    for (const std::vector<Window>& row : *bounds_) bytes += sizeof(row) + sizeof(Window) * row.size();
  return bytes;
}

}  // namespace loopfold::fold::adaptive
