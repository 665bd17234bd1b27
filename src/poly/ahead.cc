// Values that were computed an iteration ahead; ahead.h has the rules and why they hold.
#include "poly/ahead.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "poly/functions.h"

namespace loopfold::poly {

namespace {

constexpr std::uint32_t kOutside = FlowEdge::kOutside;
using Kind = ddg::Dependence::Kind;

bool is_plain(const fold::Output& output) { return output.affine() && output.modulus == 0 && output.divisor == 1; }

/// Whether the one is, in each iteration, where the other was in the iteration before, and both advance.
bool is_one_behind(const ddg::Access& behind, const ddg::Access& ahead, std::size_t level) {
  if (behind.object != ahead.object || behind.guarded || ahead.guarded) return false;
  if (behind.address.pieces.size() != 1 || ahead.address.pieces.size() != 1) return false;
  const std::vector<fold::Output>& a = behind.address.pieces.front().outputs;
  const std::vector<fold::Output>& b = ahead.address.pieces.front().outputs;
  for (std::size_t o = 0; o < 2; ++o)
    if (!is_plain(a[o]) || !is_plain(b[o]) || a[o].value.coefficients != b[o].value.coefficients) return false;
  const std::int64_t step = a[1].value.coefficients[level];
  return a[0].value == b[0].value && a[0].value.coefficients[level] == 0 && step != 0 &&
         a[1].value.constant + step == b[1].value.constant;
}

/// The same place in the source, by way of the same inlined calls. Nothing is said where a line is not known.
bool same_place(const std::vector<symbols::Frame>& a, const std::vector<symbols::Frame>& b, bool columns) {
  if (a.empty() || a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].line == 0 || a[i].line != b[i].line || a[i].file != b[i].file || a[i].function_id != b[i].function_id)
      return false;
    if (columns && (a[i].column == 0 || a[i].column != b[i].column)) return false;
  }
  return true;
}

/// All instances come from the same iteration of all loops around both ends.
bool all_in_entry(const std::vector<std::uint64_t>& carried) {
  return !carried.empty() && carried.back() > 0 &&
         std::accumulate(carried.begin(), carried.end(), std::uint64_t{0}) == carried.back();
}

}  // namespace

Ahead::Ahead(const FlowIndex& index, const Control& control, const LoopValues& values, Frames frames)
    : index_(index),
      graph_(index.graph()),
      control_(control),
      values_(values),
      flow_(values.flow()),
      frames_(std::move(frames)) {}

bool Ahead::runs_once(std::uint32_t node) const {
  const ddg::StatementId statement = flow_.nodes[node].at.statement;
  return index_.dimensions(statement) == flow_.level + 1 && values_.runs_always(statement);
}

// ---- The element before --------------------------------------------------------------------------------------------

/// What an instruction loads, if that is from one object, and it does not store.
const ddg::Access* Ahead::only_load(std::uint32_t node) const {
  const CodePoint at = flow_.nodes[node].at;
  const ddg::Access* found = nullptr;
  for (const std::uint32_t number : index_.accesses_of(at.statement)) {
    const ddg::Access& access = graph_.accesses[number];
    if (access.instruction != at.instruction) continue;
    if (found != nullptr || access.store) return nullptr;
    found = &access;
  }
  return found;
}

/// A load, in every iteration, from where `node` loads in the next one.
std::optional<CodePoint> Ahead::load_before(std::uint32_t node) const {
  const ddg::Access* behind = only_load(node);
  if (behind == nullptr || !runs_once(node)) return std::nullopt;
  const structure::ContextId context = graph_.statements[behind->statement].context;
  for (std::uint32_t other = 0; other < flow_.nodes.size(); ++other) {
    const CodePoint at = flow_.nodes[other].at;
    if (other == node || graph_.statements[at.statement].context != context) continue;
    const ddg::Access* ahead = only_load(other);
    if (ahead != nullptr && is_one_behind(*behind, *ahead, flow_.level) && runs_once(other)) return at;
  }
  return std::nullopt;
}

std::optional<CodePoint> Ahead::element_before(const FlowEdge& edge) const {
  if (edge.from == kOutside || !edge.address || edge.kind != Kind::kRegister || edge.behind_copies) return std::nullopt;
  if (!flow_.nodes[edge.from].index || !runs_once(edge.from) || edge.greatest != 1) return std::nullopt;
  return load_before(edge.to);
}

// ---- From one iteration to the next --------------------------------------------------------------------------------

