#include "advise/liveness/repair.h"

#include <algorithm>
#include <bit>

#include "poly/pieces.h"

namespace loopfold::advise::liveness {

namespace {

using poly::Isl;

constexpr std::size_t kMostLoops = 8;

/// { U[i] -> [the first rows of its time] }
Isl<isl_map> prefix(const Times& times, std::uint32_t unit, std::size_t rows) {
  Isl<isl_map> time = times.of[unit];
  const auto length = static_cast<unsigned>(isl_map_dim(time.get(), isl_dim_out));
  return Isl<isl_map>(isl_map_project_out(time.release(), isl_dim_out, static_cast<unsigned>(rows),
                                          length - static_cast<unsigned>(rows)));
}

class Repairer {
 public:
  Repairer(const Storage& storage, Precedence& order, const Conflicts& conflicts, const std::vector<LoopCounter>& loops,
           const std::vector<Isl<isl_set>>& domains)
      : storage_(storage),
        order_(order),
        times_(order.times()),
        conflicts_(conflicts),
        loops_(loops),
        domains_(domains) {}

  Repair run(const RepairOptions& options) {
    Repair repair;
    if (!storage_.unknown.empty() || !conflicts_.complete) {
      repair.kind = Repair::Kind::kUnknown;
      return repair;
    }
    if (conflicts_.found.empty()) return repair;
    if (options.may_be_private)
      for (std::size_t row = 0; row < length_of(times_); ++row)
        if (is_parallel(row) && make_private(row, repair)) return repair;
    if (options.may_expand && expand(repair)) return repair;
    repair.kind = failed_ ? Repair::Kind::kUnknown : Repair::Kind::kImpossible;
    return repair;
  }

 private:
  bool is_parallel(std::size_t row) const {
    return std::any_of(storage_.accesses.begin(), storage_.accesses.end(),
                       [&](const Access& access) { return times_.parallel[access.unit][row]; });
  }

  bool is_empty(const Isl<isl_map>& map) {
    const isl_bool empty = isl_map_is_empty(map.get());
    if (empty == isl_bool_error) failed_ = true;
    return empty == isl_bool_true;
  }

  /// { x of a -> y of b : the same copy }
  static Isl<isl_map> same(const Isl<isl_map>& a, const Isl<isl_map>& b) {
    return Isl<isl_map>(isl_map_apply_range(a.copy(), isl_map_reverse(b.copy())));
  }

  // ---- private ----

  bool is_in_loop(std::uint32_t access, std::size_t row) const {
    return times_.parallel[storage_.accesses[access].unit][row];
  }

  /// The loop at this row. Accesses outside of it see what the last iteration leaves.
  bool make_private(std::size_t row, Repair& repair) {
    bool first = std::any_of(storage_.inputs.begin(), storage_.inputs.end(),
                             [&](const OpenEnd& input) { return is_in_loop(input.access, row); });
    std::vector<OpenEnd> outputs;
    for (const OpenEnd& output : storage_.outputs)
      if (is_in_loop(output.access, row)) outputs.push_back(output);
    for (const Range& range : storage_.ranges) {
      const std::uint32_t a = storage_.accesses[range.definition].unit;
      const std::uint32_t b = storage_.accesses[range.use].unit;
      const Isl<isl_map>& one_entry = order_.equal_first(a, b, row);
      const Isl<isl_map> inside = poly::intersect(range.map, one_entry);
      const Isl<isl_map>& one_iteration = order_.equal_first(a, b, row + 1);
      if (!is_empty(Isl<isl_map>(isl_map_subtract(inside.copy(), one_iteration.copy())))) return false;
      const Isl<isl_map> outside(isl_map_subtract(range.map.copy(), one_entry.copy()));
      if (is_empty(outside)) continue;
      first = first || is_in_loop(range.use, row);
      if (is_in_loop(range.definition, row))
        outputs.push_back({range.definition, Isl<isl_set>(isl_map_domain(outside.copy()))});
    }
    for (const Conflict& conflict : conflicts_.found) {
      if (!is_in_loop(conflict.from, row) || !is_in_loop(conflict.by, row)) return false;
      if (conflict.kind == Conflict::Kind::kInput && !conflict.at_once)
        return false;  // a thread runs several iterations
      const std::uint32_t a = storage_.accesses[conflict.from].unit;
      const std::uint32_t b = storage_.accesses[conflict.by].unit;
      if (!is_empty(poly::intersect(conflict.pairs, order_.equal_first(a, b, row + 1)))) return false;
      const Isl<isl_map> elsewhere(isl_map_subtract(conflict.pairs.copy(), order_.equal_first(a, b, row).copy()));
      if (!is_empty(elsewhere)) return false;
    }
    for (const OpenEnd& output : outputs)
      if (!is_in_last_iteration(output, row)) return false;
    if (failed_) return false;
    repair.kind = Repair::Kind::kPrivate;
    repair.row = static_cast<std::uint32_t>(row);
    repair.last = !outputs.empty();
    repair.first = first || (repair.last && !is_set_in_each(row));
    return true;
  }

  /// Every iteration of the loop sets all of it. What is copied back is what the last one has set, and nothing else.
  bool is_set_in_each(std::size_t row) const {
    Isl<isl_set> sets;
    Isl<isl_set> all;
    const auto add = [&](Isl<isl_set>& to, std::uint32_t unit, isl_set* instances) {
      Isl<isl_set> made(isl_set_apply(instances, prefix(times_, unit, row + 1).release()));
      to = to ? Isl<isl_set>(isl_set_union(to.release(), made.release())) : std::move(made);
    };
    for (const Access& access : storage_.accesses) {
      if (!access.write || !times_.parallel[access.unit][row]) continue;
      if (static_cast<std::uint64_t>(access.bytes) < storage_.bytes) return false;
      add(sets, access.unit, isl_map_domain(access.cells.copy()));
    }
    for (std::uint32_t unit = 0; unit < times_.of.size(); ++unit)
      if (times_.parallel[unit][row]) add(all, unit, domains_[unit].copy());
    return sets && all && isl_set_is_subset(all.get(), sets.get()) == isl_bool_true;
  }

