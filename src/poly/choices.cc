// Minimum and maximum by comparison; see choices.h.
//
// The direction follows from the condition: `jg` after `cmp left,right` is taken if left is greater. Strict or not does
// not matter: equal values are equal. Unordered values (NaN) are what the program made of them, and another order of
// iterations may keep another one; that is the same for maxsd, and is said by Reduction::floating.
#include "poly/choices.h"

#include <algorithm>

namespace loopfold::poly {
namespace {

/// Whether a condition means "left is less" (or not greater); nothing if it is about something else.
std::optional<bool> means_less(std::uint8_t condition) {
  switch (condition) {
    case 2:
    case 6:
    case 12:
    case 14:
      return true;
    case 3:
    case 7:
    case 13:
    case 15:
      return false;
    default:
      return std::nullopt;
  }
}

/// Bytes of an operand; 0 if not known. Of a vector register, what a comparison does not look at does not count.
unsigned width_of(const LoopReads& reads, std::uint32_t node, std::uint8_t operand) {
  const trace::InstructionFacts& facts = reads.facts(node);
  if (operand < facts.reads.size()) return facts.reads[operand].width;
  const ddg::Access* access = reads.load(reads.node(node).at, operand);
  return access == nullptr ? 0 : access->size;
}

}  // namespace

std::uint8_t Choices::compared_use(std::uint32_t compare) const {
  const Pair pair = *compared_pair(reads_.facts(compare));
  return chain_.has({compare, pair.first}) ? pair.first : pair.second;
}

std::uint8_t Choices::compared_value(std::uint32_t compare) const {
  const Pair pair = *compared_pair(reads_.facts(compare));
  return chain_.has({compare, pair.first}) ? pair.second : pair.first;
}

/// The comparison that a conditional instruction takes its flags from, if that is always one of the chain, of the
/// variable with another value, in the same iteration.
std::optional<std::uint32_t> Choices::compare_of(std::uint32_t node) const {
  std::optional<std::uint32_t> found;
  for (const Source& source : reads_.sources(node, ddg::kFlagsOperand)) {
    if (!source.in_loop() || source.carried != 0 || source.before != 0) return std::nullopt;
    if (found && *found != source.node) return std::nullopt;
    found = source.node;
  }
  if (!found || !chain_.compares().contains(*found)) return std::nullopt;
  if (!reads_.is_tight(*found, node, ddg::kFlagsOperand)) return std::nullopt;
  if (!compared_pair(reads_.facts(*found)) || chain_.operands(*found).size() != 1) return std::nullopt;
  return found;
}

/// If the condition holds (or not), the variable (or the other value) is chosen: the smaller or the greater one?
std::optional<Choice> Choices::choose(std::uint32_t compare, std::uint8_t condition, bool holds,
                                      bool variable_chosen) const {
  const std::optional<bool> less = means_less(condition);
  if (!less) return std::nullopt;
  const trace::InstructionFacts& facts = reads_.facts(compare);
  const bool variable_left = compared_use(compare) == compared_pair(facts)->first;
  const bool left_chosen = variable_chosen == variable_left;
  const bool left_less = *less == holds;
  Choice choice;
  choice.operation = left_chosen == left_less ? trace::Associative::kMin : trace::Associative::kMax;
  choice.compare = compare;
  choice.branch = FlowEdge::kOutside;
  constexpr std::uint32_t kFloating = trace::kFloatScalar | trace::kFloatVector;
  choice.order = (facts.kinds & kFloating) != 0 ? Choice::Order::kFloating
                 : condition >= 12              ? Choice::Order::kSigned
                                                : Choice::Order::kUnsigned;
  if (choice.order == Choice::Order::kFloating && condition >= 12) return std::nullopt;
  return choice;
}

std::optional<Choice> Choices::by_move(std::uint32_t node) const {
  const trace::InstructionFacts& facts = reads_.facts(node);
  const std::optional<Pair> pair = moved_pair(facts);
  const std::optional<std::uint32_t> compare = compare_of(node);
  if (!pair || !compare || chain_.operands(node).size() != 1) return std::nullopt;
  const bool variable_moved = chain_.has({node, pair->first});
  const std::uint8_t variable = variable_moved ? pair->first : pair->second;
  const std::uint8_t value = variable_moved ? pair->second : pair->first;
  if (width_of(reads_, node, variable) != width_of(reads_, *compare, compared_use(*compare))) return std::nullopt;
  if (!same_.operands(node, value, *compare, compared_value(*compare))) return std::nullopt;
  if (!same_.operands(node, variable, *compare, compared_use(*compare))) return std::nullopt;
  return choose(*compare, facts.condition, true, variable_moved);
}

/// The one branch of the loop that decides whether an instruction runs, if it is one of the chain.
std::optional<std::uint32_t> Choices::branch_over(std::uint32_t node) const {
  std::optional<ddg::StatementId> decider;
  for (const ddg::StatementId statement : decisions_.deciders(reads_.node(node).at.statement)) {
    if (!reads_.is_in_loop(statement)) continue;
    if (decider) return std::nullopt;
    decider = statement;
  }
  if (!decider) return std::nullopt;
  for (const std::uint32_t branch : chain_.branches())
    if (reads_.node(branch).at.statement == *decider) return branch;
  return std::nullopt;
}

/// Whether the branch's condition holds when control comes to an instruction's statement: it is where the branch leads.
std::optional<bool> Choices::holds_at(std::uint32_t branch, std::uint32_t node) const {
  const std::vector<ddg::Statement>& statements = reads_.graph().statements;
  const CodePoint& at = reads_.node(branch).at;
  const trace::InstructionFacts& facts = reads_.facts(branch);
  const std::uint64_t next = statements[at.statement].instructions[at.instruction].address + facts.length;
  const std::uint64_t target = next + static_cast<std::uint64_t>(static_cast<std::int64_t>(facts.jump));
  const std::uint64_t there = statements[reads_.node(node).at.statement].instructions[0].address;
  if (next == target || (there != next && there != target)) return std::nullopt;
  return there == target;
}

/// Whether a copy is of as many bytes as were compared.
bool Choices::passes_whole(std::uint32_t copy, std::uint32_t compare) const {
  const std::optional<std::uint8_t> copied = copied_operand(reads_.facts(copy));
  if (!copied) return true;
  const unsigned width = width_of(reads_, copy, *copied);
  const unsigned compared = width_of(reads_, compare, compared_value(compare));
  const std::vector<trace::RegisterUse>& reads = reads_.facts(copy).reads;
  const bool vector = *copied < reads.size() && reads[*copied].file == trace::RegisterFile::kVector;
  return compared != 0 && (vector ? width >= compared : width == compared);
}

std::optional<Choice> Choices::put_under(std::uint32_t source) const {
  const std::optional<std::uint32_t> branch = branch_over(source);
  if (!branch) return std::nullopt;
  const std::optional<std::uint32_t> compare = compare_of(*branch);
  const std::optional<bool> holds = holds_at(*branch, source);
  if (!compare || !holds || !passes_whole(source, *compare)) return std::nullopt;
  if (!same_.operand_and_result(*compare, compared_value(*compare), source)) return std::nullopt;
  std::optional<Choice> choice = choose(*compare, reads_.facts(*branch).condition, *holds, false);
  if (!choice) return std::nullopt;
  choice->branch = *branch;
  choice->from_branch = true;
  return choice;
}

/// The value reaches the use only when the copy of the variable did not run, as often as counts can tell.
std::optional<Choice> Choices::copied_over(const Source& source, std::uint32_t copy) const {
  const std::optional<std::uint8_t> copied = copied_operand(reads_.facts(copy));
  const std::optional<std::uint32_t> branch = branch_over(copy);
  if (!copied || !branch || !chain_.has({copy, *copied})) return std::nullopt;
  const std::optional<std::uint32_t> compare = compare_of(*branch);
  const std::optional<bool> holds = holds_at(*branch, copy);
  if (!compare || !holds || !passes_whole(copy, *compare)) return std::nullopt;
  if (!same_.operand_and_result(*compare, compared_value(*compare), source.node)) return std::nullopt;
  if (!same_.operands(*compare, compared_use(*compare), copy, *copied)) return std::nullopt;
  if (count(*branch) < count(copy) || source.carried + source.inside > count(*branch) - count(copy))
    return std::nullopt;
  std::optional<Choice> choice = choose(*compare, reads_.facts(*branch).condition, *holds, true);
  if (choice) choice->branch = *branch;
  return choice;
}

std::optional<Choice> Choices::by_branch(const Use& use, const Source& source) const {
  if (source.lane != 0) return std::nullopt;
  if (std::optional<Choice> choice = put_under(source.node)) return choice;
  for (const Source& other : reads_.sources(use.node, use.operand)) {
    if (!other.in_loop() || !chain_.values().contains(other.node)) continue;
    if (std::optional<Choice> choice = copied_over(source, other.node)) return choice;
  }
  return std::nullopt;
}

bool Choices::is_decided(std::uint32_t node, std::uint32_t branch) const {
  const std::span<const ddg::StatementId> deciders = decisions_.deciders(reads_.node(node).at.statement);
  return std::find(deciders.begin(), deciders.end(), reads_.node(branch).at.statement) != deciders.end();
}

bool Choices::decides_exit(std::uint32_t branch) const {
  return std::any_of(reads_.flow().loops.begin(), reads_.flow().loops.end(), [&](structure::ContextId loop) {
    const std::span<const ddg::StatementId> exits = decisions_.exit_deciders(loop);
    return std::find(exits.begin(), exits.end(), reads_.node(branch).at.statement) != exits.end();
  });
}

bool Choices::decides_nothing(std::uint32_t branch) const {
  if (decides_exit(branch)) return false;
  for (std::uint32_t node = 0; node < reads_.flow().nodes.size(); ++node)
    if (is_decided(node, branch)) return false;
  return true;
}

/// The register that a comparison found the variable in, if it still holds it at the branch.
std::optional<trace::RegisterUse> Choices::compared_register(std::uint32_t compare, std::uint32_t branch) const {
  const CodePoint& from = reads_.node(compare).at;
  const CodePoint& to = reads_.node(branch).at;
  const std::uint8_t operand = compared_use(compare);
  if (from.statement != to.statement || operand >= reads_.facts(compare).reads.size()) return std::nullopt;
  const trace::RegisterUse use = reads_.facts(compare).reads[operand];
  for (std::uint16_t i = from.instruction; i < to.instruction; ++i) {
    const trace::InstructionFacts* facts = reads_.facts_at({from.statement, i});
    if (facts == nullptr || (facts->kinds & trace::kUnknown) != 0) return std::nullopt;
    for (const trace::RegisterUse& write : facts->writes)
      if (write.file == use.file && write.index == use.index) return std::nullopt;
  }
  return use;
}

std::optional<Choice> Choices::by_one_way(std::uint32_t branch) const {
  const std::optional<std::uint32_t> compare = compare_of(branch);
  if (!compare || !decides_nothing(branch)) return std::nullopt;
  const std::optional<trace::RegisterUse> held = compared_register(*compare, branch);
  const std::vector<ddg::Statement>& statements = reads_.graph().statements;
  for (std::uint32_t copy = 0; held && copy < reads_.flow().nodes.size(); ++copy) {
    const FlowNode& node = reads_.node(copy);
    if (node.at.instruction != 0 || node.facts == nullptr || (node.facts->kinds & trace::kStore) != 0) continue;
    if (statements[node.at.statement].context != statements[reads_.node(branch).at.statement].context) continue;
    const std::optional<std::uint8_t> copied = copied_operand(*node.facts);
    const std::optional<bool> holds = holds_at(branch, copy);
    if (!copied || !holds || *copied >= node.facts->reads.size() || !passes_whole(copy, *compare)) continue;
    const trace::RegisterUse& read = node.facts->reads[*copied];
    if (read.file != held->file || read.index != held->index) continue;
    return choose(*compare, reads_.facts(branch).condition, *holds, true);
  }
  return std::nullopt;
}

bool Choices::decides_only_chain(std::uint32_t branch, const std::set<std::uint32_t>& puts,
                                 const UsedOutside& used) const {
  const LoopFlow& flow = reads_.flow();
  if (decides_exit(branch)) return false;
  const auto leads_to_chain = [&](std::uint32_t node) {
    return std::all_of(flow.out[node].begin(), flow.out[node].end(), [&](std::uint32_t e) {
      const FlowEdge& edge = flow.edges[e];
      return (edge.carried | edge.inside) == 0 || chain_.has({edge.to, edge.operand}) || is_decided(edge.to, branch);
    });
  };
  constexpr std::uint32_t kHarmful = trace::kStore | trace::kIndirect | trace::kCall | trace::kReturn |
                                     trace::kSyscall | trace::kAtomic | trace::kUnknown;
  constexpr std::uint32_t kDeciding = trace::kBranch | trace::kConditional;
  for (std::uint32_t node = 0; node < flow.nodes.size(); ++node) {
    if (!is_decided(node, branch) || chain_.values().contains(node)) continue;
    const trace::InstructionFacts* facts = flow.nodes[node].facts;
    if (facts == nullptr || !leads_to_chain(node)) return false;
    if (puts.contains(node)) continue;
    if ((facts->kinds & kHarmful) != 0 || (facts->kinds & kDeciding) == kDeciding || used(node)) return false;
  }
  return true;
}

}  // namespace loopfold::poly