/// Its operand gets in every iteration what the one before made by this instruction; in the first one, something from
/// before the loop.
bool Ahead::comes_from(const FlowEdge& edge) const {
  if (edge.from == kOutside || edge.kind != Kind::kRegister || edge.operand == ddg::kFlagsOperand) return false;
  if (flow_.loops.size() != 1 || !runs_once(edge.from)) return false;
  for (const std::uint32_t number : flow_.in[edge.to]) {
    const FlowEdge& e = flow_.edges[number];
    if (e.operand != edge.operand) continue;
    if (values_.facts(number).differs()) return false;
    if (e.from == kOutside ? e.carried + e.inside > 0
                           : e.from != edge.from || e.inside + e.before > 0 || e.greatest != 1)
      return false;
  }
  return true;
}

/// The instructions before the loop that an operand gets something from. Nothing if they are not known, or not those of
/// the same entry.
std::optional<std::vector<CodePoint>> Ahead::starts(const FlowEdge& edge) const {
  const CodePoint to = flow_.nodes[edge.to].at;
  const structure::ContextId parent = index_.tree()[flow_.loops.front()].parent;
  std::vector<CodePoint> found;
  const auto add = [&](CodePoint at, const std::vector<std::uint64_t>& carried) {
    found.push_back(at);
    return graph_.statements[at.statement].context == parent && all_in_entry(carried);
  };
  for (const std::uint32_t number : index_.dependences_to(to.statement)) {
    const ddg::Dependence& d = graph_.dependences[number];
    if (d.to_instruction != to.instruction || d.operand != edge.operand) continue;
    if (d.from == ddg::kNoStatement) return std::nullopt;
    const CodePoint from{d.from, d.from_instruction};
    if (values_.node(from) != kOutside) continue;
    if (index_.pass(from) != Pass::kNone || !add(from, d.carried)) return std::nullopt;
  }
  for (const std::uint32_t number : index_.origins_to(to.statement)) {
    const ddg::Origin& o = graph_.origins[number];
    if (o.to_instruction != to.instruction || o.operand != edge.operand) continue;
    if (o.from == ddg::kNoStatement) return std::nullopt;
    const CodePoint from{o.from, o.from_instruction};
    if (values_.node(from) == kOutside && !add(from, o.carried)) return std::nullopt;
  }
  return found;
}

/// What the first iteration gets is made by instructions of the same kind and place.
bool Ahead::starts_alike(const FlowEdge& edge, bool columns) const {
  const std::optional<std::vector<CodePoint>> found = starts(edge);
  if (!found || found->empty()) return false;
  const FlowNode& node = flow_.nodes[edge.from];
  const std::vector<symbols::Frame> place = frames_(node.at);
  return std::all_of(found->begin(), found->end(), [&](CodePoint start) {
    const trace::InstructionFacts* facts = index_.facts(start);
    return facts != nullptr && facts->form == node.facts->form && same_place(frames_(start), place, columns);
  });
}

// ---- What the test computed ----------------------------------------------------------------------------------------

/// Whether the values of an instruction before the loop are those of a node, in all entries and iterations.
bool Ahead::same_values(CodePoint start, std::uint32_t node) const {
  const auto function_of = [&](CodePoint at) {
    for (const std::uint32_t number : index_.values_of(at.statement)) {
      const ddg::Value& value = graph_.values[number];
      if (value.instruction == at.instruction) return common_function(value.value, 0, false);
    }
    return CommonFunction{};
  };
  const CommonFunction before = function_of(start);
  CommonFunction inside = function_of(flow_.nodes[node].at);
  if (inside.coefficients.size() != before.coefficients.size() + 1 || !inside.affine() || !before.affine())
    return false;
  if (inside.coefficients.back() != Coefficient{0}) return false;
  inside.coefficients.pop_back();
  return inside.constant && inside.constant == before.constant && inside.coefficients == before.coefficients;
}

/// Whether a store goes from cell to cell as the loop goes on.
bool Ahead::moves(CodePoint store) const {
  for (const std::uint32_t number : index_.accesses_of(store.statement)) {
    const ddg::Access& access = graph_.accesses[number];
    if (access.instruction == store.instruction && access.store && !(access.same_block && access.same_offset))
      return true;
  }
  return false;
}

