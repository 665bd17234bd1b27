// A candidate for a reduction: all uses in a loop of what one variable is in an iteration, from use to use.
//
// Grown from a few uses that are known to be of the variable: an instruction that hands on what it reads (an operation
// that may be a step, a copy, a conditional move) makes a value of the variable, too, and so all its uses belong to the
// chain. A comparison belongs to it if nothing but conditional moves and branches depend on it. Any other use ends it.
// Where a variable is first stepped by one instruction and then by another (the same code in another context, a first
// iteration apart from the rest), nothing leads from the second back to the first: a chain can be grown to that side,
// too.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "poly/loop_reads.h"

namespace loopfold::poly {

struct Use {
  std::uint32_t node = 0;
  std::uint8_t operand = 0;
  friend auto operator<=>(const Use&, const Use&) = default;
};

/// Two operands of a comparison or conditional move. Of a comparison: left and right. Of a conditional move: what the
/// result is if the condition holds, and what if not.
struct Pair {
  std::uint8_t first = 0;
  std::uint8_t second = 0;
};

class ReductionChain {
 public:
  explicit ReductionChain(const LoopReads& reads) : reads_(reads) {}

  /// False if something else uses what the variable is. May be called again for more uses.
  bool grow(Use use);

  /// The other way: what a step, store or load of the loop hands on to a use of the chain is a value of the variable,
  /// too, if it can only come by one operand. False if something does not fit.
  bool grow_back();

  bool has(const Use& use) const { return uses_.contains(use); }
  const std::set<Use>& uses() const { return uses_; }
  const std::set<std::uint32_t>& values() const { return values_; }      // nodes that make a value of the variable
  const std::set<std::uint32_t>& compares() const { return compares_; }  // comparisons of it
  const std::set<std::uint32_t>& branches() const { return branches_; }  // that depend on these

  /// The operands of an instruction that are uses in the chain.
  std::vector<std::uint8_t> operands(std::uint32_t node) const;

 private:
  std::optional<Use> use_before() const;
  bool add(const FlowEdge& edge);
  bool add_value(std::uint32_t node);
  bool add_compare(std::uint32_t node);

  const LoopReads& reads_;
  std::set<Use> uses_;
  std::set<std::uint32_t> values_;
  std::set<std::uint32_t> compares_;
  std::set<std::uint32_t> branches_;
  std::vector<Use> todo_;
};

bool is_conditional_move(const trace::InstructionFacts& facts);

/// Whether an integer is only made wider: movzx, movsx, cdqe.
bool is_extension(const trace::InstructionFacts& facts);

/// The two operands; nothing if one is a constant, or the instruction is neither.
std::optional<Pair> compared_pair(const trace::InstructionFacts& facts);
std::optional<Pair> moved_pair(const trace::InstructionFacts& facts);

}  // namespace loopfold::poly
