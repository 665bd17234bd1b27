#include "advise/liveness/storage.h"

#include <algorithm>

#include "poly/pieces.h"

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

/// The same for all instances.
bool is_number(const TimeSum& sum) {
  return std::all_of(sum.coefficients.begin(), sum.coefficients.end(), [](std::int64_t c) { return c == 0; });
}

std::int64_t number_of(const TimeSum& sum) {
  const std::int64_t whole = sum.constant / sum.divisor;
  return sum.constant % sum.divisor < 0 ? whole - 1 : whole;
}

/// { x of a -> y of b }, said by sums.
class Pairs {
 public:
  Pairs(const Times& times, std::uint32_t a, std::uint32_t b) : a_(times.sums[a]), b_(times.sums[b]) {
    isl_space* const from = isl_space_domain(isl_map_get_space(times.of[a].get()));
    isl_space* const to = isl_space_domain(isl_map_get_space(times.of[b].get()));
    space_ = Isl<isl_space>(isl_space_wrap(isl_space_map_from_domain_and_range(from, to)));
  }

  Isl<isl_map> none() const { return Isl<isl_map>(isl_map_empty(isl_space_unwrap(space_.copy()))); }
  Isl<isl_basic_set> all() const { return Isl<isl_basic_set>(isl_basic_set_universe(space_.copy())); }

  /// The two entries of a row, if both are the same for all instances.
  bool is_constant(std::size_t row) const { return is_number(a_[row]) && is_number(b_[row]); }
  std::int64_t constant_step(std::size_t row) const { return number_of(b_[row]) - number_of(a_[row]); }

  /// b's entry of a row, less a's.
  Isl<isl_aff> step(std::size_t row) const {
    const isl_size of_both = isl_space_dim(space_.get(), isl_dim_set);
    const auto first_of_b = static_cast<std::size_t>(of_both) - b_[row].coefficients.size();
    return Isl<isl_aff>(isl_aff_sub(entry(b_[row], first_of_b).release(), entry(a_[row], 0).release()));
  }

  static Isl<isl_basic_set> equal(Isl<isl_basic_set> set, const Isl<isl_aff>& step) {
    return Isl<isl_basic_set>(isl_basic_set_add_constraint(set.release(), isl_equality_from_aff(step.copy())));
  }
  /// `sign`: of the step.
  static Isl<isl_basic_set> different(Isl<isl_basic_set> set, const Isl<isl_aff>& step, int sign) {
    Isl<isl_aff> forward(sign < 0 ? isl_aff_neg(step.copy()) : step.copy());
    forward = Isl<isl_aff>(isl_aff_add_constant_si(forward.release(), -1));
    return Isl<isl_basic_set>(isl_basic_set_add_constraint(set.release(), isl_inequality_from_aff(forward.release())));
  }

 private:
  Isl<isl_aff> entry(const TimeSum& sum, std::size_t first) const {
    isl_ctx* const isl = isl_space_get_ctx(space_.get());
    isl_aff* aff = isl_aff_zero_on_domain(isl_local_space_from_space(space_.copy()));
    for (std::size_t k = 0; k < sum.coefficients.size(); ++k)
      if (sum.coefficients[k] != 0)
        aff = isl_aff_set_coefficient_val(aff, isl_dim_in, static_cast<int>(first + k),
                                          isl_val_int_from_si(isl, sum.coefficients[k]));
    aff = isl_aff_set_constant_val(aff, isl_val_int_from_si(isl, sum.constant));
    if (sum.divisor != 1) aff = isl_aff_floor(isl_aff_scale_down_val(aff, isl_val_int_from_si(isl, sum.divisor)));
    return Isl<isl_aff>(aff);
  }

  const std::vector<TimeSum>& a_;
  const std::vector<TimeSum>& b_;
  Isl<isl_space> space_;
};

void add(poly::MapUnion& all, const Isl<isl_basic_set>& pairs) { all.add(isl_basic_set_unwrap(pairs.copy())); }

/// `tie`: of equal times, a comes first.
Isl<isl_map> before_by_sums(const Times& times, std::uint32_t a, std::uint32_t b, bool tie) {
  const Pairs pairs(times, a, b);
  poly::MapUnion all(pairs.none());
  Isl<isl_basic_set> equal = pairs.all();
  for (std::size_t row = 0; row < times.sums[a].size(); ++row) {
    if (pairs.is_constant(row)) {
      const std::int64_t step = pairs.constant_step(row);
      if (step == 0) continue;
      if (step > 0) add(all, equal);
      return all.take();
    }
    const Isl<isl_aff> step = pairs.step(row);
    add(all, Pairs::different(equal, step, 1));
    equal = Pairs::equal(std::move(equal), step);
  }
  if (tie) add(all, equal);
  return all.take();
}

Isl<isl_map> at_once_by_sums(const Times& times, std::uint32_t a, std::uint32_t b) {
  const Pairs pairs(times, a, b);
  poly::MapUnion all(pairs.none());
  Isl<isl_basic_set> equal = pairs.all();
  for (std::size_t row = 0; row < times.sums[a].size(); ++row) {
    const bool parallel = times.parallel[a][row] && times.parallel[b][row];
    if (pairs.is_constant(row)) {
      if (pairs.constant_step(row) == 0) continue;
      if (parallel) add(all, equal);
      break;
    }
    const Isl<isl_aff> step = pairs.step(row);
    if (parallel) {
      add(all, Pairs::different(equal, step, 1));
      add(all, Pairs::different(equal, step, -1));
    }
    equal = Pairs::equal(std::move(equal), step);
  }
  return all.take();
}

