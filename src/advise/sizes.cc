#include "advise/sizes.h"

#include <fmt/format.h>

#include <optional>

namespace loopfold::advise {

namespace {

using poly::Isl;

constexpr std::int64_t kLarge = 16;
constexpr std::int64_t kLargest = std::int64_t{1} << 40;
constexpr std::int64_t kNear = 8;  // numbers of one size differ by so much at most
constexpr std::size_t kMost = 4;   // sizes
constexpr std::int64_t kMostTimes = 8;

/// The constant, if it is large: a number that may come from a size.
std::optional<std::int64_t> large_constant(isl_constraint* constraint) {
  const Isl<isl_val> value(isl_constraint_get_constant_val(constraint));
  if (isl_val_cmp_si(value.get(), kLargest) > 0 || isl_val_cmp_si(value.get(), -kLargest) < 0) return std::nullopt;
  const std::int64_t constant = isl_val_get_num_si(value.get());
  if (constant < kLarge && constant > -kLarge) return std::nullopt;
  return constant;
}

/// Its coefficients, but not its constant.
Isl<isl_constraint> multiplied(Isl<isl_constraint> constraint, std::int64_t times) {
  isl_ctx* const isl = isl_constraint_get_ctx(constraint.get());
  for (const isl_dim_type type : {isl_dim_in, isl_dim_out, isl_dim_div}) {
    const isl_size count = isl_constraint_dim(constraint.get(), type);
    for (isl_size i = 0; i < count; ++i) {
      isl_val* value = isl_constraint_get_coefficient_val(constraint.get(), type, i);
      value = isl_val_mul(value, isl_val_int_from_si(isl, times));
      constraint = Isl<isl_constraint>(isl_constraint_set_coefficient_val(constraint.release(), type, i, value));
    }
  }
  return constraint;
}

template <typename Each>
void for_all_constraints(isl_basic_map* basic, Each each) {
  isl_basic_map_foreach_constraint(
      basic,
      [](isl_constraint* constraint, void* user) {
        (*static_cast<Each*>(user))(Isl<isl_constraint>(constraint));
        return isl_stat_ok;
      },
      &each);
}

template <typename Each>
void for_all_basic_maps(const Isl<isl_map>& map, Each each) {
  isl_map_foreach_basic_map(
      map.get(),
      [](isl_basic_map* basic, void* user) {
        (*static_cast<Each*>(user))(Isl<isl_basic_map>(basic));
        return isl_stat_ok;
      },
      &each);
}

}  // namespace

void Sizes::look_at(const Isl<isl_map>& map) {
  for_all_basic_maps(map, [&](const Isl<isl_basic_map>& basic) {
    for_all_constraints(basic.get(), [&](const Isl<isl_constraint>& constraint) {
      if (const std::optional<std::int64_t> constant = large_constant(constraint.get()))
        seen_.insert(*constant < 0 ? -*constant : *constant);
    });
  });
}

std::optional<Sizes::Part> Sizes::find(std::int64_t number) const {
  for (std::int64_t times = 1; times <= kMostTimes; ++times)
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (times * number <= values_[i] + (times > 1 ? kNear : 0) && times * number >= values_[i] - kNear)
        return Part{i, times};
  return std::nullopt;
}

void Sizes::choose() {
  values_.clear();
  for (auto at = seen_.rbegin(); at != seen_.rend(); ++at)
    if (!find(*at)) values_.push_back(*at);
  if (values_.size() > kMost) values_.clear();
}

Isl<isl_map> Sizes::put_into(const Isl<isl_map>& map) const {
  if (values_.empty()) return map;
  isl_ctx* const isl = isl_map_get_ctx(map.get());
  Isl<isl_space> space(isl_map_get_space(map.get()));
  space = Isl<isl_space>(isl_space_add_dims(space.release(), isl_dim_param, static_cast<unsigned>(values_.size())));
  for (unsigned i = 0; i < values_.size(); ++i)
    space = Isl<isl_space>(isl_space_set_dim_name(space.release(), isl_dim_param, i, fmt::format("n{}", i).c_str()));
  Isl<isl_map> made(isl_map_empty(space.copy()));
  for_all_basic_maps(map, [&](Isl<isl_basic_map> basic) {
    basic = Isl<isl_basic_map>(isl_basic_map_align_params(basic.release(), space.copy()));
    Isl<isl_basic_map> with(isl_basic_map_universe(space.copy()));
    for_all_constraints(basic.get(), [&](Isl<isl_constraint> constraint) {
      if (const std::optional<std::int64_t> constant = large_constant(constraint.get())) {
        const int sign = *constant < 0 ? -1 : 1;
        const Part part = *find(sign * *constant);
        const std::int64_t rest = *constant * part.times - sign * values_[part.size];
        if (part.times > 1) constraint = multiplied(std::move(constraint), part.times);
        constraint = Isl<isl_constraint>(
            isl_constraint_set_coefficient_si(constraint.release(), isl_dim_param, static_cast<int>(part.size), sign));
        constraint =
            Isl<isl_constraint>(isl_constraint_set_constant_val(constraint.release(), isl_val_int_from_si(isl, rest)));
      }
      with = Isl<isl_basic_map>(isl_basic_map_add_constraint(with.release(), constraint.release()));
    });
    made = Isl<isl_map>(isl_map_union(made.release(), isl_map_from_basic_map(with.release())));
  });
  return made;
}

}  // namespace loopfold::advise
