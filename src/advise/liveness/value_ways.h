// Where the values of a variable come from and go to, seen from one loop: counted per dependence, exactly.
//
// Flow through memory is in the graph byte by byte, with the number of instances that each level carries. From that it
// follows, without any geometry, whether a variable gets values from before the loop, hands values from iteration to
// iteration, or is needed behind the loop; whatever of the dependence could not be folded. A load of which some
// instance has no producer reads what was there before anything was recorded: that is from before, too. So does one
// that is wider than what its producers store.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ddg/graph.h"
#include "poly/region_flow.h"
#include "poly/verdicts.h"
#include "structure/loop_tree.h"
#include "symbols/local_variables.h"

namespace loopfold::advise::liveness {

/// What is in a loop of the source.
struct Inside {
  std::uint16_t level = 0;                                   // its coordinate
  std::map<structure::ContextId, std::uint16_t> last;        // by copy: the same, or that of its innermost hidden level
  std::vector<ddg::StatementId> statements;                  // increasing
  std::map<ddg::StatementId, structure::ContextId> copy_of;  // the copy of the loop that it is in
  bool holds(ddg::StatementId statement) const { return copy_of.contains(statement); }
};

struct Ways {
  bool defined = false;
  bool from_before = false;                     // the loop reads what was there when it was entered
  bool carried = false;                         // from one of its iterations to another
  bool counter = false;                         // of a register: the loop's own
  bool to_behind = false;                       // what it leaves there is read later
  std::vector<const ddg::Dependence*> leaving;  // by which that happens
  std::string unknown;                          // not empty: not all of this is known, because
  std::uint64_t at = 0;                         // of a register: an instruction that puts a value into it
  bool handed = false;                          // of a register: an index value, to another iteration that uses it
  std::vector<poly::CodePoint> stepped;         // of a register: where it goes on from one iteration to the next
  std::vector<poly::CodePoint> set;             // of a register: all that put a value into it
  bool only_used = false;                       // of a register: known by what is read from it later
  bool only_known = false;                      // of no register: where its values go is not known
};

/// A value that a loop leaves in a register.
struct Left {
  poly::CodePoint at;  // that computes it
  const ddg::Dependence* use = nullptr;
  bool carried = false;  // and hands it on from iteration to iteration
  bool index = false;    // it could be computed from the iteration
};

class ValueWays {
 public:
  /// It loads, and does nothing else with what it gets.
  bool is_plain_load(poly::CodePoint at) const;
  /// A value of the loop is made of what was loaded in it, from somewhere that is no frame: it is no counter.
  bool comes_from_memory(poly::CodePoint at, const Inside& inside) const;

  ValueWays(const ddg::Graph& graph, const structure::LoopTree& tree);

  /// `whole`: an iteration is one of the loop that the binary has, and none of the level that this is of it
  /// (structure/splits.h).
  Inside inside(const poly::SourceLoop& loop, bool whole = false) const;
  std::span<const ddg::Access> accesses(ddg::StatementId statement) const;
  std::span<const ddg::Access* const> accesses_of(ddg::ObjectId object) const;
  std::span<const ddg::Dependence> into(ddg::StatementId to, std::uint16_t instruction) const;
  /// Numbers of the dependences on what a statement makes.
  std::span<const std::uint32_t> uses(ddg::StatementId from) const { return from_[from]; }
  /// A use that is none: functions that are called push registers, whatever is in them; those with a variable number of
  /// arguments store all that may hold one.
  bool is_saved(const ddg::Dependence& use) const;

  /// `accesses` are all of one variable in the loop.
  Ways of(std::span<const ddg::Access* const> accesses, const Inside& inside) const;

  /// A load of the loop that gets nothing that was stored in the loop since it was entered.
  bool is_input_only(const ddg::Access& load, const Inside& inside) const;

