// Steps on several ways: a counter that each way through a body steps for itself.
//
// Where a compiler has put the end of a body on several ways, each way steps the counter: whichever way data choose,
// every iteration does the same. Such steps are told in one of two ways.
//
// - *By values*: each iteration runs one of them, and all have the same affine function of the iteration.
// - *By form*: all are x + c with the same number c in the instruction, and the chain has no gap. Each one gets x from
//   one of them in the iteration before, never from further back nor from its own iteration, or else from before the
//   loop: in one and the same iteration of every entry, the first as a rule. (Or from a constant that stands in the
//   loop and is read in one iteration only: a compiler that knows the first iteration's number writes the second
//   one's.) Nobody reads a step that is older than an iteration. Then x grows by c from iteration to iteration wherever
//   it is read. If every iteration makes such a step, it does not matter what decides between the ways; if not, data
//   must decide about none of them, or it would be theirs where the steps begin and end. This is for ways that few
//   iterations take, whose values say little: the diagonal of `i == j ? 1 : 0` fits 'i + 1' as well as 'j + 1'.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "poly/functions.h"
#include "poly/loop_values.h"

namespace loopfold::poly {

namespace {

constexpr std::uint32_t kOutside = FlowEdge::kOutside;
constexpr std::uint8_t kStackPointer = 4;

/// The coordinate's value, if that is the same in all points.
std::optional<std::int64_t> only_value(const fold::Folded& folded, std::size_t coordinate) {
  std::optional<std::int64_t> only;
  for (const fold::Piece& piece : folded.pieces) {
    if (coordinate >= piece.ranges.size()) return std::nullopt;
    const fold::Range& range = piece.ranges[coordinate];
    const auto zero = [](std::int64_t coefficient) { return coefficient == 0; };
    if (range.divisor != 1 || range.lower != range.upper) return std::nullopt;
    if (!std::all_of(range.lower.coefficients.begin(), range.lower.coefficients.end(), zero)) return std::nullopt;
    if (only && *only != range.lower.constant) return std::nullopt;
    only = range.lower.constant;
  }
  return only;
}

bool is_a_step(const fold::Folded& map, std::size_t level) {
  return !map.pieces.empty() && std::all_of(map.pieces.begin(), map.pieces.end(), [&](const fold::Piece& piece) {
    return piece.outputs[level].distance_minimum == 1 && piece.outputs[level].distance_maximum == 1;
  });
}

bool makes_constant(const trace::InstructionFacts* facts) {
  constexpr std::uint32_t kMore = trace::kLoad | trace::kStore | trace::kBranch | trace::kCall | trace::kUnknown;
  return facts != nullptr && (facts->kinds & kMore) == 0 && facts->constants != trace::kNoConstants &&
         facts->reads.empty() && facts->flags_read == 0 && facts->writes.size() == 1;
}

/// x + c or x - c, with c in the instruction.
bool adds_number(const trace::InstructionFacts* facts) {
  using trace::Associative;
  if (facts == nullptr || (facts->kinds & (trace::kLoad | trace::kStore | trace::kUnknown)) != 0) return false;
  if (facts->associative != Associative::kAdd && facts->associative != Associative::kSubtract) return false;
  if (facts->reads.size() != 1 || facts->writes.size() != 1 || facts->scale != 0 || facts->flags_read != 0)
    return false;
  return facts->reads[0].file == trace::RegisterFile::kGeneral && facts->writes[0].file == facts->reads[0].file;
}

/// Which of several steps are linked by what one gets from another.
class Groups {
 public:
  explicit Groups(std::size_t nodes) : parent_(nodes) { std::iota(parent_.begin(), parent_.end(), 0u); }
  void join(std::uint32_t a, std::uint32_t b) {
    linked_.push_back(a);
    linked_.push_back(b);
    parent_[head(a)] = head(b);
  }
  /// Of at least two members, in the order of their first ones.
  std::vector<std::vector<std::uint32_t>> all() {
    std::sort(linked_.begin(), linked_.end());
    linked_.erase(std::unique(linked_.begin(), linked_.end()), linked_.end());
    std::vector<std::vector<std::uint32_t>> groups;
    std::map<std::uint32_t, std::size_t> numbers;
    for (const std::uint32_t node : linked_) {
      const auto [found, added] = numbers.try_emplace(head(node), groups.size());
      if (added) groups.emplace_back();
      groups[found->second].push_back(node);
    }
    std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
    return groups;
  }

