#include "poly/last_end.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>

namespace loopfold::poly {

namespace {

constexpr std::uint32_t kOutside = FlowEdge::kOutside;
using structure::NodeId;

class LastEnd {
 public:
  LastEnd(const FlowIndex& index, const structure::Structure& structure, const LoopValues& values,
          const std::vector<bool>& chains)
      : index_(index),
        structure_(structure),
        graph_(index.graph()),
        values_(values),
        flow_(values.flow()),
        function_(index.tree()[flow_.loops.front()].function),
        parent_(index.tree()[flow_.loops.front()].parent),
        forest_(structure.forests[function_]),
        code_(structure.flow.functions()[function_]) {
    for (std::uint32_t number = 0; number < chains.size(); ++number) {
      if (!chains[number]) continue;
      chained_.insert(flow_.edges[number].from);
      chained_.insert(flow_.edges[number].to);
    }
    for (const structure::ContextId loop : flow_.loops) iterations_ += index.tree()[loop].iterations.total;
    find_ends();
  }

  std::vector<Doubt> run() {
    if (ends_.empty()) return {};
    for (const ddg::StatementId id : index_.statements_in(parent_)) {
      if (!is_in_end(graph_.statements[id])) continue;
      for (const std::uint32_t number : index_.dependences_to(id)) look_at(graph_.dependences[number]);
      for (const std::uint32_t number : index_.origins_to(id)) look_at(graph_.origins[number]);
    }
    return std::move(doubts_);
  }

 private:
  bool is_in_loop(NodeId node) const {
    return std::any_of(flow_.loops.begin(), flow_.loops.end(),
                       [&](structure::ContextId loop) { return forest_.contains(index_.tree()[loop].loop, node); });
  }

  /// Where control can come to, or from, without going round a loop around this one, and without coming into it again.
  template <typename Next>
  std::set<NodeId> reached(std::vector<NodeId> open, const Next& next) const {
    const structure::LoopId loop = index_.tree()[flow_.loops.front()].loop;
    const structure::LoopId around = forest_.loops()[loop].parent;
    std::set<NodeId> seen;
    while (!open.empty()) {
      const NodeId node = open.back();
      open.pop_back();
      const bool away =
          around != structure::kNoLoop && (!forest_.contains(around, node) || forest_.loops()[around].header == node);
      if (away || is_in_loop(node) || !seen.insert(node).second) continue;
      for (const NodeId to : next(node)) open.push_back(to);
    }
    return seen;
  }

  void find_ends() {
    std::vector<NodeId> behind;
    for (NodeId node = 0; node < code_.places.size(); ++node) {
      if (!is_in_loop(node)) continue;
      for (const NodeId to : code_.graph.successors(node)) behind.push_back(to);
    }
    const std::set<NodeId> later = reached(behind, [&](NodeId node) { return code_.graph.successors(node); });
    std::vector<NodeId> tests;
    for (const ddg::StatementId id : index_.statements_in(parent_)) {
      const ddg::Statement& statement = graph_.statements[id];
      if (statement.context == parent_ && statement.function == function_ && later.contains(statement.node) &&
          could_go_back(statement))
        tests.push_back(statement.node);
    }
    const std::set<NodeId> sooner = reached(tests, [&](NodeId node) { return code_.graph.predecessors(node); });
    std::set_intersection(later.begin(), later.end(), sooner.begin(), sooner.end(), std::inserter(ends_, ends_.end()));
  }

