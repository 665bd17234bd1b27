#include "advise/layout/phi.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "poly/budget.h"

namespace loopfold::layout {

namespace {

using poly::Isl;

struct NamedType {
  std::string_view name;
  std::int64_t size;
};

/// Scalar types are aligned as they are long.
constexpr std::array<NamedType, 22> kTypes = {
    {{"char", 1},      {"signed char", 1}, {"unsigned char", 1}, {"short", 2},        {"unsigned short", 2},
     {"int", 4},       {"unsigned", 4},    {"unsigned int", 4},  {"long", 8},         {"unsigned long", 8},
     {"long long", 8}, {"float", 4},       {"double", 8},        {"long double", 16}, {"int8_t", 1},
     {"uint8_t", 1},   {"int16_t", 2},     {"uint16_t", 2},      {"int32_t", 4},      {"uint32_t", 4},
     {"int64_t", 8},   {"uint64_t", 8}}};

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : std::string(between)) + part;
  return text;
}

std::string parameter_list(const std::set<std::string>& names) {
  return fmt::format("[{}] -> ", joined({names.begin(), names.end()}, ", "));
}

/// The element exists, and sizes are what is known of them.
std::string element_exists(const Phi& phi, const Known& known) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < phi.indices.size(); i++)
    parts.push_back(fmt::format("0 <= {} < {}", phi.indices[i], phi.extents[i].isl_text()));
  for (const std::string& name : phi.parameters())
    if (const auto found = known.find(name); found != known.end())
      parts.push_back(fmt::format("{} = {}", name, found->second));
  return parts.empty() ? "true" : joined(parts, " and ");
}

std::string tuple(const Phi& phi) { return fmt::format("{}[{}]", phi.identifier(), joined(phi.indices, ", ")); }

std::vector<std::int64_t> coordinates(const Isl<isl_point>& point, isl_dim_type type, unsigned begin, unsigned count) {
  std::vector<std::int64_t> values;
  for (unsigned i = 0; i < count; i++) {
    const Isl<isl_val> value(isl_point_get_coordinate_val(point.get(), type, static_cast<int>(begin + i)));
    values.push_back(value ? isl_val_get_num_si(value.get()) : 0);
  }
  return values;
}

std::string element_text(const Phi& phi, const std::vector<std::int64_t>& at) {
  std::string text = phi.array;
  for (const std::int64_t index : at) text += fmt::format("[{}]", index);
  return phi.field.empty() ? text : text + "." + phi.field;
}

/// "n = 5, m = 2", or "" if there are no sizes.
std::string sizes_text(const Isl<isl_point>& point) {
  std::vector<std::string> parts;
  const Isl<isl_space> space(isl_point_get_space(point.get()));
  const isl_size count = isl_space_dim(space.get(), isl_dim_param);
  for (isl_size i = 0; i < count; i++) {
    const Isl<isl_val> value(isl_point_get_coordinate_val(point.get(), isl_dim_param, i));
    parts.push_back(fmt::format("{} = {}", isl_space_get_dim_name(space.get(), isl_dim_param, static_cast<unsigned>(i)),
                                isl_val_get_num_si(value.get())));
  }
  return joined(parts, ", ");
}

std::string collision_text(const Phi& a, const Phi& b, const Isl<isl_set>& pairs) {
  const Isl<isl_point> point(isl_set_sample_point(pairs.copy()));
  if (!point) return "";
  const unsigned first = static_cast<unsigned>(a.indices.size());
  const std::vector<std::int64_t> left = coordinates(point, isl_dim_set, 0, first);
  const std::vector<std::int64_t> right =
      coordinates(point, isl_dim_set, first, static_cast<unsigned>(b.indices.size()));
  const std::string sizes = sizes_text(point);
  return fmt::format("{} and {} would be in the same place{}{}", element_text(a, left), element_text(b, right),
                     sizes.empty() ? "" : ", for example with ", sizes);
}

/// Pairs of elements with equal vectors, as one flat set: a's indices, then b's.
Isl<isl_set> collisions(isl_ctx* context, const Phi& a, const Phi& b, bool same, const Known& known) {
  Isl<isl_map> there = isl_map_of(context, a, known);
  const Isl<isl_map> other = isl_map_of(context, b, known);
  Isl<isl_map> pairs(isl_map_apply_range(there.release(), isl_map_reverse(other.copy())));
  if (same) {
    const Isl<isl_map> equal(isl_map_identity(isl_map_get_space(pairs.get())));
    pairs = Isl<isl_map>(isl_map_subtract(pairs.release(), equal.copy()));
  }
  return Isl<isl_set>(isl_set_flatten(isl_map_wrap(pairs.release())));
}

Proof proved(isl_ctx* context, const std::vector<Phi>& phis, const Known& known) {
  for (std::size_t i = 0; i < phis.size(); i++) {
    for (std::size_t j = i; j < phis.size(); j++) {
      if (phis[i].target.size() != phis[j].target.size()) continue;  // such vectors are never equal
      const Isl<isl_set> pairs = collisions(context, phis[i], phis[j], i == j, known);
      const isl_bool empty = pairs ? isl_set_is_empty(pairs.get()) : isl_bool_error;
      if (empty == isl_bool_error) return {Answer::kUnknown, "isl gave up"};
      if (empty == isl_bool_false) return {Answer::kNo, collision_text(phis[i], phis[j], pairs)};
    }
  }
  return {Answer::kYes, ""};
}

}  // namespace

