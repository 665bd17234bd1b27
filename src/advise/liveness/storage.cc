#include "advise/liveness/storage.h"

#include <algorithm>

namespace loopfold::advise::liveness {

namespace {

using poly::Isl;

/// { [..., p] -> [..., q] : equal but for the last, and a part of the `a` bytes at p is among the `b` bytes at q }
Isl<isl_map> overlap(isl_space* cells, std::int64_t a, std::int64_t b) {
  Isl<isl_space> space(isl_space_map_from_set(cells));
  const auto last = static_cast<int>(isl_space_dim(space.get(), isl_dim_in)) - 1;
  Isl<isl_map> map(isl_map_universe(space.copy()));
  for (int k = 0; k < last; ++k) map = Isl<isl_map>(isl_map_equate(map.release(), isl_dim_in, k, isl_dim_out, k));
  if (last < 0) return map;
  isl_local_space* const local = isl_local_space_from_space(space.release());
  const auto bound = [&](int sign, std::int64_t bytes) {  // sign * (q - p) < bytes
    isl_constraint* c = isl_constraint_alloc_inequality(isl_local_space_copy(local));
    c = isl_constraint_set_coefficient_si(c, isl_dim_out, last, -sign);
    c = isl_constraint_set_coefficient_si(c, isl_dim_in, last, sign);
    c = isl_constraint_set_constant_si(c, static_cast<int>(bytes - 1));
    map = Isl<isl_map>(isl_map_add_constraint(map.release(), c));
  };
  bound(1, a);
  bound(-1, b);
  isl_local_space_free(local);
  return map;
}

/// Times with the number of the unit and the position behind them, so that no two accesses happen at the same time.
Isl<isl_map> whole_time(const Times& times, const Access& access) {
  Isl<isl_map> time = times.of[access.unit];
  const auto length = static_cast<unsigned>(isl_map_dim(time.get(), isl_dim_out));
  time = Isl<isl_map>(isl_map_add_dims(time.release(), isl_dim_out, 2));
  time = Isl<isl_map>(isl_map_fix_si(time.release(), isl_dim_out, length, static_cast<int>(access.unit)));
  return Isl<isl_map>(isl_map_fix_si(time.release(), isl_dim_out, length + 1, static_cast<int>(access.position)));
}

}  // namespace

std::size_t length_of(const Times& times) {
  return times.of.empty() ? 0 : static_cast<std::size_t>(isl_map_dim(times.of.front().get(), isl_dim_out));
}

Isl<isl_map> same_cell(const Access& a, const Access& b) {
  Isl<isl_set> range(isl_map_range(a.cells.copy()));
  const Isl<isl_map> both = overlap(isl_set_get_space(range.get()), a.bytes, b.bytes);
  Isl<isl_map> map(isl_map_apply_range(a.cells.copy(), both.copy()));
  return Isl<isl_map>(isl_map_apply_range(map.release(), isl_map_reverse(b.cells.copy())));
}

Isl<isl_map> before(const Times& times, const Access& a, const Access& b) {
  return Isl<isl_map>(isl_map_lex_lt_map(whole_time(times, a).release(), whole_time(times, b).release()));
}

Isl<isl_map> at_once(const Times& times, const Access& a, const Access& b) {
  const std::vector<bool>& rows = times.parallel[a.unit];
  const std::vector<bool>& others = times.parallel[b.unit];
  Isl<isl_map> all(
      isl_map_empty(isl_space_map_from_domain_and_range(isl_space_domain(isl_map_get_space(times.of[a.unit].get())),
                                                        isl_space_domain(isl_map_get_space(times.of[b.unit].get())))));
  for (std::size_t row = 0; row < std::min(rows.size(), others.size()); ++row) {
    if (!rows[row] || !others[row]) continue;
    Isl<isl_map> same(
        isl_map_universe(isl_space_map_from_set(isl_space_range(isl_map_get_space(times.of[a.unit].get())))));
    for (std::size_t k = 0; k < row; ++k)
      same = Isl<isl_map>(
          isl_map_equate(same.release(), isl_dim_in, static_cast<int>(k), isl_dim_out, static_cast<int>(k)));
    const int at = static_cast<int>(row);
    Isl<isl_map> less(isl_map_order_lt(same.copy(), isl_dim_in, at, isl_dim_out, at));
    Isl<isl_map> more(isl_map_order_gt(same.release(), isl_dim_in, at, isl_dim_out, at));
    Isl<isl_map> differ(isl_map_union(less.release(), more.release()));
    Isl<isl_map> map(isl_map_apply_range(times.of[a.unit].copy(), differ.release()));
    map = Isl<isl_map>(isl_map_apply_range(map.release(), isl_map_reverse(times.of[b.unit].copy())));
    all = Isl<isl_map>(isl_map_union(all.release(), map.release()));
  }
  return all;
}

}  // namespace loopfold::advise::liveness
