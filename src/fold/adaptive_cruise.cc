#include "fold/adaptive_cruise.h"

#include <algorithm>

namespace loopfold::fold::adaptive {

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
  const std::int64_t* part = block_->words.get() + layout.part(q);
  std::int64_t* own = functions(layout, q);
  if (!block_->knows(q) || !is_next(layout, q, {last, point, labels}, own, part)) return false;
  for (int f = 0; f < layout.functions(q); ++f) own[f] += part[1 + f];
  ++words_[View::at(q)];
  for (int p = q + 1; p < layout.dimensions; ++p) {
    words_[View::at(p)] = 0;
    if (p < layout.dimensions - 1) std::copy_n(own, layout.functions(p), functions(layout, p));
  }
  find_easy_rows(layout, point);
  return true;
}

namespace {

constexpr std::int64_t kRows = 1 << 10;
constexpr std::int64_t kLargeStep = std::int64_t{1} << 49;
constexpr std::int64_t kLargeExtent = std::int64_t{1} << 29;

bool is_below(std::int64_t number, std::int64_t limit) { return number > -limit && number < limit; }

/// Not zero if the absolute value is more than 2^60.
std::uint64_t largeness(std::int64_t number) {
  return (static_cast<std::uint64_t>(number) + (std::uint64_t{1} << 60)) >> 61;
}

}  // namespace

bool Cruise::has_small_steps(const Layout& layout) const {
  const std::int64_t* const along = block_->words.get();
  const std::int64_t* const part = along + layout.part(layout.dimensions - 2);
  const int extent = layout.outputs + 1;
  bool small = is_below(part[0], kLargeStep) && is_below(along[0], kLargeExtent) &&
               is_below(part[1 + extent], kLargeExtent / kRows);
  for (int f = 0; f < extent; ++f) small = small && is_below(part[1 + f], kLargeStep);
  for (int o = 0; o < layout.outputs; ++o) small = small && is_below(along[1 + o], kLargeExtent);
  return small;
}

/// `point` begins the innermost row that it is at. The products of all that is compared here fit into 62 bits.
void Cruise::find_easy_rows(const Layout& layout, const std::int64_t* point) {
  const int inner = layout.dimensions - 1;
  const int q = inner - 1;
  easy_ = 0;
  if (!block_->knows(q)) return;
  if (steps_ == Steps::kUnknown) steps_ = has_small_steps(layout) ? Steps::kSmall : Steps::kLarge;
  if (steps_ == Steps::kLarge) return;
  const std::int64_t* const own = functions(layout, q);
  const int extent = layout.outputs + 1;
  std::uint64_t large = largeness(point[q]);
  for (int f = 0; f < extent; ++f) large |= largeness(own[f]);
  if (large != 0 || !is_below(own[extent], kLargeExtent)) return;
  if (!block_->knows(inner) && (own[extent] != 0 || block_->words[View::at(layout.part(q) + 1 + extent)] != 0)) return;
  const std::int64_t rows = q > level_ ? functions(layout, q - 1)[layout.extent(q)] - words_[View::at(q)] : kRows;
  easy_ = static_cast<std::uint16_t>(std::min(rows, kRows));
}

/// Behind the first of them, all is as in that one if what the block says of the next row is what the ranks say.
std::uint64_t Cruise::take_ranks(const Run& run, const Ranks& ranks, std::int64_t* last, int dimensions, int outputs) {
  const std::uint64_t easy = easy_;
  if (!take_row(run, last, dimensions, outputs)) return 0;
  return 1 + take_more_ranks(ranks, std::min(ranks.n, easy) - 1, last, View::at(dimensions - 2), View::at(outputs));
}

/// Behind the first of the ranks, so many others, at most, that are easy rows.
std::uint64_t Cruise::take_more_ranks(const Ranks& ranks, std::uint64_t most, std::int64_t* last, std::size_t q,
                                      std::size_t labels) {
  std::int64_t* const counts = words_.get();
  std::int64_t* const own = counts + q + 2;
  const std::int64_t* const part = block_->words.get() + 1 + labels;
  const std::int64_t* const steps = part + 1;
  if (part[0] != ranks.stride || steps[labels] != 0 || steps[labels + 1] != 0) return 0;
  for (std::size_t o = 0; o < labels; ++o)
    if (steps[o] != ranks.steps[o]) return 0;
  const auto rows = static_cast<std::int64_t>(most);
  points_ += most * (static_cast<std::uint64_t>(own[labels + 1]) + 1);
  for (std::size_t o = 0; o < labels; ++o) own[o] += rows * steps[o];
  counts[q] += rows;
  last[q] += rows * ranks.stride;
  easy_ = static_cast<std::uint16_t>(easy_ - most);
  if (static_cast<int>(q) != level_) return most;
  block_->words[2 * (labels + 2) + labels + 3] += rows;
  block_->points += points_;
  points_ = 0;
  return most;
}

std::uint64_t Cruise::take_ranks_outside(const Layout& layout, const Run& run, const Ranks& ranks, std::int64_t* last) {
  const int inner = layout.dimensions - 1;
  if (inner - 1 <= level_ || words_[View::at(inner)] != extent(layout) || !finished(layout, inner - 1)) return 0;
  // Whether the run is all of the row, and its numbers fit, if it begins it.
  const int q = unfinished(layout);
  const std::int64_t* const along = block_->words.get();
  const int row_extent = layout.outputs + 1;
  std::int64_t extent = 0;
  if (!block_->knows(q) ||
      __builtin_add_overflow(functions(layout, q)[row_extent], along[layout.part(q) + 1 + row_extent], &extent) ||
      extent != static_cast<std::int64_t>(run.n - 1))
    return 0;
  std::int64_t last_at = run.point[inner];
  if (extent != 0) {
    std::int64_t end = 0;
    bool other = !block_->knows(inner) || run.stride != along[0] || __builtin_mul_overflow(run.stride, extent, &end) ||
                 __builtin_add_overflow(last_at, end, &last_at);
    for (int o = 0; o < layout.outputs; ++o)
      other |= run.steps[o] != along[1 + o] || __builtin_mul_overflow(run.steps[o], extent, &end) ||
               __builtin_add_overflow(run.labels[o], end, &end);
    if (other) return 0;
  }
  if (!next_row_outside(layout, last, run.point, run.labels)) return 0;
  std::copy_n(run.point, layout.dimensions, last);
  last[inner] = last_at;
  words_[View::at(inner)] = extent;
  if (ranks.n == 1 || easy_ == 0) return 1;
  return 1 + take_more_ranks(ranks, std::min<std::uint64_t>(ranks.n - 1, easy_), last, View::at(inner - 1),
                             View::at(layout.outputs));
}

/// The same as next_row() where rows of more than one dimension are complete.
bool Cruise::next_row_outside(const Layout& layout, const std::int64_t* last, const std::int64_t* point,
                              const std::int64_t* labels) {
  const std::int64_t in_row = count(layout) + 1;
  const int q = unfinished(layout);
  if (!step(layout, q, last, point, labels)) return false;
  points_ += static_cast<std::uint64_t>(in_row);
  absorb_rows(layout, q);
  return true;
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
  }
  return rows;
}

std::size_t Cruise::bytes(const Layout& layout) const {
  return sizeof(*this) + sizeof(std::int64_t) * View::at(words(layout));
}

}  // namespace loopfold::fold::adaptive
