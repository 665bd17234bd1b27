#include "poly/pieces.h"

namespace loopfold::poly {

namespace {

isl_size count(isl_map* map) { return isl_map_n_basic_map(map); }
isl_size count(isl_set* set) { return isl_set_n_basic_set(set); }
isl_map* whole_of(isl_basic_map* piece) { return isl_map_from_basic_map(piece); }
isl_set* whole_of(isl_basic_set* piece) { return isl_set_from_basic_set(piece); }
isl_map* joined(isl_map* a, isl_map* b) { return isl_map_union(a, b); }
isl_set* joined(isl_set* a, isl_set* b) { return isl_set_union(a, b); }

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

template <typename Whole, typename Piece>
void UnionOf<Whole, Piece>::add(Isl<Whole> part) {
  const isl_size pieces = count(part.get());
  if (pieces == 0) return;
  parts_.push_back({std::move(part), pieces < 0 ? 0 : static_cast<std::size_t>(pieces)});
  while (parts_.size() > 1 && parts_[parts_.size() - 2].pieces <= parts_.back().pieces) join_last();
}

template <typename Whole, typename Piece>
void UnionOf<Whole, Piece>::add(Piece* piece) {
  add(Isl<Whole>(whole_of(piece)));
}

template <typename Whole, typename Piece>
Isl<Whole> UnionOf<Whole, Piece>::take() {
  while (parts_.size() > 1) join_last();
  return parts_.empty() ? std::move(empty_) : std::move(parts_.front().whole);
}

template <typename Whole, typename Piece>
void UnionOf<Whole, Piece>::join_last() {
  Part last = std::move(parts_.back());
  parts_.pop_back();
  Part& before = parts_.back();
  before.whole = Isl<Whole>(joined(before.whole.release(), last.whole.release()));
  before.pieces += last.pieces;
}

template class UnionOf<isl_map, isl_basic_map>;
template class UnionOf<isl_set, isl_basic_set>;

Isl<isl_map> intersect(const Isl<isl_map>& a, const Isl<isl_map>& b) {
  return by_pieces(a, b, isl_basic_map_intersect);
}

Isl<isl_map> intersect(const Isl<isl_map>& map, std::span<const Isl<isl_basic_map>> limits) {
  if (!map) return {};
  MapUnion all(Isl<isl_map>(isl_map_empty(isl_map_get_space(map.get()))));
  for (Isl<isl_basic_map>& piece : pieces_of(map)) {
    for (const Isl<isl_basic_map>& limit : limits)
      piece = Isl<isl_basic_map>(isl_basic_map_intersect(piece.release(), limit.copy()));
    const isl_bool empty = isl_basic_map_is_empty(piece.get());
    if (empty == isl_bool_error) return {};
    if (empty == isl_bool_false) all.add(piece.release());
  }
  return all.take();
}

Isl<isl_map> intersect_domain(const Isl<isl_map>& map, const Isl<isl_set>& set) {
  return by_pieces(map, set, isl_basic_map_intersect_domain);
}

Isl<isl_map> intersect_range(const Isl<isl_map>& map, const Isl<isl_set>& set) {
  return by_pieces(map, set, isl_basic_map_intersect_range);
}

Isl<isl_map> without_empty(const Isl<isl_map>& map) { return intersect(map, std::span<const Isl<isl_basic_map>>()); }

Isl<isl_map> with_equal_first(Isl<isl_map> map, std::size_t count) {
  if (count == 0) return map;
  const Isl<isl_basic_map> same(isl_basic_map_equal(isl_map_get_space(map.get()), static_cast<unsigned>(count)));
  return intersect(map, std::span(&same, 1));
}

Isl<isl_map> with_step(const Isl<isl_map>& map, std::size_t coordinate, int sign) {
  const auto at = static_cast<int>(coordinate);
  Isl<isl_basic_map> all(isl_basic_map_universe(isl_map_get_space(map.get())));
  if (sign == 0)
    all = Isl<isl_basic_map>(isl_basic_map_equate(all.release(), isl_dim_in, at, isl_dim_out, at));
  else
    all = Isl<isl_basic_map>(isl_basic_map_order_gt(all.release(), sign > 0 ? isl_dim_out : isl_dim_in, at,
                                                    sign > 0 ? isl_dim_in : isl_dim_out, at));
  return intersect(map, std::span<const Isl<isl_basic_map>>(&all, 1));
}

}  // namespace loopfold::poly
