// An affine loop nest that generates addresses, and nothing else: what reconstruction finds.
//
// Canonical form: loop j, outermost first, counts i_j from 0 to w_j + sum over r < j of U[j][r] * i_r, inclusive and
// with step 1, and the innermost body accesses base + sum of c_j * i_j. Addresses are numbers modulo 2^64, so that a
// nest may run downwards, through 0 or around 2^63; bounds are ordinary integers, and every operation on them is
// checked.
//
// Empty loops. A loop whose next iteration would find an inner loop empty at once ends there (Definition 2.1 of the
// paper): i_j runs as long as i_j <= its bound and, for every inner loop m, the bound of m with all loops between at 0
// is not negative. Both conditions are affine, so the iterations are the points of a polyhedron in lexicographic
// order. For all but contrived nests this is what the C loops do without any guard.
//
//     for (i0 = 0; i0 <= 3; i0++)               U = -1  0   w = 3   c = 800
//       for (i1 = 0; i1 <= i0; i1++)                 1 -1       0         8
//         access(base + 800*i0 + 8*i1)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace loopfold::reconstruct {

/// More loops than this are never looked for.
inline constexpr std::size_t kMaxLevels = 10;

/// A nest as plain data. No loops: the one access of `base`.
struct Nest {
  std::uint64_t base = 0;
  std::uint64_t count = 1;                 // how many addresses it generates
  std::vector<std::int64_t> coefficients;  // c, outermost first
  std::vector<std::int64_t> w;
  std::vector<std::int64_t> u;  // U row by row, levels() * levels(): -1 on the diagonal, 0 above it

  std::size_t levels() const { return coefficients.size(); }
  std::int64_t bound_coefficient(std::size_t row, std::size_t column) const { return u[row * levels() + column]; }
  friend bool operator==(const Nest&, const Nest&) = default;
};

/// The same with room for all levels, as the engine and the walk use it: no allocation, rows at fixed places.
struct Shape {
  std::size_t levels = 0;
  std::uint64_t base = 0;
  std::array<std::int64_t, kMaxLevels> c{};
  std::array<std::int64_t, kMaxLevels> w{};
  std::array<std::array<std::int64_t, kMaxLevels>, kMaxLevels> u{};  // only u[j][r] with r < j is used
};

Shape shape_of(const Nest& nest);

/// The bound of `level` where the first `known` indices are as given and those between are 0. False if it does not fit.
bool bound_at(const Shape& shape, std::size_t level, const std::int64_t* index, std::size_t known, std::int64_t& into);

/// Consecutive addresses with one stride.
struct Run {
  std::uint64_t start = 0;
  std::int64_t stride = 0;
  std::uint64_t count = 0;
};

/// Generates the addresses of a nest, a row of the innermost loop at a time: a few operations for each row, whatever
/// its length. An outermost loop of unknown length is one with a w that is never reached.
class NestWalk {
 public:
  explicit NestWalk(const Shape& shape);
  explicit NestWalk(const Nest& nest) : NestWalk(shape_of(nest)) {}

  /// What is left of the current row; its count is 0 at the end of the nest.
  const Run& row() const { return row_; }
  /// Moves on by so many addresses, not more than the row has.
  void advance(std::uint64_t by);
  /// Moves on by so many addresses or to the end, whole iterations at a time where their size is known.
  void skip(std::uint64_t by);
  bool done() const { return row_.count == 0; }

 private:
  bool next_row();
  void begin_row(std::size_t level);
  bool skip_equal(std::size_t level, std::uint64_t& by);
  void skip_rows(std::uint64_t& by);
  /// Addresses of one iteration of `level` with the first level + 1 indices given; capped.
  std::uint64_t volume(std::size_t level) const;

  Shape shape_;
  std::array<std::int64_t, kMaxLevels> index_{};
  std::array<std::int64_t, kMaxLevels> bound_{};
  std::array<std::uint64_t, kMaxLevels> at_{};
  Run row_;
};

/// Visits all rows of a nest in order.
void for_each_row(const Nest& nest, const std::function<void(const Run&)>& visit);

/// How many addresses the loops of the nest generate (its count should say the same).
std::uint64_t count_of(const Nest& nest);

}  // namespace loopfold::reconstruct
