#include "advise/liveness/conflicts.h"

#include <map>

namespace loopfold::advise::liveness {

namespace {

using poly::Isl;

class Finder {
 public:
  Finder(const Storage& storage, const Times& times) : storage_(storage), times_(times) {
    for (std::uint32_t i = 0; i < storage.accesses.size(); ++i)
      if (storage.accesses[i].write) writes_.push_back(i);
  }

  Conflicts run() {
    for (const Range& range : storage_.ranges)
      for (const std::uint32_t by : writes_) look_at(range, by);
    for (const OpenEnd& input : storage_.inputs)
      for (const std::uint32_t by : writes_) look_at_input(input, by);
    for (const OpenEnd& output : storage_.outputs)
      for (const std::uint32_t by : writes_) look_at_output(output, by);
    for (std::size_t a = 0; a < writes_.size(); ++a)
      for (std::size_t b = a; b < writes_.size(); ++b)
        add(Conflict::Kind::kRange, writes_[a], writes_[b], together(writes_[a], writes_[b]).map, std::nullopt, true);
    return std::move(result_);
  }

 private:
  /// Pairs of instances of two accesses, and whether there are none: most accesses have nothing to do with most others,
  /// and what is made of no pairs need not be made.
  struct Pairs {
    Isl<isl_map> map;
    bool none = false;
  };
  using All = std::map<std::pair<std::uint32_t, std::uint32_t>, Pairs>;
  template <typename Make>
  static const Pairs& pairs(All& all, std::uint32_t a, std::uint32_t b, const Make& make) {
    Pairs& known = all[{a, b}];
    if (known.map) return known;
    known.map = make();
    known.none = isl_map_is_empty(known.map.get()) == isl_bool_true;
    return known;
  }

  /// { x -> y : x first }
  const Isl<isl_map>& later(std::uint32_t a, std::uint32_t b) {
    Isl<isl_map>& known = later_[{a, b}];
    if (!known) known = before(times_, storage_.accesses[a], storage_.accesses[b]);
    return known;
  }
  /// { x -> y : the same cell, x first }
  const Pairs& first(std::uint32_t a, std::uint32_t b) {
    if (cell(a, b).none) return cell(a, b);
    return pairs(first_, a, b,
                 [&] { return Isl<isl_map>(isl_map_intersect(cell(a, b).map.copy(), later(a, b).copy())); });
  }
  /// { x -> y : the same cell, in different iterations of a parallel loop }
  const Pairs& together(std::uint32_t a, std::uint32_t b) {
    if (cell(a, b).none) return cell(a, b);
    return pairs(together_, a, b, [&] {
      return Isl<isl_map>(isl_map_intersect(cell(a, b).map.copy(),
                                            at_once(times_, storage_.accesses[a], storage_.accesses[b]).release()));
    });
  }
  const Pairs& cell(std::uint32_t a, std::uint32_t b) {
    return pairs(cell_, a, b, [&] { return same_cell(storage_.accesses[a], storage_.accesses[b]); });
  }

  /// Without pairs of an instance of an access with itself.
  Isl<isl_map> others(Isl<isl_map> map, std::uint32_t a, std::uint32_t b) const {
    if (a != b) return map;
    isl_map* const same = isl_map_identity(isl_map_get_space(map.get()));
    return Isl<isl_map>(isl_map_subtract(map.release(), same));
  }

  void look_at(const Range& range, std::uint32_t by) {
    const std::uint32_t from = range.definition;
    if (cell(from, by).none) return;
    if (!first(from, by).none && !first(by, range.use).none) {
      Isl<isl_map> earlier(isl_map_reverse(first(by, range.use).map.copy()));  // use -> by, that comes before it
      Isl<isl_map> between(isl_map_apply_range(range.map.copy(), earlier.release()));
      // In this order: few are left once they have to come later, and cells of domains in pieces are in many.
      between = Isl<isl_map>(isl_map_intersect(between.release(), later(from, by).copy()));
      between = Isl<isl_map>(isl_map_intersect(between.release(), cell(from, by).map.copy()));
      add(Conflict::Kind::kRange, from, by, between, range.use, false);
    }
    if (together(range.use, by).none) return;
    Isl<isl_map> racing(isl_map_apply_range(range.map.copy(), together(range.use, by).map.copy()));
    racing = Isl<isl_map>(isl_map_intersect(racing.release(), cell(from, by).map.copy()));
    add(Conflict::Kind::kRange, from, by, others(std::move(racing), from, by), range.use, true);
  }

  void look_at_input(const OpenEnd& input, std::uint32_t by) {
    if (!first(by, input.access).none) {
      Isl<isl_map> earlier(isl_map_reverse(first(by, input.access).map.copy()));
      earlier = Isl<isl_map>(isl_map_intersect_domain(earlier.release(), input.instances.copy()));
      add(Conflict::Kind::kInput, input.access, by, earlier, std::nullopt, false);
    }
    if (together(input.access, by).none) return;
    Isl<isl_map> racing = together(input.access, by).map;
    racing = Isl<isl_map>(isl_map_intersect_domain(racing.release(), input.instances.copy()));
    add(Conflict::Kind::kInput, input.access, by, racing, std::nullopt, true);
  }

  void look_at_output(const OpenEnd& output, std::uint32_t by) {
    if (first(output.access, by).none) return;
    Isl<isl_map> later = first(output.access, by).map;
    later = Isl<isl_map>(isl_map_intersect_domain(later.release(), output.instances.copy()));
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
  const Times& times_;
  std::vector<std::uint32_t> writes_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Isl<isl_map>> later_;
  All first_;
  All together_;
  All cell_;
  Conflicts result_;
};

}  // namespace

Conflicts find_conflicts(const Storage& storage, const Times& times) { return Finder(storage, times).run(); }

BrokenFlows broken_flow(const Storage& storage, const Times& times, bool reductions, bool only_first) {
  BrokenFlows result;
  for (std::size_t i = 0; i < storage.ranges.size(); ++i) {
    const Range& range = storage.ranges[i];
    const Access& from = storage.accesses[range.definition];
    const Access& to = storage.accesses[range.use];
    Isl<isl_map> broken(isl_map_subtract(range.map.copy(), before(times, from, to).release()));
    Isl<isl_map> apart(isl_map_intersect(range.map.copy(), at_once(times, from, to).release()));
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

}  // namespace loopfold::advise::liveness
