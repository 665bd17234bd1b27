#include "advise/layout/values.h"

#include <fmt/format.h>
#include <isl/flow.h>

#include <algorithm>

#include "poly/budget.h"

namespace loopfold::poly {

template <>
struct IslType<isl_union_access_info> {
  static isl_union_access_info* copy(isl_union_access_info* p) { return isl_union_access_info_copy(p); }
  static void free(isl_union_access_info* p) { isl_union_access_info_free(p); }
};
template <>
struct IslType<isl_union_flow> {
  static isl_union_flow* copy(isl_union_flow* p) { return isl_union_flow_copy(p); }
  static void free(isl_union_flow* p) { isl_union_flow_free(p); }
};
template <>
struct IslType<isl_set_list> {
  static isl_set_list* copy(isl_set_list* p) { return isl_set_list_copy(p); }
  static void free(isl_set_list* p) { isl_set_list_free(p); }
};

}  // namespace loopfold::poly

namespace loopfold::layout {

namespace {

using poly::Isl;
using UnionMap = Isl<isl_union_map>;
using UnionSet = Isl<isl_union_set>;

UnionMap empty_map(isl_ctx* context) { return UnionMap(isl_union_map_read_from_str(context, "{ }")); }
UnionSet empty_set(isl_ctx* context) { return UnionSet(isl_union_set_read_from_str(context, "{ }")); }

std::vector<Isl<isl_set>> sets_of(const UnionSet& all) {
  std::vector<Isl<isl_set>> result;
  const Isl<isl_set_list> list(isl_union_set_get_set_list(all.get()));
  const isl_size count = isl_set_list_n_set(list.get());
  for (isl_size i = 0; i < count; i++) result.emplace_back(isl_set_list_get_set(list.get(), i));
  return result;
}

/// { prefix_A[e] -> A[e] } for every set of elements.
UnionMap virtual_accesses(isl_ctx* context, const UnionSet& elements, const std::string& prefix) {
  UnionMap result = empty_map(context);
  for (const Isl<isl_set>& set : sets_of(elements)) {
    const std::string name = prefix + isl_set_get_tuple_name(set.get());
    Isl<isl_map> one(isl_set_identity(set.copy()));
    one = Isl<isl_map>(isl_map_set_tuple_name(one.release(), isl_dim_in, name.c_str()));
    result = UnionMap(isl_union_map_add_map(result.release(), one.release()));
  }
  return result;
}

unsigned longest_stamp(const UnionMap& order) {
  unsigned longest = 0;
  for (const Isl<isl_set>& set : sets_of(UnionSet(isl_union_map_range(order.copy()))))
    longest = std::max(longest, static_cast<unsigned>(isl_set_dim(set.get(), isl_dim_set)));
  return longest;
}

/// The instances with a time stamp that begins with `phase` and is as long as the others: zeros are added behind.
UnionMap in_phase(const UnionMap& order, int phase, unsigned length) {
  struct State {
    int phase;
    unsigned length;
    UnionMap result;
  } state{phase, length, empty_map(isl_union_map_get_ctx(order.get()))};
  const auto extend = [](isl_map* given, void* data) {
    State& all = *static_cast<State*>(data);
    Isl<isl_map> map(isl_map_insert_dims(given, isl_dim_out, 0, 1));
    map = Isl<isl_map>(isl_map_fix_si(map.release(), isl_dim_out, 0, all.phase));
    for (unsigned d = static_cast<unsigned>(isl_map_dim(map.get(), isl_dim_out)); d < all.length + 1; d++) {
      map = Isl<isl_map>(isl_map_add_dims(map.release(), isl_dim_out, 1));
      map = Isl<isl_map>(isl_map_fix_si(map.release(), isl_dim_out, d, 0));
    }
    map = Isl<isl_map>(isl_map_reset_tuple_id(map.release(), isl_dim_out));
    all.result = UnionMap(isl_union_map_add_map(all.result.release(), map.release()));
    return isl_stat_ok;
  };
  isl_union_map_foreach_map(order.get(), extend, &state);
  return state.result;
}

/// { x[] -> [] }: the same time for all.
UnionMap at_once(const UnionSet& instances) {
  isl_ctx* const context = isl_union_set_get_ctx(instances.get());
  UnionSet point(isl_union_set_read_from_str(context, "{ [] }"));
  return UnionMap(isl_union_map_from_domain_and_range(instances.copy(), point.release()));
}

UnionMap without_self(UnionMap pairs, const UnionSet& instances) {
  UnionMap self(isl_union_set_identity(instances.copy()));
  return UnionMap(isl_union_map_subtract(pairs.release(), self.release()));
}

/// One pair, for people: "U[1, 8] and U[1, 1], with nj = 9".
std::string example_of(const UnionMap& pairs) {
  const UnionSet wrapped(isl_union_map_wrap(pairs.copy()));
  const Isl<isl_point> point(isl_union_set_sample_point(wrapped.copy()));
  if (!point) return "";
  return poly::take_text(isl_point_to_str(point.get()));
}

}  // namespace

Result<ValueStatement> value_statement(isl_ctx* context, const std::string& domain, const std::string& write,
                                       const std::string& reads, const std::string& schedule) {
  ValueStatement statement;
  statement.domain = Isl<isl_set>(isl_set_read_from_str(context, domain.c_str()));
  statement.write = Isl<isl_map>(isl_map_read_from_str(context, write.c_str()));
  statement.reads = UnionMap(isl_union_map_read_from_str(context, reads.c_str()));
  statement.schedule = Isl<isl_map>(isl_map_read_from_str(context, schedule.c_str()));
  const bool named = statement.domain && isl_set_has_tuple_name(statement.domain.get()) == isl_bool_true;
  if (!named || !statement.write || !statement.reads || !statement.schedule)
    return fail(ErrorKind::kBadInput,
                fmt::format("not a statement in isl's notation: {}; {}; {}; {}", domain, write, reads, schedule));
  statement.name = isl_set_get_tuple_name(statement.domain.get());
  statement.write = Isl<isl_map>(isl_map_intersect_domain(statement.write.release(), statement.domain.copy()));
  const UnionSet instances(isl_union_set_from_set(statement.domain.copy()));
  statement.reads = UnionMap(isl_union_map_intersect_domain(statement.reads.release(), instances.copy()));
  statement.schedule = Isl<isl_map>(isl_map_intersect_domain(statement.schedule.release(), statement.domain.copy()));
  return statement;
}

Result<ValueProgram> ValueProgram::analyse(isl_ctx* context, std::vector<ValueStatement> statements,
                                           std::set<std::string> live_out, Isl<isl_set> parameters) {
  const poly::IslBudget budget(context, kProofOperations, kProofNet);
  ValueProgram program;
  program.context_ = context;
  UnionMap writes = empty_map(context);
  UnionMap reads = empty_map(context);
  program.order_ = empty_map(context);
  program.values_ = empty_set(context);
  for (ValueStatement& statement : statements) {
    const auto known = [&](auto& object, auto intersect) {
      object = std::decay_t<decltype(object)>(intersect(object.release(), parameters.copy()));
    };
    known(statement.domain, isl_set_intersect_params);
    known(statement.write, isl_map_intersect_params);
    known(statement.reads, isl_union_map_intersect_params);
    known(statement.schedule, isl_map_intersect_params);
    writes = UnionMap(isl_union_map_add_map(writes.release(), statement.write.copy()));
    reads = UnionMap(isl_union_map_union(reads.release(), statement.reads.copy()));
    program.order_ = UnionMap(isl_union_map_add_map(program.order_.release(), statement.schedule.copy()));
    program.values_ = UnionSet(isl_union_set_add_set(program.values_.release(), statement.domain.copy()));
  }
  UnionSet kept = empty_set(context);
  for (const Isl<isl_set>& written : sets_of(UnionSet(isl_union_map_range(writes.copy()))))
    if (live_out.count(isl_set_get_tuple_name(written.get())) != 0)
      kept = UnionSet(isl_union_set_add_set(kept.release(), written.copy()));
  const UnionMap leaves = virtual_accesses(context, kept, "live_out_");
  const UnionMap enters = virtual_accesses(context, UnionSet(isl_union_map_range(reads.copy())), "live_in_");
  program.live_out_ = UnionSet(isl_union_map_domain(leaves.copy()));
  program.live_in_ = UnionSet(isl_union_map_domain(enters.copy()));
  program.statements_ = std::move(statements);

  Isl<isl_union_access_info> accesses(
      isl_union_access_info_from_sink(isl_union_map_union(reads.copy(), leaves.copy())));
  accesses = Isl<isl_union_access_info>(
      isl_union_access_info_set_must_source(accesses.release(), isl_union_map_union(writes.copy(), enters.copy())));
  accesses = Isl<isl_union_access_info>(
      isl_union_access_info_set_schedule_map(accesses.release(), program.whole_order({}).release()));
  const Isl<isl_union_flow> flow(isl_union_access_info_compute_flow(accesses.release()));
  program.flow_ = UnionMap(isl_union_flow_get_must_dependence(flow.get()));
  if (!program.flow_ || budget.exceeded())
    return fail(ErrorKind::kBadInput, "the flow of values cannot be computed: isl gave up");
  program.live_in_ =
      UnionSet(isl_union_set_intersect(program.live_in_.release(), isl_union_map_domain(program.flow_.copy())));
  return program;
}

UnionMap ValueProgram::whole_order(const UnionMap& order) const {
  const UnionMap& inner = order ? order : order_;
  const unsigned length = longest_stamp(inner);
  UnionMap whole = in_phase(inner, 1, length);
  whole = UnionMap(isl_union_map_union(whole.release(), in_phase(at_once(live_in_), 0, length).release()));
  return UnionMap(isl_union_map_union(whole.release(), in_phase(at_once(live_out_), 2, length).release()));
}

UnionMap ValueProgram::whole_layout(const UnionMap& layout) const {
  const UnionSet moved(isl_union_map_domain(layout.copy()));
  UnionSet stay(isl_union_set_subtract(live_in_.copy(), moved.copy()));
  return UnionMap(isl_union_map_union(layout.copy(), isl_union_set_identity(stay.release())));
}

UnionMap ValueProgram::total_expansion() const {
  UnionMap result = empty_map(context_);
  for (std::size_t i = 0; i < statements_.size(); i++) {
    Isl<isl_map> one(isl_set_identity(statements_[i].domain.copy()));
    one = Isl<isl_map>(isl_map_reset_tuple_id(one.release(), isl_dim_out));
    one = Isl<isl_map>(isl_map_insert_dims(one.release(), isl_dim_out, 0, 1));
    one = Isl<isl_map>(isl_map_fix_si(one.release(), isl_dim_out, 0, static_cast<int>(i)));
    result = UnionMap(isl_union_map_add_map(result.release(), one.release()));
  }
  return result;
}

UnionMap ValueProgram::interference(const UnionMap& order) const {
  const UnionMap stamps = whole_order(order);
  const UnionSet all(isl_union_map_domain(stamps.copy()));
  const UnionSet producers(isl_union_set_union(values_.copy(), live_in_.copy()));
  UnionMap not_after(isl_union_map_lex_ge_union_map(stamps.copy(), stamps.copy()));  // { u -> w : Θ(u) >= Θ(w) }
  not_after = without_self(std::move(not_after), all);
  UnionMap pairs(isl_union_map_apply_range(flow_.copy(), not_after.release()));
  UnionMap not_before(isl_union_map_lex_le_union_map(stamps.copy(), stamps.copy()));  // { v -> w : Θ(v) <= Θ(w) }
  pairs = UnionMap(isl_union_map_intersect(pairs.release(), not_before.release()));
  pairs = UnionMap(isl_union_map_intersect_range(pairs.release(), producers.copy()));
  return without_self(std::move(pairs), producers);
}

Proof ValueProgram::checked(const UnionMap& layout, const UnionMap& order) const {
  const UnionSet placed(isl_union_map_domain(layout.copy()));
  if (isl_union_set_is_subset(values_.get(), placed.get()) != isl_bool_true)
    return {Answer::kNo, "some values have no place"};
  if (isl_union_map_is_single_valued(layout.get()) != isl_bool_true) return {Answer::kNo, "some value has two places"};
  const UnionMap stamps = whole_order(order);
  const UnionSet timed(isl_union_map_domain(stamps.copy()));
  if (isl_union_set_is_subset(values_.get(), timed.get()) != isl_bool_true)
    return {Answer::kNo, "some instances have no place in the order"};
  UnionMap late(isl_union_map_lex_ge_union_map(stamps.copy(), stamps.copy()));
  late = UnionMap(isl_union_map_intersect(late.release(), flow_.copy()));
  if (const isl_bool none = isl_union_map_is_empty(late.get()); none != isl_bool_true)
    return none == isl_bool_false ? Proof{Answer::kNo, "a value is read before it is written: " + example_of(late)}
                                  : Proof{Answer::kUnknown, "isl gave up"};
  const UnionMap whole = whole_layout(layout);
  UnionMap same(isl_union_map_apply_range(whole.copy(), isl_union_map_reverse(whole.copy())));
  const UnionMap clashes(isl_union_map_intersect(same.release(), interference(order).release()));
  const isl_bool none = clashes ? isl_union_map_is_empty(clashes.get()) : isl_bool_error;
  if (none == isl_bool_error) return {Answer::kUnknown, "isl gave up"};
  if (none == isl_bool_true) return {Answer::kYes, ""};
  return {Answer::kNo, "a value is overwritten before its last use: " + example_of(clashes)};
}

Proof ValueProgram::check(const UnionMap& layout, const UnionMap& order) const {
  const poly::IslBudget budget(context_, kProofOperations, kProofNet);
  Proof proof = checked(layout, order);
  if (budget.exceeded()) return {Answer::kUnknown, "isl gave up: the program is too complicated"};
  return proof;
}

Result<std::int64_t> ValueProgram::cells(const UnionMap& layout, const Known& parameters) const {
  UnionMap used(isl_union_map_intersect_domain(layout.copy(), isl_union_set_union(values_.copy(), live_in_.copy())));
  std::string names;
  std::string values;
  for (const auto& [name, value] : parameters) {
    names += (names.empty() ? "" : ", ") + name;
    values += fmt::format("{}{} = {}", values.empty() ? "" : " and ", name, value);
  }
  const std::string text = values.empty() ? "{ : }" : fmt::format("[{}] -> {{ : {} }}", names, values);
  Isl<isl_set> point(isl_set_read_from_str(context_, text.c_str()));
  UnionSet places(isl_union_map_range(used.release()));
  places = UnionSet(isl_union_set_intersect_params(places.release(), point.release()));
  std::int64_t total = 0;
  for (const Isl<isl_set>& set : sets_of(places)) {
    const unsigned count = static_cast<unsigned>(isl_set_dim(set.get(), isl_dim_param));
    Isl<isl_set> bare(isl_set_project_out(set.copy(), isl_dim_param, 0, count));
    const Isl<isl_val> number(isl_set_count_val(bare.get()));
    if (!number || isl_val_is_int(number.get()) != isl_bool_true)
      return fail(ErrorKind::kBadInput, "the cells of a layout cannot be counted: a parameter is not given");
    total += isl_val_get_num_si(number.get());
  }
  return total;
}

}  // namespace loopfold::layout
