#include "advise/contractions.h"

#include <fmt/format.h>
#include <isl/ilp.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "advise/check_nest.h"
#include "advise/layout/modular.h"
#include "advise/liveness/together.h"
#include "advise/suggest.h"
#include "poly/budget.h"
#include "support/units.h"

namespace loopfold::advise {

namespace {

using liveness::NestStorage;
using liveness::Storage;
using poly::Isl;

constexpr std::uint64_t kMostStatements = 120;
constexpr std::chrono::milliseconds kNet{60'000};
constexpr std::int64_t kLeastSaving = 2;    // times fewer cells
constexpr std::int64_t kLeastBytes = 4096;  // that are saved, if it gains no speed

/// What an array is, for finding the element of a cell.
struct Shape {
  std::int64_t element = 0;  // bytes
  std::int64_t first = 0;    // byte
  std::vector<ArrayDimension> dimensions;

  std::vector<std::int64_t> used;  // by dimension: from the first index that is accessed to the last
};

/// What a region does with an object.
struct Use {
  bool loaded = false;  // at more than one address
  bool stored = false;
  bool outside = false;  // other code uses it, too
};

/// Nodes of the tree that are in the region.
std::set<std::uint32_t> nodes_of(const profile::Region& region, const profile::Profile& profile) {
  std::set<std::uint32_t> inside{region.node};
  for (const profile::Loop& loop : region.loops) inside.insert(loop.nodes.begin(), loop.nodes.end());
  for (const profile::TreeNode& node : profile.tree)  // parents come first
    if (node.parent && inside.contains(*node.parent)) inside.insert(node.id);
  return inside;
}

std::map<std::uint32_t, Use> uses_of(const std::set<std::uint32_t>& inside, const profile::Profile& profile) {
  std::map<std::uint32_t, Use> uses;
  for (const profile::Access& access : profile.accesses) {
    Use& use = uses[access.object];
    if (!inside.contains(profile.statements[access.statement].node))
      use.outside = true;
    else if (access.minimum && access.maximum && *access.maximum > *access.minimum)
      (access.kind == profile::Access::Kind::kLoad ? use.loaded : use.stored) = true;
  }
  return uses;
}

bool is_candidate(const profile::Object& object, const Use& use) {
  if (!use.loaded || !use.stored) return false;
  if (object.kind == profile::Object::Kind::kStack) return true;  // a frame: variables are told apart later
  const bool array = object.kind == profile::Object::Kind::kGlobal ||
                     (object.kind == profile::Object::Kind::kHeap && object.blocks == 1);
  return array && !use.outside;
}

class Contractor {
 public:
  Contractor(const ddg::Graph& graph, const CheckNest& nest, const std::vector<Array>& arrays,
             const profile::Profile& profile)
      : graph_(graph), nest_(nest), arrays_(arrays), profile_(profile) {}

  struct Found {
    Shape shape;
    layout::ModularContraction contraction;
    Isl<isl_set> distances;
  };

  std::optional<Found> contract(const NestStorage& made) const {
    if (!is_temporary(made)) return std::nullopt;
    Found found;
    if (std::optional<Shape> shape = shape_of(made))
      found.shape = std::move(*shape);
    else
      return std::nullopt;
    const Isl<isl_map> together = liveness::alive_together(made.storage, nest_.written);
    const Isl<isl_map> elements = elements_of(made.storage, found.shape);
    if (!together || !elements || !has_all(made.storage, elements)) return std::nullopt;
    if (!measure(made.storage, elements, found.shape)) return std::nullopt;
    Isl<isl_map> pairs(isl_map_apply_domain(together.copy(), elements.copy()));
    pairs = Isl<isl_map>(isl_map_apply_range(pairs.release(), elements.copy()));
    found.distances = Isl<isl_set>(isl_set_coalesce(isl_map_deltas(pairs.release())));
    if (!found.distances) return std::nullopt;
    std::optional<layout::ModularContraction> best = layout::contract_modulo(found.distances, found.shape.used);
    if (!best) return std::nullopt;
    found.contraction = std::move(*best);
    const std::int64_t whole = layout::cells_of(layout::Moduli(found.shape.dimensions.size(), 0), found.shape.used);
    return found.contraction.cells * kLeastSaving <= whole ? std::optional(std::move(found)) : std::nullopt;
  }

 private:
  bool is_temporary(const NestStorage& made) const {
    const Storage& storage = made.storage;
    if (!made.object || !storage.unknown.empty() || !made.doubt.empty() || storage.ranges.empty()) return false;
    if (!storage.inputs.empty() || !storage.outputs.empty() || made.automatic || storage.name.empty()) return false;
    return !is_touched_outside(made);
  }

  using Bounds = std::optional<std::pair<std::int64_t, std::int64_t>>;

  /// The smallest and the greatest value of a coordinate.
  static Bounds bounds_of(const Isl<isl_set>& set, int coordinate) {
    const Isl<isl_val> low(isl_set_dim_min_val(set.copy(), coordinate));
    const Isl<isl_val> high(isl_set_dim_max_val(set.copy(), coordinate));
    if (!low || !high || isl_val_is_int(low.get()) != isl_bool_true || isl_val_is_int(high.get()) != isl_bool_true)
      return std::nullopt;
    return std::pair(isl_val_get_num_si(low.get()), isl_val_get_num_si(high.get()));
  }

  /// First and last byte that the accesses touch.
  static Bounds bytes_of(const Storage& storage) {
    Bounds all;
    for (const liveness::Access& access : storage.accesses) {
      const Isl<isl_set> cells(isl_map_range(access.cells.copy()));
      const Bounds one = bounds_of(cells, static_cast<int>(isl_set_dim(cells.get(), isl_dim_set)) - 1);
      if (!one) return std::nullopt;
      const std::int64_t last = one->second + access.bytes - 1;
      all =
          all ? std::pair(std::min(all->first, one->first), std::max(all->second, last)) : std::pair(one->first, last);
    }
    return all;
  }

  bool is_touched_outside(const NestStorage& made) const {
    const auto bytes = bytes_of(made.storage);
    if (!bytes) return true;
    return std::any_of(graph_.accesses.begin(), graph_.accesses.end(), [&](const ddg::Access& access) {
      if (access.object != *made.object || nest_.units.unit_of.contains(access.statement)) return false;
      return std::any_of(access.address.pieces.begin(), access.address.pieces.end(), [&](const auto& piece) {
        return piece.outputs[1].minimum <= bytes->second &&
               piece.outputs[1].maximum + static_cast<std::int64_t>(access.size) > bytes->first;
      });
    });
  }

  std::optional<Shape> shape_of(const NestStorage& made) const {
    Shape shape;
    shape.element = made.storage.accesses.front().bytes;
    for (const liveness::Access& access : made.storage.accesses)
      if (access.bytes != shape.element) return std::nullopt;
    const profile::Object& object = profile_.objects[*made.object];
    if (object.kind == profile::Object::Kind::kStack) {
      const auto bytes = bytes_of(made.storage);
      if (!bytes || !made.named) return std::nullopt;
      shape.first = bytes->first;
      shape.dimensions = {
          {shape.element, static_cast<std::uint64_t>((bytes->second - bytes->first + 1) / shape.element)}};
      return shape;
    }
    const Array& array = arrays_[*made.object];
    if (!array.problem.empty() || array.is_structure() || array.blocks != 1 || array.dimensions.empty() ||
        array.element != shape.element)
      return std::nullopt;
    shape.dimensions = array.dimensions;
    return shape;
  }

  /// { [..., byte] -> [e0, e1, ...] }
  static Isl<isl_map> elements_of(const Storage& storage, const Shape& shape) {
    const auto length = static_cast<unsigned>(isl_map_dim(storage.accesses.front().cells.get(), isl_dim_out));
    std::string from;
    for (unsigned k = 0; k + 1 < length; ++k) from += fmt::format("c{}, ", k);
    std::string to;
    std::string bytes = std::to_string(shape.first);
    std::string bounds;
    for (std::size_t d = 0; d < shape.dimensions.size(); ++d) {
      to += fmt::format("{}e{}", d == 0 ? "" : ", ", d);
      bytes += fmt::format(" + {} e{}", shape.dimensions[d].stride, d);
      bounds += fmt::format(" and 0 <= e{} < {}", d, shape.dimensions[d].extent);
    }
    const std::string text = fmt::format("{{ [{}byte] -> [{}] : byte = {}{} }}", from, to, bytes, bounds);
    return Isl<isl_map>(isl_map_read_from_str(isl_map_get_ctx(storage.accesses.front().cells.get()), text.c_str()));
  }

  /// Every cell that is accessed is one element.
  static bool has_all(const Storage& storage, const Isl<isl_map>& elements) {
    const Isl<isl_set> known(isl_map_domain(elements.copy()));
    return isl_map_is_single_valued(elements.get()) == isl_bool_true &&
           std::all_of(storage.accesses.begin(), storage.accesses.end(), [&](const liveness::Access& access) {
             const Isl<isl_set> cells(isl_map_range(access.cells.copy()));
             return isl_set_is_subset(cells.get(), known.get()) == isl_bool_true;
           });
  }

  /// How much of each dimension is used.
  static bool measure(const Storage& storage, const Isl<isl_map>& elements, Shape& shape) {
    for (std::size_t d = 0; d < shape.dimensions.size(); ++d) {
      Bounds bounds;
      for (const liveness::Access& access : storage.accesses) {
        const Isl<isl_set> touched(isl_set_apply(isl_map_range(access.cells.copy()), elements.copy()));
        const Bounds one = bounds_of(touched, static_cast<int>(d));
        if (!one) return false;
        bounds = bounds ? std::pair(std::min(bounds->first, one->first), std::max(bounds->second, one->second)) : *one;
      }
      shape.used.push_back(bounds->second - bounds->first + 1);
    }
    return true;
  }

  const ddg::Graph& graph_;
  const CheckNest& nest_;
  const std::vector<Array>& arrays_;
  const profile::Profile& profile_;
};

/// Cache lines touched from one iteration of the innermost loop to the next.
double lines_of(const profile::Access& access) {
  if (access.coefficients.empty()) return 0;
  const profile::Coefficient& inner = access.coefficients.back();
  const double share = inner ? std::min(1.0, std::abs(static_cast<double>(*inner)) / kCacheLine) : 1.0;
  return share * static_cast<double>(access.count);
}

std::string subscripts(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += "[" + part + "]";
  return text;
}

/// "t[i0 % 2][i1]", and the shape that it then has.
struct Words {
  std::string before, element, shape, map;
};
/// A block of the heap has no name that C knows: then the subscripts stand alone.
Words words_of(const std::string& name, const Contractor::Found& found) {
  std::string identifier;
  for (const char c : name) identifier += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  const bool is_name = identifier == name;
  const std::string called = is_name ? name : "";
  std::vector<std::string> before, element, shape, names, maps;
  for (std::size_t d = 0; d < found.shape.dimensions.size(); ++d) {
    const std::string index = fmt::format("i{}", d);
    const std::int64_t modulus = found.contraction.moduli[d];
    before.push_back(std::to_string(found.shape.dimensions[d].extent));
    names.push_back(index);
    if (modulus == 1) continue;
    element.push_back(modulus == 0 ? index : fmt::format("{} % {}", index, modulus));
    maps.push_back(modulus == 0 ? index : fmt::format("{} mod {}", index, modulus));
    shape.push_back(modulus == 0 ? before.back() : std::to_string(modulus));
  }
  Words words;
  words.before = name + (is_name ? "" : " ") + subscripts(before);
  words.element = called + subscripts(element);
  words.shape = called + subscripts(shape);
  words.map = fmt::format("{{ {}[{}] -> [{}] }}", identifier, fmt::join(names, ", "), fmt::join(maps, ", "));
  return words;
}

std::int64_t bytes_used(const Contractor::Found& found) {
  return found.shape.element * layout::cells_of(layout::Moduli(found.shape.used.size(), 0), found.shape.used);
}

std::int64_t bytes_needed(const Contractor::Found& found) { return found.shape.element * found.contraction.cells; }

/// Of accesses in the region: instructions for cache lines, all of them and those of the array.
struct LineCosts {
  double all = 0;
  double own = 0;
};
LineCosts line_costs(const NestStorage& made, const Contractor::Found& found, const std::set<std::uint32_t>& inside,
                     const profile::Profile& profile) {
  LineCosts costs;
  const bool frame = profile.objects[*made.object].kind == profile::Object::Kind::kStack;
  for (const profile::Access& access : profile.accesses) {
    if (!inside.contains(profile.statements[access.statement].node)) continue;
    const double cost = kLineCost * lines_of(access);
    const bool in_variable = !frame || (access.minimum && access.maximum && *access.minimum >= found.shape.first &&
                                        *access.maximum < found.shape.first + bytes_used(found));
    costs.all += cost;
    if (access.object == *made.object && in_variable) costs.own += cost;
  }
  return costs;
}

profile::Suggestion suggestion_of(const NestStorage& made, const Contractor::Found& found, const LineCosts& costs,
                                  const profile::Region& region, const profile::Profile& profile) {
  const Words words = words_of(made.storage.name, found);
  profile::Suggestion suggestion;
  suggestion.rule = "LF-CON";
  suggestion.title = found.contraction.cells == 1
                         ? fmt::format("Replace {} by one variable", words.before)
                         : fmt::format("Contract {} to {}: use {}", words.before, words.shape, words.element);
  suggestion.legal = profile::Suggestion::Legal::kYes;
  suggestion.loops = {region.node};
  if (region.source) suggestion.where.push_back(*region.source);
  const auto ops = static_cast<double>(profile.tree[region.node].ops);
  const auto program = static_cast<double>(std::max<std::uint64_t>(profile.program.instructions, 1));
  const double share = std::min(1.0, ops / program);
  suggestion.gain = amdahl(share, (ops + costs.all) / std::max(ops + costs.all - costs.own, 1.0));
  suggestion.estimate = fmt::format(
      "{:.1f} % of the operations; {:.3g} cache lines of the array are not fetched, {:g} instructions each (for data "
      "beyond the cache)",
      100 * share, costs.own / kLineCost, kLineCost);
  suggestion.evidence.push_back(
      fmt::format("{} keeps apart what is alive at the same time: {} examined; {} bytes are used, {} needed", words.map,
                  counted(made.storage.ranges.size(), "live range"), bytes_used(found), bytes_needed(found)));
  suggestion.evidence.emplace_back(
      "nothing outside the loop touches it, and nothing in it is read before it is written");
  suggestion.evidence.emplace_back("in the order as written; a loop that runs in parallel needs it private");
  return suggestion;
}

}  // namespace

void suggest_contractions(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                          const std::vector<Array>& arrays, profile::Region& region, const profile::Profile& profile,
                          BuiltNests& built) {
  if (region.vertices > kMostStatements) return;
  const std::set<std::uint32_t> inside = nodes_of(region, profile);
  const std::map<std::uint32_t, Use> uses = uses_of(inside, profile);
  const bool any = std::any_of(uses.begin(), uses.end(), [&](const auto& one) {
    return one.first < profile.objects.size() && is_candidate(profile.objects[one.first], one.second);
  });
  if (!any) return;
  const Result<std::shared_ptr<CheckNest>> nest =
      CheckNest::make(graph, context, flow, profile, {}, region.id, kCheckOperations, &built);
  if (!nest || !(*nest)->problem.empty() || !(*nest)->storages.unknown.empty()) return;
  for (const NestStorage& made : (*nest)->storages.all) {
    const poly::IslBudget budget((*nest)->isl(), kCheckOperations, kNet);
    if (!made.object || *made.object >= profile.objects.size()) continue;
    const auto use = uses.find(*made.object);
    if (use == uses.end() || !is_candidate(profile.objects[*made.object], use->second)) continue;
    const std::optional<Contractor::Found> found = Contractor(graph, **nest, arrays, profile).contract(made);
    if (!found || budget.exceeded()) continue;
    profile::Suggestion suggestion =
        suggestion_of(made, *found, line_costs(made, *found, inside, profile), region, profile);
    if (suggestion.gain < kLeastGain && bytes_used(*found) - bytes_needed(*found) < kLeastBytes) continue;
    const auto place = std::find_if(region.suggestions.begin(), region.suggestions.end(),
                                    [&](const profile::Suggestion& other) { return other.gain < suggestion.gain; });
    region.suggestions.insert(place, std::move(suggestion));
  }
}

}  // namespace loopfold::advise
