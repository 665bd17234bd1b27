#include "advise/schedule.h"

#include <isl/options.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "advise/sizes.h"
#include "poly/pieces.h"

namespace loopfold::advise {

namespace {

using poly::Isl;
using poly::Program;
using structure::ContextId;
using structure::kNoContext;

constexpr long kLargeBound = 3;

/// Dependences of more pieces, from one group to another, are those of an irregular program: how they are spread says
/// nothing that an order could use, and takes the scheduler long.
constexpr isl_size kMostPieces = 64;

/// Where they stay in an iteration, all that come together between two groups are asked about; but not so many of which
/// hardly two go together. isl compares each with each other, and again with what came of it, and mostly has used up
/// its budget before the scheduler begins. To ask nothing is to find no order, which claims nothing.
constexpr isl_size kFarTooManyPieces = 256;

// ---- simpler dependences for the scheduler ----

/// Whether a constraint only says that one variable is not greater than a large number.
bool is_large_bound(isl_constraint* constraint) {
  if (isl_constraint_is_equality(constraint) != isl_bool_false) return false;
  int used = 0;
  bool negative = false;
  for (const isl_dim_type type : {isl_dim_in, isl_dim_out, isl_dim_div}) {
    const isl_size count = isl_constraint_dim(constraint, type);
    for (isl_size i = 0; i < count; ++i) {
      const Isl<isl_val> value(isl_constraint_get_coefficient_val(constraint, type, i));
      if (isl_val_is_zero(value.get()) == isl_bool_true) continue;
      ++used;
      negative = isl_val_is_neg(value.get()) == isl_bool_true;
    }
  }
  const Isl<isl_val> constant(isl_constraint_get_constant_val(constraint));
  return used == 1 && negative && isl_val_gt_si(constant.get(), kLargeBound) == isl_bool_true;
}

struct Relaxed {
  Isl<isl_map> map;
};

isl_stat relax_one(isl_basic_map* given, void* user) {
  Isl<isl_basic_map> basic(isl_basic_map_remove_divs(given));
  Isl<isl_basic_map> result(isl_basic_map_universe(isl_basic_map_get_space(basic.get())));
  isl_basic_map_foreach_constraint(
      basic.get(),
      [](isl_constraint* constraint, void* into) {
        auto& kept = *static_cast<Isl<isl_basic_map>*>(into);
        if (is_large_bound(constraint))
          isl_constraint_free(constraint);
        else
          kept = Isl<isl_basic_map>(isl_basic_map_add_constraint(kept.release(), constraint));
        return isl_stat_ok;
      },
      &result);
  auto& relaxed = *static_cast<Relaxed*>(user);
  Isl<isl_map> map(isl_map_from_basic_map(result.release()));
  relaxed.map = relaxed.map ? Isl<isl_map>(isl_map_union(relaxed.map.release(), map.release())) : std::move(map);
  return isl_stat_ok;
}

/// A superset without large upper bounds and without divisions.
Isl<isl_map> relaxed(const Isl<isl_map>& map) {
  Relaxed result;
  isl_map_foreach_basic_map(map.get(), relax_one, &result);
  return result.map ? Isl<isl_map>(isl_map_coalesce(result.map.release())) : map;
}

/// Groups, and the coordinate of the loop that carries what goes from one to the other.
using Way = std::tuple<std::uint32_t, std::uint32_t, std::size_t>;

Way way_of(const poly::ProgramDependence& dependence) { return {dependence.from, dependence.to, dependence.equal}; }

/// What of it goes to later iterations of the loop that carries it, if one does. That holds for all of a dependence,
/// but may be lost where bounds are left out.
Isl<isl_map> later(Isl<isl_map> map, const poly::ProgramDependence& dependence) {
  if (!dependence.later) return map;
  const auto level = static_cast<int>(dependence.equal);
  return Isl<isl_map>(isl_map_order_lt(map.release(), isl_dim_in, level, isl_dim_out, level));
}

/// From all that happens in an iteration of the loop that carries it to all that happens in later ones.
Isl<isl_map> to_all_later(const poly::ProgramDependence& dependence) {
  Isl<isl_map> map(isl_map_universe(isl_map_get_space(dependence.map.get())));
  return later(poly::with_equal_first(std::move(map), dependence.equal), dependence);
}

/// Pieces of all dependences that are carried the same way.
std::map<Way, isl_size> count_pieces(const Program& program) {
  std::map<Way, isl_size> pieces;
  for (const poly::ProgramDependence& dependence : program.dependences)
    if (dependence.later) pieces[way_of(dependence)] += isl_map_n_basic_map(dependence.map.get());
  return pieces;
}

/// Whether there are far too many pieces. A few of them show whether they are those of a regular program.
bool is_beyond(const Isl<isl_map>& map) {
  if (isl_map_n_basic_map(map.get()) <= kFarTooManyPieces) return false;
  poly::MapUnion some(Isl<isl_map>(isl_map_empty(isl_map_get_space(map.get()))));
  const std::vector<Isl<isl_basic_map>> pieces = poly::pieces_of(map);
  for (isl_size i = 0; i < kMostPieces; ++i) some.add(pieces[static_cast<std::size_t>(i)].copy());
  const Isl<isl_map> joined(isl_map_coalesce(some.take().release()));
  return isl_map_n_basic_map(joined.get()) > kMostPieces / 4 * 3;
}

bool is_beyond(const Isl<isl_union_map>& all) {
  bool beyond = false;
  isl_union_map_foreach_map(
      all.get(),
      [](isl_map* map, void* user) {
        bool& found = *static_cast<bool*>(user);
        found = is_beyond(Isl<isl_map>(map)) || found;
        return isl_stat_ok;
      },
      &beyond);
  return beyond;
}

/// The difference of consumer and producer is one vector.
bool is_uniform(const Isl<isl_map>& map) {
  if (isl_map_dim(map.get(), isl_dim_in) != isl_map_dim(map.get(), isl_dim_out)) return false;
  Isl<isl_map> plain(isl_map_reset_tuple_id(map.copy(), isl_dim_in));
  plain = Isl<isl_map>(isl_map_reset_tuple_id(plain.release(), isl_dim_out));
  const Isl<isl_set> deltas(isl_map_deltas(plain.release()));
  return isl_set_is_singleton(deltas.get()) == isl_bool_true;
}

// ---- fewer dependences for the scheduler ----

/// What is asked of an order is that no dependence goes backwards in a row, or that none is carried by it. Both hold
/// for a dependence that is made of two others, one behind the other, if they hold for these. In an irregular nest,
/// where everything comes before everything later, that is the case for most pairs of groups; but the scheduler's time
/// grows with the square of their number, and more. Taking them out one by one keeps what the others say together.
class Reducer {
 public:
  explicit Reducer(const Isl<isl_union_map>& all) {
    isl_union_map_foreach_map(
        all.get(),
        [](isl_map* map, void* user) {
          static_cast<Reducer*>(user)->take(Isl<isl_map>(map));
          return isl_stat_ok;
        },
        this);
  }

