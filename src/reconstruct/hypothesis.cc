// Partial solutions. The essay is in hypothesis.h.
#include "reconstruct/hypothesis.h"

#include <algorithm>
#include <type_traits>

namespace loopfold::reconstruct {

Hypothesis::Hypothesis(std::uint64_t first) : address(first) { shape.base = first; }

int Hypothesis::direction(std::size_t level) const {
  for (std::size_t r = level; r-- > 0;)
    if (index[r] != 0) return static_cast<int>(r);
  return -1;
}

/// Would the next iteration of `level` find a loop inside it empty? In its first iteration beyond 0 that is unknown.
/// Visits inside it that are open end now, which tells their bounds.
bool Hypothesis::empties(std::size_t level) const {
  if (level == inner() || (index[level] == 0 && !is_known(level))) return false;
  if (open >> (level + 1) == 0) return inner_is_empty(level);
  Hypothesis ended = *this;
  ended.close_from(level + 1);
  return ended.inner_is_empty(level);
}

/// The loop's first iteration beyond 0 is over.
void Hypothesis::learn(std::size_t level) {
  if (is_known(level)) return;
  known |= 1U << level;
  known_at[level] = count;
}

bool Hypothesis::inner_starts_empty(std::size_t level) const {
  for (std::size_t m = level + 1; m < levels(); ++m) {
    std::int64_t then = 0;
    if (!bound_at(shape, m, index.data(), level + 1, then) || then < 0) return true;
  }
  return false;
}

bool Hypothesis::inner_is_empty(std::size_t level) const {
  for (std::size_t m = level + 1; m < levels(); ++m) {
    std::int64_t now = 0;
    std::int64_t then = 0;
    if (!bound_at(shape, m, index.data(), level + 1, now) || __builtin_add_overflow(now, shape.u[m][level], &then) ||
        then < 0)
      return true;
  }
  return false;
}

/// Ends the visits of all loops from `level` on: what was open is now known.
void Hypothesis::close_from(std::size_t level) {
  for (std::size_t m = level; m < levels(); ++m) {
    if (is_open(m)) {
      const int r = direction(m);
      if (r < 0)
        shape.w[m] = index[m];
      else
        shape.u[m][static_cast<std::size_t>(r)] = index[m] - bound[m];
    }
  }
  for (std::size_t m = level; m < levels(); ++m) {
    if (index[m] > 0) learn(m);
    index[m] = 0;
  }
}

void Hypothesis::step(std::size_t level) {
  const std::uint64_t next = target(level);
  close_from(level + 1);
  if (index[level] == 1) learn(level);
  ++index[level];
  at[level] = next;
  const bool opens = is_fresh(level);
  if (opens)
    for (std::size_t m = level + 1; m < levels(); ++m) shape.u[m][level] = 0;
  for (std::size_t m = level + 1; m < levels(); ++m) {
    at[m] = next;
    open = opens ? open | 1U << m : open & ~(1U << m);
    bound_at(shape, m, index.data(), level + 1, bound[m]);
  }
  if (level == 0) outer_start = count;
  address = next;
  ++count;
}

bool Hypothesis::may_grow(std::size_t position) const {
  if (levels() >= kMaxLevels) return false;
  const int r = direction(position);
  if (r >= 0 && !is_fresh(static_cast<std::size_t>(r))) return false;
  for (std::size_t m = position; m < levels(); ++m)
    if (!may_end(m)) return false;
  return true;
}

void Hypothesis::grow(std::size_t position, std::uint64_t next) {
  const bool first_visit = direction(position) < 0;
  close_from(position);
  const auto insert = [&](auto& array, auto value) {
    std::copy_backward(array.begin() + static_cast<std::ptrdiff_t>(position),
                       array.begin() + static_cast<std::ptrdiff_t>(levels()),
                       array.begin() + static_cast<std::ptrdiff_t>(levels()) + 1);
    array[position] = value;
  };
  for (std::size_t m = position; m < levels(); ++m) insert(shape.u[m], std::int64_t{0});
  insert(shape.u, std::array<std::int64_t, kMaxLevels>{});
  const std::uint64_t before = position == 0 ? shape.base : at[position - 1];
  insert(shape.c, static_cast<std::int64_t>(next - before));
  insert(shape.w, std::int64_t{0});
  insert(index, std::int64_t{1});
  insert(bound, first_visit ? kUnbounded : std::int64_t{0});
  insert(at, next);
  insert(known_at, std::uint64_t{0});
  const auto make_room = [&](std::uint32_t mask) {
    const std::uint32_t outside = mask & ((1U << position) - 1);
    return outside | (mask & ~((1U << position) - 1)) << 1;
  };
  known = make_room(known);
  open = make_room(open) | 1U << position;
  ++shape.levels;
  for (std::size_t m = position + 1; m < levels(); ++m) {
    at[m] = next;
    open |= 1U << m;
    bound_at(shape, m, index.data(), position + 1, bound[m]);
  }
  if (position == 0) outer_start = count;
  address = next;
  ++count;
}

bool Hypothesis::complete() const {
  for (std::size_t m = 1; m < levels(); ++m)
    if (!may_end(m)) return false;
  return true;
}

namespace {

/// Does loop `level` of the shape never count, given that the outermost loop ends at w[0]?
bool stays_zero(const Shape& shape, std::size_t level) {
  if (shape.w[level] != 0) return false;
  for (std::size_t r = 0; r < level; ++r)
    if (shape.u[level][r] != 0) return false;
  return true;
}

Nest without_trivial_loops(const Shape& shape) {
  std::array<std::size_t, kMaxLevels> kept{};
  std::size_t n = 0;
  for (std::size_t m = 0; m < shape.levels; ++m)
    if (!stays_zero(shape, m)) kept[n++] = m;
  Nest nest;
  nest.base = shape.base;
  nest.u.assign(n * n, 0);
  for (std::size_t j = 0; j < n; ++j) {
    nest.coefficients.push_back(shape.c[kept[j]]);
    nest.w.push_back(shape.w[kept[j]]);
    for (std::size_t r = 0; r < j; ++r) nest.u[j * n + r] = shape.u[kept[j]][kept[r]];
    nest.u[j * n + j] = -1;
  }
  return nest;
}

}  // namespace

std::optional<Nest> Hypothesis::complete_nest() const {
  Hypothesis ended = *this;
  const bool whole = complete();
  if (levels() > 0) {
    if (!whole && index[0] == 0) return std::nullopt;
    const std::int64_t last = whole ? index[0] : index[0] - 1;
    if (whole) ended.close_from(1);
    ended.shape.w[0] = last;
    if (last == 0)
      for (std::size_t m = 1; m < levels(); ++m) ended.shape.u[m][0] = 0;
  }
  Nest nest = without_trivial_loops(ended.shape);
  nest.count = whole ? count : outer_start;
  return nest;
}

namespace {

/// How many addresses the loops from `level` on generate, with the indices outside it as given. Takes from `budget`
/// what it costs, and is wrong once that is 0.
std::uint64_t volume(const Shape& shape, std::size_t level, std::array<std::int64_t, kMaxLevels>& index,
                     std::int64_t& budget) {
  std::int64_t bound = 0;
  if (level == shape.levels) return 1;
  if (--budget <= 0 || !bound_at(shape, level, index.data(), level, bound) || bound < 0) return 0;
  bool constant = true;
  for (std::size_t m = level + 1; m < shape.levels; ++m) constant &= shape.u[m][level] == 0;
  index[level] = 0;
  if (constant) return (static_cast<std::uint64_t>(bound) + 1) * volume(shape, level + 1, index, budget);
  std::uint64_t sum = 0;
  for (; index[level] <= bound && budget > 0; ++index[level]) {
    const std::uint64_t one = volume(shape, level + 1, index, budget);
    if (one == 0) break;
    sum += one;
  }
  index[level] = 0;
  return sum;
}

/// How many addresses the iterations `from` to `to` (not included) of `level` have.
std::uint64_t volume_between(const Shape& shape, std::size_t level, std::array<std::int64_t, kMaxLevels> index,
                             std::int64_t from, std::int64_t to, std::int64_t& budget) {
  if (from >= to) return 0;
  bool constant = true;
  for (std::size_t m = level + 1; m < shape.levels; ++m) constant &= shape.u[m][level] == 0;
  index[level] = from;
  if (constant) return static_cast<std::uint64_t>(to - from) * volume(shape, level + 1, index, budget);
  std::uint64_t sum = 0;
  for (; index[level] < to && budget > 0; ++index[level]) sum += volume(shape, level + 1, index, budget);
  return sum;
}

constexpr std::int64_t kVolumeBudget = 4096;

}  // namespace

/// The indices of all loops inside `level` become those of their last iterations. False if that takes too long.
bool Hypothesis::go_to_ends(std::size_t level) {
  for (std::size_t m = level + 1; m < levels(); ++m) {
    if (!bound_at(shape, m, index.data(), m, bound[m]) || bound[m] < 0) return false;
    index[m] = bound[m];
    for (int steps = 0; m < inner() && inner_starts_empty(m); ++steps)
      if (--index[m] < 0 || steps > kVolumeBudget) return false;
    at[m] = at[m - 1] + static_cast<std::uint64_t>(shape.c[m]) * static_cast<std::uint64_t>(index[m]);
  }
  address = at[inner()];
  return true;
}

bool Hypothesis::rewind(std::size_t level, std::int64_t at_index) {
  for (std::size_t m = level + 1; m < levels(); ++m)
    if (is_open(m)) return false;
  std::int64_t budget = kVolumeBudget;
  std::uint64_t back = volume_between(shape, level, index, at_index + 1, index[level], budget) + 1;
  for (std::size_t m = level + 1; m < levels(); ++m) back += volume_between(shape, m, index, 0, index[m], budget);
  if (budget <= 0) return false;
  count -= back;
  at[level] -= static_cast<std::uint64_t>(shape.c[level]) * static_cast<std::uint64_t>(index[level] - at_index);
  index[level] = at_index;
  if (!go_to_ends(level)) return false;
  if (level == 0) {
    outer_start = count - volume_between(shape, 0, index, at_index, at_index + 1, budget);
    if (budget <= 0) return false;
  }
  forget_after(count);
  return true;
}

/// Knows only what was known when there were so many addresses.
void Hypothesis::forget_after(std::uint64_t then) {
  for (std::size_t m = 0; m < levels(); ++m)
    if (is_known(m) && known_at[m] >= then) known &= ~(1U << m);
  for (std::size_t m = 1; m < levels(); ++m) {
    const int r = direction(m);
    if (r >= 0 && !is_fresh(static_cast<std::size_t>(r))) {
      open &= ~(1U << m);
      continue;
    }
    open |= 1U << m;
    bound[m] = kUnbounded;
    if (r < 0) continue;
    shape.u[m][static_cast<std::size_t>(r)] = 0;
    bound_at(shape, m, index.data(), m, bound[m]);
  }
}

std::uint64_t Hypothesis::hash() const {
  std::uint64_t h = 0x9e3779b97f4a7c15ULL ^ levels();
  const auto mix = [&](std::uint64_t value) {
    h ^= value + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
    h *= 0xff51afd7ed558ccdULL;
    h ^= h >> 32;
  };
  mix(count);
  mix(known);
  mix(open);
  for (std::size_t m = 0; m < levels(); ++m) {
    mix(static_cast<std::uint64_t>(shape.c[m]));
    mix(static_cast<std::uint64_t>(shape.w[m]));
    mix(static_cast<std::uint64_t>(index[m]));
    for (std::size_t r = 0; r < m; ++r) mix(static_cast<std::uint64_t>(shape.u[m][r]));
  }
  return h;
}

namespace {

/// Visits everything that makes up a hypothesis, but what follows from the rest.
template <class H, class Visit>
void for_each_number(H& h, const Visit& visit) {
  visit(h.shape.base);
  visit(h.count);
  visit(h.outer_start);
  visit(h.open);
  visit(h.known);
  visit(h.detours);
  for (std::size_t m = 0; m < h.shape.levels; ++m) {
    visit(h.shape.c[m]);
    visit(h.shape.w[m]);
    visit(h.index[m]);
    visit(h.bound[m]);
    visit(h.known_at[m]);
    for (std::size_t r = 0; r < m; ++r) visit(h.shape.u[m][r]);
  }
}

}  // namespace

void Hypothesis::pack(std::vector<std::int64_t>& into) const {
  into.resize(7 + 5 * levels() + levels() * (levels() - 1) / 2);
  std::int64_t* next = into.data();
  *next++ = static_cast<std::int64_t>(levels());
  for_each_number(*this, [&](auto number) { *next++ = static_cast<std::int64_t>(number); });
}

Hypothesis Hypothesis::unpacked(const std::vector<std::int64_t>& numbers) {
  Hypothesis h;
  h.shape.levels = static_cast<std::size_t>(numbers[0]);
  std::size_t next = 1;
  for_each_number(
      h, [&](auto& number) { number = static_cast<std::remove_reference_t<decltype(number)>>(numbers[next++]); });
  h.address = h.shape.base;
  for (std::size_t m = 0; m < h.levels(); ++m) {
    h.address += static_cast<std::uint64_t>(h.shape.c[m]) * static_cast<std::uint64_t>(h.index[m]);
    h.at[m] = h.address;
  }
  return h;
}

}  // namespace loopfold::reconstruct