/// It stores in every iteration, to cells that change, and nothing beside the loop has the line of one of its stores.
bool Ahead::has_stores_of_its_own() const {
  const structure::Context& loop = index_.tree()[flow_.loops.front()];
  std::vector<std::vector<symbols::Frame>> places;
  bool always = false;
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node) {
    const FlowNode& n = flow_.nodes[node];
    if (graph_.statements[n.at.statement].function != loop.function) continue;
    if (n.facts == nullptr || (n.facts->kinds & trace::kStore) == 0 || (n.facts->kinds & trace::kCall) != 0) continue;
    if (index_.pass(n.at) == Pass::kSpill) continue;
    places.push_back(frames_(n.at));
    if (!same_place(places.back(), places.back(), false)) return false;
    always = always || (runs_once(node) && moves(n.at));
  }
  if (!always) return false;
  for (const ddg::StatementId id : index_.statements_in(loop.parent)) {
    const ddg::Statement& statement = graph_.statements[id];
    if (statement.context != loop.parent || statement.kind != ddg::Statement::Kind::kCode) continue;
    for (std::uint16_t i = 0; i < statement.instructions.size(); ++i) {
      const std::vector<symbols::Frame> place = frames_({id, i});
      for (const std::vector<symbols::Frame>& store : places)
        if (same_place(place, store, false)) return false;
    }
  }
  return true;
}

bool Ahead::is_kept_constant(const FlowEdge& edge) const {
  if (!comes_from(edge) || !values_.is_unchanging(edge.from) || !starts_alike(edge, false)) return false;
  const std::vector<CodePoint> found = *starts(edge);
  return std::all_of(found.begin(), found.end(), [&](CodePoint start) { return same_values(start, edge.from); }) &&
         has_stores_of_its_own();
}

// ---- Computed ahead ------------------------------------------------------------------------------------------------

/// Whether any iteration can compute what this one does: of induction variables, what was there before the loop, and
/// cells that the loop does not write. `above` leads to it: what leads to itself is computed in an inner loop.
bool Ahead::can_compute(std::uint32_t node, std::set<std::uint32_t>& above) const {
  const FlowNode& n = flow_.nodes[node];
  if (n.in_recurrence) return values_.is_computable(node);
  constexpr std::uint32_t kImpure = trace::kStore | trace::kBranch | trace::kCall | trace::kReturn | trace::kSyscall |
                                    trace::kAtomic | trace::kRepeat | trace::kUnknown;
  if (n.facts == nullptr || (n.facts->kinds & kImpure) != 0 || n.data_decided || !runs_once(node)) return false;
  if (!above.insert(node).second) return false;
  for (const std::uint32_t number : flow_.in[node]) {
    const FlowEdge& e = flow_.edges[number];
    if (values_.facts(number).differs() || e.kind == Kind::kEnvironment) return false;
    if (e.from == kOutside || e.carried + e.inside == 0) continue;
    if (e.kind == Kind::kMemory) return false;
    if (e.carried > 0 && (!values_.is_computable(e.from) || e.greatest != 1)) return false;
    if (e.inside > 0 && !can_compute(e.from, above)) return false;
  }
  above.erase(node);
  return true;
}

bool Ahead::is_computed_ahead(const FlowEdge& edge) const {
  std::set<std::uint32_t> above;
  return comes_from(edge) && can_compute(edge.from, above) && starts_alike(edge, true);
}

// ---- The counter's mirror ------------------------------------------------------------------------------------------

bool Ahead::mirrors_counter(const FlowEdge& edge) const {
  if (edge.from == kOutside || edge.kind != Kind::kMemory || edge.greatest != 1) return false;
  const FlowNode& store = flow_.nodes[edge.from];
  if (!store.index || store.facts->transfer != trace::Transfer::kCopy || !runs_once(edge.from)) return false;
  const std::vector<symbols::Frame> place = frames_(store.at);
  if (!place.empty() && place.front().line != 0) return false;
  std::set<std::uint32_t> stored;
  for (const std::uint32_t number : flow_.in[edge.from]) {
    const FlowEdge& e = flow_.edges[number];
    if (e.address) continue;
    if (e.from == kOutside || e.carried + e.before > 0 || !flow_.nodes[e.from].in_recurrence) return false;
    stored.insert(e.from);
  }
  if (stored.size() != 1) return false;
  const std::uint32_t counter = *stored.begin();
  const auto tests = [&](std::uint32_t node) {
    return std::any_of(flow_.in[node].begin(), flow_.in[node].end(), [&](std::uint32_t number) {
      return flow_.edges[number].from == counter && flow_.edges[number].inside > 0;
    });
  };
  for (const structure::ContextId loop : flow_.loops) {
    for (const ddg::StatementId exit : control_.exit_deciders(loop)) {
      const std::uint32_t branch = values_.branch_node(exit);
      if (tests(branch)) return true;
      for (const std::uint32_t number : flow_.in[branch])
        if (flow_.edges[number].from != kOutside && tests(flow_.edges[number].from)) return true;
    }
  }
  return false;
}

}  // namespace loopfold::poly