  /// Moves those from one to the other.
  void run(Isl<isl_union_map>& all, Isl<isl_union_map>& implied) {
    for (auto& [ends, edge] : edges_) edge.implied = is_made_of_others(ends.first, ends.second, edge);
    isl_ctx* const isl = isl_union_map_get_ctx(all.get());
    all = Isl<isl_union_map>(isl_union_map_empty_ctx(isl));
    for (auto& [ends, edge] : edges_) {
      Isl<isl_union_map>& to = edge.implied ? implied : all;
      to = Isl<isl_union_map>(isl_union_map_add_map(to.release(), edge.map.release()));
    }
  }

 private:
  struct Edge {
    Isl<isl_map> map;
    Isl<isl_map> plain;    // without names
    std::size_t kind = 0;  // the same for those that are equal but for names
    bool implied = false;
  };
  using Name = std::string;

  static Name name_of(const Isl<isl_map>& map, isl_dim_type side) {
    const char* const name = isl_map_get_tuple_name(map.get(), side);
    return name == nullptr ? "" : name;
  }

  void take(Isl<isl_map> map) {
    const std::pair<Name, Name> ends{name_of(map, isl_dim_in), name_of(map, isl_dim_out)};
    Edge& edge = edges_[ends];
    edge.plain = Isl<isl_map>(isl_map_reset_tuple_id(map.copy(), isl_dim_in));
    edge.plain = Isl<isl_map>(isl_map_reset_tuple_id(edge.plain.release(), isl_dim_out));
    edge.map = std::move(map);
    edge.kind = kinds_.try_emplace(poly::take_text(isl_map_to_str(edge.plain.get())), kinds_.size()).first->second;
    nodes_.insert(ends.first);
  }

