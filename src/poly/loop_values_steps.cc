// Recurrences: which values that a loop carries to their own computation are induction variables.
//
// Every cycle that the loop carries must go through a value that is known to be affine along it: by its values, if it
// is a sum (or loaded, or copied) and runs in every iteration; by its form (x + c); or because every way to end an
// iteration makes the same step.
//
// A step may also hang on a condition that is the same in every iteration of an entry (a compiler makes a loop of two
// bodies, one for odd and one for even lengths of an inner loop, each with a step of its own): such a step runs in
// every iteration of the entry or in none, and in an entry without it the variable does not change. The condition must
// come from before the loop, by way of constants and of cells that the loop does not write: what it is made of is
// looked at, not how it came out, so that a step that stops part-way is never taken for one.
#include <algorithm>

#include "poly/functions.h"
#include "poly/loop_values.h"
#include "structure/digraph.h"

namespace loopfold::poly {

namespace {

constexpr std::uint32_t kOutside = FlowEdge::kOutside;
constexpr std::uint8_t kStackPointer = 4;

}  // namespace

/// Strongly connected components of the index values that are not left out: by node, its component's head.
std::vector<std::uint32_t> LoopValues::components(const std::vector<bool>& left_out) const {
  std::vector<structure::Edge> edges;
  for (const FlowEdge& edge : flow_.edges) {
    if (edge.from == kOutside || edge.carried + edge.inside == 0) continue;
    if (data_[edge.from] || data_[edge.to] || left_out[edge.from] || left_out[edge.to]) continue;
    edges.push_back({edge.from, edge.to});
  }
  const structure::Digraph graph(flow_.nodes.size(), edges);
  return structure::strong_component_heads(graph, {});
}

/// Recurrences that are not affine are data. Says whether there were any.
bool LoopValues::find_recurrences() {
  std::vector<bool> anchored(flow_.nodes.size());
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node)
    anchored[node] = !data_[node] && (known_[node] || is_anchored(node));
  const std::vector<std::uint32_t> head = components(anchored);
  std::vector<bool> recurs(flow_.nodes.size());
  bool any = false;
  for (const FlowEdge& edge : flow_.edges) {
    if (edge.from == kOutside || edge.carried == 0) continue;
    if (data_[edge.from] || data_[edge.to] || anchored[edge.from] || anchored[edge.to]) continue;
    if (head[edge.from] != head[edge.to]) continue;
    recurs[head[edge.from]] = true;
    any = true;
  }
  if (!any) return false;
  const auto in_recurrence = [&](std::uint32_t node) {
    return !data_[node] && !anchored[node] && recurs[head[node]] && flow_.nodes[node].facts != nullptr;
  };
  const auto is = [&](std::uint32_t node, std::uint32_t kinds) { return (flow_.nodes[node].facts->kinds & kinds) != 0; };
  // Moves of vectors have no type of their own: what is computed with floating point is no index.
  std::vector<bool> floating(flow_.nodes.size());
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node)
    if (in_recurrence(node) && is(node, trace::kFloatVector | trace::kFloatScalar)) floating[head[node]] = true;
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node)
    if (in_recurrence(node)) unvalued_[node] = !floating[head[node]] && is(node, trace::kIntegerVector);
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node)
    if (!anchored[node] && recurs[head[node]]) data_[node] = true;
  return true;
}

/// Its address is the stack or frame pointer plus a constant.
bool LoopValues::is_frame_access(const trace::InstructionFacts& facts) {
  constexpr std::uint8_t kFramePointer = 5;
  for (const trace::RegisterUse& read : facts.reads)
    if (read.address && read.index != kStackPointer && read.index != kFramePointer) return false;
  return true;
}

/// What an instruction passes on or begins with was loaded from an object.
bool LoopValues::starts_in(CodePoint at, ddg::ObjectId object, int depth) const {
  constexpr int kDeepest = 4;
  if (depth > kDeepest) return false;
  const ddg::Statement& statement = index_.graph().statements[at.statement];
  if (statement.kind != ddg::Statement::Kind::kCode) return false;
  for (const std::uint32_t number : index_.accesses_of(at.statement)) {
    const ddg::Access& access = index_.graph().accesses[number];
    if (access.instruction == at.instruction && !access.store) return access.object == object;
  }
  for (const ddg::LocalFlow& local : statement.local)
    if (local.to == at.instruction && starts_in({at.statement, local.from}, object, depth + 1)) return true;
  for (const std::uint32_t number : index_.dependences_to(at.statement)) {
    const ddg::Dependence& d = index_.graph().dependences[number];
    if (d.to_instruction != at.instruction || d.kind != Kind::kRegister || d.address) continue;
    if (d.from == ddg::kNoStatement || base_[d.from] != kOutside) continue;
    if (starts_in({d.from, d.from_instruction}, object, depth + 1)) return true;
  }
  return false;
}

