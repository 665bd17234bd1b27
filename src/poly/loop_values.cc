// What speaks against each value of the loop by itself, what data decide, and the fixed point of all of it. How flow is
// built is in loop_values_flow.cc, what a recurrence must be like in loop_values_steps.cc, when a copy hands a value on
// in loop_values_copies.cc.
#include "poly/loop_values.h"

#include <algorithm>

#include "poly/functions.h"
#include "poly/whole_loop.h"

namespace loopfold::poly {

namespace {

constexpr std::uint32_t kOutside = FlowEdge::kOutside;
constexpr std::uint8_t kStackPointer = 4;
constexpr std::uint64_t kFewestForALine = 3;  // iterations: two values always lie on a line
constexpr int kLongestChain = 64;             // of copies
constexpr std::size_t kMostObjects = 8;       // that one load may take turns between

/// Whether a label does not change along a coordinate, as far as the pieces tell.
bool is_constant_along(const fold::Folded& folded, std::size_t output, std::size_t coordinate) {
  if (folded.pieces.empty()) return false;
  if (folded.pieces.size() == 1) {
    const fold::Output& o = folded.pieces.front().outputs[output];
    return !o.top[coordinate] && o.value.coefficients[coordinate] == 0;
  }
  const CommonFunction function = common_function(folded, output, false);
  return function.affine() && function.constant && *function.coefficients[coordinate] == 0;
}

bool is_affine_along(const fold::Folded& folded, std::size_t coordinate) {
  if (folded.pieces.size() != 1) return false;
  const fold::Output& output = folded.pieces.front().outputs.front();
  return !output.top[coordinate] && output.modulus == 0;
}

/// Whether two streams have no entry of a loop in common, as far as one coordinate of a loop around it tells: one has
/// the even ones, the other one the odd ones.
bool are_of_other_entries(const fold::Piece& a, const fold::Piece& b, std::size_t level) {
  if (!a.exact_domain || !b.exact_domain) return false;
  const auto is_number = [](const fold::Affine& bound) {
    return std::all_of(bound.coefficients.begin(), bound.coefficients.end(), [](std::int64_t c) { return c == 0; });
  };
  for (std::size_t k = 0; k < level && k < a.ranges.size() && k < b.ranges.size(); ++k) {
    const fold::Range& x = a.ranges[k];
    const fold::Range& y = b.ranges[k];
    if (x.divisor != 1 || y.divisor != 1 || !is_number(x.lower) || !is_number(y.lower)) continue;
    if (!is_number(x.upper) || !is_number(y.upper)) continue;
    if (x.upper.constant < y.lower.constant || y.upper.constant < x.lower.constant) return true;
    if (x.stride == y.stride && (x.lower.constant - y.lower.constant) % x.stride != 0) return true;
  }
  return false;
}

bool are_of_other_entries(const fold::Folded& a, const fold::Folded& b, std::size_t level) {
  if (a.pieces.empty() || b.pieces.empty()) return false;
  return std::all_of(a.pieces.begin(), a.pieces.end(), [&](const fold::Piece& x) {
    return std::all_of(b.pieces.begin(), b.pieces.end(),
                       [&](const fold::Piece& y) { return are_of_other_entries(x, y, level); });
  });
}

}  // namespace

LoopValues::LoopValues(const FlowIndex& index, const Control& control, const SourceLoop& loop,
                       std::vector<std::uint32_t>& scratch, const WholeLoop* whole)
    : index_(index), control_(control), base_(scratch) {
  flow_.loops = loop.loops;
  flow_.level = static_cast<std::uint16_t>(ddg::dimensions_of(index.tree(), loop.loops.front()) - 1);
  add_statements(whole);
  for (const structure::ContextId copy : loop.loops) {
    const std::span<const ddg::StatementId> exits = control.exit_deciders(copy);
    exits_.insert(exits_.end(), exits.begin(), exits.end());
  }
  std::sort(exits_.begin(), exits_.end());
  for (const structure::ContextId copy : flow_.loops)
    tells_lines_ = tells_lines_ || index.tree()[copy].trips.max >= kFewestForALine;
  judge_alone();
  find_refreshing();
  find_handing();
  build_edges();
  find_agreed();
  while (true) {
    do find_data();
    while (find_recurrences() || find_state());
    const bool decided = find_decided();
    const bool opaque = find_opaque();
    if (opaque) build_edges();
    if (!decided && !opaque) break;
  }
  mark_recurrences();
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node) {
    flow_.nodes[node].index = !data_[node];
    flow_.nodes[node].seen_through = sees_through(node);
  }
}

LoopValues::~LoopValues() {
  for (const ddg::StatementId statement : statements_) base_[statement] = kOutside;
}