  bool is_made_of_others(const Name& from, const Name& to, const Edge& edge) {
    return std::any_of(nodes_.begin(), nodes_.end(), [&](const Name& over) {
      if (over == from || over == to) return false;
      const auto first = edges_.find({from, over});
      const auto second = edges_.find({over, to});
      if (first == edges_.end() || second == edges_.end() || first->second.implied || second->second.implied)
        return false;
      return is_made_of(edge, first->second, second->second);
    });
  }

  bool is_made_of(const Edge& edge, const Edge& first, const Edge& second) {
    const auto [known, is_new] = known_.try_emplace({edge.kind, first.kind, second.kind}, false);
    if (!is_new) return known->second;
    const Isl<isl_map> both(isl_map_apply_range(first.plain.copy(), second.plain.copy()));
    known->second = isl_map_is_subset(edge.plain.get(), both.get()) == isl_bool_true;
    return known->second;
  }

  std::map<std::pair<Name, Name>, Edge> edges_;
  std::map<std::string, std::size_t> kinds_;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, bool> known_;
  std::set<Name> nodes_;
};

/// So few are quick as they are.
constexpr isl_size kFewDependences = 12;

// ---- from a schedule tree to rows ----

class TreeReader {
 public:
  TreeReader(const Program& program, const std::vector<std::int64_t>& sizes, Order& order)
      : program_(program), sizes_(sizes), order_(order) {
    for (std::uint32_t i = 0; i < program.groups.size(); ++i) group_of_[program.groups[i].name] = i;
    order_.rows.assign(program.groups.size(), {});
  }

