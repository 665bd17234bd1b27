// Elementary polyhedra: the domains that the published folding algorithm builds (TACO 2019, section 5.2.1).
//
// Dimensions are counted from the inside here: dimension 0 is the innermost loop (the paper's dimension 1), and
// vertices have their innermost coordinate first. An elementary polyhedron of dimension d has a lower and an upper face
// along d, elementary themselves, and edges between corresponding vertices of the two that are multiples of vectors of
// -1, 0, 1. It has 2^d vertices, some of which may be equal: a triangle is a trapezoid whose lower face is one point.
//
// A polyhedron is *flat* along a dimension in which its lower and upper face are the same. Most are flat along many (a
// loop that ran once; all dimensions further out), so only the 2^n vertices of the n others are stored. Bit i of a
// vertex's number says which face it is on, lower (0) or upper (1), along the i-th dimension that is not flat.
//
// Growing along d is absorbing the next slice, whose coordinate d is one larger:
// - *merge*, if this one is flat along d: each vertex of the slice must be at a distance of -1, 0 or 1 from its
//   counterpart in all dimensions inside d, and all vertices of each side face must lie on one hyperplane (the square
//   and the triangle of the paper's Figure 7 do not).
// - *extension*, else: each vertex of the slice must be where the edges go.
//
// The hyperplane of a side face along b is sought in the form x_b = constant + sum of c_j x_j over j > b, which is the
// bound of x_b in nested ranges. Edges have slopes of -1, 0, 1, so the c_j are integers, found one after the other from
// one edge each, and then checked at all vertices of the face. A face that had another hyperplane only (it would have
// to contain the direction b, and does not, since a flat slice repeats its vertices) would be refused: more pieces,
// never a wrong one.
//
// Exactness: the integer points of the ranges are exactly the points that were absorbed. By induction over d: for a
// fixed coordinate d the bounds agree with those of the slice that was absorbed there, since both are affine and agree
// at the vertices of its faces.
//
// Cost: O(d 2^n) for an extension and for a merge of two copies, as in all rectangular nests; O(d^2 2^n) for others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fold/fold.h"

namespace loopfold::fold {

/// 2^d vertices: past this folding is not tried.
inline constexpr std::size_t kMaxDimensions = 10;

using Coordinates = std::array<std::int64_t, kMaxDimensions>;

/// constant + sum of coefficients[j] * x_j.
struct Bound {
  std::int64_t constant = 0;
  Coordinates coefficients{};
};

class Polyhedron {
 public:
  /// The points start, start + (1, 0, 0 ...) ...: `length` of them, at least one.
  void assign_row(std::span<const std::int64_t> start, std::uint64_t length);

  std::size_t dimensions() const { return dimensions_; }
  bool flat(std::size_t dimension) const { return (mask_ >> dimension & 1) == 0; }
  std::size_t vertices() const { return std::size_t{1} << bits_; }
  const std::int64_t* vertex(std::size_t number) const { return coordinates_.data() + number * dimensions_; }
  /// The lexicographically smallest point.
  const std::int64_t* anchor() const { return vertex(0); }
  /// The lexicographically smallest point of the upper face along `d`, where it is not flat, or of all.
  const std::int64_t* corner(std::size_t d) const { return vertex(flat(d) ? 0 : vertices() / 2); }
  /// Where the anchor of the next slice must be, if this is not flat along `d`, its outermost dimension; false if that
  /// is no 64-bit point.
  bool next_anchor(std::size_t d, Coordinates& into) const;

  /// Whether `slice` goes on where this polyhedron, flat along `d`, is; if so, `merged` is both.
  bool merge(const Polyhedron& slice, std::size_t d, Polyhedron& merged) const;
  /// Whether `slice` goes on where the edges of this polyhedron lead, which is not flat along `d`.
  bool can_extend(const Polyhedron& slice, std::size_t d) const;
  void extend(const Polyhedron& slice);

  /// The bound of coordinate `b`; false if there is none (or none that fits into 64 bits).
  bool bound(std::size_t b, bool upper, Bound& into) const;
  std::int64_t minimum(std::size_t b) const;
  std::int64_t maximum(std::size_t b) const;
  /// Whether both bounds of coordinate `b` are constants.
  bool constant_bounds(std::size_t b) const;

  /// Bytes that depend on its shape only.
  std::size_t bytes() const { return coordinates_.size() * sizeof(std::int64_t) + slopes_.size(); }

 private:
  std::size_t face_step(std::size_t b) const;
  std::size_t project(std::size_t number, std::uint32_t onto) const;
  bool side_faces_are_flat(std::size_t d) const;
  bool slope_along(std::size_t b, std::size_t face, std::size_t j, Bound& bound) const;

  std::size_t dimensions_ = 0;
  std::uint32_t mask_ = 0;                 // dimensions that are not flat
  unsigned bits_ = 0;                      // how many
  std::vector<std::int64_t> coordinates_;  // by vertex
  std::vector<std::int8_t> slopes_;        // by vertex of the lower face along the outermost dimension that is not flat
};

/// Whether vectors of the paper's form lead from `from` to `to` along `d`: 1 in `d`, -1, 0 or 1 inside, 0 outside.
bool is_search_vector(const std::int64_t* from, const std::int64_t* to, std::size_t d, std::size_t dimensions);

/// How many points nested ranges (outermost first) contain, as far as `budget` steps lead; false if they do not lead to
/// the end, or the number does not fit.
bool count_points(std::span<const Range> ranges, std::uint64_t budget, std::uint64_t& into);

}  // namespace loopfold::fold
