#include "advise/liveness/dataflow.h"

#include <isl/flow.h>

#include <string>

namespace loopfold::advise::liveness {

namespace {

using poly::Isl;

/// Each access is a statement of its own for isl: "A3".
std::string name_of(std::uint32_t access) { return "A" + std::to_string(access); }

Isl<isl_map> renamed(Isl<isl_map> map, isl_dim_type side, const std::string& name) {
  return Isl<isl_map>(isl_map_set_tuple_name(map.release(), side, name.c_str()));
}

Isl<isl_map> time_of(const Times& times, const Access& access) {
  Isl<isl_map> time = times.of[access.unit];
  const auto length = static_cast<unsigned>(isl_map_dim(time.get(), isl_dim_out));
  time = Isl<isl_map>(isl_map_add_dims(time.release(), isl_dim_out, 2));
  time = Isl<isl_map>(isl_map_fix_si(time.release(), isl_dim_out, length, static_cast<int>(access.unit)));
  return Isl<isl_map>(isl_map_fix_si(time.release(), isl_dim_out, length + 1, static_cast<int>(access.position)));
}

Isl<isl_map> extract(const Isl<isl_union_map>& all, const Storage& storage, std::uint32_t from, std::uint32_t to) {
  Isl<isl_space> a(isl_space_domain(isl_map_get_space(storage.accesses[from].cells.get())));
  Isl<isl_space> b(isl_space_domain(isl_map_get_space(storage.accesses[to].cells.get())));
  a = Isl<isl_space>(isl_space_set_tuple_name(a.release(), isl_dim_set, name_of(from).c_str()));
  b = Isl<isl_space>(isl_space_set_tuple_name(b.release(), isl_dim_set, name_of(to).c_str()));
  isl_space* const space = isl_space_map_from_domain_and_range(a.release(), b.release());
  Isl<isl_map> map(isl_union_map_extract_map(all.get(), space));
  const auto unit_name = [&](std::uint32_t access) {
    const char* name = isl_map_get_tuple_name(storage.accesses[access].cells.get(), isl_dim_in);
    return std::string(name == nullptr ? "" : name);
  };
  map = renamed(std::move(map), isl_dim_in, unit_name(from));
  return renamed(std::move(map), isl_dim_out, unit_name(to));
}

/// Definitions after which nothing else is put into the cell.
void find_outputs(const Times& written, Storage& storage) {
  for (std::uint32_t d = 0; d < storage.accesses.size(); ++d) {
    if (!storage.accesses[d].write) continue;
    Isl<isl_set> last(isl_map_domain(storage.accesses[d].cells.copy()));
    for (const Access& other : storage.accesses) {
      if (!other.write) continue;
      Isl<isl_map> later(isl_map_intersect(same_cell(storage.accesses[d], other).release(),
                                           before(written, storage.accesses[d], other).release()));
      last = Isl<isl_set>(isl_set_subtract(last.release(), isl_map_domain(later.release())));
    }
    if (isl_set_is_empty(last.get()) != isl_bool_true) storage.outputs.push_back({d, std::move(last)});
  }
}

}  // namespace

bool find_ranges(isl_ctx* isl, const Times& written, bool is_output, Storage& storage) {
  Isl<isl_union_map> reads(isl_union_map_empty_ctx(isl));
  Isl<isl_union_map> writes(isl_union_map_empty_ctx(isl));
  Isl<isl_union_map> order(isl_union_map_empty_ctx(isl));
  for (std::uint32_t i = 0; i < storage.accesses.size(); ++i) {
    const Access& access = storage.accesses[i];
    Isl<isl_map> cells = renamed(access.cells, isl_dim_in, name_of(i));
    Isl<isl_union_map>& into = access.write ? writes : reads;
    into = Isl<isl_union_map>(isl_union_map_add_map(into.release(), cells.release()));
    order = Isl<isl_union_map>(
        isl_union_map_add_map(order.release(), renamed(time_of(written, access), isl_dim_in, name_of(i)).release()));
  }
  isl_union_access_info* info = isl_union_access_info_from_sink(reads.release());
  info = isl_union_access_info_set_must_source(info, writes.release());
  info = isl_union_access_info_set_schedule_map(info, order.release());
  isl_union_flow* const flow = isl_union_access_info_compute_flow(info);
  if (flow == nullptr) return false;
  const Isl<isl_union_map> from(isl_union_flow_get_must_dependence(flow));
  const Isl<isl_union_map> open(isl_union_flow_get_must_no_source(flow));
  isl_union_flow_free(flow);
  if (!from || !open) return false;
  const Isl<isl_union_set> inputs(isl_union_map_domain(open.copy()));
  for (std::uint32_t use = 0; use < storage.accesses.size(); ++use) {
    if (storage.accesses[use].write) continue;
    Isl<isl_space> space(isl_space_domain(isl_map_get_space(storage.accesses[use].cells.get())));
    const std::string unit = isl_space_get_tuple_name(space.get(), isl_dim_set) == nullptr
                                 ? ""
                                 : isl_space_get_tuple_name(space.get(), isl_dim_set);
    space = Isl<isl_space>(isl_space_set_tuple_name(space.release(), isl_dim_set, name_of(use).c_str()));
    Isl<isl_set> set(isl_union_set_extract_set(inputs.get(), space.release()));
    set = Isl<isl_set>(isl_set_set_tuple_name(set.release(), unit.c_str()));
    if (isl_set_is_empty(set.get()) != isl_bool_true) storage.inputs.push_back({use, std::move(set)});
    for (std::uint32_t definition = 0; definition < storage.accesses.size(); ++definition) {
      if (!storage.accesses[definition].write) continue;
      Isl<isl_map> map = extract(from, storage, definition, use);
      if (isl_map_is_empty(map.get()) != isl_bool_true)
        storage.ranges.push_back({definition, use, std::move(map), false, true});
    }
  }
  if (is_output) find_outputs(written, storage);
  return true;
}

std::vector<Range> last_uses(const Times& written, const Storage& storage) {
  std::vector<Range> last = storage.ranges;
  for (std::size_t i = 0; i < last.size(); ++i) {
    for (const Range& other : storage.ranges) {
      if (other.definition != last[i].definition) continue;
      Isl<isl_map> later = before(written, storage.accesses[last[i].use], storage.accesses[other.use]);
      Isl<isl_map> earlier_use(isl_map_apply_range(other.map.copy(), isl_map_reverse(later.release())));
      last[i].map = Isl<isl_map>(isl_map_subtract(last[i].map.release(), earlier_use.release()));
    }
  }
  std::erase_if(last, [](const Range& range) { return isl_map_is_empty(range.map.get()) == isl_bool_true; });
  return last;
}

}  // namespace loopfold::advise::liveness