  bool read(isl_schedule* schedule) {
    std::vector<std::uint32_t> all(program_.groups.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    const Isl<isl_schedule_node> root(isl_schedule_get_root(schedule));
    const Isl<isl_schedule_node> child(isl_schedule_node_get_child(root.get(), 0));
    if (!walk(child, all, 0)) return false;
    std::size_t most = 0;
    for (const std::vector<Row>& rows : order_.rows) most = std::max(most, rows.size());
    for (std::uint32_t i = 0; i < order_.rows.size(); ++i)
      while (order_.rows[i].size() < most) order_.rows[i].push_back(constant_row(i, 0));
    std::stable_sort(order_.bands.begin(), order_.bands.end(),
                     [](const OrderBand& a, const OrderBand& b) { return a.first < b.first; });
    return true;
  }

 private:
  Row constant_row(std::uint32_t group, std::int64_t value) const {
    return {std::vector<std::int64_t>(program_.groups[group].loops.size()), value};
  }

  bool walk(const Isl<isl_schedule_node>& node, const std::vector<std::uint32_t>& groups, std::uint32_t depth) {
    switch (isl_schedule_node_get_type(node.get())) {
      case isl_schedule_node_leaf:
        return true;
      case isl_schedule_node_band:
        return band(node, groups, depth);
      case isl_schedule_node_sequence:
      case isl_schedule_node_set:
        return sequence(node, groups, depth);
      case isl_schedule_node_filter:
        return walk(Isl<isl_schedule_node>(isl_schedule_node_get_child(node.get(), 0)), groups, depth);
      default:
        return false;
    }
  }

  bool band(const Isl<isl_schedule_node>& node, const std::vector<std::uint32_t>& groups, std::uint32_t depth) {
    const isl_size members = isl_schedule_node_band_n_member(node.get());
    if (members < 0) return false;
    const Isl<isl_multi_union_pw_aff> partial(isl_schedule_node_band_get_partial_schedule(node.get()));
    for (isl_size m = 0; m < members; ++m) {
      const Isl<isl_union_pw_aff> one(isl_multi_union_pw_aff_get_union_pw_aff(partial.get(), m));
      for (const std::uint32_t group : groups) {
        const std::optional<Row> row = row_of(one, group);
        if (!row) return false;
        order_.rows[group].push_back(*row);
      }
    }
    order_.bands.push_back({depth, static_cast<std::uint32_t>(members), groups, false, {}, {}, {}, {}});
    return walk(Isl<isl_schedule_node>(isl_schedule_node_get_child(node.get(), 0)), groups,
                depth + static_cast<std::uint32_t>(members));
  }

  bool sequence(const Isl<isl_schedule_node>& node, const std::vector<std::uint32_t>& groups, std::uint32_t depth) {
    const isl_size children = isl_schedule_node_n_children(node.get());
    std::vector<std::pair<Isl<isl_schedule_node>, std::vector<std::uint32_t>>> parts;
    for (isl_size i = 0; i < children; ++i) {
      Isl<isl_schedule_node> child(isl_schedule_node_get_child(node.get(), i));
      std::vector<std::uint32_t> inside = groups_in(child, groups);
      for (const std::uint32_t group : inside) order_.rows[group].push_back(constant_row(group, i));
      parts.emplace_back(std::move(child), std::move(inside));
    }
    for (const auto& [child, inside] : parts)
      if (!walk(child, inside, depth + 1)) return false;
    return true;
  }

  std::vector<std::uint32_t> groups_in(const Isl<isl_schedule_node>& filter,
                                       const std::vector<std::uint32_t>& of) const {
    const Isl<isl_union_set> sets(isl_schedule_node_filter_get_filter(filter.get()));
    std::vector<std::uint32_t> found;
    for (const std::uint32_t group : of) {
      Isl<isl_space> space(isl_set_get_space(program_.groups[group].domain.get()));
      const Isl<isl_set> part(isl_union_set_extract_set(sets.get(), space.release()));
      if (isl_set_is_empty(part.get()) == isl_bool_false) found.push_back(group);
    }
    return found;
  }

  std::optional<Row> row_of(const Isl<isl_union_pw_aff>& one, std::uint32_t group) const {
    Isl<isl_space> space(isl_set_get_space(program_.groups[group].domain.get()));
    space = Isl<isl_space>(isl_space_from_domain(space.release()));
    space = Isl<isl_space>(isl_space_add_dims(space.release(), isl_dim_out, 1));
    const Isl<isl_pw_aff> piecewise(isl_union_pw_aff_extract_pw_aff(one.get(), space.release()));
    if (!piecewise || isl_pw_aff_n_piece(piecewise.get()) != 1) return std::nullopt;
    std::pair<const TreeReader*, std::optional<Row>> made{this, std::nullopt};
    isl_pw_aff_foreach_piece(
        piecewise.get(),
        [](isl_set* set, isl_aff* aff, void* user) {
          auto& into = *static_cast<std::pair<const TreeReader*, std::optional<Row>>*>(user);
          into.second = into.first->row_of(aff);
          isl_set_free(set);
          isl_aff_free(aff);
          return isl_stat_ok;
        },
        &made);
    return made.second;
  }

  std::optional<Row> row_of(isl_aff* aff) const {
    Row row;
    if (isl_aff_dim(aff, isl_dim_div) != 0) return std::nullopt;
    const isl_size dimensions = isl_aff_dim(aff, isl_dim_in);
    const auto number = [](isl_val* given) -> std::optional<std::int64_t> {
      const Isl<isl_val> value(given);
      if (isl_val_is_int(value.get()) != isl_bool_true || isl_val_cmp_si(value.get(), 1L << 40) > 0 ||
          isl_val_cmp_si(value.get(), -(1L << 40)) < 0)
        return std::nullopt;
      return isl_val_get_num_si(value.get());
    };
    for (isl_size i = 0; i < dimensions; ++i) {
      const std::optional<std::int64_t> value = number(isl_aff_get_coefficient_val(aff, isl_dim_in, i));
      if (!value) return std::nullopt;
      row.coefficients.push_back(*value);
    }
    const std::optional<std::int64_t> constant = number(isl_aff_get_constant_val(aff));
    if (!constant) return std::nullopt;
    row.constant = *constant;
    const isl_size parameters = isl_aff_dim(aff, isl_dim_param);
    for (isl_size i = 0; i < parameters; ++i) {
      const std::optional<std::int64_t> times = number(isl_aff_get_coefficient_val(aff, isl_dim_param, i));
      std::int64_t part = 0;
      if (!times || __builtin_mul_overflow(*times, sizes_[static_cast<std::size_t>(i)], &part) ||
          __builtin_add_overflow(row.constant, part, &row.constant))
        return std::nullopt;
    }
    return row;
  }

  const Program& program_;
  const std::vector<std::int64_t>& sizes_;
  Order& order_;
  std::map<std::string, std::uint32_t> group_of_;
};

// ---- the order as written ----

class OriginalOrder {
 public:
  OriginalOrder(const Program& program, Order& order) : program_(program), order_(order) {
    order_.rows.assign(program.groups.size(), {});
  }

