#include "advise/liveness/conflicts.h"

#include <map>

#include "poly/pieces.h"

namespace loopfold::advise::liveness {

using poly::Isl;

SameCells::SameCells(const Storage& storage) {
  for (const Access& access : storage.accesses) accesses_.push_back(by_function(access));
}

SameCells::Cells SameCells::by_function(const Access& access) {
  if (isl_map_n_basic_map(access.cells.get()) <= 1) return {access, {}};
  Isl<isl_map> function(isl_map_from_basic_map(isl_map_affine_hull(access.cells.copy())));
  if (isl_map_is_single_valued(function.get()) != isl_bool_true) return {access, {}};
  Cells made{access, Isl<isl_set>(isl_map_domain(access.cells.copy()))};
  made.access.cells = std::move(function);
  return made;
}

const SameCells::Pairs& SameCells::of(std::uint32_t a, std::uint32_t b) {
  Pairs& known = pairs_[{a, b}];
  if (known.map) return known;
  if (const auto other = pairs_.find({b, a}); a != b && other != pairs_.end() && other->second.map) {
    known.map = Isl<isl_map>(isl_map_reverse(other->second.map.copy()));
    known.none = other->second.none;
    return known;
  }
  known.map = same_cell(accesses_[a].access, accesses_[b].access);
  known.none = isl_map_is_empty(known.map.get()) == isl_bool_true;
  return known;
}

namespace {

class Finder {
 public:
  Finder(const Storage& storage, Precedence& order, SameCells& cells, bool only_first, const Times* clean)
      : storage_(storage), order_(order), cells_(cells), only_first_(only_first), clean_(clean) {
    for (std::uint32_t i = 0; i < storage.accesses.size(); ++i)
      if (storage.accesses[i].write) writes_.push_back(i);
  }

  Conflicts run() {
    for (const Range& range : storage_.ranges)
      if (!is_enough()) look_at(range);
    for (const OpenEnd& input : storage_.inputs)
      for (const std::uint32_t by : writes_)
        if (!is_enough()) look_at_input(input, by);
    for (const OpenEnd& output : storage_.outputs)
      for (const std::uint32_t by : writes_)
        if (!is_enough()) look_at_output(output, by);
    for (std::size_t a = 0; a < writes_.size(); ++a)
      for (std::size_t b = a; b < writes_.size(); ++b)
        if (!is_enough()) look_at_writes(writes_[a], writes_[b]);
    return std::move(result_);
  }

 private:
  bool is_enough() const { return only_first_ && !result_.found.empty(); }

  /// Between instances of two accesses, the order is one in which there are no conflicts.
  bool is_clean(std::uint32_t a, std::uint32_t b) {
    if (clean_ == nullptr) return false;
    const std::pair<std::uint32_t, std::uint32_t> units{storage_.accesses[a].unit, storage_.accesses[b].unit};
    const auto [known, is_new] = clean_units_.try_emplace(units, false);
    if (is_new) known->second = have_same_order(order_.times(), *clean_, units.first, units.second);
    return known->second;
  }

  using Pairs = SameCells::Pairs;
  using All = std::map<std::pair<std::uint32_t, std::uint32_t>, Pairs>;
  template <typename Make>
  static const Pairs& pairs(All& all, std::uint32_t a, std::uint32_t b, const Make& make) {
    Pairs& known = all[{a, b}];
    if (known.map) return known;
    known.map = make();
    known.none = isl_map_is_empty(known.map.get()) == isl_bool_true;
    return known;
  }

  /// { x -> y : the same cell, x first }
  const Pairs& first(std::uint32_t a, std::uint32_t b) {
    if (cell(a, b).none) return cell(a, b);
    return pairs(first_, a, b, [&] {
      return poly::intersect(cell(a, b).map, order_.before(storage_.accesses[a], storage_.accesses[b]));
    });
  }
  /// { x -> y : the same cell, in different iterations of a parallel loop }
  const Pairs& together(std::uint32_t a, std::uint32_t b) {
    if (cell(a, b).none) return cell(a, b);
    return pairs(together_, a, b, [&] {
      return poly::intersect(cell(a, b).map, order_.at_once(storage_.accesses[a], storage_.accesses[b]));
    });
  }
  const Pairs& cell(std::uint32_t a, std::uint32_t b) { return cells_.of(a, b); }

  /// The pairs that there are.
  Isl<isl_map> from(Isl<isl_map> map, std::uint32_t access) const {
    return cells_.domain(access) ? poly::intersect_domain(map, cells_.domain(access)) : std::move(map);
  }
  Isl<isl_map> to(Isl<isl_map> map, std::uint32_t access) const {
    return cells_.domain(access) ? poly::intersect_range(map, cells_.domain(access)) : std::move(map);
  }

  /// Without pairs of an instance of an access with itself.
  Isl<isl_map> others(Isl<isl_map> map, std::uint32_t a, std::uint32_t b) const {
    if (a != b) return map;
    isl_map* const same = isl_map_identity(isl_map_get_space(map.get()));
    return Isl<isl_map>(isl_map_subtract(map.release(), same));
  }

