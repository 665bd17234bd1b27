#include "poly/spots.h"

namespace loopfold::poly {

using structure::Context;
using structure::ContextId;
using structure::FunctionId;
using structure::kNoContext;

void SpotTable::finish() {
  std::sort(entries_.begin(), entries_.end());
  for (const Entry& entry : entries_) {
    spots_.push_back(entry.spot);
    numbers_.push_back(entry.number);
  }
  entries_ = {};
}

std::span<const std::uint32_t> SpotTable::at(const Spot& spot) const {
  const auto [first, last] = std::equal_range(spots_.begin(), spots_.end(), spot);
  return {numbers_.data() + (first - spots_.begin()), static_cast<std::size_t>(last - first)};
}

std::size_t SpotTable::index_of(const Spot& spot) const {
  const auto found = std::lower_bound(spots_.begin(), spots_.end(), spot);
  if (found == spots_.end() || *found != spot) return size();
  return static_cast<std::size_t>(found - spots_.begin());
}

std::vector<Spot> SpotTable::with_base(ContextId base) const {
  const auto first = std::lower_bound(spots_.begin(), spots_.end(), Spot{base, 0, 0});
  std::vector<Spot> found;
  for (auto at = first; at != spots_.end() && at->base == base; ++at)
    if (found.empty() || found.back() != *at) found.push_back(*at);
  return found;
}

Spots::Spots(const ddg::Graph& graph, const structure::Structure& structure, const structure::LoopTree& tree)
    : structure_(structure), tree_(tree) {
  find_order();
  find_regions();
  for (const ddg::Statement& statement : graph.statements) add(statements_, of(statement), statement.id);
  for (ContextId id = 1; id < tree.contexts().size(); ++id) {
    const Context& context = tree[id];
    const bool called = context.kind == Context::Kind::kCall || context.kind == Context::Kind::kRecursion;
    if (called && context.caller != structure::kNoFunction) add(callees_, of_call(context), id);
  }
  statements_.finish();
  callees_.finish();
  find_thin(graph);
}

ContextId Spots::base_of(ContextId context, FunctionId function) const {
  while (tree_[context].kind == Context::Kind::kLoop && tree_[context].function == function)
    context = tree_[context].parent;
  return context;
}

void Spots::add(SpotTable& table, const Spot& spot, std::uint32_t number) {
  table.add(spot, number);
  if (!recursive(spot.function)) return;
  const ContextId region = region_of(spot.base);
  if (region != kNoContext && region != spot.base) table.add({region, spot.function, spot.node}, number);
}

/// A parent's number is smaller than its children's.
void Spots::find_order() {
  const std::size_t count = tree_.contexts().size();
  size_.assign(count, 1);
  for (std::size_t id = count; id-- > 1;) size_[tree_[static_cast<ContextId>(id)].parent] += size_[id];
  order_.assign(count, 0);
  std::vector<std::uint32_t> next(count, 1);
  for (ContextId id = 1; id < count; ++id) {
    order_[id] = next[tree_[id].parent];
    next[tree_[id].parent] += size_[id];
    next[id] = order_[id] + 1;
  }
}

void Spots::find_regions() {
  region_.assign(tree_.contexts().size(), kNoContext);
  for (ContextId id = 1; id < region_.size(); ++id)
    region_[id] = tree_[id].kind == Context::Kind::kRecursion ? id : region_[tree_[id].parent];
}

void Spots::find_thin(const ddg::Graph& graph) {
  std::vector<bool> known(tree_.contexts().size());
  for (const ddg::Statement& statement : graph.statements)
    if (statement.kind == ddg::Statement::Kind::kCode && statement.followed) known[statement.context] = true;
  thin_regions_.assign(known.size(), false);
  for (ContextId id = 1; id < known.size(); ++id) {
    const Context& context = tree_[id];
    if (known[id] || context.instructions == 0) continue;
    thin_.add({base_of(id, context.function), context.function, context.loop}, id);
    if (recursive(context.function) && region_of(id) != kNoContext) thin_regions_[region_of(id)] = true;
  }
  thin_.finish();
}

bool Spots::thin(const Spot& spot) const {
  if (tree_[spot.base].kind == Context::Kind::kRecursion) return thin_region(spot.base);
  const structure::LoopId loop = structure_.forests[spot.function].innermost(spot.node);
  return !thin_.at({spot.base, spot.function, loop}).empty();
}

}  // namespace loopfold::poly