void LoopValues::add_statements(const WholeLoop* whole) {
  for (const structure::ContextId copy : flow_.loops) {
    for (const ddg::StatementId id : index_.statements_in(copy)) {
      const ddg::Statement& statement = index_.graph().statements[id];
      statements_.push_back(id);
      base_[id] = static_cast<std::uint32_t>(flow_.nodes.size());
      for (std::uint16_t i = 0; i < statement.instructions.size(); ++i) {
        FlowNode node;
        node.at = {id, i};
        node.facts = index_.facts(node.at);
        passes_.push_back(index_.pass(node.at));
        node.copy = passes_.back() != Pass::kNone;
        flow_.nodes.push_back(node);
        known_.push_back(whole != nullptr && whole->index.contains(node.at));
      }
    }
  }
  opaque_.assign(flow_.nodes.size(), false);
  steady_.assign(flow_.nodes.size(), false);
  unvalued_.assign(flow_.nodes.size(), false);
  led_.assign(flow_.nodes.size(), false);
}

std::uint32_t LoopValues::branch_node(ddg::StatementId statement) const {
  return base_[statement] + static_cast<std::uint32_t>(index_.graph().statements[statement].instructions.size()) - 1;
}

/// A repeated string instruction goes on as its counter says, or as what it compares.
bool LoopValues::counts_repetitions(std::uint32_t node) const {
  const trace::InstructionFacts* facts = flow_.nodes[node].facts;
  return facts != nullptr && (facts->kinds & trace::kRepeat) != 0 && facts->flags_written == 0;
}

bool LoopValues::decides_by_data(ddg::StatementId statement) const {
  const std::uint32_t node = branch_node(statement);
  const trace::InstructionFacts* facts = flow_.nodes[node].facts;
  if (facts == nullptr) return true;
  if (counts_repetitions(node)) {
    for (const std::uint32_t number : index_.dependences_to(statement)) {
      const ddg::Dependence& d = index_.graph().dependences[number];
      if (d.to_instruction != flow_.nodes[node].at.instruction || d.operand >= facts->reads.size()) continue;
      const trace::RegisterUse& read = facts->reads[d.operand];
      constexpr std::uint8_t kCounter = 1;
      if (read.file != trace::RegisterFile::kGeneral || read.index != kCounter) continue;
      const std::uint32_t from = d.from == ddg::kNoStatement ? kOutside : this->node({d.from, d.from_instruction});
      if (d.from == ddg::kNoStatement || (from != kOutside && from != node && data_[from])) return true;
    }
    return false;
  }
  constexpr std::uint32_t kDecides = trace::kBranch | trace::kIndirect | trace::kRepeat;
  if ((facts->kinds & kDecides) == 0) return true;
  return data_[node];
}

/// What speaks against a node by itself, whatever flows into it.
void LoopValues::judge_alone() {
  data_.assign(flow_.nodes.size(), false);
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node) {
    const FlowNode& n = flow_.nodes[node];
    const bool known = n.facts != nullptr && (n.facts->kinds & trace::kUnknown) == 0 &&
                       index_.graph().statements[n.at.statement].followed;
    if (!known) data_[node] = true;
    steady_[node] = known && is_steady(n.at);
  }
  for (const ddg::StatementId statement : statements_) {
    std::vector<const ddg::Access*> others;  // of the same load or store, in other objects
    for (const std::uint32_t number : index_.accesses_of(statement)) {
      const ddg::Access& access = index_.graph().accesses[number];
      const std::uint32_t node = base_[statement] + access.instruction;
      const bool stack = index_.graph().objects[access.object].kind == ddg::Object::Kind::kStack;
      if (!others.empty() &&
          (others.front()->instruction != access.instruction || others.front()->index != access.index))
        others.clear();
      const bool another =
          others.size() > kMostObjects || std::any_of(others.begin(), others.end(), [&](const ddg::Access* other) {
            return !are_of_other_entries(other->address, access.address, flow_.level);
          });
      others.push_back(&access);
      const bool innermost = index_.dimensions(statement) == flow_.level + 1;
      const bool same_offset = (innermost && access.same_offset) || is_constant_along(access.address, 1, flow_.level);
      const bool same_block =
          stack || (innermost && access.same_block) || is_constant_along(access.address, 0, flow_.level);
      if (another || !same_offset || !same_block) data_[node] = true;
    }
  }
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node)
    if (known_[node]) data_[node] = false;
}

/// Its values are affine along the loop, step by step in each entry.
bool LoopValues::is_steady(CodePoint point) const {
  if (!tells_lines_) return false;
  const bool innermost = index_.dimensions(point.statement) == flow_.level + 1;
  bool steady = false;
  for (const std::uint32_t number : index_.values_of(point.statement)) {
    const ddg::Value& value = index_.graph().values[number];
    if (value.instruction != point.instruction || value.reg == kStackPointer) continue;
    if (!(innermost && value.steady) && !is_affine_along(value.value, flow_.level)) return false;
    steady = true;
  }
  return steady;
}

// ---- Decisions and copies ------------------------------------------------------------------------------------------

