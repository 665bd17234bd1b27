// Splitting loops. The essay is in deepen.h.
#include "reconstruct/deepen.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace loopfold::reconstruct {

namespace {

bool has_constant_bound(const Nest& nest, std::size_t level) {
  for (std::size_t r = 0; r < level; ++r)
    if (nest.bound_coefficient(level, r) != 0) return false;
  return true;
}

bool bounds_nothing(const Nest& nest, std::size_t level) {
  for (std::size_t m = level + 1; m < nest.levels(); ++m)
    if (nest.bound_coefficient(m, level) != 0) return false;
  return true;
}

std::optional<std::int64_t> divisor_near_root(std::int64_t trips) {
  std::optional<std::int64_t> best;
  for (std::int64_t f = 2; f <= trips / f; ++f)
    if (trips % f == 0) best = f;
  return best;
}

std::optional<std::int64_t> inner_trips(std::int64_t trips, const std::vector<std::int64_t>& hints) {
  for (const std::int64_t hint : hints)
    if (hint > 1 && hint < trips && trips % hint == 0) return hint;
  const std::optional<std::int64_t> f = divisor_near_root(trips);
  if (!f) return std::nullopt;
  return trips / *f;
}

/// Loop `level` becomes one of trips / inner iterations around one of `inner`.
Nest split(const Nest& nest, std::size_t level, std::int64_t inner) {
  const std::size_t n = nest.levels() + 1;
  const auto before = [&](std::size_t k) { return k <= level ? k : k - 1; };
  Nest out;
  out.base = nest.base;
  out.count = nest.count;
  out.u.assign(n * n, 0);
  for (std::size_t j = 0; j < n; ++j) {
    out.coefficients.push_back(nest.coefficients[before(j)]);
    out.w.push_back(nest.w[before(j)]);
    for (std::size_t r = 0; r < j; ++r)
      if (before(r) < before(j)) out.u[j * n + r] = nest.bound_coefficient(before(j), before(r));
    out.u[j * n + j] = -1;
  }
  out.w[level] = (nest.w[level] + 1) / inner - 1;
  out.w[level + 1] = inner - 1;
  const auto step = static_cast<std::uint64_t>(nest.coefficients[level]);
  out.coefficients[level] = static_cast<std::int64_t>(step * static_cast<std::uint64_t>(inner));
  return out;
}

}  // namespace

std::vector<std::int64_t> trip_counts(const Nest& nest) {
  std::vector<std::int64_t> trips;
  for (std::size_t l = nest.levels(); l-- > 0;)
    if (has_constant_bound(nest, l) && nest.w[l] < std::numeric_limits<std::int64_t>::max())
      trips.push_back(nest.w[l] + 1);
  return trips;
}

Nest deepened(Nest nest, std::size_t levels, const std::vector<std::int64_t>& hints) {
  while (nest.levels() < levels) {
    bool done = false;
    for (std::size_t l = nest.levels(); l-- > 0 && !done;) {
      if (!has_constant_bound(nest, l) || !bounds_nothing(nest, l)) continue;
      const std::optional<std::int64_t> inner = inner_trips(nest.w[l] + 1, hints);
      if (!inner) continue;
      nest = split(nest, l, *inner);
      done = true;
    }
    if (!done) break;
  }
  return nest;
}

}  // namespace loopfold::reconstruct