  void run() {
    body(kNoContext, 0);
    std::size_t most = 0;
    for (const std::vector<Row>& rows : order_.rows) most = std::max(most, rows.size());
    for (std::uint32_t i = 0; i < order_.rows.size(); ++i)
      while (order_.rows[i].size() < most) order_.rows[i].push_back(row(i, std::nullopt, 0));
  }

 private:
  Row row(std::uint32_t group, std::optional<std::size_t> coordinate, std::int64_t constant) const {
    Row made{std::vector<std::int64_t>(program_.groups[group].loops.size()), constant};
    if (coordinate) made.coefficients[*coordinate] = 1;
    return made;
  }

  std::vector<std::uint32_t> groups_in(ContextId loop) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < program_.groups.size(); ++i) {
      const std::vector<ContextId>& loops = program_.groups[i].loops;
      if (std::find(loops.begin(), loops.end(), loop) != loops.end()) found.push_back(i);
    }
    return found;
  }

  /// `depth`: of loops. A body of one part needs no row for its place.
  void body(ContextId loop, std::size_t depth) {
    const std::vector<Program::Child>& children = program_.body(loop);
    std::size_t used = 0;
    for (const Program::Child& child : children)
      if (child.loop == kNoContext || !groups_in(child.loop).empty()) ++used;
    std::int64_t place = 0;
    for (const Program::Child& child : children) {
      const std::vector<std::uint32_t> groups =
          child.loop == kNoContext ? std::vector<std::uint32_t>{child.group} : groups_in(child.loop);
      if (groups.empty()) continue;
      if (used > 1)
        for (const std::uint32_t group : groups) order_.rows[group].push_back(row(group, std::nullopt, place));
      ++place;
      if (child.loop == kNoContext) continue;
      const auto first = static_cast<std::uint32_t>(order_.rows[groups.front()].size());
      for (const std::uint32_t group : groups) order_.rows[group].push_back(row(group, depth, 0));
      order_.bands.push_back({first, 1, groups, false, {}, {}, {}, {}});
      body(child.loop, depth + 1);
    }
  }

  const Program& program_;
  Order& order_;
};

// ---- proofs ----

/// No difference is less (sign < 0) or greater than 0 in this row. What cannot be decided is not empty.
bool is_empty_where(const Isl<isl_set>& set, std::size_t row, int sign) {
  const auto at = static_cast<unsigned>(row);
  Isl<isl_set> part(sign < 0 ? isl_set_upper_bound_si(set.copy(), isl_dim_set, at, -1)
                             : isl_set_lower_bound_si(set.copy(), isl_dim_set, at, 1));
  return isl_set_is_empty(part.get()) == isl_bool_true;
}

/// Row by row: what is left when all rows before it are equal.
void find_carries(OrderBand& band) {
  band.carries.assign(band.depth, Carries::kNothing);
  band.alone.assign(band.depth, Carries::kNothing);
  for (const Differences& differences : band.differences) {
    const Carries what = differences.reduction ? Carries::kReduction : Carries::kFlow;
    Isl<isl_set> left = differences.set;
    for (std::uint32_t k = 0; k < band.depth; ++k)
      if (!is_empty_where(left, k, -1) || !is_empty_where(left, k, 1)) band.alone[k] = std::max(band.alone[k], what);
    for (std::uint32_t k = 0; k < band.depth; ++k) {
      if (!is_empty_where(left, k, -1) || !is_empty_where(left, k, 1))
        band.carries[k] = std::max(band.carries[k], what);
      left = Isl<isl_set>(isl_set_fix_si(left.release(), isl_dim_set, k, 0));
      if (isl_set_is_empty(left.get()) == isl_bool_true) break;
    }
  }
}

class Examiner {
 public:
  Examiner(isl_ctx* isl, const Program& program, Order& order) : isl_(isl), program_(program), order_(order) {}

  void run() {
    order_.legal = true;
    order_.violated.reset();
    seen_.resize(order_.bands.size());
    for (OrderBand& band : order_.bands) {
      band.permutable = true;
      band.differences.clear();
      band.links.clear();
    }
    for (std::size_t i = 0; i < program_.dependences.size(); ++i) look_at(i);
    for (OrderBand& band : order_.bands) find_carries(band);
  }

 private:
  /// The difference of times in a row: always 0, always greater, or not known without isl.
  enum class Step : std::uint8_t { kNone, kForward, kUnknown };
  using Steps = std::vector<Step>;

