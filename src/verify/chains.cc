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

/// Whether a chain may go through this operand of a node.
bool may_step(const Node& node, const Use& use, const Operators& operators) {
  const trace::InstructionFacts* facts = node.facts;
  if (facts == nullptr || use.address) return false;
  if (node.copy || node.load) return true;
  const bool conditional = (facts->kinds & trace::kConditional) != 0 && (facts->kinds & trace::kBranch) == 0;
  if (conditional) return use.operand != kFlagsOperand || operators.chooses();
  if (operators.chooses() && (facts->compared != trace::kNoOperand || (facts->kinds & trace::kBranch) != 0)) return true;
  if (facts->transfer == trace::Transfer::kCopy) return true;
  if (!operators.has(facts->associative)) return false;
  if (facts->accumulator == trace::kAnyOperand) return true;
  return facts->accumulator == trace::kMemoryOperand ? use.memory : use.operand == facts->accumulator;
}

}  // namespace

std::vector<Carried> Judge::violations(const Operators& operators) const {
  std::vector<Carried> found;
  std::vector<bool> chain(nodes_.size());
  std::vector<std::uint32_t> work;
  const auto add = [&](std::uint32_t index) {
    if (chain[index]) return;
    chain[index] = true;
    work.push_back(index);
  };
  for (const Carried& carried : violations()) {
    const bool flows = carried.kind == Carried::Kind::kRegister || carried.kind == Carried::Kind::kMemory;
    if (flows && may_step(flow_.nodes[carried.to], *carried.use, operators)) {
      add(index_[carried.to]);
      add(index_[carried.from]);
    } else {
      found.push_back(carried);
    }
  }
  while (!work.empty()) {
    const std::uint32_t index = work.back();
    work.pop_back();
    for (const std::uint32_t number : out_[index]) {
      const Flowing& edge = edges_[number];
      const Node& to = node(edge.to);
      bool steps = may_step(to, *edge.use, operators);
      const bool stores = to.facts != nullptr && (to.facts->kinds & trace::kStore) != 0 && !to.copy;
      if (steps && stores && to.stores.size() > loop_.level && to.stores[loop_.level].moves)
        steps = std::any_of(out_[edge.to].begin(), out_[edge.to].end(), [&](std::uint32_t out) {
          return may_step(node(edges_[out].to), *edges_[out].use, operators);
        });
      if (steps) {
        add(edge.to);
        continue;
      }
      Carried carried;
      carried.kind = edge.use->memory ? Carried::Kind::kMemory : Carried::Kind::kRegister;
      carried.from = nodes_[index];
      carried.to = nodes_[edge.to];
      carried.use = edge.use;
      carried.edge = edge.edge;
      carried.count = edge.carried + edge.inside + edge.between;
      found.push_back(carried);
    }
  }
  return found;
}

}  // namespace loopfold::verify
