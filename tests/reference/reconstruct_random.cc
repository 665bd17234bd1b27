// Random nests. What they are is in reconstruct_random.h.
#include "reference/reconstruct_random.h"

#include <functional>

namespace loopfold::reconstruct::reference {

namespace {

using Index = std::vector<std::int64_t>;

std::int64_t bound_of(const Nest& nest, std::size_t level, const Index& index) {
  std::int64_t bound = nest.w[level];
  for (std::size_t r = 0; r < level; ++r) bound += nest.bound_coefficient(level, r) * index[r];
  return bound;
}

/// Would a loop inside `level` be empty at once, with the loops between at 0?
bool inner_is_empty(const Nest& nest, std::size_t level, Index index) {
  for (std::size_t m = level + 1; m < nest.levels(); ++m) index[m] = 0;
  for (std::size_t m = level + 1; m < nest.levels(); ++m)
    if (bound_of(nest, m, index) < 0) return true;
  return false;
}

/// What a walk over the loops sees.
struct Walked {
  std::vector<std::uint64_t> addresses;
  bool emptied = false;       // a loop ended in front of an empty one
  bool hidden = false;        // … in the first visit that would have told a coefficient of its bound
  std::vector<bool> counted;  // by loop: had a second iteration
  std::vector<bool> known;    // by loop: its first iteration 1 is over
};

void walk(const Nest& nest, std::size_t level, Index& index, std::uint64_t most, Walked& walked) {
  if (walked.addresses.size() > most) return;
  if (level == nest.levels()) {
    std::uint64_t address = nest.base;
    for (std::size_t l = 0; l < level; ++l)
      address += static_cast<std::uint64_t>(nest.coefficients[l]) * static_cast<std::uint64_t>(index[l]);
    walked.addresses.push_back(address);
    return;
  }
  bool telling = true;
  for (std::size_t r = level; r-- > 0;) {
    if (index[r] == 0) continue;
    telling = index[r] == 1 && !walked.known[r];
    break;
  }
  const std::int64_t bound = bound_of(nest, level, index);
  for (index[level] = 0; index[level] <= bound; ++index[level]) {
    if (inner_is_empty(nest, level, index)) {
      walked.emptied = true;
      walked.hidden |= telling;
      break;
    }
    if (index[level] > 0) walked.counted[level] = true;
    if (index[level] > 1) walked.known[level] = true;
    walk(nest, level + 1, index, most, walked);
  }
  if (index[level] > 1) walked.known[level] = true;
  index[level] = 0;
}

Walked walk(const Nest& nest, std::uint64_t most) {
  Walked walked;
  walked.counted.assign(nest.levels(), false);
  walked.known.assign(nest.levels(), false);
  Index index(nest.levels(), 0);
  walk(nest, 0, index, most, walked);
  return walked;
}

std::int64_t between(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

std::int64_t random_coefficient(std::mt19937_64& random, int kind, std::int64_t row) {
  if (kind == 1) return between(random, -4, 4);
  if (kind == 2) return between(random, 0, 3) == 0 ? 0 : between(random, -1000000, 1000000);
  return between(random, 0, 5) == 0 ? 0 : row * between(random, 1, 2) * (between(random, 0, 4) == 0 ? -1 : 1);
}

Nest draw(std::mt19937_64& random, const RandomNest& kind) {
  const std::size_t n = kind.depth;
  Nest nest;
  nest.base = random();
  nest.u.assign(n * n, 0);
  nest.coefficients.assign(n, 0);
  std::int64_t row = 8;
  for (std::size_t j = n; j-- > 0;) {
    nest.coefficients[j] = random_coefficient(random, kind.coefficients, row);
    row *= kind.most_trips * 2 + between(random, 0, 9);
  }
  for (std::size_t j = 0; j < n; ++j) {
    nest.w.push_back(between(random, 0, kind.most_trips - 1));
    for (std::size_t r = 0; r < j; ++r)
      if (kind.triangular && between(random, 0, 2) == 0)
        nest.u[j * n + r] = between(random, -1, 1) * between(random, 1, 2);
    nest.u[j * n + j] = -1;
  }
  return nest;
}

}  // namespace

Nest random_nest(std::mt19937_64& random, const RandomNest& kind) {
  for (;;) {
    Nest nest = draw(random, kind);
    const Walked walked = walk(nest, kind.most_addresses);
    bool usable = !walked.addresses.empty() && walked.addresses.size() <= kind.most_addresses && !walked.hidden;
    for (const bool counted : walked.counted) usable &= counted;
    if (!usable || (walked.emptied && !kind.empties)) continue;
    nest.count = walked.addresses.size();
    return nest;
  }
}

std::vector<std::uint64_t> addresses_of(const Nest& nest) { return walk(nest, ~std::uint64_t{0}).addresses; }

}  // namespace loopfold::reconstruct::reference
