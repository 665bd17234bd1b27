// Runs: points along the last dimension, evenly apart, with labels in arithmetic progressions modulo 2^64.
//
// A folder takes a run in parts: one point as it takes any point, then as many as that point made it expect, all at
// once, and so on. A regular run has two or three parts whatever its length, an irregular one is point by point; both
// are exactly what single points would be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "fold/adaptive_array.h"
#include "fold/fold.h"
#include "support/wide.h"

namespace loopfold::fold {

/// a + times * b.
inline std::int64_t wrapping_add(std::int64_t a, std::int64_t b, std::uint64_t times = 1) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + times * static_cast<std::uint64_t>(b));
}

/// How many of the n >= 1 numbers from, from + step, from + 2 step ... come before one that is not in low .. high;
/// there is at least `from`.
inline std::uint64_t count_within(std::int64_t from, std::int64_t step, std::uint64_t n, std::int64_t low,
                                  std::int64_t high) {
  if (step == 0) return n;
  const Wide room = step > 0 ? static_cast<Wide>(high) - from : static_cast<Wide>(from) - low;
  const Wide steps = room / (step > 0 ? static_cast<Wide>(step) : -static_cast<Wide>(step));
  return steps < static_cast<Wide>(n) - 1 ? static_cast<std::uint64_t>(steps) + 1 : n;
}

/// The same for all numbers of 64 bits.
inline std::uint64_t count_fitting(std::int64_t from, std::int64_t step, std::uint64_t n) {
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = 0;
  const bool all = n - 1 <= static_cast<std::uint64_t>(kHigh) &&
                   !__builtin_mul_overflow(step, static_cast<std::int64_t>(n - 1), &end) &&
                   !__builtin_add_overflow(from, end, &end);
  return all ? n : count_within(from, step, n, kLow, kHigh);
}

/// Gives the points of a run behind the first `done` ones to `one`, which takes a point, and `some`, which takes a run
/// of at least two points and says how many of the first of them it has added.
template <typename One, typename Some>
void add_in_parts(Shape shape, const Run& run, std::uint64_t done, const One& one, const Some& some) {
  const std::size_t inner = shape.dimensions - std::size_t{1};
  adaptive::SmallArray<std::int64_t, 16> numbers(std::size_t{shape.dimensions} + shape.outputs);
  std::int64_t* const point = numbers.data();
  std::int64_t* const labels = point + shape.dimensions;
  std::copy_n(run.point, inner, point);
  const auto go_to = [&](std::uint64_t number) {
    point[inner] = wrapping_add(run.point[inner], run.stride, number);
    for (std::size_t o = 0; o < shape.outputs; ++o) labels[o] = wrapping_add(run.labels[o], run.steps[o], number);
  };
  while (done < run.n) {
    go_to(done++);
    one(point, labels);
    if (run.n - done < 2) continue;
    go_to(done);
    done += some(Run{point, labels, run.steps, run.n - done, run.stride});
  }
}

/// Gives runs beside each other to `take`, but for the first ones that are `done`. It is told the first of those that
/// are left and all of these, and says how many of the first of them it has taken: at least one.
template <typename Take>
void for_each_rank(Shape shape, const Run& run, const Ranks& ranks, std::uint64_t done, const Take& take) {
  const std::size_t along = shape.dimensions - std::size_t{2};
  adaptive::SmallArray<std::int64_t, 16> numbers(std::size_t{shape.dimensions} + shape.outputs);
  std::int64_t* const point = numbers.data();
  std::int64_t* const labels = point + shape.dimensions;
  std::copy_n(run.point, shape.dimensions, point);
  std::copy_n(run.labels, shape.outputs, labels);
  const auto move = [&](std::uint64_t rows) {
    point[along] = wrapping_add(point[along], ranks.stride, rows);
    for (std::size_t o = 0; o < shape.outputs; ++o) labels[o] = wrapping_add(labels[o], ranks.steps[o], rows);
  };
  if (done != 0) move(done);
  while (done < ranks.n) {
    const std::uint64_t taken =
        take(Run{point, labels, run.steps, run.n, run.stride}, Ranks{ranks.n - done, ranks.stride, ranks.steps});
    done += taken;
    move(taken);
  }
}

}  // namespace loopfold::fold
