// Unions of many pieces, put together and intersected by the pieces.
//
// isl_map_intersect() first asks whether both maps are the same, and for that brings all their pieces into a normal
// form without redundant constraints, which it then throws away: where there are many pieces, that takes longer than
// intersecting them. isl_map_union() copies the list of pieces that are there for each that is added.
//
// Of two unions of many pieces, most pairs of pieces have nothing in common, and a piece of a map is often inside a
// piece of the set that it is limited to: both are seen by the constraints as they stand (piece_rows.h), without asking
// isl.
//
// Exact: the same sets as isl's own functions give. Null, if one of the arguments is or if the budget is used up.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "poly/isl.h"

namespace loopfold::poly {

/// Gathers maps, or sets, of one space. Lists of about the same length are joined, so each piece is copied a few times
/// only.
template <typename Whole, typename Piece>
class UnionOf {
 public:
  /// What the union is if nothing is added.
  explicit UnionOf(Isl<Whole> empty) : empty_(std::move(empty)) {}

  void add(Isl<Whole> part);
  void add(Piece* piece);
  Isl<Whole> take();

 private:
  struct Part {
    Isl<Whole> whole;
    std::size_t pieces = 0;
  };
  void join_last();

  Isl<Whole> empty_;
  std::vector<Part> parts_;  // each of them longer than the next
};
using MapUnion = UnionOf<isl_map, isl_basic_map>;
using SetUnion = UnionOf<isl_set, isl_basic_set>;

/// None of a null map.
std::vector<Isl<isl_basic_map>> pieces_of(const Isl<isl_map>& map);

/// Of two maps of one space, with the same parameters.
Isl<isl_map> intersect(const Isl<isl_map>& a, const Isl<isl_map>& b);
/// With all of these.
Isl<isl_map> intersect(const Isl<isl_map>& map, std::span<const Isl<isl_basic_map>> limits);

/// The pairs of a map whose producer, or whose consumer, is in a set.
Isl<isl_map> intersect_domain(const Isl<isl_map>& map, const Isl<isl_set>& set);
Isl<isl_map> intersect_range(const Isl<isl_map>& map, const Isl<isl_set>& set);

/// { x -> z : x -> y in a, y -> z in b }
Isl<isl_map> apply_range(const Isl<isl_map>& a, const Isl<isl_map>& b);

/// The same, without pieces that have nothing in them.
Isl<isl_map> without_empty(const Isl<isl_map>& map);

/// The pairs of a map that agree in the first coordinates.
Isl<isl_map> with_equal_first(Isl<isl_map> map, std::size_t count);
/// The pairs of a map that agree in a coordinate, or in which the consumer's is greater (sign > 0) or less.
Isl<isl_map> with_step(const Isl<isl_map>& map, std::size_t coordinate, int sign);

}  // namespace loopfold::poly