 private:
  std::uint32_t head(std::uint32_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> linked_;
};

}  // namespace

void LoopValues::find_agreed() {
  agreed_.assign(flow_.nodes.size(), 0);
  chained_.assign(flow_.nodes.size(), false);
  std::uint32_t last = 0;
  const auto note = [&](std::span<const std::uint32_t> group) {
    ++last;
    for (const std::uint32_t node : group) agreed_[node] = last;
  };
  const auto is_step = [&](std::uint32_t node) {
    const FlowNode& n = flow_.nodes[node];
    if (data_[node] || index_.dimensions(n.at.statement) != flow_.level + 1 || n.facts == nullptr) return false;
    return n.facts->associative == trace::Associative::kAdd || n.facts->associative == trace::Associative::kSubtract;
  };
  Groups by_values(flow_.nodes.size());
  Groups by_form(flow_.nodes.size());
  for (const FlowEdge& edge : flow_.edges) {
    if (edge.from == kOutside || edge.carried == 0 || edge.from == edge.to || edge.operand == ddg::kFlagsOperand)
      continue;
    if (!is_step(edge.from) || !is_step(edge.to)) continue;
    if (!edge.address && steady_[edge.from] && steady_[edge.to]) by_values.join(edge.from, edge.to);
    if (are_one_step(edge.from, edge.to)) by_form.join(edge.from, edge.to);
  }
  for (const std::vector<std::uint32_t>& group : by_values.all())
    if (agree(group)) note(group);
  // The ways may be those of different entries: then nothing links them but the register.
  Groups by_register(flow_.nodes.size());
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t, std::uint8_t, std::uint8_t>, std::uint32_t> firsts;
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node) {
    const trace::InstructionFacts* const facts = flow_.nodes[node].facts;
    if (!adds_number(facts) || !is_step(node)) continue;
    const auto [found, added] = firsts.try_emplace(
        {facts->form, facts->constants, facts->displacement, facts->reads[0].index, facts->writes[0].index}, node);
    if (!added) by_register.join(found->second, node);
  }
  for (Groups* groups : {&by_form, &by_register})
    for (const std::vector<std::uint32_t>& group : groups->all())
      if (std::none_of(group.begin(), group.end(), [&](std::uint32_t node) { return agreed_[node] != 0; }) &&
          make_a_chain(group)) {
        if (run_in_all(group)) note(group);
        for (const std::uint32_t node : group) chained_[node] = true;
      }
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node)
    if (agreed_[node] == 0 && !chained_[node] && is_step(node) && adds_number(flow_.nodes[node].facts) &&
        make_a_chain(std::span(&node, 1)))
      chained_[node] = true;
}

/// As often as there are iterations.
bool LoopValues::run_in_all(std::span<const std::uint32_t> nodes) const {
  std::uint64_t ran = 0;
  std::uint64_t iterations = 0;
  for (const std::uint32_t node : nodes) ran += index_.graph().statements[flow_.nodes[node].at.statement].count;
  for (const structure::ContextId copy : flow_.loops) iterations += index_.tree()[copy].trips.total;
  return ran >= iterations && ran > 0;
}

/// The same instruction but for the registers.
bool LoopValues::are_one_step(std::uint32_t a, std::uint32_t b) const {
  const trace::InstructionFacts* const one = flow_.nodes[a].facts;
  const trace::InstructionFacts* const other = flow_.nodes[b].facts;
  return adds_number(one) && adds_number(other) && one->form == other->form && one->constants == other->constants &&
         one->displacement == other->displacement;
}

/// Constants that a chain begins with are part of it.
bool LoopValues::make_a_chain(std::span<const std::uint32_t> nodes) {
  const auto is_stale = [&](std::uint32_t node) {
    return std::any_of(flow_.out[node].begin(), flow_.out[node].end(), [&](std::uint32_t edge) {
      return flow_.edges[edge].carried > 0 && flow_.edges[edge].greatest != 1;
    });
  };
  std::vector<std::uint32_t> constants;
  std::uint64_t started = 0;
  std::optional<std::int64_t> start;  // iteration
  for (const std::uint32_t node : nodes) {
    const CodePoint at = flow_.nodes[node].at;
    const ddg::Statement& statement = index_.graph().statements[at.statement];
    for (const ddg::LocalFlow& local : statement.local)
      if (local.to == at.instruction && local.operand == 0) return false;
    for (const std::uint32_t number : index_.dependences_to(at.statement)) {
      const ddg::Dependence& d = index_.graph().dependences[number];
      if (d.to_instruction != at.instruction || d.operand != 0) continue;
      if (d.from == ddg::kNoStatement || d.kind != Kind::kRegister) return false;
      const std::uint32_t from = this->node({d.from, d.from_instruction});
      if (std::find(nodes.begin(), nodes.end(), from) != nodes.end()) {
        if (flow_.level >= d.carried.size() || d.carried[flow_.level] != d.map.points || !is_a_step(d.map, flow_.level))
          return false;
        continue;
      }
      const std::optional<std::int64_t> here = only_value(d.map, flow_.level);
      if (!here || (start && start != here)) return false;
      if (from != kOutside) {
        if (!makes_constant(flow_.nodes[from].facts) || is_stale(from)) return false;
        constants.push_back(from);
      }
      start = here;
      started += d.map.points;
    }
    if (is_stale(node)) return false;
  }
  std::uint64_t entries = 0;
  for (const structure::ContextId copy : flow_.loops) entries += index_.tree()[copy].entries;
  if (started != entries && !run_in_all(nodes)) return false;
  for (const std::uint32_t constant : constants) chained_[constant] = true;
  return true;
}

