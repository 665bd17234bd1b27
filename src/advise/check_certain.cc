#include "advise/check_certain.h"

#include <algorithm>
#include <tuple>

#include "advise/liveness/copy_chain.h"
#include "poly/pieces.h"

namespace loopfold::advise {

namespace {

using liveness::UnitFlow;
using poly::FlowOfLoop;
using poly::Isl;
using poly::KeptFlow;
using structure::ContextId;

bool is_there(const Isl<isl_map>& map) { return isl_map_is_empty(map.get()) == isl_bool_false; }

bool has(const FlowOfLoop* loop, ContextId context) {
  return loop != nullptr &&
         std::find(loop->loop.loops.begin(), loop->loop.loops.end(), context) != loop->loop.loops.end();
}

}  // namespace

bool Certainty::is_broken(const UnitFlow& flow, const Isl<isl_map>& broken) const {
  const std::vector<UnitFlow>& all = nest_.units.flows;
  if (is_certain(flow, broken)) return true;
  for (auto other = static_cast<std::size_t>(&flow - all.data()) + 1; other < all.size(); ++other) {
    if (all[other].from != flow.from || all[other].to != flow.to) continue;
    if (!all[other].again) break;
    if (is_certain(all[other], broken)) return true;
  }
  return false;
}

bool Certainty::is_certain(const UnitFlow& flow, const Isl<isl_map>& broken) const {
  if (flow.flow == nullptr) return true;
  const bool within = flow.flow->where == KeptFlow::Where::kWithin;
  if (!within && isl_map_is_subset(flow.map.get(), broken.get()) == isl_bool_true) return true;
  const std::optional<Isl<isl_map>> exact = exact_pairs(flow);
  if (!exact) return false;
  Isl<isl_map> real(isl_map_intersect(broken.copy(), exact->copy()));
  if (within) real = not_explained(flow.from, flow.to, std::move(real));
  return is_there(real);
}

/// The pairs that happened; nothing if they are not known.
std::optional<Isl<isl_map>> Certainty::exact_pairs(const UnitFlow& flow) const {
  const KeptFlow& kept = *flow.flow;
  const auto exact = [&](std::uint32_t unit) {
    const std::vector<ddg::StatementId>& statements = nest_.units.all[unit].statements;
    return std::all_of(statements.begin(), statements.end(),
                       [&](ddg::StatementId id) { return graph_.statements[id].domain.exact(); });
  };
  const bool decides = kept.kind == KeptFlow::Kind::kControl || !is_statement_of(kept.from.statement, flow.from) ||
                       !is_statement_of(kept.to.statement, flow.to);
  if (decides)  // about all of what comes behind it in its iteration
    return kept.where == KeptFlow::Where::kInside && exact(flow.from) && exact(flow.to) ? std::optional(flow.map)
                                                                                        : std::nullopt;
  if (kept.direct) return has_exact_map(kept) ? std::optional(flow.map) : std::nullopt;
  std::optional<Isl<isl_map>> found =
      liveness::exact_flow(isl_map_get_ctx(flow.map.get()), graph_, context_.tree, kept);
  if (!found) return found;
  const auto shift = static_cast<unsigned>(nest_.units.shift);
  Isl<isl_map> map = poly::with_equal_first(std::move(*found), shift);
  map = Isl<isl_map>(isl_map_project_out(map.release(), isl_dim_in, 0, shift));
  map = Isl<isl_map>(isl_map_project_out(map.release(), isl_dim_out, 0, shift));
  map = Isl<isl_map>(isl_map_set_tuple_name(map.release(), isl_dim_in, nest_.units.all[flow.from].name.c_str()));
  return Isl<isl_map>(isl_map_set_tuple_name(map.release(), isl_dim_out, nest_.units.all[flow.to].name.c_str()));
}

/// The graph has one dependence of just this, and it is folded exactly.
bool Certainty::has_exact_map(const KeptFlow& flow) const {
  const auto key = std::tie(flow.to.statement, flow.to.instruction);
  auto d = std::lower_bound(
      graph_.dependences.begin(), graph_.dependences.end(), key,
      [](const ddg::Dependence& one, const auto& k) { return std::tie(one.to, one.to_instruction) < k; });
  std::size_t count = 0;
  for (; d != graph_.dependences.end() && std::tie(d->to, d->to_instruction) == key; ++d) {
    if (d->operand != flow.operand || d->lane != flow.lane || d->from != flow.from.statement ||
        d->from_instruction != flow.from.instruction)
      continue;
    if (d->chunks || d->map.pieces.empty() || !d->map.exact()) return false;
    ++count;
  }
  return count == 1;
}

bool Certainty::is_statement_of(ddg::StatementId statement, std::uint32_t unit) const {
  const std::vector<ddg::StatementId>& statements = nest_.units.all[unit].statements;
  return std::find(statements.begin(), statements.end(), statement) != statements.end();
}

/// A loop about which nothing is in doubt, and which carries nothing, or a reduction only; else none.
const FlowOfLoop* Certainty::judged(ContextId loop) const {
  for (const FlowOfLoop& of : nest_.flow().loops())
    if (has(&of, loop))
      return of.doubt.empty() && (of.parallel == poly::Parallel::kYes || of.parallel == poly::Parallel::kReduction)
                 ? &of
                 : nullptr;
  return nullptr;
}

/// Without those that are carried by a loop whose verdict is that it need not keep them; `by`: only by these.
Isl<isl_map> Certainty::not_explained(std::uint32_t from, std::uint32_t to, Isl<isl_map> pairs,
                                      const std::set<ContextId>* by) const {
  const std::vector<ContextId>& a = nest_.units.all[from].loops;
  const std::vector<ContextId>& b = nest_.units.all[to].loops;
  for (std::size_t k = 0; k < a.size() && k < b.size(); ++k) {
    const bool same = a[k] == b[k];
    if (const FlowOfLoop* const loop = judged(a[k]); has(loop, b[k]) && (by == nullptr || by->contains(a[k]))) {
      Isl<isl_map> equal = poly::with_equal_first(Isl<isl_map>(isl_map_universe(isl_map_get_space(pairs.get()))), k);
      const auto at = static_cast<int>(k);
      for (const auto order : {isl_map_order_lt, isl_map_order_gt}) {
        Isl<isl_map> carried = same ? Isl<isl_map>(order(equal.copy(), isl_dim_in, at, isl_dim_out, at)) : equal;
        pairs = Isl<isl_map>(isl_map_subtract(pairs.release(), carried.release()));
      }
    }
    if (!same) break;
  }
  return pairs;
}

bool Certainty::is_reduced(const std::string& variable, std::uint32_t unit) const {
  return std::any_of(nest_.loops.begin(), nest_.loops.end(), [&](const NamedLoop& loop) {
    const profile::Loop& row = nest_.row_of(loop);
    return loop.where[unit] && row.parallel == profile::Loop::Parallel::kReduction &&
           std::any_of(row.reductions.begin(), row.reductions.end(),
                       [&](const profile::Reduction& reduction) { return reduction.variable == variable; });
  });
}

bool Certainty::is_broken(const liveness::NestStorage& storage, const liveness::Range& range,
                          const Isl<isl_map>& broken, bool reductions) const {
  const std::uint32_t from = storage.storage.accesses[range.definition].unit;
  const std::uint32_t to = storage.storage.accesses[range.use].unit;
  const bool any = !storage.named || (reductions && is_reduced(storage.storage.name, to));
  return is_there(not_explained(from, to, broken, any ? nullptr : &storage.tested_by));
}

}  // namespace loopfold::advise
