// Whether two operands of one iteration have the same value, because they come from the same instruction, or because
// the same was computed twice.
//
// Compilers without optimisation compute `a[i]` anew at every mention: `if (a[i] > m) m = a[i]` compares one load and
// stores another one, and `b[k[i]] += x` forms its address twice. Two operands are the same if both come from one
// instance of an instruction; from two instructions of the same form and constants whose operands are the same; from
// two loads of the same bytes with the same last writers; or from the same register or cell that nothing in the loop
// wrote. What a load gets from a store of the same iteration is what was stored there: `const int x = a[i]` in a slot
// of its own is loaded from there at each mention. "The same" is about origin, never about equal values. May say no
// wrongly, and yes only where no other writer was seen in this run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "poly/loop_reads.h"

namespace loopfold::poly {

class SameValue {
 public:
  explicit SameValue(const LoopReads& reads) : reads_(reads) {}

  /// Two operands of instructions of the loop.
  bool operands(std::uint32_t a, std::uint8_t operand_a, std::uint32_t b, std::uint8_t operand_b) const {
    return same(resolve(a, operand_a, kDepth), resolve(b, operand_b, kDepth), kDepth);
  }

  /// An operand, and what an instruction makes.
  bool operand_and_result(std::uint32_t a, std::uint8_t operand, std::uint32_t result) const {
    return same(resolve(a, operand, kDepth), resolve_result(result, kDepth), kDepth);
  }

  /// Whether a store goes to the bytes that a memory operand was loaded from, in one iteration.
  bool cells(std::uint32_t loading, std::uint8_t operand, std::uint32_t storing) const;

 private:
  static constexpr int kDepth = 24;

  /// What a value is, behind copies.
  struct Value {
    enum class Kind : std::uint8_t {
      kResult,  // what `node` computes
      kLoaded,  // what `node` loads by `operand`
      kEntry,   // `operand` of `node`, from before the loop
      kMixed,   // `operand` of `node`, from several
    };
    Kind kind = Kind::kMixed;
    std::uint32_t node = 0;
    std::uint8_t operand = 0;
  };

  Value resolve(std::uint32_t node, std::uint8_t operand, int depth) const;
  std::optional<std::uint32_t> stored_from(std::uint32_t node, std::uint8_t operand) const;
  Value resolve_result(std::uint32_t node, int depth) const;
  bool same(const Value& a, const Value& b, int depth) const;
  std::int64_t displacement(std::uint32_t node) const;
  bool computed(std::uint32_t a, std::uint32_t b, int depth) const;
  bool loaded(const Value& a, const Value& b, int depth) const;
  bool is_untouched_between(std::uint32_t a, std::uint32_t b, ddg::ObjectId object) const;
  bool addresses(std::uint32_t a, std::uint32_t b, int depth) const;
  bool entered(const Value& a, const Value& b) const;
  bool alike(const std::vector<Source>& of_a, const Value& a, const std::vector<Source>& of_b, const Value& b) const;
  bool mixed(const Value& a, const Value& b) const;

  const LoopReads& reads_;
};

}  // namespace loopfold::poly