std::string Phi::identifier() const {
  std::string text = label();
  std::replace(text.begin(), text.end(), '.', '_');
  return text;
}

std::set<std::string> Phi::parameters() const {
  std::set<std::string> names;
  for (const QuasiAffine& extent : extents) extent.add_names(names);
  for (const QuasiAffine& dimension : target) dimension.add_names(names);
  for (const std::string& index : indices) names.erase(index);
  return names;
}

Phi phi_of(const MapClause& clause) {
  Phi phi{clause.array, clause.field, clause.indices, clause.extents, {}, clause.target, clause.padding};
  phi.element.name = clause.type;
  for (const NamedType& type : kTypes)
    if (type.name == clause.type) phi.element = {clause.type, type.size, type.size};
  return phi;
}

Phi identity(std::string array, std::vector<QuasiAffine> extents, ElementType element) {
  Phi phi;
  phi.array = std::move(array);
  phi.extents = std::move(extents);
  phi.element = std::move(element);
  for (std::size_t i = 0; i < phi.extents.size(); i++) {
    phi.indices.push_back(fmt::format("e{}", i + 1));
    phi.target.push_back(QuasiAffine::name(phi.indices.back()));
  }
  phi.padding.assign(phi.target.size(), 0);
  return phi;
}

Phi permuted(Phi phi, const std::vector<std::size_t>& order) {
  const Phi old = phi;
  for (std::size_t i = 0; i < order.size(); i++) {
    phi.target[i] = old.target.at(order[i]);
    phi.padding[i] = old.padding.at(order[i]);
  }
  return phi;
}

Phi tiled(Phi phi, const std::vector<std::pair<std::size_t, std::int64_t>>& dimensions) {
  for (const auto& [dimension, size] : dimensions) {
    const QuasiAffine whole = phi.target.at(dimension);
    phi.target[dimension] = whole.quotient(size);
    phi.target.push_back(whole.remainder(size));
    phi.padding.push_back(0);
  }
  return phi;
}

Phi skewed(Phi phi, std::size_t of, std::size_t by, std::int64_t factor) {
  phi.target.at(of) = phi.target.at(of) + phi.target.at(by) * factor;
  return phi;
}

Phi padded(Phi phi, std::size_t dimension, std::int64_t cells) {
  phi.padding.at(dimension) = cells;
  return phi;
}

Phi placed(Phi phi, std::size_t at, std::int64_t place) {
  phi.target.insert(phi.target.begin() + static_cast<std::ptrdiff_t>(at), QuasiAffine(place));
  phi.padding.insert(phi.padding.begin() + static_cast<std::ptrdiff_t>(at), 0);
  return phi;
}

std::vector<Phi> fused(std::vector<Phi> phis, std::size_t shared) {
  for (std::size_t i = 0; i < phis.size(); i++)
    phis[i] = placed(std::move(phis[i]), shared, static_cast<std::int64_t>(i));
  return phis;
}

std::string isl_text_of(const Phi& phi, const Known& known) {
  std::vector<std::string> target;
  for (const QuasiAffine& dimension : phi.target) target.push_back(dimension.isl_text());
  return fmt::format("{}{{ {} -> [{}] : {} }}", parameter_list(phi.parameters()), tuple(phi), joined(target, ", "),
                     element_exists(phi, known));
}

Isl<isl_map> isl_map_of(isl_ctx* context, const Phi& phi, const Known& known) {
  return Isl<isl_map>(isl_map_read_from_str(context, isl_text_of(phi, known).c_str()));
}

Isl<isl_set> sizes_context(isl_ctx* context, const std::vector<Phi>& phis, const Known& known) {
  Isl<isl_set> result(isl_set_read_from_str(context, "{ : }"));
  for (const Phi& phi : phis) {
    Isl<isl_set> sizes(isl_set_params(isl_map_domain(isl_map_of(context, phi, known).release())));
    result = Isl<isl_set>(isl_set_intersect(result.release(), sizes.release()));
  }
  return result;
}

bool never_negative(isl_ctx* context, const Phi& phi, const QuasiAffine& expression, const Known& known) {
  Phi asked = phi;
  asked.target = {expression};
  const Isl<isl_map> map = isl_map_of(context, asked, known);
  Isl<isl_set> range(isl_map_range(map.copy()));
  range = Isl<isl_set>(isl_set_upper_bound_si(range.release(), isl_dim_set, 0, -1));
  return range && isl_set_is_empty(range.get()) == isl_bool_true;
}

Proof one_to_one(isl_ctx* context, const std::vector<Phi>& phis, const Known& known) {
  const poly::IslBudget budget(context, kProofOperations, kProofNet);
  Proof proof = proved(context, phis, known);
  if (budget.exceeded()) return {Answer::kUnknown, "isl gave up: the maps are too complicated"};
  return proof;
}

}  // namespace loopfold::layout
