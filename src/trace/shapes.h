// The shape of blocks and exits: how long their lists are, which slots they need, and what an event with an exit means
// for control.
//
// Kept by the writer and the reader while descriptions come in. The rules are the same on both sides: the writer
// refuses what the reader would, so that a recorder bug shows when it happens and not when the trace is analysed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "support/result.h"
#include "trace/types.h"

namespace loopfold::trace {

inline constexpr std::uint64_t kNoTarget = std::numeric_limits<std::uint64_t>::max();

/// What evaluating an expression may cost, counting every term of it and of the expressions it refers to each time it
/// is referred to. Bounds the recursion of evaluate().
inline constexpr std::uint32_t kMaxExpressionTerms = 256;

/// When the code at an address was first described, as part of whatever block. Blocks are described when they are first
/// executed, so of two places in a function the one with the lower number was reached first.
class CodeAges {
 public:
  /// Numbers the block's instructions that are new, and returns the number of its first one.
  std::uint32_t add(const Block& block);
  void clear();

 private:
  struct Entry {
    std::uint64_t address = 0;
    std::uint32_t age = 0;  // 0: nothing here
  };
  std::size_t place(std::uint64_t address) const;
  void grow();

  std::vector<Entry> entries_;
  std::uint32_t last_ = 0;
};

/// All that events need to know about an exit.
struct ExitShape {
  std::uint64_t address = 0;              // of the block
  std::uint64_t back_target = kNoTarget;  // if it jumps directly to a place that is not behind its block's address
  BlockId block = 0;
  std::uint32_t slots = 0;
  std::uint32_t instructions = 0;
  std::uint32_t age = 0;            // of the block: less if the code at its address was described before
  std::uint32_t first_control = 0;  // where the slots are listed that its stack pointer is computed from
  std::uint16_t control_slots = 0;  // and how many they are: Shapes::control_slots
  bool direct : 1 = false;          // falls through or jumps directly
  bool calls : 1 = false;
  bool returns : 1 = false;
};

/// What is needed of the blocks and exits to check further exits and to code events; a few bytes for each.
class Shapes {
 public:
  /// Checks the block by itself and that its id is the next one.
  Result<void> add_block(const Block& block);
  /// Checks that the id is the next one, that the block is known, that the counts are prefixes of its lists and that
  /// every slot which the prefixes refer to, also through expressions, exists in an event with this exit.
  Result<void> add_exit(const Exit& exit);

  std::span<const ExitShape> exits() const { return exits_; }
  /// The slots that the exit's stack pointer is computed from, ascending: what a reading of control alone needs.
  std::span<const std::uint16_t> control_slots(const ExitShape& exit) const {
    return {control_slots_.data() + exit.first_control, exit.control_slots};
  }
  std::size_t block_count() const { return blocks_.size(); }
  /// Forgets all but the first `blocks` blocks and `exits` exits.
  void shrink(std::size_t blocks, std::size_t exits);
  /// Keeps what events need and drops what only add_exit() needs.
  void forget_blocks();

 private:
  struct ExpressionShape {
    std::uint32_t slots = 0;  // how many slots an event must have
    std::uint32_t terms = 0;  // that evaluating it takes
    std::uint32_t first_operand = 0;
    std::uint32_t operands = 0;
  };
  /// For each prefix length of a list, how many slots an event must have so that the prefix can be evaluated.
  struct BlockShape {
    std::uint64_t address = 0;
    std::uint32_t age = 0;
    std::uint32_t instructions = 0;
    std::uint32_t ftop_slots = 0;
    std::vector<std::uint32_t> access_slots;
    std::vector<std::uint32_t> result_slots;
    std::vector<ExpressionShape> expressions;
    std::vector<Value> operands;  // of all expressions
  };
  static bool measure_expressions(const Block& block, BlockShape& shape);
  static std::uint32_t slots_needed(const BlockShape& shape, const Value& value);
  static void collect_slots(const BlockShape& shape, const Value& value, std::vector<std::uint16_t>& to);
  template <typename T>
  static bool measure_prefixes(const BlockShape& shape, const std::vector<T>& list, const Value T::*value,
                               std::vector<std::uint32_t>& needed);

  CodeAges ages_;
  std::vector<BlockShape> blocks_;
  std::vector<ExitShape> exits_;
  std::vector<std::uint16_t> control_slots_;
};

}  // namespace loopfold::trace
