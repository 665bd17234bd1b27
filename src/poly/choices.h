// Minimum and maximum as compilers write them without an instruction for it: a comparison of the variable with a value,
// and then the one or the other, by a conditional move or by a branch.
//
//   cmp v,m; cmovg m,v             a conditional move
//   cmp v,m; jle L; m = v; L:      the value is put into the variable under the branch
//   cmp v,m; jg L; v = m; L:       the variable is copied over the value, and the value's place is the variable's now
//
// What is compared and what is chosen must be the same values (same_value.h). Nothing else may hang on the comparison:
// what runs under the branch must lead to the variable alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "poly/reduction_chain.h"
#include "poly/same_value.h"

namespace loopfold::poly {

/// What decides what, as Control says.
struct Decisions {
  std::function<std::span<const ddg::StatementId>(ddg::StatementId)> deciders;
  std::function<std::span<const ddg::StatementId>(structure::ContextId)> exit_deciders;
  /// Control::may_come_between; none: anything may.
  std::function<bool(ddg::StatementId, structure::ContextId)> may_come_between = {};
};

/// Whether what an instruction made is used behind the loop, or by a later entry of it.
using UsedOutside = std::function<bool(std::uint32_t node)>;

struct Choice {
  enum class Order : std::uint8_t { kSigned, kUnsigned, kFloating };
  trace::Associative operation = trace::Associative::kNone;  // kMin or kMax
  Order order = Order::kSigned;
  std::uint32_t branch = 0;  // a put's, or FlowEdge::kOutside
  bool from_branch = false;  // the value was put into the variable under the branch
  std::uint32_t compare = 0;
  friend bool operator==(const Choice&, const Choice&) = default;
};

class Choices {
 public:
  Choices(const LoopReads& reads, const ReductionChain& chain, const Decisions& decisions)
      : reads_(reads), same_(reads), chain_(chain), decisions_(decisions) {}

  /// A conditional move of the chain whose flags come from a comparison of the chain.
  std::optional<Choice> by_move(std::uint32_t node) const;

  /// A use of the chain that also gets values from an instruction outside of the chain.
  std::optional<Choice> by_branch(const Use& use, const Source& source) const;

  /// A branch of the chain that always went the way to a copy of the variable over the other value. (Where it always
  /// went the other way, the variable is replaced in every iteration, and no reduction.)
  std::optional<Choice> by_one_way(std::uint32_t branch) const;

  /// Whether a branch of the chain decides nothing but what the chain does. `puts` are the instructions whose values
  /// are put into the variable.
  bool decides_only_chain(std::uint32_t branch, const std::set<std::uint32_t>& puts, const UsedOutside& used) const;

 private:
  bool is_decided(std::uint32_t node, std::uint32_t branch) const;
  bool decides_exit(std::uint32_t branch) const;
  bool decides_nothing(std::uint32_t branch) const;
  std::optional<std::uint32_t> compare_of(std::uint32_t node) const;
  std::optional<std::uint32_t> branch_over(std::uint32_t node) const;
  std::optional<bool> holds_at(std::uint32_t branch, std::uint32_t node) const;
  std::optional<Choice> choose(std::uint32_t compare, std::uint8_t condition, bool holds, bool variable_chosen) const;
  std::optional<Choice> put_under(std::uint32_t source) const;
  std::optional<Choice> copied_over(const Source& source, std::uint32_t copy) const;
  bool passes_whole(std::uint32_t copy, std::uint32_t compare) const;
  std::optional<trace::RegisterUse> compared_register(std::uint32_t compare, std::uint32_t branch) const;
  std::uint8_t compared_use(std::uint32_t compare) const;
  std::uint8_t compared_value(std::uint32_t compare) const;
  std::uint64_t count(std::uint32_t node) const { return reads_.count(node); }

  const LoopReads& reads_;
  SameValue same_;
  const ReductionChain& chain_;
  const Decisions& decisions_;
};

}  // namespace loopfold::poly
