#include "poly/piece_rows.h"

#include <algorithm>

namespace loopfold::poly {

namespace {

std::optional<std::int64_t> small(isl_val* given) {
  constexpr long kLargest = 1L << 40;
  const Isl<isl_val> value(given);
  if (!value || isl_val_is_int(value.get()) != isl_bool_true || isl_val_cmp_si(value.get(), kLargest) > 0 ||
      isl_val_cmp_si(value.get(), -kLargest) < 0)
    return std::nullopt;
  return isl_val_get_num_si(value.get());
}

}  // namespace

PieceRows::PieceRows(const Isl<isl_basic_map>& piece) {
  inputs_ = static_cast<std::size_t>(std::max(isl_basic_map_dim(piece.get(), isl_dim_in), 0));
  box_.resize(inputs_ + static_cast<std::size_t>(std::max(isl_basic_map_dim(piece.get(), isl_dim_out), 0)));
  const isl_stat done = isl_basic_map_foreach_constraint(
      piece.get(),
      [](isl_constraint* constraint, void* user) {
        static_cast<PieceRows*>(user)->take(constraint);
        return isl_stat_ok;
      },
      this);
  complete_ = complete_ && done == isl_stat_ok;
}

void PieceRows::take(isl_constraint* given) {
  const Isl<isl_constraint> constraint(given);
  std::optional<Row> row = row_of(constraint.get());
  const isl_bool equation = isl_constraint_is_equality(constraint.get());
  if (!row || equation == isl_bool_error) {
    complete_ = false;
    return;
  }
  narrow(*row, equation == isl_bool_true);
  (equation == isl_bool_true ? equations_ : bounds_).push_back(std::move(*row));
}

/// Nothing if it has something that rows have not.
std::optional<PieceRows::Row> PieceRows::row_of(isl_constraint* constraint) const {
  for (const isl_dim_type type : {isl_dim_param, isl_dim_div}) {
    const isl_size count = isl_constraint_dim(constraint, type);
    if (count < 0) return std::nullopt;
    if (count > 0 && isl_constraint_involves_dims(constraint, type, 0, static_cast<unsigned>(count)) != isl_bool_false)
      return std::nullopt;
  }
  Row row;
  row.coefficients.resize(box_.size());
  for (std::size_t i = 0; i < box_.size(); ++i) {
    const isl_dim_type type = i < inputs_ ? isl_dim_in : isl_dim_out;
    const std::size_t at = i < inputs_ ? i : i - inputs_;
    const isl_bool used = isl_constraint_involves_dims(constraint, type, static_cast<unsigned>(at), 1);
    if (used == isl_bool_false) continue;  // without a number of isl's being made
    const auto value = small(isl_constraint_get_coefficient_val(constraint, type, static_cast<int>(at)));
    if (used == isl_bool_error || !value) return std::nullopt;
    row.coefficients[i] = *value;
  }
  const std::optional<std::int64_t> constant = small(isl_constraint_get_constant_val(constraint));
  if (!constant) return std::nullopt;
  row.constant = *constant;
  return row;
}

/// By a row of one coordinate. isl divides rows by what is common, so its coefficient is 1 or -1.
void PieceRows::narrow(const Row& row, bool equation) {
  const std::optional<std::size_t> last = last_of(row);
  if (!last) return;
  const auto used = [](std::int64_t c) { return c != 0; };
  const std::int64_t c = row.coefficients[*last];
  if (std::count_if(row.coefficients.begin(), row.coefficients.end(), used) != 1 || (c != 1 && c != -1)) return;
  Interval& interval = box_[*last];
  const std::int64_t value = -c * row.constant;
  if (c > 0 || equation) interval.least = std::max(interval.least, value);
  if (c < 0 || equation) interval.greatest = std::min(interval.greatest, value);
}

bool PieceRows::is_apart(const PieceRows& other) const {
  if (!has_space_of(other)) return false;
  for (std::size_t i = 0; i < box_.size(); ++i)
    if (are_apart(box_[i], other.box_[i])) return true;
  return false;
}

bool PieceRows::ends_apart_from(const PieceRows& next) const {
  if (box_.size() - inputs_ != next.inputs_) return false;
  for (std::size_t i = inputs_; i < box_.size(); ++i)
    if (are_apart(box_[i], next.box_[i - inputs_])) return true;
  return false;
}

bool PieceRows::is_inside(const PieceRows& other) const {
  if (!other.complete_ || !has_space_of(other)) return false;
  const auto negative = [](Row row) {
    for (std::int64_t& c : row.coefficients) c = -c;
    row.constant = -row.constant;
    return row;
  };
  return std::all_of(other.bounds_.begin(), other.bounds_.end(), [&](const Row& row) { return implies(row); }) &&
         std::all_of(other.equations_.begin(), other.equations_.end(),
                     [&](const Row& row) { return implies(row) && implies(negative(row)); });
}

/// 0 <= row. The last coordinate of each equation is put away first: isl leaves each in one equation only.
bool PieceRows::implies(Row row) const {
  for (const Row& equation : equations_) {
    const std::optional<std::size_t> last = last_of(equation);
    if (!last || row.coefficients[*last] == 0) continue;
    const std::int64_t c = equation.coefficients[*last];
    if ((c != 1 && c != -1) || !add_times(row, equation, -c * row.coefficients[*last])) return false;
  }
  if (!last_of(row)) return row.constant >= 0;
  return std::any_of(bounds_.begin(), bounds_.end(), [&](const Row& bound) {
    return bound.coefficients == row.coefficients && bound.constant <= row.constant;
  });
}

std::optional<std::size_t> PieceRows::last_of(const Row& row) {
  for (std::size_t i = row.coefficients.size(); i > 0; --i)
    if (row.coefficients[i - 1] != 0) return i - 1;
  return std::nullopt;
}

/// False if the numbers become too large.
bool PieceRows::add_times(Row& row, const Row& other, std::int64_t factor) {
  const auto add = [&](std::int64_t& to, std::int64_t what) {
    std::int64_t product = 0;
    return !__builtin_mul_overflow(what, factor, &product) && !__builtin_add_overflow(to, product, &to);
  };
  for (std::size_t i = 0; i < row.coefficients.size(); ++i)
    if (!add(row.coefficients[i], other.coefficients[i])) return false;
  return add(row.constant, other.constant);
}

}  // namespace loopfold::poly