/// Statements that run or not as data decide. The loop's own exits do not count here: data that decide them are a
/// verdict of their own. (What stands behind one that data decide about is decided as that is.) Nor does what runs in
/// every iteration that another one follows, whatever decides how control gets there: data may only lead elsewhere if
/// the loop ends there. Says whether there are more than before.
bool LoopValues::find_decided() {
  bool more = false;
  for (const ddg::StatementId statement : statements_) {
    const std::uint32_t first = base_[statement];
    if (flow_.nodes[first].data_decided || led_[first]) continue;
    for (const ddg::StatementId decider : control_.deciders(statement)) {
      if (base_[decider] == kOutside || !decides_by_data(decider)) continue;
      const bool ends = std::binary_search(exits_.begin(), exits_.end(), decider);
      if (ends && !flow_.nodes[base_[decider]].data_decided) continue;
      if (is_on_every_round(statement)) {
        led_[first] = true;
        break;
      }
      more = true;
      for (std::size_t i = 0; i < index_.graph().statements[statement].instructions.size(); ++i) {
        flow_.nodes[first + i].data_decided = true;
        if (agreed_[first + i] == 0 && !known_[first + i] && !refreshing_[first + i]) data_[first + i] = true;
      }
      break;
    }
  }
  return more;
}

/// Copies and loads that are not seen through: under a decision by data, or behind another such copy.
bool LoopValues::find_opaque() {
  bool any = false;
  bool more = true;
  while (more) {
    more = false;
    for (const ddg::StatementId id : statements_) {
      const ddg::Statement& statement = index_.graph().statements[id];
      for (std::uint16_t i = 0; i < statement.instructions.size(); ++i) {
        const std::uint32_t node = base_[id] + i;
        if (passes_[node] == Pass::kNone || opaque_[node]) continue;
        const bool decided =
            flow_.nodes[node].data_decided && !refreshing_[node] && !index_.preserves(flow_.nodes[node].at);
        if (!decided && !passes_opaque(statement, i)) continue;
        opaque_[node] = true;
        more = any = true;
      }
    }
  }
  return any;
}

/// Whether what an instruction passes on comes from an opaque copy.
bool LoopValues::passes_opaque(const ddg::Statement& statement, std::uint16_t instruction) const {
  const trace::InstructionFacts& facts = *flow_.nodes[base_[statement.id] + instruction].facts;
  const auto is_opaque_copy = [&](std::uint32_t from) { return from != kOutside && opaque_[from]; };
  for (const ddg::LocalFlow& local : statement.local)
    if (local.to == instruction && FlowIndex::is_passed(facts, local.operand) &&
        is_opaque_copy(base_[statement.id] + local.from))
      return true;
  for (const std::uint32_t number : index_.dependences_to(statement.id)) {
    const ddg::Dependence& d = index_.graph().dependences[number];
    if (d.to_instruction != instruction || d.from == ddg::kNoStatement) continue;
    if (!FlowIndex::is_passed(facts, d.operand) || FlowIndex::is_ignored(&facts, d.operand)) continue;
    if (d.kind == Kind::kMemory && d.reloads == 0) continue;
    if (is_opaque_copy(node({d.from, d.from_instruction}))) return true;
  }
  return false;
}

// ---- Index values --------------------------------------------------------------------------------------------------

/// What gets data is data.
void LoopValues::find_data() {
  std::vector<std::uint32_t> work;
  const auto mark = [&](std::uint32_t node) {
    if (data_[node] || known_[node]) return;
    data_[node] = true;
    work.push_back(node);
  };
  for (std::uint32_t edge = 0; edge < flow_.edges.size(); ++edge) {
    const FlowEdge& e = flow_.edges[edge];
    const bool data = e.from != kOutside && data_[e.from] && e.carried + e.inside > 0;
    if (data || edge_facts_[edge].differs() || e.kind == Kind::kEnvironment) mark(e.to);
  }
  while (!work.empty()) {
    const std::uint32_t node = work.back();
    work.pop_back();
    for (const std::uint32_t edge : flow_.out[node])
      if (flow_.edges[edge].carried + flow_.edges[edge].inside > 0) mark(flow_.edges[edge].to);
  }
}

bool LoopValues::is_computable(std::uint32_t node, int depth) const {
  const FlowNode& n = flow_.nodes[node];
  if (data_[node]) return false;
  if (n.in_recurrence || agreed_[node] != 0 || chained_[node]) return true;
  if (!n.copy || passes_[node] == Pass::kLoad || opaque_[node] || depth >= kLongestChain) return false;
  for (const std::uint32_t edge : flow_.in[node]) {
    const FlowEdge& e = flow_.edges[edge];
    if (e.address) continue;
    if (edge_facts_[edge].differs()) return false;
    if (e.from == kOutside || e.carried + e.inside == 0) continue;
    if (!is_computable(e.from, depth + 1)) return false;
  }
  return true;
}

bool LoopValues::can_be_repeated(std::uint32_t node) const {
  if ((flow_.nodes[node].data_decided && !refreshing_[node]) || opaque_[node]) return false;
  for (const std::uint32_t edge : flow_.in[node]) {
    const FlowEdge& e = flow_.edges[edge];
    if (!e.address) continue;
    if (edge_facts_[edge].differs()) return false;
    if (e.from != kOutside && e.carried + e.inside > 0 && data_[e.from]) return false;
  }
  return true;
}

}  // namespace loopfold::poly