  void look_at(std::size_t number) {
    const poly::ProgramDependence& dependence = program_.dependences[number];
    const bool reduction = dependence.flow != nullptr && dependence.flow->reduction;
    if (look_at_steps(dependence, reduction)) return;
    Isl<isl_set> left = differences(dependence);  // not carried by an earlier row
    for (std::size_t k = 0; k < order_.length(); ++k) {
      look_at_bands(dependence, left, k, reduction);
      if (!is_empty_where(left, k, -1)) violate(number);
      left = Isl<isl_set>(isl_set_fix_si(left.release(), isl_dim_set, static_cast<unsigned>(k), 0));
      if (isl_set_is_empty(left.get()) == isl_bool_true) return;
    }
    violate(number);  // at the same time
  }

  /// Where the loop that carries it says enough: false if it does not, and nothing is done then.
  bool look_at_steps(const poly::ProgramDependence& dependence, bool reduction) {
    Steps steps;
    while (steps.size() < order_.length() && (steps.empty() || steps.back() == Step::kNone))
      steps.push_back(step(dependence, steps.size()));
    if (steps.empty() || steps.back() != Step::kForward) return false;
    const std::size_t carrier = steps.size() - 1;
    std::vector<std::pair<std::size_t, Steps>> found;  // by band
    for (std::size_t i = 0; i < order_.bands.size(); ++i) {
      const OrderBand& band = order_.bands[i];
      if (band.first > carrier || !contains(band, dependence.from) || !contains(band, dependence.to)) continue;
      Steps& inside = found.emplace_back(i, Steps()).second;
      for (std::size_t k = band.first; k < band.first + band.depth; ++k) inside.push_back(step(dependence, k));
      if (std::find(inside.begin(), inside.end(), Step::kUnknown) != inside.end()) return false;
    }
    for (const auto& [band, inside] : found) {
      order_.bands[band].links.insert({dependence.from, dependence.to});
      if (seen_[band].insert({inside, reduction}).second)
        order_.bands[band].differences.push_back({set_of(inside), reduction});
    }
    return true;
  }

  /// From the coordinates that are equal, and the one that is later, alone.
  Step step(const poly::ProgramDependence& dependence, std::size_t k) const {
    const Row& from = order_.rows[dependence.from][k];
    const Row& to = order_.rows[dependence.to][k];
    const std::size_t known = dependence.equal + (dependence.later ? 1 : 0);
    const std::size_t most = std::max(from.coefficients.size(), to.coefficients.size());
    for (std::size_t i = 0; i < most; ++i) {
      const std::int64_t a = i < from.coefficients.size() ? from.coefficients[i] : 0;
      const std::int64_t b = i < to.coefficients.size() ? to.coefficients[i] : 0;
      if (i < known ? a != b : a != 0 || b != 0) return Step::kUnknown;
    }
    const bool counts = dependence.later && dependence.equal < to.coefficients.size();
    const std::int64_t factor = counts ? to.coefficients[dependence.equal] : 0;
    std::int64_t least = 0;
    if (__builtin_sub_overflow(to.constant, from.constant, &least) || __builtin_add_overflow(least, factor, &least))
      return Step::kUnknown;
    if (factor == 0 && least == 0) return Step::kNone;
    return factor >= 0 && least > 0 ? Step::kForward : Step::kUnknown;
  }

  Isl<isl_set> set_of(const Steps& steps) const {
    isl_set* set = isl_set_universe(isl_space_set_alloc(isl_, 0, static_cast<unsigned>(steps.size())));
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const auto at = static_cast<unsigned>(k);
      set = steps[k] == Step::kNone ? isl_set_fix_si(set, isl_dim_set, at, 0)
                                    : isl_set_lower_bound_si(set, isl_dim_set, at, 1);
    }
    return Isl<isl_set>(set);
  }

  void violate(std::size_t number) {
    order_.legal = false;
    if (!order_.violated) order_.violated = number;
  }

