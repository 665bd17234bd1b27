#include "poly/unrolled.h"

#include <algorithm>
#include <set>
#include <span>

#include "poly/taken_out.h"

namespace loopfold::poly {

namespace {

constexpr std::uint32_t kOutside = FlowEdge::kOutside;

}  // namespace

Unrolled::Unrolled(const FlowIndex& index, const structure::Structure& structure, const LoopValues& values,
                   const std::vector<std::uint32_t>& groups, const std::vector<bool>& chains)
    : index_(index),
      structure_(structure),
      values_(values),
      flow_(values.flow()),
      groups_(groups),
      chains_(chains),
      copy_(groups.size()) {
  std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, std::uint32_t>>> members;
  for (std::uint32_t node = 0; node < groups.size(); ++node) {
    const CodePoint at = flow_.nodes[node].at;
    const ddg::Statement& statement = index.graph().statements[at.statement];
    if (groups[node] != 0) members[groups[node]].push_back({statement.instructions[at.instruction].address, node});
  }
  for (auto& [group, nodes] : members) {
    std::sort(nodes.begin(), nodes.end());
    for (std::size_t i = 0; i < nodes.size(); ++i) copy_[nodes[i].second] = i;
    copies_[group] = nodes.size();
  }
}

bool Unrolled::is_unrolled() const {
  const structure::FunctionId function = index_.tree()[flow_.loops.front()].function;
  std::map<structure::ContextId, bool> repeated;  // by copy of the loop that has stores: all of them are
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node) {
    const FlowNode& n = flow_.nodes[node];
    if (n.facts == nullptr || (n.facts->kinds & trace::kStore) == 0 || (n.facts->kinds & trace::kCall) != 0) continue;
    if (index_.pass(n.at) == Pass::kSpill || index_.dimensions(n.at.statement) != flow_.level + 1) continue;
    const ddg::Statement& statement = index_.graph().statements[n.at.statement];
    if (statement.function != function) continue;
    bool& all = repeated.try_emplace(statement.context, true).first->second;
    all = all && groups_[node] != 0;
  }
  return std::any_of(repeated.begin(), repeated.end(), [](const auto& copy) { return copy.second; });
}

bool Unrolled::copies_mix() const {
  const std::set<ddg::ObjectId> written = written_in(index_, values_);
  for (std::uint32_t number = 0; number < flow_.edges.size(); ++number) {
    const FlowEdge& edge = flow_.edges[number];
    if (edge.from == kOutside || edge.inside == 0 || chains_[number]) continue;
    if (flow_.nodes[edge.from].index || groups_[edge.from] == 0 || groups_[edge.to] == 0) continue;
    const CodePoint from = flow_.nodes[edge.from].at;
    if (index_.pass(from) == Pass::kLoad && values_.can_be_repeated(edge.from) && !loads_from(index_, from, written))
      continue;
    if (copy_[edge.from] != copy_[edge.to] && copies_.at(groups_[edge.from]) == copies_.at(groups_[edge.to]))
      return true;
  }
  return false;
}

std::vector<CodePoint> Unrolled::handed_to_copies() const {
  std::vector<CodePoint> handed;
  for (std::uint32_t number = 0; number < flow_.edges.size(); ++number) {
    const FlowEdge& edge = flow_.edges[number];
    const bool is_load = edge.carried > 0 && !edge.address && values_.facts(number).load && !chains_[number];
    if (is_load && groups_[edge.to] != 0 && copy_[edge.to] > 0 && comes_from_before(edge))
      handed.push_back(flow_.nodes[edge.to].at);
  }
  return handed;
}

/// Whether the first iteration of an entry has another value there, from before the loop, that cannot be loaded again.
bool Unrolled::comes_from_before(const FlowEdge& later) const {
  const auto is_handed = [&](std::uint32_t number) {
    const FlowEdge& edge = flow_.edges[number];
    return edge.operand == later.operand && edge.lane == later.lane && edge.before > 0 && !values_.facts(number).even;
  };
  if (std::any_of(flow_.in[later.to].begin(), flow_.in[later.to].end(), is_handed)) return true;
  const CodePoint to = flow_.nodes[later.to].at;
  const std::span<const std::uint32_t> direct = index_.dependences_to(to.statement);
  return std::any_of(direct.begin(), direct.end(), [&](std::uint32_t number) {
    const ddg::Dependence& d = index_.graph().dependences[number];
    if (d.to_instruction != to.instruction || d.operand != later.operand || d.from == ddg::kNoStatement) return false;
    const CodePoint from{d.from, d.from_instruction};
    return values_.node(from) == kOutside && index_.pass(from) == Pass::kLoad && is_rewritten(from);
  });
}

/// Whether an object that a load before the loop loads from is written later, in the loop or before it.
bool Unrolled::is_rewritten(CodePoint load) const {
  const structure::ContextId parent = index_.tree()[flow_.loops.front()].parent;
  const ddg::Graph& graph = index_.graph();
  if (graph.statements[load.statement].context != parent) return true;
  std::set<ddg::ObjectId> written;
  for (const ddg::StatementId id : index_.statements_in(parent)) {
    for (const std::uint32_t number : index_.accesses_of(id)) {
      const ddg::Access& access = graph.accesses[number];
      const bool later =
          id == load.statement ? access.instruction > load.instruction : order_of(id) >= order_of(load.statement);
      if (access.store && later) written.insert(access.object);
    }
  }
  return loads_from(index_, load, written);
}

/// The place of a statement, or of the loop or call that it is in, among what the context around the loop consists of.
std::uint32_t Unrolled::order_of(ddg::StatementId id) const {
  const structure::Context& loop = index_.tree()[flow_.loops.front()];
  const structure::LoopForest& forest = structure_.forests[loop.function];
  const ddg::Statement& statement = index_.graph().statements[id];
  constexpr std::uint32_t kLast = 0xffffffff;  // in a recursive component: other functions have other nodes
  if (statement.context == loop.parent)
    return statement.function == loop.function ? forest.index_of(statement.node) : kLast;
  structure::ContextId child = statement.context;
  while (index_.tree()[child].parent != loop.parent) child = index_.tree()[child].parent;
  const structure::Context& context = index_.tree()[child];
  const bool is_loop = context.kind == structure::Context::Kind::kLoop;
  if ((is_loop ? context.function : context.caller) != loop.function) return kLast;
  return is_loop ? forest.index_of_loop(context.loop) : forest.index_of(context.node);
}

}  // namespace loopfold::poly
