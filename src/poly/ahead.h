// What one iteration computes for the next one because a compiler has moved it there, not because the source says so.
//
// A loop with its test at the bottom has computed the end of the next iteration's range when it gets there; a compiler
// that needs the same value in the body keeps it. GCC's predictive commoning and clang's strength reduction keep the
// address of an element for the next iteration. In the binary such a value is carried, and it is no induction variable.
// What the source itself keeps (`previous = a[i] * a[i]`) looks much the same, and is a dependence. So two things are
// asked: whether the next iteration could compute the value for itself, and what speaks for a compiler.
//
// - *The address of the element before.* Iteration i + 1 loads, by an address that iteration i computed, from where
//   another load of iteration i has loaded: as functions of the iteration the two addresses are the same but for a
//   shift by one, from the first iteration on. The address is an index value, and a line through all iterations: what
//   comes to the first one from before the loop lies on it, too. (Of a loop of two iterations that are three elements
//   in a row, as two loads are compared, so that no two values are taken for a line.) Every iteration can compute it,
//   and what it loads is in the flow by itself. This is the kept element (`previous = a[i]`) that is loaded again.
// - *What the test computed.* The value is the same in every iteration of an entry, by what it is made of: constants,
//   what was there before the loop, and cells that the loop does not write. The first iteration gets it from an
//   instruction before the loop of the same kind, of the same line (in the same inlined calls), and with the same
//   values in all entries. So every iteration finds in its register what was there when the loop was entered: none
//   needs another one. If that instruction before the loop belonged to a first iteration that was taken out of the
//   loop, the source's second iteration might need its first one after all; then the stores of that iteration would
//   stand before the loop as well. So there must be a store in every iteration, to cells that change (a store to one
//   cell may have been dropped as overwritten), and no instruction beside the loop may have the line of any of its
//   stores.
// - *Computed ahead*, a doubt only. The value can be computed anew: of induction variables, of what was there before
//   the loop and of cells that the loop does not write. The first iteration gets it from an instruction before the loop
//   of the same kind and of the same place in the source, line and column. So the expression stands once in the source,
//   and whether it is the next iteration's that was moved up, or this one's whose first instance was taken out of the
//   loop, does not show.
// - *The counter's mirror*, a doubt only. A cell that gets the value of the counter that ends the loop, after each
// step,
//   by an instruction without a line. If the counter is a global variable, and a callee reads it, clang keeps it in a
//   register and stores it where the source steps it; a variable of the source that follows the counter (`last = i +
//   1`) is stored in the same way, and both stores can have lost their lines.
//
// Without debug information nothing speaks for a compiler, and only the first and the last apply. Cost: for each
// carried edge that nothing else explains, what it is computed from, and for the second the instructions beside the
// loop.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "poly/control.h"
#include "poly/flow_index.h"
#include "poly/loop_values.h"
#include "symbols/symbolizer.h"

namespace loopfold::poly {

class Ahead {
 public:
  /// The calls that an instruction was inlined by, innermost first; empty if nothing is known.
  using Frames = std::function<std::vector<symbols::Frame>(CodePoint)>;

  /// All must outlive it.
  Ahead(const FlowIndex& index, const Control& control, const LoopValues& values, Frames frames);

  /// A load of the same iteration from where a carried address leads the next iteration to: the address need not be
  /// carried.
  std::optional<CodePoint> element_before(const FlowEdge& edge) const;
  /// Whether an edge that is no carried address, but may stand for one, leads to such a load.
  bool leads_to_element_before(const FlowEdge& edge) const { return load_before(edge.to).has_value(); }
  /// What a carried edge brings is in its register already when the loop is entered.
  bool is_kept_constant(const FlowEdge& edge) const;
  /// It may be the next iteration's own, or a copy of the loop's counter: neither can be told from what is carried.
  bool is_computed_ahead(const FlowEdge& edge) const;
  bool mirrors_counter(const FlowEdge& edge) const;

 private:
  std::optional<CodePoint> load_before(std::uint32_t node) const;
  const ddg::Access* only_load(std::uint32_t node) const;
  bool runs_once(std::uint32_t node) const;
  bool comes_from(const FlowEdge& edge) const;
  std::optional<std::vector<CodePoint>> starts(const FlowEdge& edge) const;
  bool starts_alike(const FlowEdge& edge, bool columns) const;
  bool same_values(CodePoint start, std::uint32_t node) const;
  bool can_compute(std::uint32_t node, std::set<std::uint32_t>& above) const;
  bool has_stores_of_its_own() const;
  bool moves(CodePoint store) const;

  const FlowIndex& index_;
  const ddg::Graph& graph_;
  const Control& control_;
  const LoopValues& values_;
  const LoopFlow& flow_;
  Frames frames_;
};

}  // namespace loopfold::poly