  /// Bands that begin at this row.
  void look_at_bands(const poly::ProgramDependence& dependence, const Isl<isl_set>& left, std::size_t row,
                     bool reduction) {
    for (OrderBand& band : order_.bands) {
      if (row != band.first || !contains(band, dependence.from) || !contains(band, dependence.to)) continue;
      band.links.insert({dependence.from, dependence.to});
      Isl<isl_set> inside = left;
      const auto end = static_cast<unsigned>(band.first + band.depth);
      const auto length = static_cast<unsigned>(order_.length());
      inside = Isl<isl_set>(isl_set_project_out(inside.release(), isl_dim_set, end, length - end));
      inside = Isl<isl_set>(isl_set_project_out(inside.release(), isl_dim_set, 0, band.first));
      inside = Isl<isl_set>(isl_set_coalesce(inside.release()));
      const bool known = std::any_of(band.differences.begin(), band.differences.end(), [&](const Differences& other) {
        return other.reduction == reduction && isl_set_plain_is_equal(other.set.get(), inside.get()) == isl_bool_true;
      });
      if (known) continue;
      for (std::uint32_t k = 0; k < band.depth; ++k)
        if (!is_empty_where(inside, k, -1)) band.permutable = false;
      band.differences.push_back({std::move(inside), reduction});
    }
  }

  static bool contains(const OrderBand& band, std::uint32_t group) {
    return std::find(band.groups.begin(), band.groups.end(), group) != band.groups.end();
  }

  Isl<isl_map> times(std::uint32_t group) const {
    Isl<isl_space> space(isl_set_get_space(program_.groups[group].domain.get()));
    isl_local_space* const local = isl_local_space_from_space(space.copy());
    const auto length = static_cast<unsigned>(order_.length());
    isl_space* target = isl_space_add_dims(isl_space_from_domain(space.release()), isl_dim_out, length);
    isl_multi_aff* times = isl_multi_aff_zero(target);
    for (unsigned k = 0; k < length; ++k) {
      const Row& row = order_.rows[group][k];
      isl_aff* aff = isl_aff_zero_on_domain(isl_local_space_copy(local));
      for (std::size_t i = 0; i < row.coefficients.size(); ++i)
        aff = isl_aff_set_coefficient_val(aff, isl_dim_in, static_cast<int>(i),
                                          isl_val_int_from_si(isl_, row.coefficients[i]));
      aff = isl_aff_set_constant_val(aff, isl_val_int_from_si(isl_, row.constant));
      times = isl_multi_aff_set_aff(times, static_cast<int>(k), aff);
    }
    isl_local_space_free(local);
    return Isl<isl_map>(isl_map_from_multi_aff(times));
  }

  /// Of the consumer's time and the producer's.
  Isl<isl_set> differences(const poly::ProgramDependence& dependence) {
    Isl<isl_map> map = dependence.map;
    map = Isl<isl_map>(isl_map_apply_domain(map.release(), times(dependence.from).release()));
    map = Isl<isl_map>(isl_map_apply_range(map.release(), times(dependence.to).release()));
    return Isl<isl_set>(isl_map_deltas(map.release()));
  }

  isl_ctx* isl_;
  const Program& program_;
  Order& order_;
  std::vector<std::set<std::pair<Steps, bool>>> seen_;  // by band: steps, and whether they are of a reduction
};

}  // namespace

Order original_order(const Program& program) {
  Order order;
  OriginalOrder(program, order).run();
  return order;
}

Constraints scheduling_constraints(isl_ctx* isl, const Program& program, bool bounded) {
  struct Asked {
    Isl<isl_map> map;
    bool near = false;
  };
  std::vector<Isl<isl_map>> domains;
  std::vector<Asked> dependences;
  for (const poly::Group& group : program.groups) {
    const Isl<isl_map> domain(isl_map_from_range(group.domain.copy()));
    domains.push_back(bounded ? domain : relaxed(domain));
  }
  const std::map<Way, isl_size> pieces = count_pieces(program);
  std::set<Way> opened;
  for (const poly::ProgramDependence& dependence : program.dependences) {
    if (dependence.later && pieces.at(way_of(dependence)) > kMostPieces) {
      if (opened.insert(way_of(dependence)).second) dependences.push_back({to_all_later(dependence), false});
      continue;
    }
    Isl<isl_map> map = bounded ? dependence.map : later(relaxed(dependence.map), dependence);
    dependences.push_back({std::move(map), is_uniform(dependence.map)});
  }
  Sizes sizes;
  for (const Isl<isl_map>& domain : domains) sizes.look_at(domain);
  for (const Asked& dependence : dependences) sizes.look_at(dependence.map);
  if (!bounded) sizes.choose();

  Constraints made;
  made.bounded = bounded;
  made.sizes = sizes.values();
  made.domain = Isl<isl_union_set>(isl_union_set_empty_ctx(isl));
  for (const Isl<isl_map>& domain : domains) {
    Isl<isl_set> set(isl_map_range(sizes.put_into(domain).release()));
    made.domain = Isl<isl_union_set>(isl_union_set_add_set(made.domain.release(), set.release()));
  }
  made.all = Isl<isl_union_map>(isl_union_map_empty_ctx(isl));
  made.near = Isl<isl_union_map>(isl_union_map_empty_ctx(isl));
  for (const Asked& dependence : dependences) {
    const Isl<isl_map> map = sizes.put_into(dependence.map);
    made.all = Isl<isl_union_map>(isl_union_map_add_map(made.all.release(), map.copy()));
    if (dependence.near) made.near = Isl<isl_union_map>(isl_union_map_add_map(made.near.release(), map.copy()));
  }
  if (is_beyond(made.all)) return {};
  made.all = Isl<isl_union_map>(isl_union_map_coalesce(made.all.release()));
  made.implied = Isl<isl_union_map>(isl_union_map_empty_ctx(isl));
  if (isl_union_map_n_map(made.all.get()) > kFewDependences) Reducer(made.all).run(made.all, made.implied);
  return made;
}