/// A recurrence that is stored, to places that change, and began with what was loaded from the same object before the
/// loop: a[i] = a[i - 1] + 1, with the last element in a register.
bool LoopValues::goes_on_in_memory(std::uint32_t from, const FlowEdge& stored) const {
  if (stored.address || stored.kind != Kind::kRegister || !data_[stored.to]) return false;
  const CodePoint to = flow_.nodes[stored.to].at;
  for (const std::uint32_t number : index_.accesses_of(to.statement)) {
    const ddg::Access& access = index_.graph().accesses[number];
    if (access.instruction != to.instruction || !access.store) continue;
    const ddg::Object::Kind kind = index_.graph().objects[access.object].kind;
    if (kind == ddg::Object::Kind::kEnvironment || kind == ddg::Object::Kind::kUnknown) continue;
    if (starts_in(flow_.nodes[from].at, access.object, 0)) return true;
  }
  return false;
}

/// A recurrence through memory that is no slot of a frame, or that a register only takes the place of, is an induction
/// variable only if the loop counts by it: if one of its exits hangs on it. Otherwise it is state that happens to be
/// regular: a number of objects made, the end of a vector. Says whether there was any.
bool LoopValues::find_state() {
  const std::vector<std::uint32_t> head = components(std::vector<bool>(flow_.nodes.size()));
  std::vector<bool> state(flow_.nodes.size());
  bool any = false;
  for (const FlowEdge& edge : flow_.edges) {
    if (edge.from == kOutside || edge.carried == 0 || edge.kind != Kind::kMemory || edge.behind_copies) continue;
    if (data_[edge.from] || data_[edge.to] || head[edge.from] != head[edge.to]) continue;
    const bool stack = index_.graph().objects[edge.object].kind == ddg::Object::Kind::kStack;
    if (stack && is_frame_access(*flow_.nodes[edge.from].facts) && is_frame_access(*flow_.nodes[edge.to].facts))
      continue;
    state[head[edge.from]] = any = true;
  }
  for (const FlowEdge& edge : flow_.edges) {
    if (edge.from == kOutside || edge.carried == 0 || edge.kind != Kind::kRegister) continue;
    if (data_[edge.from] || data_[edge.to] || head[edge.from] != head[edge.to] || state[head[edge.from]]) continue;
    for (const std::uint32_t number : flow_.out[edge.from])
      if (goes_on_in_memory(edge.to, flow_.edges[number])) state[head[edge.from]] = any = true;
  }
  if (!any) return false;
  std::vector<bool> counts(flow_.nodes.size());
  std::vector<std::uint32_t> work;
  for (const ddg::StatementId exit : exits_) work.push_back(branch_node(exit));
  std::vector<bool> seen(flow_.nodes.size());
  while (!work.empty()) {
    const std::uint32_t node = work.back();
    work.pop_back();
    if (seen[node] || data_[node]) continue;
    seen[node] = true;
    counts[head[node]] = true;
    for (const std::uint32_t edge : flow_.in[node])
      if (flow_.edges[edge].from != kOutside) work.push_back(flow_.edges[edge].from);
  }
  any = false;
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node) {
    if (data_[node] || known_[node] || !state[head[node]] || counts[head[node]]) continue;
    data_[node] = any = true;
  }
  return any;
}

bool LoopValues::has_value(CodePoint at) const {
  const std::span<const std::uint32_t> values = index_.values_of(at.statement);
  return std::any_of(values.begin(), values.end(), [&](std::uint32_t number) {
    const ddg::Value& value = index_.graph().values[number];
    return value.instruction == at.instruction && value.reg != kStackPointer;
  });
}

/// All that it has computed is 0 or 1: a condition, which is as good as what it is made of.
bool LoopValues::is_condition(CodePoint at) const {
  for (const std::uint32_t number : index_.values_of(at.statement)) {
    const ddg::Value& value = index_.graph().values[number];
    if (value.instruction != at.instruction || value.reg == kStackPointer) continue;
    if (value.value.pieces.empty()) return false;
    const Extent extent = extent_of(value.value, 0);
    if (extent.minimum < 0 || extent.maximum > 1) return false;
  }
  return has_value(at);
}

/// `test` of some bits of a number, and no comparison with 0 or of a condition.
bool LoopValues::masks(std::uint32_t node) const {
  const trace::InstructionFacts& facts = *flow_.nodes[node].facts;
  if (facts.flags_written == 0 || facts.compared != trace::kNoOperand) return false;
  if (facts.reads.size() == 1 && facts.constants == trace::kNoConstants) return false;
  return std::any_of(flow_.in[node].begin(), flow_.in[node].end(), [&](std::uint32_t number) {
    const std::uint32_t from = flow_.edges[number].from;
    return from != kOutside && !is_condition(flow_.nodes[from].at) && !is_unchanging(from);
  });
}