/// If a statement ends with a branch on a comparison of agreed steps with what was there before the loop: which ones,
/// and the comparison.
std::optional<LoopValues::Test> LoopValues::tested_step(ddg::StatementId statement) const {
  const std::uint32_t branch = branch_node(statement);
  const trace::InstructionFacts* facts = flow_.nodes[branch].facts;
  if (facts == nullptr || (facts->kinds & trace::kBranch) == 0 || (facts->kinds & trace::kConditional) == 0)
    return std::nullopt;
  Test test;
  const auto tests = [&](std::uint32_t step) {
    if (test.steps != 0 && test.steps != agreed_[step]) return false;
    test.steps = agreed_[step];
    return true;
  };
  for (const std::uint32_t flag : flow_.in[branch]) {
    const std::uint32_t compare = flow_.edges[flag].from;
    if (compare == kOutside || flow_.nodes[compare].at.statement != statement) return std::nullopt;
    if (test.compare != kOutside && test.compare != compare) return std::nullopt;
    test.compare = compare;
    if (agreed_[compare] != 0) {
      if (!tests(compare)) return std::nullopt;
      continue;
    }
    for (const std::uint32_t edge : flow_.in[compare]) {
      const FlowEdge& e = flow_.edges[edge];
      if (e.from == kOutside) continue;
      if (agreed_[e.from] == 0 || e.inside == 0 || e.carried > 0 || !tests(e.from)) return std::nullopt;
    }
  }
  return test.steps != 0 ? std::optional(test) : std::nullopt;
}

/// Comparisons of the same registers with the same numbers, for the same, at a way out of the loop; or at what may be
/// one, that no iteration has taken.
bool LoopValues::is_same_test(ddg::StatementId one, std::uint32_t compare, ddg::StatementId other,
                              std::uint32_t with) const {
  const trace::InstructionFacts& a = *flow_.nodes[compare].facts;
  const trace::InstructionFacts& b = *flow_.nodes[with].facts;
  const auto same_register = [](const trace::RegisterUse& x, const trace::RegisterUse& y) {
    return x.file == y.file && x.index == y.index && x.byte == y.byte && x.width == y.width;
  };
  if (a.form != b.form || a.constants != b.constants || a.displacement != b.displacement || a.scale != b.scale)
    return false;
  // The condition, or its opposite; it may be asked the other way round whether two are equal.
  constexpr std::uint8_t kEqual = 2;
  const std::uint8_t condition = flow_.nodes[branch_node(one)].facts->condition / 2;
  if (condition != flow_.nodes[branch_node(other)].facts->condition / 2) return false;
  const bool same =
      condition == kEqual
          ? std::is_permutation(a.reads.begin(), a.reads.end(), b.reads.begin(), b.reads.end(), same_register)
          : std::equal(a.reads.begin(), a.reads.end(), b.reads.begin(), b.reads.end(), same_register);
  if (!same) return false;
  const auto may_end = [&](ddg::StatementId statement) {
    const std::span<const ddg::StatementId> one_way = control_.one_way();
    return std::binary_search(exits_.begin(), exits_.end(), statement) ||
           std::binary_search(one_way.begin(), one_way.end(), statement);
  };
  return may_end(one) && may_end(other);
}

/// Each of the steps is followed by such a test, in its own iteration, and all tests are the same.
bool LoopValues::ends_alike(ddg::StatementId statement) const {
  const std::optional<Test> test = tested_step(statement);
  if (!test) return false;
  std::vector<bool> compares(flow_.nodes.size());
  for (const ddg::StatementId id : statements_) {
    const std::optional<Test> other = tested_step(id);
    if (!other || other->steps != test->steps) continue;
    if (!is_same_test(statement, test->compare, id, other->compare)) return false;
    compares[other->compare] = true;
  }
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node) {
    if (agreed_[node] != test->steps || compares[node]) continue;
    std::uint64_t tested = 0;
    for (const std::uint32_t edge : flow_.out[node])
      if (compares[flow_.edges[edge].to]) tested += flow_.edges[edge].inside;
    if (tested < index_.graph().statements[flow_.nodes[node].at.statement].count) return false;
  }
  return true;
}

bool LoopValues::agree(std::span<const std::uint32_t> nodes) const {
  const auto value_of = [&](std::uint32_t node) {
    const CodePoint at = flow_.nodes[node].at;
    for (const std::uint32_t number : index_.values_of(at.statement)) {
      const ddg::Value& value = index_.graph().values[number];
      if (value.instruction == at.instruction && value.reg != kStackPointer)
        return common_function(value.value, 0, false);
    }
    return CommonFunction{};
  };
  const CommonFunction first = value_of(nodes.front());
  if (first.coefficients.empty() || !first.affine() || !first.constant || *first.coefficients[flow_.level] == 0)
    return false;
  for (const std::uint32_t node : nodes) {
    const CommonFunction value = value_of(node);
    if (value.coefficients != first.coefficients || value.constant != first.constant) return false;
    for (const std::uint32_t edge : flow_.in[node]) {
      const FlowEdge& e = flow_.edges[edge];
      if (e.inside > 0) return false;
      if (e.carried > 0 && std::find(nodes.begin(), nodes.end(), e.from) == nodes.end()) return false;
    }
  }
  return run_in_all(nodes);
}

}  // namespace loopfold::poly
