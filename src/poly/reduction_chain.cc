// Growing a chain of uses; see reduction_chain.h. Each use is visited once.
#include "poly/reduction_chain.h"

namespace loopfold::poly {

bool is_conditional_move(const trace::InstructionFacts& facts) {
  const bool conditional = (facts.kinds & (trace::kConditional | trace::kBranch)) == trace::kConditional;
  return conditional && facts.condition != trace::kNoCondition && moved_pair(facts).has_value();
}

bool is_extension(const trace::InstructionFacts& facts) {
  constexpr std::uint32_t kNot = trace::kArithmetic | trace::kStore | trace::kBranch | trace::kCall | trace::kReturn |
                                 trace::kSyscall | trace::kAtomic | trace::kRepeat | trace::kUnknown |
                                 trace::kConditional;
  if ((facts.kinds & trace::kInteger) == 0 || (facts.kinds & kNot) != 0) return false;
  if (facts.transfer != trace::Transfer::kCompute || facts.writes.size() != 1) return false;
  if (facts.writes[0].file != trace::RegisterFile::kGeneral || (facts.flags_read | facts.flags_written) != 0)
    return false;
  return data_reads(facts).size() + ((facts.kinds & trace::kLoad) != 0 ? 1 : 0) == 1;
}

/// The operand that stands beside `one`: the other register, or memory.
static std::optional<std::uint8_t> other_operand(const trace::InstructionFacts& facts, std::uint8_t one) {
  for (const std::uint8_t operand : data_reads(facts))
    if (operand != one) return operand;
  if (one != ddg::kFirstMemoryOperand && (facts.kinds & trace::kLoad) != 0) return ddg::kFirstMemoryOperand;
  return std::nullopt;
}

std::optional<Pair> compared_pair(const trace::InstructionFacts& facts) {
  if (facts.compared == trace::kNoOperand) return std::nullopt;
  const std::uint8_t left =
      facts.compared == trace::kMemoryOperand ? ddg::kFirstMemoryOperand : static_cast<std::uint8_t>(facts.compared);
  const std::optional<std::uint8_t> right = other_operand(facts, left);
  if (!right) return std::nullopt;
  return Pair{left, *right};
}

std::optional<Pair> moved_pair(const trace::InstructionFacts& facts) {
  const std::vector<std::uint8_t> reads = data_reads(facts);
  if (reads.empty()) return std::nullopt;
  const std::optional<std::uint8_t> moved = other_operand(facts, reads[0]);
  if (!moved) return std::nullopt;
  return Pair{*moved, reads[0]};
}

std::vector<std::uint8_t> ReductionChain::operands(std::uint32_t node) const {
  std::vector<std::uint8_t> found;
  for (auto use = uses_.lower_bound({node, 0}); use != uses_.end() && use->node == node; ++use)
    found.push_back(use->operand);
  return found;
}

bool ReductionChain::grow(Use use) {
  if (uses_.insert(use).second) todo_.push_back(use);
  while (!todo_.empty()) {
    const Use next = todo_.back();
    todo_.pop_back();
    const trace::InstructionFacts* facts = reads_.node(next.node).facts;
    if (facts == nullptr || (facts->kinds & trace::kUnknown) != 0) return false;
    if (next.operand >= ddg::kEnvironmentOperand) return false;
    if (next.operand < facts->reads.size() && facts->reads[next.operand].address) return false;
    const bool compares = facts->compared != trace::kNoOperand;
    if (compares ? !add_compare(next.node) : !add_value(next.node)) return false;
  }
  return true;
}

/// The only operand by which a variable can come to what an instruction makes.
static std::optional<std::uint8_t> only_operand(const trace::InstructionFacts& facts) {
  if (const std::optional<std::uint8_t> copied = copied_operand(facts)) return copied;
  if (facts.associative == trace::Associative::kNone) return std::nullopt;
  const std::vector<std::uint8_t> reads = data_reads(facts);
  const bool loads = (facts.kinds & trace::kLoad) != 0;
  if (facts.accumulator == trace::kMemoryOperand || (loads && reads.empty())) return ddg::kFirstMemoryOperand;
  if (facts.accumulator >= 0) return static_cast<std::uint8_t>(facts.accumulator);
  return reads.size() == 1 && !loads ? std::optional(reads[0]) : std::nullopt;
}

std::optional<Use> ReductionChain::use_before() const {
  for (const Use& use : uses_) {
    for (const Source& source : reads_.sources(use.node, use.operand)) {
      if (!source.in_loop() || values_.contains(source.node)) continue;
      const trace::InstructionFacts* facts = reads_.node(source.node).facts;
      const std::optional<std::uint8_t> operand = facts == nullptr ? std::nullopt : only_operand(*facts);
      if (operand) return Use{source.node, *operand};
    }
  }
  return std::nullopt;
}

bool ReductionChain::grow_back() {
  while (const std::optional<Use> use = use_before())
    if (!grow(*use)) return false;
  return true;
}

bool ReductionChain::add_value(std::uint32_t node) {
  const trace::InstructionFacts& facts = reads_.facts(node);
  const bool hands_on = facts.associative != trace::Associative::kNone || copied_operand(facts).has_value() ||
                        is_conditional_move(facts) || is_extension(facts);
  if (!hands_on) return false;
  if (!values_.insert(node).second) return true;
  for (const std::uint32_t e : reads_.flow().out[node])
    if (!add(reads_.flow().edges[e])) return false;
  return true;
}

bool ReductionChain::add(const FlowEdge& edge) {
  if ((edge.carried | edge.inside) == 0) return true;
  const trace::InstructionFacts* facts = reads_.node(edge.to).facts;
  if (facts == nullptr || edge.address || edge.lane != 0) return false;
  if (edge.operand >= ddg::kEnvironmentOperand) return false;
  if (edge.operand < facts->reads.size()) {
    const trace::RegisterUse& use = facts->reads[edge.operand];
    if (use.merge) return true;
    if (use.step || use.address) return false;
  }
  const Use use{edge.to, edge.operand};
  if (uses_.insert(use).second) todo_.push_back(use);
  return true;
}

/// Only flags come out of a comparison.
bool ReductionChain::add_compare(std::uint32_t node) {
  if (!compares_.insert(node).second) return true;
  for (const std::uint32_t e : reads_.flow().out[node]) {
    const FlowEdge& edge = reads_.flow().edges[e];
    if ((edge.carried | edge.inside) == 0) continue;
    const trace::InstructionFacts* facts = reads_.node(edge.to).facts;
    if (facts == nullptr || edge.operand != ddg::kFlagsOperand || edge.carried != 0) return false;
    constexpr std::uint32_t kJump = trace::kBranch | trace::kConditional;
    if ((facts->kinds & kJump) == kJump) {
      branches_.insert(edge.to);
    } else if (!is_conditional_move(*facts)) {
      return false;
    }
  }
  return true;
}

}  // namespace loopfold::poly