Isl<isl_map> equal_by_sums(const Times& times, std::uint32_t a, std::uint32_t b, std::size_t rows) {
  const Pairs pairs(times, a, b);
  Isl<isl_basic_set> equal = pairs.all();
  for (std::size_t row = 0; row < rows; ++row) {
    if (!pairs.is_constant(row))
      equal = Pairs::equal(std::move(equal), pairs.step(row));
    else if (pairs.constant_step(row) != 0)
      return pairs.none();
  }
  return Isl<isl_map>(isl_map_from_basic_map(isl_basic_set_unwrap(equal.release())));
}

/// { U[i] -> [the first rows of its time] }
Isl<isl_map> prefix(const Times& times, std::uint32_t unit, std::size_t rows) {
  Isl<isl_map> time = times.of[unit];
  const auto length = static_cast<unsigned>(isl_map_dim(time.get(), isl_dim_out));
  return Isl<isl_map>(isl_map_project_out(time.release(), isl_dim_out, static_cast<unsigned>(rows),
                                          length - static_cast<unsigned>(rows)));
}

bool is_first_of_equals(const Access& a, const Access& b) {
  return a.unit != b.unit ? a.unit < b.unit : a.position < b.position;
}

/// The rows that decide which of two instances comes first. If both sums of one are numbers, it is the last.
std::vector<std::pair<const TimeSum*, const TimeSum*>> deciding_rows(const std::vector<TimeSum>& a,
                                                                     const std::vector<TimeSum>& b) {
  std::vector<std::pair<const TimeSum*, const TimeSum*>> rows;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
    const bool numbers = is_number(a[k]) && is_number(b[k]);
    if (numbers && number_of(a[k]) == number_of(b[k])) continue;
    rows.emplace_back(&a[k], &b[k]);
    if (numbers) break;
  }
  return rows;
}

/// That of one order says what that of another says.
bool decide_the_same(const std::pair<const TimeSum*, const TimeSum*>& x,
                     const std::pair<const TimeSum*, const TimeSum*>& y) {
  if (*x.first == *y.first && *x.second == *y.second) return true;
  const auto numbers = [](const auto& row) { return is_number(*row.first) && is_number(*row.second); };
  const auto forward = [](const auto& row) { return number_of(*row.first) < number_of(*row.second); };
  return numbers(x) && numbers(y) && forward(x) == forward(y);
}

}  // namespace

bool have_same_order(const Times& times, const Times& others, std::uint32_t a, std::uint32_t b) {
  if (times.sums.empty() || others.sums.empty()) return false;
  const auto rows = deciding_rows(times.sums[a], times.sums[b]);
  const auto other = deciding_rows(others.sums[a], others.sums[b]);
  return std::equal(rows.begin(), rows.end(), other.begin(), other.end(), decide_the_same);
}

std::size_t length_of(const Times& times) {
  return times.of.empty() ? 0 : static_cast<std::size_t>(isl_map_dim(times.of.front().get(), isl_dim_out));
}

Isl<isl_map> same_cell(const Access& a, const Access& b) {
  Isl<isl_set> range(isl_map_range(a.cells.copy()));
  const Isl<isl_map> both = overlap(isl_set_get_space(range.get()), a.bytes, b.bytes);
  const Isl<isl_map> map(isl_map_apply_range(a.cells.copy(), both.copy()));
  return poly::apply_range(map, Isl<isl_map>(isl_map_reverse(b.cells.copy())));
}

Isl<isl_map> before(const Times& times, const Access& a, const Access& b) {
  if (!times.sums.empty()) return before_by_sums(times, a.unit, b.unit, is_first_of_equals(a, b));
  return Isl<isl_map>(isl_map_lex_lt_map(whole_time(times, a).release(), whole_time(times, b).release()));
}

Isl<isl_map> at_once(const Times& times, const Access& a, const Access& b) {
  if (!times.sums.empty()) return at_once_by_sums(times, a.unit, b.unit);
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

Isl<isl_map> equal_first(const Times& times, std::uint32_t a, std::uint32_t b, std::size_t rows) {
  if (!times.sums.empty()) return equal_by_sums(times, a, b, rows);
  return Isl<isl_map>(
      isl_map_apply_range(prefix(times, a, rows).release(), isl_map_reverse(prefix(times, b, rows).release())));
}

const Isl<isl_map>& Precedence::before(const Access& a, const Access& b) {
  Isl<isl_map>& known = before_[{a.unit, b.unit, is_first_of_equals(a, b)}];
  if (!known) known = liveness::before(times_, a, b);
  return known;
}

const Isl<isl_map>& Precedence::at_once(const Access& a, const Access& b) {
  Isl<isl_map>& known = at_once_[{a.unit, b.unit}];
  if (!known) known = liveness::at_once(times_, a, b);
  return known;
}

const Isl<isl_map>& Precedence::equal_first(std::uint32_t a, std::uint32_t b, std::size_t rows) {
  Isl<isl_map>& known = equal_[{a, b, rows}];
  if (!known) known = liveness::equal_first(times_, a, b, rows);
  return known;
}

}  // namespace loopfold::advise::liveness
