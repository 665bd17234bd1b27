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

/// The constant, if it is large: a number that may come from a size.
std::optional<std::int64_t> large_constant(isl_constraint* constraint) {
  const Isl<isl_val> value(isl_constraint_get_constant_val(constraint));
  if (isl_val_cmp_si(value.get(), kLargest) > 0 || isl_val_cmp_si(value.get(), -kLargest) < 0) return std::nullopt;
  const std::int64_t constant = isl_val_get_num_si(value.get());
  if (constant < kLarge && constant > -kLarge) return std::nullopt;
  return constant;
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

void Sizes::choose() {
  values_.clear();
  for (auto at = seen_.rbegin(); at != seen_.rend(); ++at)
    if (values_.empty() || *at < values_.back() - kNear) values_.push_back(*at);
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
        const std::int64_t size = *constant < 0 ? -*constant : *constant;
        unsigned number = 0;
        while (size < values_[number] - kNear) ++number;
        const int sign = *constant < 0 ? -1 : 1;
        const std::int64_t rest = *constant - sign * values_[number];
        constraint = Isl<isl_constraint>(
            isl_constraint_set_coefficient_si(constraint.release(), isl_dim_param, static_cast<int>(number), sign));
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