  /// Where one conflict is enough, it is looked for in one piece after the other.
  void look_at(const Range& range) {
    if (!only_first_) return look_at(range, range.map);
    for (const Isl<isl_basic_map>& piece : poly::pieces_of(range.map))
      if (!is_enough()) look_at(range, Isl<isl_map>(isl_map_from_basic_map(piece.copy())));
    if (!range.map) result_.complete = false;
  }

  void look_at(const Range& range, Isl<isl_map> map) {
    if (!range.within) map = to(from(std::move(map), range.definition), range.use);
    for (const std::uint32_t by : writes_)
      if (!is_enough()) look_at(range, map, by);
  }

  void look_at(const Range& range, const Isl<isl_map>& map, std::uint32_t by) {
    const std::uint32_t definition = range.definition;
    if (cell(definition, by).none) return;
    const bool clean = is_clean(definition, by) && is_clean(by, range.use);
    if (!clean && !first(definition, by).none && !first(by, range.use).none) {
      const Isl<isl_map> earlier(isl_map_reverse(first(by, range.use).map.copy()));  // use -> by, that comes before it
      Isl<isl_map> between = poly::apply_range(map, earlier);
      between = to(poly::intersect(between, first(definition, by).map), by);
      add(Conflict::Kind::kRange, definition, by, between, range.use, false);
    }
    if (together(range.use, by).none) return;
    Isl<isl_map> racing = poly::apply_range(map, together(range.use, by).map);
    racing = to(poly::intersect(racing, cell(definition, by).map), by);
    add(Conflict::Kind::kRange, definition, by, others(std::move(racing), definition, by), range.use, true);
  }

  void look_at_writes(std::uint32_t a, std::uint32_t b) {
    if (together(a, b).none) return;
    add(Conflict::Kind::kRange, a, b, to(from(together(a, b).map, a), b), std::nullopt, true);
  }

  void look_at_input(const OpenEnd& input, std::uint32_t by) {
    if (!is_clean(by, input.access) && !first(by, input.access).none) {
      Isl<isl_map> earlier(isl_map_reverse(first(by, input.access).map.copy()));
      earlier = to(poly::intersect_domain(earlier, input.instances), by);
      add(Conflict::Kind::kInput, input.access, by, earlier, std::nullopt, false);
    }
    if (together(input.access, by).none) return;
    const Isl<isl_map> racing = to(poly::intersect_domain(together(input.access, by).map, input.instances), by);
    add(Conflict::Kind::kInput, input.access, by, racing, std::nullopt, true);
  }

  void look_at_output(const OpenEnd& output, std::uint32_t by) {
    if (is_clean(output.access, by) || first(output.access, by).none) return;
    const Isl<isl_map> later = to(poly::intersect_domain(first(output.access, by).map, output.instances), by);
    add(Conflict::Kind::kOutput, output.access, by, later, std::nullopt, false);
  }

  void add(Conflict::Kind kind, std::uint32_t from, std::uint32_t by, const Isl<isl_map>& pairs,
           std::optional<std::uint32_t> use, bool at_once) {
    const isl_bool empty = isl_map_is_empty(pairs.get());
    if (empty == isl_bool_true) return;
    if (empty == isl_bool_error) {
      result_.complete = false;
      return;
    }
    result_.found.push_back({kind, from, by, pairs, use, at_once});
  }

  const Storage& storage_;
  Precedence& order_;
  SameCells& cells_;
  const bool only_first_;
  const Times* const clean_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> clean_units_;
  std::vector<std::uint32_t> writes_;
  All first_;
  All together_;
  Conflicts result_;
};

}  // namespace

Conflicts find_conflicts(const Storage& storage, Precedence& order, SameCells& cells, bool only_first,
                         const Times* clean) {
  return Finder(storage, order, cells, only_first, clean).run();
}

Conflicts find_conflicts(const Storage& storage, const Times& times) {
  Precedence order(times);
  SameCells cells(storage);
  return find_conflicts(storage, order, cells);
}

BrokenFlows broken_flow(const Storage& storage, Precedence& order, bool reductions, bool only_first) {
  BrokenFlows result;
  for (std::size_t i = 0; i < storage.ranges.size(); ++i) {
    const Range& range = storage.ranges[i];
    const Access& from = storage.accesses[range.definition];
    const Access& to = storage.accesses[range.use];
    Isl<isl_map> broken(isl_map_subtract(range.map.copy(), order.before(from, to).copy()));
    Isl<isl_map> apart = poly::intersect(range.map, order.at_once(from, to));
    if (range.reduction && reductions)
      broken = Isl<isl_map>(isl_map_subtract(broken.release(), apart.release()));
    else
      broken = Isl<isl_map>(isl_map_union(broken.release(), apart.release()));
    const isl_bool empty = isl_map_is_empty(broken.get());
    if (empty == isl_bool_true) continue;
    if (empty == isl_bool_error) {
      result.complete = false;
      continue;
    }
    result.found.push_back({i, std::move(broken)});
    if (only_first) break;
  }
  return result;
}

BrokenFlows broken_flow(const Storage& storage, const Times& times, bool reductions, bool only_first) {
  Precedence order(times);
  return broken_flow(storage, order, reductions, only_first);
}

}  // namespace loopfold::advise::liveness
