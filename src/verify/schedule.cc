#include "verify/schedule.h"

#include <fmt/format.h>
#include <isl/aff.h>
#include <isl/constraint.h>
#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/union_map.h>
#include <isl/val.h>

#include <charconv>

namespace loopfold::verify {

namespace {

/// Frees what isl gave, in the order in which C++ destroys.
template <typename T>
using Held = std::unique_ptr<T, void (*)(T*)>;

Held<isl_map> held(isl_map* map) {
  return {map, [](isl_map* m) { isl_map_free(m); }};
}
Held<isl_val> held(isl_val* value) {
  return {value, [](isl_val* v) { isl_val_free(v); }};
}
Held<isl_aff> held(isl_aff* aff) {
  return {aff, [](isl_aff* a) { isl_aff_free(a); }};
}
Held<isl_pw_multi_aff> held(isl_pw_multi_aff* function) {
  return {function, [](isl_pw_multi_aff* f) { isl_pw_multi_aff_free(f); }};
}

std::optional<std::int64_t> integer(const Held<isl_val>& value) {
  if (!value || isl_val_is_int(value.get()) != isl_bool_true) return std::nullopt;
  const Held<isl_val> small = held(isl_val_int_from_si(isl_val_get_ctx(value.get()), std::int64_t{1} << 52));
  if (isl_val_abs_eq(value.get(), small.get()) == isl_bool_error) return std::nullopt;
  const Held<isl_val> size = held(isl_val_abs(isl_val_copy(value.get())));
  if (isl_val_gt(size.get(), small.get()) != isl_bool_false) return std::nullopt;
  return isl_val_get_num_si(value.get());
}

}  // namespace

struct Schedule::Library {
  Library() : context(isl_ctx_alloc()) { isl_options_set_on_error(context, ISL_ON_ERROR_CONTINUE); }
  ~Library() { isl_ctx_free(context); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  isl_ctx* context;
};

struct Schedule::Statement {
  struct Row {
    std::int64_t constant = 0;
    std::vector<std::int64_t> coefficients;
  };
  explicit Statement(isl_map* map) : map(held(map)) {}
  Held<isl_map> map;
  std::size_t counters = 0;
  std::vector<Row> rows;  // empty: ask the map
  bool everywhere = false;  // the map's domain is all there is
  std::map<std::vector<std::int64_t>, std::optional<std::vector<std::int64_t>>> known;
};

namespace {

/// One affine function without divisions: its rows, else nothing.
template <typename Row>
std::vector<Row> rows_of(isl_map* map, std::size_t counters, std::size_t dimensions) {
  const Held<isl_pw_multi_aff> function = held(isl_pw_multi_aff_from_map(isl_map_copy(map)));
  if (!function || isl_pw_multi_aff_n_piece(function.get()) != 1) return {};
  isl_multi_aff* all = isl_pw_multi_aff_as_multi_aff(isl_pw_multi_aff_copy(function.get()));
  std::vector<Row> rows;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const Held<isl_aff> aff = held(isl_multi_aff_get_aff(all, static_cast<int>(i)));
    if (!aff || isl_aff_dim(aff.get(), isl_dim_div) != 0) break;
    Row row;
    const std::optional<std::int64_t> constant = integer(held(isl_aff_get_constant_val(aff.get())));
    if (!constant) break;
    row.constant = *constant;
    for (std::size_t j = 0; j < counters; ++j) {
      const std::optional<std::int64_t> coefficient =
          integer(held(isl_aff_get_coefficient_val(aff.get(), isl_dim_in, static_cast<int>(j))));
      if (coefficient) row.coefficients.push_back(*coefficient);
    }
    if (row.coefficients.size() != counters) break;
    rows.push_back(std::move(row));
  }
  isl_multi_aff_free(all);
  if (rows.size() != dimensions) rows.clear();
  return rows;
}

bool is_everywhere(isl_map* map) {
  isl_set* domain = isl_map_domain(isl_map_copy(map));
  const bool all = isl_set_plain_is_universe(domain) == isl_bool_true;
  isl_set_free(domain);
  return all;
}

std::optional<std::uint32_t> number_of(const char* name) {
  if (name == nullptr || name[0] != 'S') return std::nullopt;
  const std::string_view digits(name + 1);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  return number;
}

isl_stat keep_map(isl_map* map, void* user) {
  static_cast<std::vector<isl_map*>*>(user)->push_back(map);
  return isl_stat_ok;
}

}  // namespace

Schedule::Schedule() : library_(std::make_shared<Library>()) {}
Schedule::Schedule(Schedule&&) noexcept = default;
Schedule& Schedule::operator=(Schedule&&) noexcept = default;
Schedule::~Schedule() { statements_.clear(); }

Result<Schedule> Schedule::parse(const std::string& text) {
  Schedule schedule;
  isl_union_map* all = isl_union_map_read_from_str(schedule.library_->context, text.c_str());
  std::vector<isl_map*> maps;
  if (all != nullptr) isl_union_map_foreach_map(all, keep_map, &maps);
  const bool read = all != nullptr;
  isl_union_map_free(all);
  if (!read) return fail(ErrorKind::kBadInput, "the schedule is no union of maps in isl's language");
  std::string wrong;
  for (isl_map* map : maps) {
    auto statement = std::make_unique<Statement>(map);
    const std::optional<std::uint32_t> number = number_of(isl_map_get_tuple_name(map, isl_dim_in));
    const auto dimensions = static_cast<std::size_t>(isl_map_dim(map, isl_dim_out));
    statement->counters = static_cast<std::size_t>(isl_map_dim(map, isl_dim_in));
    if (!number)
      wrong = "a map is not of a statement S<number>";
    else if (schedule.statements_.contains(*number))
      wrong = fmt::format("S{} has two maps", *number);
    else if (isl_map_dim(map, isl_dim_param) != 0)
      wrong = fmt::format("the map of S{} has parameters", *number);
    else if (isl_map_is_single_valued(map) != isl_bool_true)
      wrong = fmt::format("the map of S{} is not a function", *number);
    else if (!schedule.statements_.empty() && dimensions != schedule.dimensions_)
      wrong = "times have different lengths";
    if (!wrong.empty()) continue;
    schedule.dimensions_ = dimensions;
    statement->rows = rows_of<Statement::Row>(map, statement->counters, dimensions);
    statement->everywhere = is_everywhere(map);
    schedule.statements_.emplace(*number, std::move(statement));
  }
  if (!wrong.empty()) return fail(ErrorKind::kBadInput, "the schedule cannot be used: " + wrong);
  return schedule;
}

bool Schedule::has(std::uint32_t statement) const { return statements_.contains(statement); }

std::size_t Schedule::counters(std::uint32_t statement) const {
  const auto found = statements_.find(statement);
  return found == statements_.end() ? 0 : found->second->counters;
}

std::optional<std::vector<std::int64_t>> Schedule::time(std::uint32_t number,
                                                        std::span<const std::int64_t> instance) const {
  const auto found = statements_.find(number);
  if (found == statements_.end() || instance.size() != found->second->counters) return std::nullopt;
  Statement& statement = *found->second;
  if (!statement.rows.empty() && statement.everywhere) {
    std::vector<std::int64_t> time;
    for (const Statement::Row& row : statement.rows) {
      std::int64_t sum = row.constant;
      for (std::size_t i = 0; i < instance.size(); ++i) sum += row.coefficients[i] * instance[i];
      time.push_back(sum);
    }
    return time;
  }
  const std::vector<std::int64_t> key(instance.begin(), instance.end());
  const auto [known, is_new] = statement.known.try_emplace(key);
  if (!is_new) return known->second;
  isl_map* here = isl_map_copy(statement.map.get());
  for (std::size_t i = 0; i < instance.size(); ++i)
    here = isl_map_fix_val(here, isl_dim_in, static_cast<unsigned>(i),
                           isl_val_int_from_si(library_->context, instance[i]));
  isl_point* point = isl_set_sample_point(isl_map_range(here));
  if (point != nullptr && isl_point_is_void(point) == isl_bool_false) {
    std::vector<std::int64_t> time;
    for (std::size_t i = 0; i < dimensions_; ++i) {
      const Held<isl_val> value = held(isl_point_get_coordinate_val(point, isl_dim_set, static_cast<int>(i)));
      time.push_back(isl_val_get_num_si(value.get()));
    }
    known->second = std::move(time);
  }
  isl_point_free(point);
  return known->second;
}

}  // namespace loopfold::verify
