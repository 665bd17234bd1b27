#include "ddg/hot_contexts.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace loopfold::ddg {

namespace {

/// How many statements a context can have: the nodes of its function that are in its loop, and in no loop inside it.
class Estimate {
 public:
  Estimate(const structure::Structure& structure, const structure::LoopTree& tree) : tree_(tree) {
    for (const structure::Context& context : tree.contexts())
      if (context.hidden != 0) holds_level_.insert(context.parent);
    for (structure::FunctionId id = 0; id < structure.forests.size(); ++id) {
      const structure::LoopForest& forest = structure.forests[id];
      std::vector<std::uint32_t>& counts = nodes_.emplace_back(forest.loops().size() + 1);
      for (structure::NodeId node = 0; node < structure.flow.functions()[id].places.size(); ++node) {
        const structure::LoopId loop = forest.innermost(node);
        ++counts[loop == structure::kNoLoop ? forest.loops().size() : loop];
      }
    }
  }

  std::uint64_t of(const structure::Context& context) const {
    if (context.function >= nodes_.size()) return 0;
    const std::vector<std::uint32_t>& counts = nodes_[context.function];
    if (has_hidden_levels(context)) return 0;
    const bool loop = context.kind == structure::Context::Kind::kLoop && context.loop + std::size_t{1} < counts.size();
    return loop ? counts[context.loop] : counts.back();
  }

 private:
  /// Everything in it is in the innermost level.
  bool has_hidden_levels(const structure::Context& context) const {
    const auto id = static_cast<structure::ContextId>(&context - tree_.contexts().data());
    return holds_level_.contains(id);
  }

  const structure::LoopTree& tree_;
  std::set<structure::ContextId> holds_level_;
  std::vector<std::vector<std::uint32_t>> nodes_;  // by function and loop; the last: in no loop
};

/// Statements of a call of a function, with all that it calls.
class ExpectedStatements {
 public:
  explicit ExpectedStatements(const structure::ControlFlow& flow)
      : flow_(flow), first_call_(flow.functions().size() + 1), of_(flow.functions().size()), state_(of_.size()) {
    for (const structure::CallSite& call : flow.calls()) ++first_call_[call.caller + std::size_t{1}];
    std::partial_sum(first_call_.begin(), first_call_.end(), first_call_.begin());
  }

  std::uint64_t of(structure::FunctionId root) {
    if (state_[root] == kNew) begin(root);
    while (!visits_.empty()) {
      Visit& visit = visits_.back();
      const structure::FunctionId caller = visit.function;
      if (visit.call == first_call_[caller + std::size_t{1}]) {
        state_[caller] = kDone;
        visits_.pop_back();
        continue;
      }
      const structure::FunctionId callee = flow_.calls()[visit.call].callee;
      if (state_[callee] == kNew) {
        begin(callee);
        continue;
      }
      ++visit.call;
      if (state_[callee] == kDone) of_[caller] = std::min(of_[caller] + of_[callee], kMost);
    }
    return of_[root];
  }

 private:
  struct Visit {
    structure::FunctionId function = 0;
    std::size_t call = 0;  // that is next
  };
  enum State : std::uint8_t { kNew, kBegun, kDone };

  void begin(structure::FunctionId function) {
    state_[function] = kBegun;
    of_[function] = flow_.functions()[function].places.size();
    visits_.push_back({function, first_call_[function]});
  }

  static constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  const structure::ControlFlow& flow_;
  std::vector<std::size_t> first_call_;  // by function: calls are sorted by it
  std::vector<std::uint64_t> of_;
  std::vector<State> state_;
  std::vector<Visit> visits_;
};

}  // namespace

std::uint64_t expected_statements(const structure::Structure& structure) {
  ExpectedStatements expected(structure.flow);
  std::uint64_t all = 0;
  for (const structure::FunctionId root : structure.flow.roots()) all += expected.of(root);
  return all;
}

std::vector<bool> hot_contexts(const structure::Structure& structure, const structure::LoopTree& tree,
                               std::uint64_t max_statements) {
  const Estimate estimate(structure, tree);
  const std::span<const structure::Context> contexts = tree.contexts();
  std::uint64_t all = 0;
  for (const structure::Context& context : contexts) all += estimate.of(context);
  if (all <= max_statements) return {};
  std::vector<structure::ContextId> order(contexts.size());
  std::iota(order.begin(), order.end(), structure::ContextId{0});
  std::stable_sort(order.begin(), order.end(), [&](structure::ContextId a, structure::ContextId b) {
    return contexts[a].instructions > contexts[b].instructions;
  });
  std::vector<bool> hot(contexts.size());
  std::uint64_t statements = 0;
  for (const structure::ContextId id : order) {
    statements += estimate.of(contexts[id]);
    if (statements > max_statements) break;
    hot[id] = true;
  }
  return hot;
}

}  // namespace loopfold::ddg
