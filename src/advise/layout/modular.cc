#include "advise/layout/modular.h"

#include <fmt/format.h>
#include <isl/ilp.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "advise/layout/isl_types.h"

namespace loopfold::layout {

namespace {

using poly::Isl;

/// The greatest absolute value of a coordinate, if it has one.
std::optional<std::int64_t> greatest(const Isl<isl_set>& distances, unsigned dimension) {
  const isl_bool empty = isl_set_is_empty(distances.get());
  if (empty != isl_bool_false) return empty == isl_bool_true ? std::optional<std::int64_t>(0) : std::nullopt;
  std::int64_t most = 0;
  for (const bool upper : {true, false}) {
    Isl<isl_local_space> space(isl_local_space_from_space(isl_set_get_space(distances.get())));
    const Isl<isl_aff> coordinate(isl_aff_var_on_domain(space.release(), isl_dim_set, dimension));
    const Isl<isl_val> value(upper ? isl_set_max_val(distances.get(), coordinate.get())
                                   : isl_set_min_val(distances.get(), coordinate.get()));
    if (!value || isl_val_is_int(value.get()) != isl_bool_true) return std::nullopt;
    most = std::max<std::int64_t>(most, std::abs(isl_val_get_num_si(value.get())));
  }
  return most;
}

/// For each dimension the moduli that orders of dimensions ask for, one after the other.
std::vector<std::set<std::int64_t>> successive(const Isl<isl_set>& distances, std::size_t count) {
  std::vector<std::set<std::int64_t>> result(count);
  std::vector<unsigned> order(count);
  std::iota(order.begin(), order.end(), 0U);
  do {
    Isl<isl_set> rest = distances;
    for (const unsigned d : order) {
      const std::optional<std::int64_t> most = greatest(rest, d);
      result[d].insert(most ? *most + 1 : 0);
      rest = Isl<isl_set>(isl_set_fix_si(rest.release(), isl_dim_set, d, 0));
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return result;
}

std::size_t dimensions_of(const Moduli& moduli) {
  return static_cast<std::size_t>(std::count_if(moduli.begin(), moduli.end(), [](std::int64_t m) { return m != 1; }));
}

}  // namespace

bool keeps_apart(const Isl<isl_set>& distances, const Moduli& moduli) {
  std::string names;
  std::string equal;
  for (std::size_t d = 0; d < moduli.size(); d++) {
    names += fmt::format("{}d{}", d == 0 ? "" : ", ", d);
    if (moduli[d] == 1) continue;
    equal += fmt::format("{}{}", equal.empty() ? "" : " and ",
                         moduli[d] == 0 ? fmt::format("d{} = 0", d) : fmt::format("d{} mod {} = 0", d, moduli[d]));
  }
  const std::string text = fmt::format("{{ [{}] : {} }}", names, equal.empty() ? "true" : equal);
  Isl<isl_set> multiples(isl_set_read_from_str(isl_set_get_ctx(distances.get()), text.c_str()));
  Isl<isl_set> plain(isl_set_reset_tuple_id(distances.copy()));
  const Isl<isl_set> bad(isl_set_intersect(multiples.release(), plain.release()));
  return bad && isl_set_is_empty(bad.get()) == isl_bool_true;
}

std::int64_t cells_of(const Moduli& moduli, const std::vector<std::int64_t>& extents) {
  std::int64_t cells = 1;
  for (std::size_t d = 0; d < moduli.size(); d++)
    cells *= moduli[d] == 0 ? extents[d] : std::min(moduli[d], extents[d]);
  return cells;
}

std::optional<ModularContraction> contract_modulo(const Isl<isl_set>& distances,
                                                  const std::vector<std::int64_t>& extents) {
  const std::size_t count = extents.size();
  if (count == 0 || count > kMostContracted || !distances) return std::nullopt;
  std::vector<std::set<std::int64_t>> choices = successive(distances, count);
  const std::int64_t most = count <= 2 ? kMostModulus : kMostModulus / 2;
  std::vector<Moduli> all = {{}};
  for (std::size_t d = 0; d < count; d++) {
    for (std::int64_t m = 1; m <= most; m++) choices[d].insert(m);
    choices[d].insert(0);
    std::vector<Moduli> longer;
    for (const Moduli& begun : all)
      for (const std::int64_t m : choices[d]) {
        if (m > 1 && m >= extents[d]) continue;
        longer.push_back(begun);
        longer.back().push_back(m);
      }
    all = std::move(longer);
  }
  const auto better = [&](const Moduli& a, const Moduli& b) {
    const std::int64_t x = cells_of(a, extents), y = cells_of(b, extents);
    return x != y ? x < y : dimensions_of(a) < dimensions_of(b);
  };
  std::stable_sort(all.begin(), all.end(), better);
  const std::int64_t whole = cells_of(Moduli(count, 0), extents);
  ModularContraction result;
  for (Moduli& moduli : all) {
    result.cells = cells_of(moduli, extents);
    if (result.cells >= whole) return std::nullopt;
    result.tried++;
    if (!keeps_apart(distances, moduli)) continue;
    result.moduli = std::move(moduli);
    return result;
  }
  return std::nullopt;
}

}  // namespace loopfold::layout
