// Lookups in a dependence graph that every loop's judgement needs: what flows into a statement, what is inside a loop,
// which instructions pass values on.
//
// Built once, in time linear in the graph (sorting contexts apart); nothing here depends on a loop.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ddg/graph.h"
#include "poly/loop_flow.h"
#include "structure/loop_tree.h"
#include "trace/decode.h"

namespace loopfold::poly {

/// How an instruction passes a value on; graph.h has the definitions.
enum class Pass : std::uint8_t {
  kNone,
  kRegisterCopy,
  kSpill,  // of all its instances
  kLoad,   // a plain load: of all or some instances a reload, or of none
};

/// Lists of numbers by key.
class Lists {
 public:
  Lists() = default;
  /// keys[i] is the key of i; those of kNone are left out. Each list is in increasing order.
  static constexpr std::uint32_t kNone = 0xffffffff;
  Lists(std::size_t count, std::span<const std::uint32_t> keys);
  std::span<const std::uint32_t> operator[](std::size_t key) const {
    return {items_.data() + first_[key], first_[key + 1] - first_[key]};
  }

 private:
  std::vector<std::uint32_t> items_;
  std::vector<std::uint32_t> first_{0};
};

class FlowIndex {
 public:
  /// Both must outlive it.
  FlowIndex(const ddg::Graph& graph, const structure::LoopTree& tree);

  const ddg::Graph& graph() const { return graph_; }
  const structure::LoopTree& tree() const { return tree_; }

  /// Numbers in Graph::dependences, origins, accesses, values.
  std::span<const std::uint32_t> dependences_to(ddg::StatementId statement) const { return dependences_[statement]; }
  std::span<const std::uint32_t> origins_to(ddg::StatementId statement) const { return origins_[statement]; }
  std::span<const std::uint32_t> accesses_of(ddg::StatementId statement) const { return accesses_[statement]; }
  std::span<const std::uint32_t> values_of(ddg::StatementId statement) const { return values_[statement]; }

  /// Is the context in `of`, or `of` itself?
  bool inside(structure::ContextId context, structure::ContextId of) const {
    return first_[of] <= first_[context] && first_[context] <= last_[of];
  }
  /// The statements in a context and all below it.
  std::span<const ddg::StatementId> statements_in(structure::ContextId context) const;
  /// Instructions that ran in a context and all below it, and those of its statements.
  std::uint64_t instructions_in(structure::ContextId context) const;
  std::uint64_t statement_instructions_in(structure::ContextId context) const;

  std::uint16_t dimensions(ddg::StatementId statement) const { return dimensions_[statement]; }
  /// None for statements that are no code.
  const trace::InstructionFacts* facts(CodePoint at) const;
  Pass pass(CodePoint at) const { return passes_[first_point_[at.statement] + at.instruction]; }
  /// A plain load: was it no reload in some instance?
  bool sometimes_plain(CodePoint at) const { return plain_[first_point_[at.statement] + at.instruction]; }

  /// It restores a register for the caller, as every function does for every caller, or saves it for that: what it
  /// passes on is the same whatever else is decided.
  bool preserves(CodePoint at) const { return preserves_[first_point_[at.statement] + at.instruction]; }

  /// It loads what was spilled from the same register, or moves back what the same iteration has moved out of it: what
  /// it passes on is where it was.
  bool restores(CodePoint at) const { return restores_[first_point_[at.statement] + at.instruction]; }

  /// Whether an operand says nothing about values: the stack pointer, steps, what is only kept.
  static bool is_ignored(const trace::InstructionFacts* facts, std::uint8_t operand);
  /// Whether an operand of an instruction that passes a value on is that value.
  static bool is_passed(const trace::InstructionFacts& facts, std::uint8_t operand);

 private:
  void number_contexts();
  void sort_statements();
  void classify();
  void find_preserving();
  void find_restoring();

  const ddg::Graph& graph_;
  const structure::LoopTree& tree_;
  Lists dependences_, origins_, accesses_, values_;  // by statement
  std::vector<std::uint32_t> first_;                 // by context: its number in a walk of the tree
  std::vector<std::uint32_t> last_;                  // by context: of the last one below it
  std::vector<std::uint64_t> instructions_;          // by context, all below it included
  std::vector<ddg::StatementId> order_;              // statements by the number of their context
  std::vector<std::uint32_t> order_number_;          // that number
  std::vector<std::uint64_t> order_instructions_;    // of all statements before, in this order
  std::vector<std::uint16_t> dimensions_;            // by statement
  std::vector<std::uint32_t> first_point_;           // by statement: of its instructions
  std::vector<Pass> passes_;                         // by instruction
  std::vector<bool> plain_;                          // by instruction
  std::vector<bool> preserves_;                      // by instruction
  std::vector<bool> restores_;                       // by instruction
};

}  // namespace loopfold::poly
