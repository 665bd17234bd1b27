#include "poly/pieces.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "poly/piece_rows.h"

namespace loopfold::poly {

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

namespace {

isl_size count(isl_map* map) { return isl_map_n_basic_map(map); }
isl_size count(isl_set* set) { return isl_set_n_basic_set(set); }
isl_map* whole_of(isl_basic_map* piece) { return isl_map_from_basic_map(piece); }
isl_set* whole_of(isl_basic_set* piece) { return isl_set_from_basic_set(piece); }
isl_map* joined(isl_map* a, isl_map* b) { return isl_map_union(a, b); }
isl_set* joined(isl_set* a, isl_set* b) { return isl_set_union(a, b); }

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

/// Whether so many pairs are worth a look at their rows.
bool are_many(std::size_t a, std::size_t b) {
  constexpr std::size_t kFew = 16;
  return a >= 2 && b >= 2 && a * b >= kFew;
}

template <typename Piece>
std::vector<PieceRows> rows_of(const std::vector<Piece>& pieces) {
  std::vector<PieceRows> rows;
  rows.reserve(pieces.size());
  for (const Piece& piece : pieces) rows.emplace_back(piece);
  return rows;
}

/// What is in both, if that is anything. False if isl gave up.
bool add_both(const Isl<isl_basic_map>& a, const Isl<isl_basic_map>& b, MapUnion& all) {
  Isl<isl_basic_map> both(isl_basic_map_intersect(a.copy(), b.copy()));
  const isl_bool empty = isl_basic_map_is_empty(both.get());
  if (empty == isl_bool_false) all.add(both.release());
  return empty != isl_bool_error;
}

/// The pairs of a map whose one end is in a set. Maps are mostly made of instances that there are, each piece from
/// those of one piece of the set: such a piece stays as it is. Where pieces of the set overlap, there would be one for
/// each of them, again and again.
template <typename Intersect>
Isl<isl_map> at_ends(const Isl<isl_map>& map, const Isl<isl_set>& set, const Intersect& intersect_end) {
  if (!map || !set) return {};
  std::vector<Isl<isl_basic_map>> limits;
  const Isl<isl_basic_map> everything(isl_basic_map_universe(isl_map_get_space(map.get())));
  for (const Isl<isl_basic_set>& end : pieces_of(set))
    limits.emplace_back(intersect_end(everything.copy(), end.copy()));
  MapUnion all(Isl<isl_map>(isl_map_empty(isl_map_get_space(map.get()))));
  const std::vector<PieceRows> bounds = limits.size() > 1 ? rows_of(limits) : std::vector<PieceRows>();
  for (const Isl<isl_basic_map>& piece : pieces_of(map)) {
    std::vector<std::size_t> near(limits.size());
    std::iota(near.begin(), near.end(), 0);
    if (!bounds.empty()) {
      const PieceRows rows(piece);
      if (std::any_of(bounds.begin(), bounds.end(), [&](const PieceRows& bound) { return rows.is_inside(bound); })) {
        all.add(piece.copy());
        continue;
      }
      std::erase_if(near, [&](std::size_t k) { return rows.is_apart(bounds[k]); });
      if (std::any_of(near.begin(), near.end(), [&](std::size_t k) {
            return !bounds[k].is_complete() && isl_basic_map_is_subset(piece.get(), limits[k].get()) == isl_bool_true;
          })) {
        all.add(piece.copy());
        continue;
      }
    }
    for (const std::size_t k : near)
      if (!add_both(piece, limits[k], all)) return {};
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
  if (!a || !b) return {};
  MapUnion all(Isl<isl_map>(isl_map_empty(isl_map_get_space(a.get()))));
  const auto pieces = pieces_of(a);
  const auto others = pieces_of(b);
  const bool many = are_many(pieces.size(), others.size());
  const std::vector<PieceRows> bounds = many ? rows_of(others) : std::vector<PieceRows>();
  for (const Isl<isl_basic_map>& piece : pieces) {
    const std::optional<PieceRows> rows = many ? std::optional<PieceRows>(piece) : std::nullopt;
    for (std::size_t k = 0; k < others.size(); ++k)
      if ((!many || !rows->is_apart(bounds[k])) && !add_both(piece, others[k], all)) return {};
  }
  return all.take();
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
  return at_ends(map, set, isl_basic_map_intersect_domain);
}

Isl<isl_map> intersect_range(const Isl<isl_map>& map, const Isl<isl_set>& set) {
  return at_ends(map, set, isl_basic_map_intersect_range);
}

/// isl puts what it makes together quicker than it can be done from outside, so that must be worth it.
Isl<isl_map> apply_range(const Isl<isl_map>& a, const Isl<isl_map>& b) {
  if (!a || !b) return {};
  const auto first = pieces_of(a);
  const auto second = pieces_of(b);
  std::vector<std::pair<std::size_t, std::size_t>> near;
  if (are_many(first.size(), second.size())) {
    const std::vector<PieceRows> rows = rows_of(first);
    const std::vector<PieceRows> others = rows_of(second);
    for (std::size_t i = 0; i < first.size(); ++i)
      for (std::size_t k = 0; k < second.size(); ++k)
        if (!rows[i].ends_apart_from(others[k])) near.emplace_back(i, k);
  }
  if (!are_many(first.size(), second.size()) || 2 * near.size() > first.size() * second.size())
    return Isl<isl_map>(isl_map_apply_range(a.copy(), b.copy()));
  MapUnion all(Isl<isl_map>(isl_map_empty(isl_space_join(isl_map_get_space(a.get()), isl_map_get_space(b.get())))));
  for (const auto& [i, k] : near) {
    Isl<isl_basic_map> both(isl_basic_map_apply_range(first[i].copy(), second[k].copy()));
    const isl_bool empty = isl_basic_map_plain_is_empty(both.get());
    if (empty == isl_bool_error) return {};
    if (empty == isl_bool_false) all.add(both.release());
  }
  return all.take();
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
