#include "poly/pieces.h"

namespace loopfold::poly {

namespace {

std::vector<Isl<isl_basic_map>> pieces_of(const Isl<isl_map>& map) {
  std::vector<Isl<isl_basic_map>> pieces;
  isl_map_foreach_basic_map(
      map.get(),
      [](isl_basic_map* piece, void* user) {
        static_cast<std::vector<Isl<isl_basic_map>>*>(user)->emplace_back(piece);
        return isl_stat_ok;
      },
      &pieces);
  return pieces;
}

std::vector<Isl<isl_basic_set>> pieces_of(const Isl<isl_set>& set) {
  std::vector<Isl<isl_basic_set>> pieces;
  isl_set_foreach_basic_set(
      set.get(),
      [](isl_basic_set* piece, void* user) {
        static_cast<std::vector<Isl<isl_basic_set>>*>(user)->emplace_back(piece);
        return isl_stat_ok;
      },
      &pieces);
  return pieces;
}

/// All pieces of a map with all of something else, but for those that have nothing in common.
template <typename Other, typename Intersect>
Isl<isl_map> by_pieces(const Isl<isl_map>& map, const Other& other, const Intersect& intersect_two) {
  if (!map || !other) return {};
  MapUnion all(Isl<isl_map>(isl_map_empty(isl_map_get_space(map.get()))));
  const auto others = pieces_of(other);
  for (const Isl<isl_basic_map>& piece : pieces_of(map))
    for (const auto& with : others) {
      Isl<isl_basic_map> both(intersect_two(piece.copy(), with.copy()));
      const isl_bool empty = isl_basic_map_is_empty(both.get());
      if (empty == isl_bool_error) return {};
      if (empty == isl_bool_false) all.add(both.release());
    }
  return all.take();
}

}  // namespace

void MapUnion::add(Isl<isl_map> map) {
  const isl_size pieces = isl_map_n_basic_map(map.get());
  if (pieces == 0) return;
  parts_.push_back({std::move(map), pieces < 0 ? 0 : static_cast<std::size_t>(pieces)});
  while (parts_.size() > 1 && parts_[parts_.size() - 2].pieces <= parts_.back().pieces) join_last();
}

Isl<isl_map> MapUnion::take() {
  while (parts_.size() > 1) join_last();
  return parts_.empty() ? std::move(empty_) : std::move(parts_.front().map);
}

void MapUnion::join_last() {
  Part last = std::move(parts_.back());
  parts_.pop_back();
  Part& before = parts_.back();
  before.map = Isl<isl_map>(isl_map_union(before.map.release(), last.map.release()));
  before.pieces += last.pieces;
}

Isl<isl_map> intersect(const Isl<isl_map>& a, const Isl<isl_map>& b) {
  return by_pieces(a, b, isl_basic_map_intersect);
}

Isl<isl_map> intersect_domain(const Isl<isl_map>& map, const Isl<isl_set>& set) {
  return by_pieces(map, set, isl_basic_map_intersect_domain);
}

Isl<isl_map> intersect_range(const Isl<isl_map>& map, const Isl<isl_set>& set) {
  return by_pieces(map, set, isl_basic_map_intersect_range);
}

}  // namespace loopfold::poly