std::optional<Order> find_order(isl_ctx* isl, const Program& program, const Constraints& asked,
                                profile::Transformed::Fusion fusion) {
  using Fusion = profile::Transformed::Fusion;
  if (!asked.all) return std::nullopt;
  isl_options_set_schedule_serialize_sccs(isl, fusion == Fusion::kNone ? 1 : 0);
  isl_options_set_schedule_maximize_coincidence(isl, fusion == Fusion::kSmart ? 1 : 0);
  constexpr int kNoLimit = -1;
  isl_options_set_schedule_max_coefficient(isl, asked.bounded ? kGreatestCoefficient : kNoLimit);
  Isl<isl_schedule_constraints> constraints(isl_schedule_constraints_on_domain(asked.domain.copy()));
  constraints =
      Isl<isl_schedule_constraints>(isl_schedule_constraints_set_validity(constraints.release(), asked.all.copy()));
  constraints =
      Isl<isl_schedule_constraints>(isl_schedule_constraints_set_coincidence(constraints.release(), asked.all.copy()));
  constraints =
      Isl<isl_schedule_constraints>(isl_schedule_constraints_set_proximity(constraints.release(), asked.near.copy()));
  // Under no condition: they say which groups need each other, and in which order, and nothing of the rows.
  isl_union_map* const never = isl_union_map_empty_ctx(isl);
  constraints = Isl<isl_schedule_constraints>(
      isl_schedule_constraints_set_conditional_validity(constraints.release(), never, asked.implied.copy()));
  const Isl<isl_schedule> schedule(isl_schedule_constraints_compute_schedule(constraints.release()));
  if (!schedule) return std::nullopt;
  Order order;
  order.fusion = fusion;
  if (!TreeReader(program, asked.sizes, order).read(schedule.get())) return std::nullopt;
  return order;
}

void examine(isl_ctx* isl, const Program& program, Order& order) { Examiner(isl, program, order).run(); }

namespace {

/// The dimensions of a set in another order.
Isl<isl_set> permuted(const Isl<isl_set>& set, const std::vector<std::uint32_t>& permutation) {
  Isl<isl_space> space(isl_set_get_space(set.get()));
  isl_multi_aff* rows = isl_multi_aff_identity(isl_space_map_from_set(space.copy()));
  isl_multi_aff* result = isl_multi_aff_copy(rows);
  for (std::size_t k = 0; k < permutation.size(); ++k)
    result = isl_multi_aff_set_aff(result, static_cast<int>(k),
                                   isl_multi_aff_get_aff(rows, static_cast<int>(permutation[k])));
  isl_multi_aff_free(rows);
  return Isl<isl_set>(isl_set_apply(set.copy(), isl_map_from_multi_aff(result)));
}

}  // namespace

void permute(Order& order, std::size_t number, const std::vector<std::uint32_t>& permutation) {
  OrderBand& band = order.bands[number];
  for (Differences& differences : band.differences) differences.set = permuted(differences.set, permutation);
  find_carries(band);
  for (const std::uint32_t group : band.groups) {
    std::vector<Row>& rows = order.rows[group];
    const std::vector<Row> old(rows.begin() + band.first, rows.begin() + band.first + band.depth);
    for (std::uint32_t k = 0; k < band.depth; ++k) rows[band.first + k] = old[permutation[k]];
  }
}

}  // namespace loopfold::advise