/// Of a number that is wider than what the consumer looks at, which is no condition.
bool LoopValues::is_cut_off(const FlowEdge& edge) const {
  const trace::InstructionFacts* const facts = flow_.nodes[edge.to].facts;
  if (facts == nullptr || edge.operand >= facts->reads.size()) return false;
  const CodePoint at = flow_.nodes[edge.from].at;
  const std::span<const std::uint32_t> values = index_.values_of(at.statement);
  const bool wider = std::any_of(values.begin(), values.end(), [&](std::uint32_t number) {
    const ddg::Value& value = index_.graph().values[number];
    return value.instruction == at.instruction && facts->reads[edge.operand].width < std::min<unsigned>(value.width, 4);
  });
  return wider && !is_condition(at);
}

/// It makes something of what grows evenly that does not; or it loads what lies somewhere.
bool LoopValues::bends(std::uint32_t node) const {
  using trace::Associative;
  const trace::InstructionFacts* const facts = flow_.nodes[node].facts;
  if (facts == nullptr) return true;
  if (is_condition(flow_.nodes[node].at) && (facts->kinds & trace::kLoad) == 0) return false;
  const bool linear = facts->associative == Associative::kAdd || facts->associative == Associative::kSubtract;
  if ((facts->kinds & trace::kArithmetic) != 0 && !linear && facts->condition == trace::kNoCondition)
    return !facts->writes.empty() || (facts->kinds & trace::kStore) != 0 || masks(node);
  const std::vector<std::uint32_t>& in = flow_.in[node];
  return (facts->kinds & trace::kLoad) != 0 && std::none_of(in.begin(), in.end(), [&](std::uint32_t number) {
           return flow_.edges[number].kind == Kind::kMemory;
         });
}

/// Back from the test, to what is known to grow evenly.
bool LoopValues::counts_iterations(ddg::StatementId statement) const {
  if (!tells_lines_ || counts_repetitions(branch_node(statement))) return true;
  std::vector<std::uint32_t> open{branch_node(statement)};
  std::vector<bool> seen(flow_.nodes.size());
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    for (const std::uint32_t number : flow_.in[node]) {
      const std::uint32_t from = flow_.edges[number].from;
      if (from == kOutside || seen[from]) continue;
      seen[from] = true;
      if (has_value(flow_.nodes[from].at) && steady_[from]) {
        if (is_cut_off(flow_.edges[number])) return false;
        continue;
      }
      if (bends(from)) return false;
      open.push_back(from);
    }
  }
  return true;
}

/// Right in this loop, in every iteration that another one follows.
bool LoopValues::is_on_every_round(ddg::StatementId statement) const {
  const structure::ContextId around = index_.graph().statements[statement].context;
  return control_.is_on_every_round(statement) &&
         std::find(flow_.loops.begin(), flow_.loops.end(), around) != flow_.loops.end();
}

bool LoopValues::runs_always(ddg::StatementId statement, bool or_never) const {
  if (is_on_every_round(statement)) return true;
  std::vector<ddg::StatementId> work{statement};
  std::vector<ddg::StatementId> seen;
  const auto ends_loop_around = [&](ddg::StatementId decider) {
    if (std::binary_search(exits_.begin(), exits_.end(), decider)) return true;
    for (structure::ContextId context = index_.graph().statements[statement].context;
         context != structure::LoopTree::root(); context = index_.tree()[context].parent) {
      if (index_.tree()[context].kind != structure::Context::Kind::kLoop) continue;
      const std::span<const ddg::StatementId> exits = control_.exit_deciders(context);
      if (std::binary_search(exits.begin(), exits.end(), decider)) return true;
      if (std::find(flow_.loops.begin(), flow_.loops.end(), context) != flow_.loops.end()) break;
    }
    return false;
  };
  while (!work.empty()) {
    const ddg::StatementId at = work.back();
    work.pop_back();
    for (const ddg::StatementId decider : control_.deciders(at)) {
      if (base_[decider] == kOutside || std::find(seen.begin(), seen.end(), decider) != seen.end()) continue;
      if (!ends_loop_around(decider) && !(or_never && decides_alike(decider))) return false;
      seen.push_back(decider);
      work.push_back(decider);
    }
  }
  return true;
}

/// Its branch goes the same way in every iteration of an entry.
bool LoopValues::decides_alike(ddg::StatementId statement) const {
  const trace::InstructionFacts* facts = flow_.nodes[branch_node(statement)].facts;
  if (facts == nullptr || (facts->kinds & trace::kConditional) == 0 || (facts->kinds & trace::kRepeat) != 0)
    return false;
  return is_unchanging(branch_node(statement));
}

