#include "advise/liveness/together.h"

namespace loopfold::advise::liveness {

namespace {

using poly::Isl;

/// { x -> y : y is a definition by `by`, between x of the range and a use of its value }
Isl<isl_map> written_meanwhile(const Storage& storage, const Times& times, const Range& range, const Access& by) {
  const Access& definition = storage.accesses[range.definition];
  const Access& use = storage.accesses[range.use];
  Isl<isl_map> until(isl_map_apply_range(range.map.copy(), isl_map_reverse(before(times, by, use).release())));
  return Isl<isl_map>(isl_map_intersect(until.release(), before(times, definition, by).release()));
}

}  // namespace

Isl<isl_map> alive_together(const Storage& storage, const Times& times) {
  if (storage.accesses.empty()) return {};
  const Isl<isl_set> cells(isl_map_range(storage.accesses.front().cells.copy()));
  Isl<isl_map> result(isl_map_empty(isl_space_map_from_set(isl_set_get_space(cells.get()))));
  for (const Range& range : storage.ranges)
    for (const Access& by : storage.accesses) {
      if (!by.write) continue;
      Isl<isl_map> pairs = written_meanwhile(storage, times, range, by);
      pairs = Isl<isl_map>(isl_map_apply_domain(pairs.release(), storage.accesses[range.definition].cells.copy()));
      pairs = Isl<isl_map>(isl_map_apply_range(pairs.release(), by.cells.copy()));
      result = Isl<isl_map>(isl_map_union(result.release(), pairs.release()));
    }
  if (!result) return result;
  isl_map* const same = isl_map_identity(isl_map_get_space(result.get()));
  return Isl<isl_map>(isl_map_coalesce(isl_map_subtract(result.release(), same)));
}

}  // namespace loopfold::advise::liveness