  /// Nothing in the same entry of the loop is in a later iteration of it.
  bool is_in_last_iteration(const OpenEnd& output, std::size_t row) {
    Isl<isl_map> own = prefix(times_, storage_.accesses[output.access].unit, row + 1);
    own = Isl<isl_map>(isl_map_intersect_domain(own.release(), output.instances.copy()));
    for (std::uint32_t unit = 0; unit < times_.of.size(); ++unit) {
      if (!times_.parallel[unit][row]) continue;
      Isl<isl_map> other = prefix(times_, unit, row + 1);
      other = Isl<isl_map>(isl_map_intersect_domain(other.release(), domains_[unit].copy()));
      Isl<isl_map> later(isl_map_universe(isl_space_map_from_set(isl_space_range(isl_map_get_space(own.get())))));
      for (std::size_t k = 0; k < row; ++k)
        later = Isl<isl_map>(
            isl_map_equate(later.release(), isl_dim_in, static_cast<int>(k), isl_dim_out, static_cast<int>(k)));
      later = Isl<isl_map>(
          isl_map_order_lt(later.release(), isl_dim_in, static_cast<int>(row), isl_dim_out, static_cast<int>(row)));
      Isl<isl_map> found(isl_map_apply_range(own.copy(), later.release()));
      found = Isl<isl_map>(isl_map_apply_range(found.release(), isl_map_reverse(other.release())));
      if (!is_empty(found)) return false;
    }
    return true;
  }

  // ---- expanded ----

  /// { U[i] -> [counters of the loops] }
  Isl<isl_map> counters(std::uint32_t unit, const std::vector<std::uint32_t>& along) const {
    Isl<isl_space> space(isl_space_domain(isl_map_get_space(times_.of[unit].get())));
    const auto dimensions = static_cast<unsigned>(isl_space_dim(space.get(), isl_dim_set));
    Isl<isl_map> map(isl_map_identity(isl_space_map_from_set(space.release())));
    map = Isl<isl_map>(isl_map_add_dims(map.release(), isl_dim_out, static_cast<unsigned>(along.size())));
    for (std::size_t k = 0; k < along.size(); ++k)
      map = Isl<isl_map>(isl_map_equate(map.release(), isl_dim_in, static_cast<int>(*loops_[along[k]].coordinate[unit]),
                                        isl_dim_out, static_cast<int>(dimensions + k)));
    map = Isl<isl_map>(isl_map_project_out(map.release(), isl_dim_out, 0, dimensions));
    return Isl<isl_map>(isl_map_reset_tuple_id(map.release(), isl_dim_out));
  }

  bool expand(Repair& repair) {
    std::vector<std::uint32_t> candidates;
    for (std::uint32_t loop = 0; loop < loops_.size() && candidates.size() < kMostLoops; ++loop)
      if (std::all_of(storage_.accesses.begin(), storage_.accesses.end(), [&](const Access& access) {
            return !access.write || loops_[loop].coordinate[access.unit].has_value();
          }))
        candidates.push_back(loop);
    bool found = false;
    for (int size = 0; size <= static_cast<int>(candidates.size()) && !found; ++size) {
      for (std::uint32_t set = 0; set < (1U << candidates.size()); ++set) {
        if (std::popcount(set) != size) continue;
        std::vector<std::uint32_t> along;
        std::uint64_t bytes = std::max<std::uint64_t>(storage_.bytes, 1);
        for (std::size_t k = 0; k < candidates.size(); ++k)
          if ((set >> k & 1) != 0) {
            along.push_back(candidates[k]);
            bytes *= std::max<std::uint64_t>(loops_[candidates[k]].trips, 1);
          }
        if ((found && bytes >= repair.bytes) || !helps(along)) continue;
        found = true;
        repair.kind = Repair::Kind::kExpand;
        repair.along = std::move(along);
        repair.bytes = bytes;
      }
    }
    return found && !failed_;
  }

  bool helps(const std::vector<std::uint32_t>& along) {
    for (const Conflict& conflict : conflicts_.found) {
      if (conflict.kind == Conflict::Kind::kInput) continue;  // the storage itself keeps it
      const std::uint32_t a = storage_.accesses[conflict.from].unit;
      const std::uint32_t b = storage_.accesses[conflict.by].unit;
      if (!is_empty(poly::intersect(conflict.pairs, same(counters(a, along), counters(b, along))))) return false;
    }
    return true;
  }

  const Storage& storage_;
  Precedence& order_;
  const Times& times_;
  const Conflicts& conflicts_;
  const std::vector<LoopCounter>& loops_;
  const std::vector<Isl<isl_set>>& domains_;
  bool failed_ = false;
};

}  // namespace

Repair find_repair(const Storage& storage, const Times& times, const Conflicts& conflicts,
                   const std::vector<LoopCounter>& loops, const std::vector<Isl<isl_set>>& domains,
                   const RepairOptions& options) {
  Precedence order(times);
  return find_repair(storage, order, conflicts, loops, domains, options);
}

Repair find_repair(const Storage& storage, Precedence& order, const Conflicts& conflicts,
                   const std::vector<LoopCounter>& loops, const std::vector<Isl<isl_set>>& domains,
                   const RepairOptions& options) {
  return Repairer(storage, order, conflicts, loops, domains).run(options);
}

}  // namespace loopfold::advise::liveness