  /// Whether it ends with a branch that has a side at the header, and never led there.
  bool could_go_back(const ddg::Statement& statement) const {
    if (statement.instructions.empty()) return false;
    const std::uint16_t last = static_cast<std::uint16_t>(statement.instructions.size() - 1);
    const trace::InstructionFacts* facts = index_.facts({statement.id, last});
    constexpr std::uint32_t kWanted = trace::kBranch | trace::kConditional;
    if (facts == nullptr || (facts->kinds & kWanted) != kWanted) return false;
    const std::uint64_t behind = statement.instructions[last].address + facts->length;
    const std::uint64_t target = behind + static_cast<std::uint64_t>(static_cast<std::int64_t>(facts->jump));
    return std::any_of(flow_.loops.begin(), flow_.loops.end(), [&](structure::ContextId loop) {
      const NodeId header = forest_.loops()[index_.tree()[loop].loop].header;
      const std::span<const NodeId> next = code_.graph.successors(statement.node);
      if (std::find(next.begin(), next.end(), header) != next.end()) return false;
      const std::uint64_t address = structure_.code.address(code_.places[header]);
      return address == behind || address == target;
    });
  }

  /// Also what is called there.
  bool is_in_end(const ddg::Statement& statement) const {
    const structure::LoopTree& tree = index_.tree();
    structure::ContextId context = statement.context;
    NodeId node = statement.function == function_ ? statement.node : structure::kNoNode;
    for (; context != parent_; context = tree[context].parent) {
      if (std::find(flow_.loops.begin(), flow_.loops.end(), context) != flow_.loops.end()) return false;
      if (tree[context].kind != structure::Context::Kind::kLoop)
        node = tree[context].caller == function_ ? tree[context].node : structure::kNoNode;
    }
    return node != structure::kNoNode && ends_.contains(node);
  }

  void look_at(const ddg::Dependence& d) {
    if (d.from == ddg::kNoStatement || d.carried.empty() || d.carried.back() == 0) return;
    const CodePoint from{d.from, d.from_instruction};
    const std::uint32_t node = values_.node(from);
    if (node == kOutside || FlowIndex::is_ignored(index_.facts({d.to, d.to_instruction}), d.operand)) return;
    const bool in_register = d.kind == ddg::Dependence::Kind::kRegister || index_.pass(from) == Pass::kSpill;
    if (chained_.contains(node) || (in_register ? !is_of_any_iteration(node) : !flow_.nodes[node].index))
      doubt(from, d.carried.back());
  }

  /// What copies in the loop have passed on.
  void look_at(const ddg::Origin& o) {
    if (o.from == ddg::kNoStatement || o.by == ddg::kNoStatement || o.carried.empty()) return;
    const std::uint32_t by = values_.node({o.by, o.by_instruction});
    const std::uint32_t node = values_.node({o.from, o.from_instruction});
    if (by != kOutside && node != kOutside && chained_.contains(node))
      doubt({o.from, o.from_instruction}, o.carried.back());
  }

  /// Every iteration makes it, or can compute it.
  bool is_of_any_iteration(std::uint32_t node) const {
    const FlowNode& n = flow_.nodes[node];
    const ddg::Statement& statement = graph_.statements[n.at.statement];
    if (index_.dimensions(statement.id) == flow_.level + 1 && statement.count == iterations_) return true;
    return n.index && !n.copy && (n.in_recurrence || values_.is_unchanging(node));
  }

  void doubt(CodePoint at, std::uint64_t count) {
    doubts_.push_back({"values that go to the end of the last iteration, which is behind the loop", at,
                       std::max<std::uint64_t>(1, count)});
  }

  const FlowIndex& index_;
  const structure::Structure& structure_;
  const ddg::Graph& graph_;
  const LoopValues& values_;
  const LoopFlow& flow_;
  structure::FunctionId function_;
  structure::ContextId parent_;
  const structure::LoopForest& forest_;
  const structure::Function& code_;
  std::set<std::uint32_t> chained_;  // nodes of reductions and of variables that are kept
  std::uint64_t iterations_ = 0;
  std::set<NodeId> ends_;
  std::vector<Doubt> doubts_;
};

}  // namespace

std::vector<Doubt> doubts_of_last_end(const FlowIndex& index, const structure::Structure& structure,
                                      const LoopValues& values, const std::vector<bool>& chains) {
  return LastEnd(index, structure, values, chains).run();
}

}  // namespace loopfold::poly
