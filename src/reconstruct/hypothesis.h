// A partial solution: a nest that explains the addresses so far, and where in it the last of them is.
//
// This is S = {c, I, U, w} of the paper (section 2.2), without the matrix I. Of all index vectors only the last one is
// kept, because of what the order of visits says about the bounds. A *visit* of loop m is one execution of it, for one
// vector of outer indices. Visits come in lexicographic order of these vectors, so the first visit has all outer
// indices 0, and ends at i_m = w_m; and the first visit with i_r >= 1 has i_r = 1, zeros between r and m, and outside r
// only directions that were met before: it ends at i_m = (what is known) + U[m][r]. So at any time a bound has at most
// one unknown coefficient, and the end of the visit gives it by one subtraction: the triangular systems of section
// 2.3.2, solved in the order in which their rows arrive. A visit whose end is not yet known is *open*, others are
// closed, and in those the bound decides what comes next (the paper's gamma: how many iterations are left). The
// outermost loop is always open.
//
// `known` holds a bit for every loop r that is through with its first iteration i_r = 1: that tells which visits are
// open. A loop with i_r = 1 that is not known is *fresh*.
//
// From here the next address can be reached in two ways (figure 1 of the paper):
// - step(l): i_l + 1, all loops inside l end. Possible if these may end now, if l may go on, and if no loop inside it
//   would be empty at once. Gives the address target(l).
// - grow(p, a): a new loop between p-1 and p, all loops from p on end; its coefficient is what is needed to reach a.
//   All visits of it so far had one iteration, so that is only consistent if the current visit of it would be open.
//
// Everything is exact; addresses are modulo 2^64, bounds are checked. All operations are O(n) to O(n^2) in the number
// of loops.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "reconstruct/nest.h"

namespace loopfold::reconstruct {

/// The bound of an open visit for which nothing is expected.
inline constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

class Hypothesis {
 public:
  Hypothesis() = default;
  /// The first address explains itself.
  explicit Hypothesis(std::uint64_t address);

  std::size_t levels() const { return shape.levels; }
  std::size_t inner() const { return shape.levels - 1; }
  bool is_open(std::size_t level) const { return (open >> level & 1) != 0; }
  bool is_known(std::size_t level) const { return (known >> level & 1) != 0; }
  bool is_fresh(std::size_t level) const { return index[level] == 1 && !is_known(level); }

  /// The address that step(l) would reach.
  std::uint64_t target(std::size_t level) const { return at[level] + static_cast<std::uint64_t>(shape.c[level]); }
  bool may_step(std::size_t level) const { return (is_open(level) || index[level] < bound[level]) && !empties(level); }
  bool may_end(std::size_t level) const { return is_open(level) || index[level] == bound[level] || empties(level); }
  void step(std::size_t level);

  bool may_grow(std::size_t position) const;
  void grow(std::size_t position, std::uint64_t next);

  /// Could the nest end with the last address?
  bool complete() const;
  /// How many addresses a complete nest can explain: all, or those before the current iteration of the outermost loop.
  std::uint64_t complete_count() const { return complete() ? count : outer_start; }
  /// That nest, without loops that have only one iteration. Nothing if there is none.
  std::optional<Nest> complete_nest() const;

  /// Where this would be if loop `level` had only come to `at_index`, and all inside it had ended. False if that cannot
  /// be told cheaply. at_index must be 2 or more and less than the index now.
  bool rewind(std::size_t level, std::int64_t at_index);

  std::uint64_t hash() const;

  /// All of it in as few numbers as possible, for keeping many.
  void pack(std::vector<std::int64_t>& into) const;
  static Hypothesis unpacked(const std::vector<std::int64_t>& numbers);

  Shape shape;
  std::array<std::int64_t, kMaxLevels> index{};
  std::array<std::int64_t, kMaxLevels> bound{};  // of an open visit: what it would be if it did not depend on the new
                                                 // direction, or kUnbounded in the first visit of all
  std::array<std::uint64_t, kMaxLevels> at{};    // address where the current iteration of the level began
  std::array<std::uint64_t, kMaxLevels> known_at{};  // how many addresses there were when it became known
  std::uint64_t address = 0;                         // the last one
  std::uint64_t count = 1;
  std::uint64_t outer_start = 0;  // addresses before the current iteration of the outermost loop
  std::uint32_t open = 0;
  std::uint32_t known = 0;
  std::uint8_t detours = 0;  // how often something else than the expected was chosen on the way here

 private:
  bool empties(std::size_t level) const;
  bool inner_is_empty(std::size_t level) const;
  bool inner_starts_empty(std::size_t level) const;
  bool go_to_ends(std::size_t level);
  void forget_after(std::uint64_t then);
  void learn(std::size_t level);
  void close_from(std::size_t level);
  /// The innermost loop outside `level` whose index is not 0, or -1.
  int direction(std::size_t level) const;
};

}  // namespace loopfold::reconstruct
