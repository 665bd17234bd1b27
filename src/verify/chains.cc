// Reductions: what a loop may carry if chains of some associative operations can be reordered.
//
// A chain begins where a carried value is used that nothing else excuses. All who use it in the loop must belong to the
// chain: steps of a claimed operation through their accumulator, copies, loads and stores of the variable, conditional
// moves; for minimum and maximum also comparisons, with what they decide. Whatever else uses a value of the chain is in
// the way: it sees an order of the steps.
#include <algorithm>

#include "verify/judge.h"

namespace loopfold::verify {

using trace::Associative;

bool Operators::has(Associative operation) const {
  return std::find(operations.begin(), operations.end(), operation) != operations.end();
}

bool Operators::chooses() const { return has(Associative::kMin) || has(Associative::kMax); }

namespace {

bool is_conditional_move(const trace::InstructionFacts& facts) {
  return (facts.kinds & trace::kConditional) != 0 && (facts.kinds & trace::kBranch) == 0;
}

/// Whether a chain may go through this operand of a node.
bool may_belong(const Node& node, const Use& use, const Operators& operators) {
  const trace::InstructionFacts* facts = node.facts;
  if (facts == nullptr || use.address) return false;
  if (is_conditional_move(*facts)) return use.operand != kFlagsOperand || operators.chooses();
  if (node.copy && facts->transfer == trace::Transfer::kCopy) return true;
  if (operators.operations.empty()) return false;
  if (node.load || facts->transfer == trace::Transfer::kCopy) return true;
  if (operators.chooses() && (facts->compared != trace::kNoOperand || (facts->kinds & trace::kBranch) != 0))
    return true;
  if (!operators.has(facts->associative)) return false;
  if (facts->accumulator == trace::kAnyOperand) return true;
  return facts->accumulator == trace::kMemoryOperand ? use.memory : use.operand == facts->accumulator;
}

/// Whether it is what a chain is made of, and not only on its way.
bool is_step(const Node& node, const Operators& operators) {
  const trace::InstructionFacts* facts = node.facts;
  if (facts == nullptr) return false;
  if (is_conditional_move(*facts) || operators.has(facts->associative)) return true;
  return operators.chooses() && facts->compared != trace::kNoOperand;
}

}  // namespace

std::vector<Carried> Judge::violations(const Operators& operators) const {
  std::vector<Carried> found;
  std::vector<Carried> seeds;
  for (const Carried& carried : carried_) {
    if (is_excused(carried)) continue;
    const bool flows = carried.kind == Carried::Kind::kRegister || carried.kind == Carried::Kind::kMemory;
    (flows && may_belong(flow_.nodes[carried.to], *carried.use, operators) ? seeds : found).push_back(carried);
  }
  for (const Carried& seed : seeds) {
    std::vector<Carried> others;
    if (!is_chain({index_[seed.from], index_[seed.to]}, operators, others))
      found.push_back(seed);
    else
      found.insert(found.end(), others.begin(), others.end());
  }
  return found;
}

std::set<Judge::Ends> Judge::chains() const {
  const std::vector<Associative> kReductions[] = {
      {Associative::kAdd, Associative::kSubtract}, {Associative::kMultiply}, {Associative::kMin}, {Associative::kMax},
      {Associative::kAnd}, {Associative::kOr}, {Associative::kXor}};
  std::set<Ends> found;
  for (const std::vector<Associative>& operations : kReductions) {
    const Operators operators{operations};
    for (const Carried& carried : carried_) {
      const bool flows = carried.kind == Carried::Kind::kRegister || carried.kind == Carried::Kind::kMemory;
      if (!flows || !may_belong(flow_.nodes[carried.to], *carried.use, operators) || is_excused(carried)) continue;
      std::vector<Carried> others;
      if (is_chain({index_[carried.from], index_[carried.to]}, operators, others) && others.empty())
        found.insert({carried.from, carried.to});
    }
  }
  return found;
}

/// Follows all uses of the chain. Says whether it is one; `others`: uses that do not belong to it.
bool Judge::is_chain(std::vector<std::uint32_t> work, const Operators& operators, std::vector<Carried>& others) const {
  std::vector<bool> chain(nodes_.size());
  bool steps = false;
  for (const std::uint32_t index : work) chain[index] = true;
  while (!work.empty()) {
    const std::uint32_t index = work.back();
    work.pop_back();
    steps = steps || is_step(node(index), operators);
    for (const std::uint32_t number : out_[index]) {
      const Flowing& edge = edges_[number];
      const Node& to = node(edge.to);
      const bool stores = to.facts != nullptr && (to.facts->kinds & trace::kStore) != 0 && !to.copy;
      const bool moves = stores && to.stores.size() > loop_.level && to.stores[loop_.level].moves;
      if (may_belong(to, *edge.use, operators) && !(moves && to.displaces)) {
        if (!chain[edge.to]) work.push_back(edge.to);
        chain[edge.to] = true;
        continue;
      }
      Carried carried;
      carried.kind = edge.use->memory ? Carried::Kind::kMemory : Carried::Kind::kRegister;
      carried.from = nodes_[index];
      carried.to = nodes_[edge.to];
      carried.use = edge.use;
      carried.edge = edge.edge;
      carried.count = edge.carried + edge.inside + edge.between;
      others.push_back(carried);
    }
  }
  return steps;
}

}  // namespace loopfold::verify
