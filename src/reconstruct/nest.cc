// Walking nests. The essay is in nest.h.
//
// begin_row and next_row are an odometer: the innermost loop is one row; when a row is done, the innermost of the
// other loops that can still count does, and the bounds inside it are computed anew. With trip counts of two or more
// that is a constant number of operations per row on the average.
#include "reconstruct/nest.h"

#include <algorithm>
#include <limits>

#include "support/wide.h"

namespace loopfold::reconstruct {

namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

}  // namespace

Shape shape_of(const Nest& nest) {
  Shape shape;
  shape.levels = nest.levels();
  shape.base = nest.base;
  for (std::size_t j = 0; j < nest.levels(); ++j) {
    shape.c[j] = nest.coefficients[j];
    shape.w[j] = nest.w[j];
    for (std::size_t r = 0; r < j; ++r) shape.u[j][r] = nest.bound_coefficient(j, r);
  }
  return shape;
}

bool bound_at(const Shape& shape, std::size_t level, const std::int64_t* index, std::size_t known, std::int64_t& into) {
  std::int64_t sum = shape.w[level];
  bool overflow = false;
  for (std::size_t r = 0; r < known; ++r) {
    std::int64_t term = 0;
    overflow |= __builtin_mul_overflow(shape.u[level][r], index[r], &term);
    overflow |= __builtin_add_overflow(sum, term, &sum);
  }
  into = sum;
  return !overflow;
}

NestWalk::NestWalk(const Shape& shape) : shape_(shape) {
  at_[0] = shape_.base;
  if (shape_.levels == 0) {
    row_ = {shape_.base, 0, 1};
    return;
  }
  for (std::size_t m = 0; m < shape_.levels; ++m) {
    at_[m] = shape_.base;
    bound_[m] = shape_.w[m];
    if (bound_[m] < 0) return;
  }
  begin_row(0);
}

void NestWalk::begin_row(std::size_t level) {
  const std::size_t inner = shape_.levels - 1;
  for (std::size_t m = level + 1; m < shape_.levels; ++m) {
    index_[m] = 0;
    at_[m] = at_[level];
  }
  row_ = {at_[inner], shape_.c[inner], static_cast<std::uint64_t>(bound_[inner] - index_[inner]) + 1};
}

bool NestWalk::next_row() {
  row_.count = 0;
  if (shape_.levels < 2) return false;
  for (std::size_t level = shape_.levels - 1; level-- > 0;) {
    if (index_[level] >= bound_[level]) continue;
    ++index_[level];
    bool empty = false;
    for (std::size_t m = level + 1; m < shape_.levels && !empty; ++m)
      empty = !bound_at(shape_, m, index_.data(), level + 1, bound_[m]) || bound_[m] < 0;
    if (empty) continue;
    at_[level] += static_cast<std::uint64_t>(shape_.c[level]);
    begin_row(level);
    return true;
  }
  return false;
}

void NestWalk::advance(std::uint64_t by) {
  row_.start += static_cast<std::uint64_t>(row_.stride) * by;
  row_.count -= by;
  if (row_.count == 0) next_row();
}

std::uint64_t NestWalk::volume(std::size_t level) const {
  std::uint64_t product = 1;
  for (std::size_t m = level + 1; m < shape_.levels; ++m) {
    std::int64_t bound = 0;
    for (std::size_t r = level + 1; r < m; ++r)
      if (shape_.u[m][r] != 0) return 0;
    if (!bound_at(shape_, m, index_.data(), level + 1, bound) || bound < 0) return 0;
    if (__builtin_mul_overflow(product, static_cast<std::uint64_t>(bound) + 1, &product)) return 0;
  }
  return product;
}

/// At the end of a row: takes whole iterations of `level` off `by`, as many as fit, if all have the same size.
bool NestWalk::skip_equal(std::size_t level, std::uint64_t& by) {
  for (std::size_t m = level + 1; m < shape_.levels; ++m)
    if (shape_.u[m][level] != 0) return false;
  for (std::size_t m = level + 1; m + 1 < shape_.levels; ++m)
    if (index_[m] != bound_[m]) return false;
  const std::uint64_t size = volume(level);
  if (size == 0 || bound_[level] <= index_[level]) return false;
  const auto left = static_cast<std::uint64_t>(bound_[level]) - static_cast<std::uint64_t>(index_[level]);
  const std::uint64_t steps = std::min(by / size, left);
  index_[level] += static_cast<std::int64_t>(steps);
  at_[level] += static_cast<std::uint64_t>(shape_.c[level]) * steps;
  by -= steps * size;
  return steps > 0;
}

/// The same for the innermost loop but one, whose rows grow or shrink evenly.
void NestWalk::skip_rows(std::uint64_t& by) {
  const std::size_t inner = shape_.levels - 1;
  const std::size_t level = inner - 1;
  const Wide growth = shape_.u[inner][level];
  const Wide length = Wide{bound_[inner]} + 1;  // of the row that has ended
  Wide most = Wide{bound_[level]} - index_[level];
  if (growth < 0) most = std::min(most, (length - 1) / -growth);
  const auto size_of = [&](Wide rows) { return rows * length + growth * (rows * (rows + 1) / 2); };
  Wide low = 0;
  Wide high = std::min<Wide>({most, Wide{1} << 40, static_cast<Wide>(by)});
  while (low < high) {
    const Wide middle = high - (high - low) / 2;
    if (size_of(middle) <= static_cast<Wide>(by))
      low = middle;
    else
      high = middle - 1;
  }
  if (low <= 0) return;
  index_[level] += static_cast<std::int64_t>(low);
  at_[level] += static_cast<std::uint64_t>(shape_.c[level]) * static_cast<std::uint64_t>(low);
  bound_[inner] = static_cast<std::int64_t>(length + growth * low - 1);
  by -= static_cast<std::uint64_t>(size_of(low));
}

void NestWalk::skip(std::uint64_t by) {
  while (by > 0 && !done()) {
    if (by < row_.count || shape_.levels < 2) {
      const std::uint64_t now = std::min(by, row_.count);
      advance(now);
      by -= now;
      continue;
    }
    by -= row_.count;
    row_.count = 0;
    bool skipped = false;
    for (std::size_t level = 0; level + 1 < shape_.levels && by > 0 && !skipped; ++level)
      skipped = skip_equal(level, by);
    if (!skipped && by > 0) skip_rows(by);
    next_row();
  }
}

void for_each_row(const Nest& nest, const std::function<void(const Run&)>& visit) {
  NestWalk walk(nest);
  while (!walk.done()) {
    const Run row = walk.row();
    visit(row);
    walk.advance(row.count);
  }
}

std::uint64_t count_of(const Nest& nest) {
  std::uint64_t sum = 0;
  for_each_row(nest, [&](const Run& row) { sum = sum > kMost - row.count ? kMost : sum + row.count; });
  return sum;
}

}  // namespace loopfold::reconstruct