  /// What a store puts there is an index value of all loops, or a constant; copies on the way do not count.
  bool stores_index(const ddg::Access& store, const poly::RegionFlow& flow) const {
    return is_index({store.statement, store.instruction}, flow, 0);
  }

  /// What a store to a variable puts there is made of what was loaded from it: a counter goes on. `accesses` are all of
  /// the variable. Ways that do not end soon count as none.
  bool is_step(const ddg::Access& store, std::span<const ddg::Access* const> accesses) const;

  /// Some of what a store puts there is loaded in another iteration.
  bool is_carried(const ddg::Access& store, const Inside& inside) const;

  /// Some of what a load gets was stored in another iteration.
  bool gets_carried(const ddg::Access& load, const Inside& inside) const;

  /// What one of the loads gets from another iteration is used behind the loop; only copies are on the way.
  bool goes_behind_as_copy(std::span<const ddg::Access* const> accesses, const Inside& inside) const;

  /// What it leaves is passed on by copies, in this iteration, from another one that made it: `p = u; u = a[i];` leaves
  /// in p what the last iteration but one computed. The loop's counters, which every iteration knows, do not count.
  bool is_delayed(poly::CodePoint at, const Inside& inside, const poly::RegionFlow& flow) const;

  bool is_used_inside(poly::CodePoint at, const Inside& inside) const;

  /// What the loop's own function computes in it and leaves in a register that is used behind it: the last value of
  /// some variable. Sums of reductions are none, nor are counters and what is the same in every iteration.
  std::vector<Left> left_in_registers(const Inside& inside, const poly::FlowOfLoop& loop,
                                      const poly::RegionFlow& flow) const;

  /// By how much a value that goes on evenly grows in an iteration of a loop, if that is always the same. `at` computes
  /// it, or passes it on.
  std::optional<std::int64_t> step_of(poly::CodePoint at, const Inside& inside, int depth = 0) const;

  /// Null, or why a statement that is not code may use any memory.
  const char* uses_any_memory(ddg::StatementId statement) const;

  /// A variable that is in registers, or computed from them, while the loop's own function runs (register_ways.cc).
  Ways of_register(const symbols::LocalVariable& variable, const Inside& inside, const poly::FlowOfLoop& loop,
                   const poly::RegionFlow& flow) const;

 private:
  class OfRegister;
  class Copies;
  bool is_never_used(poly::CodePoint at) const;
  /// What a register has is copied only, and nothing is ever done with the copies (saved_registers.cc).
  bool is_only_saved(const ddg::Dependence& use) const;
  bool is_copy(poly::CodePoint at, std::uint8_t operand) const;
  std::vector<poly::CodePoint> copied_from(poly::CodePoint at, const Inside& inside,
                                           std::vector<poly::CodePoint>* carried) const;
  bool is_recurrence(poly::CodePoint at, const Inside& inside) const;
  /// How often a dependence goes each way.
  struct Counts {
    std::uint64_t before = 0;
    std::uint64_t carried = 0;
    std::uint64_t within = 0;
    std::uint64_t all() const { return before + carried + within; }
  };
  bool is_index(poly::CodePoint at, const poly::RegionFlow& flow, int depth) const;
  Counts counts_of(const ddg::Dependence& dependence, const Inside& inside) const;
  structure::ContextId innermost_level(structure::ContextId loop) const;
  void add_uses(ddg::StatementId from, std::uint16_t instruction, const Inside& inside, bool memory, Ways& ways) const;
  void add_sources(const ddg::Access& load, const Inside& inside, Ways& ways) const;

  const ddg::Graph& graph_;
  const structure::LoopTree& tree_;
  std::vector<std::uint32_t> first_access_;       // by statement
  std::vector<std::vector<std::uint32_t>> from_;  // by statement: dependences
  std::vector<std::vector<const ddg::Access*>> of_object_;
  bool knows_all_ = false;  // all of the program was followed
};

}  // namespace loopfold::advise::liveness
