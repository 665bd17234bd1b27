// Unions of many pieces, put together and intersected by the pieces.
//
// isl_map_intersect() first asks whether both maps are the same, and for that brings all their pieces into a normal form
// without redundant constraints, which it then throws away: where there are many pieces, that takes longer than
// intersecting them. isl_map_union() copies the list of pieces that are there for each that is added.
//
// Exact: the same sets as isl's own functions give, of the same pieces in the same order. Null, if one of the arguments
// is or if the budget is used up.
#pragma once

#include <utility>
#include <vector>

#include "poly/isl.h"

namespace loopfold::poly {

/// Gathers maps of one space. Lists of about the same length are joined, so each piece is copied a few times only.
class MapUnion {
 public:
  /// What the union is if nothing is added, and what nothing is added to.
  explicit MapUnion(Isl<isl_map> empty) : empty_(std::move(empty)) {}

  void add(Isl<isl_map> map);
  void add(isl_basic_map* piece) { add(Isl<isl_map>(isl_map_from_basic_map(piece))); }
  Isl<isl_map> take();

 private:
  struct Part {
    Isl<isl_map> map;
    std::size_t pieces = 0;
  };
  void join_last();

  Isl<isl_map> empty_;
  std::vector<Part> parts_;  // each of them longer than the next
};

/// Of two maps of one space, without parameters.
Isl<isl_map> intersect(const Isl<isl_map>& a, const Isl<isl_map>& b);

/// The pairs of a map whose producer, or whose consumer, is in a set.
Isl<isl_map> intersect_domain(const Isl<isl_map>& map, const Isl<isl_set>& set);
Isl<isl_map> intersect_range(const Isl<isl_map>& map, const Isl<isl_set>& set);

}  // namespace loopfold::poly