bool LoopValues::is_unchanging(std::uint32_t node) const {
  std::vector<bool> above(flow_.nodes.size());
  return is_unchanging(node, above);
}

/// `above` leads to it: what leads to itself is made of what an inner loop carries.
bool LoopValues::is_unchanging(std::uint32_t node, std::vector<bool>& above) const {
  if (above[node] || data_[node] || flow_.nodes[node].facts == nullptr) return false;
  if (index_.dimensions(flow_.nodes[node].at.statement) != flow_.level + 1) return false;
  above[node] = true;
  for (const std::uint32_t edge : flow_.in[node]) {
    const FlowEdge& e = flow_.edges[edge];
    if (edge_facts_[edge].differs() || e.kind == Kind::kEnvironment || e.carried > 0) return false;
    if (e.from == kOutside || e.inside == 0) continue;
    if (e.kind == Kind::kMemory || !is_unchanging(e.from, above)) return false;
  }
  above[node] = false;
  return true;
}

bool LoopValues::is_anchored(std::uint32_t node) const {
  if (agreed_[node] != 0 || chained_[node]) return true;
  // A state that changes back and forth is even where a body was unrolled; only sums step.
  const FlowNode& n = flow_.nodes[node];
  const bool steps =
      passes_[node] != Pass::kNone || (n.facts != nullptr && (n.facts->associative == trace::Associative::kAdd ||
                                                              n.facts->associative == trace::Associative::kSubtract));
  if (steps && steady_[node] && runs_always(n.at.statement, true)) return true;
  if (adds_constant(node)) return true;
  const trace::InstructionFacts* facts = n.facts;
  if (facts == nullptr || (facts->kinds & trace::kStore) == 0) return false;
  if (!steps && facts->transfer != trace::Transfer::kCopy) return false;
  // What a store wrote is seen by a load that reads it.
  bool read = false;
  for (const std::uint32_t edge : flow_.out[node]) {
    const FlowEdge& e = flow_.edges[edge];
    if (e.kind != Kind::kMemory || passes_[e.to] != Pass::kLoad) continue;
    if (!steady_[e.to] || !runs_always(flow_.nodes[e.to].at.statement)) return false;
    read = true;
  }
  return read;
}

/// x = x + c, once in every iteration, c from before the loop, or loaded anew each time from a cell that keeps it.
bool LoopValues::adds_constant(std::uint32_t node) const {
  const trace::InstructionFacts* facts = flow_.nodes[node].facts;
  if (facts == nullptr || facts->floating) return false;
  if (facts->associative != trace::Associative::kAdd && facts->associative != trace::Associative::kSubtract)
    return false;
  int recurring = -1;
  for (const std::uint32_t edge : flow_.in[node]) {
    const FlowEdge& e = flow_.edges[edge];
    if (edge_facts_[edge].differs()) return false;
    if (e.address || e.from == kOutside || e.carried + e.inside == 0) continue;
    if (e.from != node && e.carried == 0 && is_unchanging(e.from)) continue;
    if (e.from != node || e.inside > 0 || (recurring >= 0 && recurring != e.operand)) return false;
    recurring = e.operand;
  }
  if (recurring < 0 || facts->scale > 1) return false;
  // c - x is no step.
  const bool memory = recurring >= ddg::kFirstMemoryOperand;
  if (facts->associative == trace::Associative::kSubtract && facts->accumulator != trace::kAnyOperand &&
      (facts->accumulator == trace::kMemoryOperand ? !memory : recurring != facts->accumulator))
    return false;
  return once_per_iteration(flow_.nodes[node].at.statement);
}

bool LoopValues::once_per_iteration(ddg::StatementId statement) const {
  if (index_.dimensions(statement) != flow_.level + 1) return false;
  if (is_on_every_round(statement)) return true;
  for (const ddg::StatementId decider : control_.deciders(statement))
    if (base_[decider] != kOutside && !std::binary_search(exits_.begin(), exits_.end(), decider)) return false;
  return true;
}

void LoopValues::mark_recurrences() {
  const std::vector<std::uint32_t> head = components(std::vector<bool>(flow_.nodes.size()));
  std::vector<bool> recurs(flow_.nodes.size());
  for (const FlowEdge& edge : flow_.edges) {
    if (edge.from == kOutside || edge.carried == 0 || data_[edge.from] || data_[edge.to]) continue;
    if (head[edge.from] == head[edge.to]) recurs[head[edge.from]] = true;
  }
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node)
    flow_.nodes[node].in_recurrence = !data_[node] && recurs[head[node]];
}

}  // namespace loopfold::poly
