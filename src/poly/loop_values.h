// The values of one loop: which of them are index values, which copies the loop sees through, and so what flows where.
//
// An *index value* of a loop can be computed from the numbers of its iterations and what was there before it: all
// operands are constants, index values, or come from before the loop and are the same in every iteration of that entry;
// a loaded cell that the loop writes is written by index values only, at an unchanging address; whether it runs at all
// is not decided by data. A value that the loop carries to its own computation must also be affine along the loop, by
// value: then it is an induction variable. "The same" is about where a value comes from, never about equal values.
//
// The greatest fixed point: everything is an index value and every copy is seen through until something speaks against
// it. What is found to be data may make a branch data-decided; copies and loads under such a branch are not seen
// through, which changes the flow; so flow and values are found in turns, and every turn only takes away. Each turn is
// linear in the flow of the loop, and few are needed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "poly/control.h"
#include "poly/flow_index.h"
#include "poly/loop_flow.h"
#include "poly/verdicts.h"

namespace loopfold::poly {

/// What is known about an edge beside the edge itself.
struct EdgeFacts {
  bool load = false;            // the value is what a plain load got
  bool even = false;            // ... and its address advances evenly, whichever load it was
  std::uint64_t rewritten = 0;  // of the carried ones: the cell has been written since
  std::uint64_t reread = 0;     // of the others: the cell's writer is carried, too
  std::uint64_t turns = 0;      // instances that come from before the loop, from elsewhere than the last time
  std::uint64_t varies = 0;     // the same, where each was brought from there in its own iteration
  std::uint64_t window = 0;     // as turns, where the addresses advance evenly: elements of an array, one by one

  /// What comes from before the loop is not always the same.
  bool differs() const { return turns > 0 || varies > 0; }
};

class LoopValues {
 public:
  /// `scratch` is by statement, all FlowEdge::kOutside, and is left so.
  /// `whole`: of a level of a loop that is split.
  LoopValues(const FlowIndex& index, const Control& control, const SourceLoop& loop,
             std::vector<std::uint32_t>& scratch, const WholeLoop* whole = nullptr);
  ~LoopValues();
  LoopValues(const LoopValues&) = delete;
  LoopValues& operator=(const LoopValues&) = delete;

  const LoopFlow& flow() const { return flow_; }
  const FlowIndex& index() const { return index_; }
  const EdgeFacts& facts(std::uint32_t edge) const { return edge_facts_[edge]; }
  std::span<const ddg::StatementId> statements() const { return statements_; }

  /// The node of an instruction; kOutside if it is not in the loop.
  std::uint32_t node(CodePoint at) const {
    return base_[at.statement] == FlowEdge::kOutside ? FlowEdge::kOutside : base_[at.statement] + at.instruction;
  }
  /// Whether what a statement decides (control.h) is decided by data, in this loop.
  bool decides_by_data(ddg::StatementId statement) const;
  /// Whether the loop had come to this test or had ended before it, by data.
  bool is_led_by_data(ddg::StatementId statement) const { return led_[base_[statement]]; }
  /// A repeated string instruction that goes on as its counter says; what it steps are pointers and that counter.
  bool counts_repetitions(std::uint32_t node) const;
  /// Its step and test are one of several ways to end an iteration, all of which do the same.
  bool ends_alike(ddg::StatementId statement) const;
  /// Of a test that ends the loop and is no matter of data: it compares what grows evenly, so that the number of
  /// iterations is known before they run.
  bool counts_iterations(ddg::StatementId statement) const;
  /// The last instruction of a statement in the loop.
  std::uint32_t branch_node(ddg::StatementId statement) const;
  /// An induction variable, or a copy of one: every iteration can compute it for itself.
  bool is_computable(std::uint32_t node, int depth = 0) const;
  /// Every operand that forms its address is an index value, and it is not under a decision by data.
  bool can_be_repeated(std::uint32_t node) const;
  /// Only the ends of loops decide whether it runs: it runs in every iteration, in the same way. `or_never`: conditions
  /// that are the same in every iteration of an entry may decide, too.
  bool runs_always(ddg::StatementId statement, bool or_never = false) const;
  /// It is made, in each iteration anew, of constants and of what was there before the loop.
  bool is_unchanging(std::uint32_t node) const;
  /// An index value that is computed in every iteration, and lies on a line through all of them, by its values.
  bool is_line(std::uint32_t node) const {
    return !data_[node] && steady_[node] && runs_always(flow_.nodes[node].at.statement);
  }
  /// It is no index value only because there is no record of its values.
  bool is_unvalued(std::uint32_t node) const { return unvalued_[node]; }

 private:
  using Kind = ddg::Dependence::Kind;

  void add_statements(const WholeLoop* whole);
  void judge_alone();
  bool is_steady(CodePoint at) const;
  bool has_value(CodePoint at) const;
  bool is_condition(CodePoint at) const;
  bool masks(std::uint32_t node) const;
  bool is_cut_off(const FlowEdge& edge) const;
  bool bends(std::uint32_t node) const;

  bool find_decided();
  bool find_opaque();
  bool passes_opaque(const ddg::Statement& statement, std::uint16_t instruction) const;

  void build_edges();
  void materialise(CodePoint at);
  void edges_to(const ddg::Statement& statement);
  void direct_edges(const ddg::Statement& statement);
  void local_edges(const ddg::Statement& statement);
  void local_edge(const ddg::Statement& statement, const ddg::LocalFlow& flow, std::uint16_t from, int depth);
  void spilled_edges(const ddg::Statement& statement, const ddg::LocalFlow& flow, std::uint16_t load, int depth);
  bool is_local_spill(const ddg::Dependence& d) const;
  void edges_of_local_spill(const ddg::Statement& statement, const ddg::Dependence& d);
  void origin_edges(const ddg::Statement& statement);
  bool has_origins(const ddg::Dependence& dependence) const;
  bool sees_through(std::uint32_t node) const { return flow_.nodes[node].copy && !opaque_[node]; }
  bool passes_on(std::uint32_t node, std::uint8_t operand) const;
  bool consumes(std::uint32_t node, std::uint8_t operand) const;
  void find_refreshing();
  bool is_refreshing(std::uint32_t node) const;
  bool is_read_before(const ddg::Dependence& d, const ddg::Access& cell) const;
  bool is_same_cell(const ddg::Access& one, const ddg::Access& other) const;
  const ddg::Access* only_load(CodePoint at) const;
  void find_handing();
  bool merges(std::uint32_t node) const;
  bool makes_frame(std::uint32_t copy) const;
  bool hands_on(const ddg::Origin& origin, std::uint32_t by, std::uint32_t to) const;
  bool is_moved(const ddg::Origin& origin, std::uint32_t by) const;
  bool is_carried(const ddg::Origin& origin) const;
  bool keeps_place(std::uint32_t copy, bool seen_always) const;
  bool runs_in_each(ddg::StatementId statement, bool as_often) const;
  void add_edge(FlowEdge edge, EdgeFacts facts);
  void set_distance(const fold::Folded& map, FlowEdge& edge) const;
  FlowEdge counted(std::span<const std::uint64_t> carried, CodePoint from) const;

  void find_data();
  bool find_recurrences();
  bool find_state();
  bool goes_on_in_memory(std::uint32_t from, const FlowEdge& stored) const;
  bool starts_in(CodePoint at, ddg::ObjectId object, int depth) const;
  static bool is_frame_access(const trace::InstructionFacts& facts);
  struct Test {
    std::uint32_t steps = 0;  // as in agreed_
    std::uint32_t compare = FlowEdge::kOutside;
  };
  void find_agreed();
  bool are_one_step(std::uint32_t a, std::uint32_t b) const;
  bool make_a_chain(std::span<const std::uint32_t> nodes);
  bool run_in_all(std::span<const std::uint32_t> nodes) const;
  bool is_same_test(ddg::StatementId one, std::uint32_t compare, ddg::StatementId other, std::uint32_t with) const;
  std::optional<Test> tested_step(ddg::StatementId statement) const;
  bool agree(std::span<const std::uint32_t> nodes) const;
  bool is_anchored(std::uint32_t node) const;
  bool adds_constant(std::uint32_t node) const;
  bool is_on_every_round(ddg::StatementId statement) const;
  bool once_per_iteration(ddg::StatementId statement) const;
  bool decides_alike(ddg::StatementId statement) const;
  bool is_unchanging(std::uint32_t node, std::vector<bool>& above) const;
  void mark_recurrences();
  std::vector<std::uint32_t> components(const std::vector<bool>& left_out) const;

  const FlowIndex& index_;
  const Control& control_;
  std::vector<std::uint32_t>& base_;  // by statement: its first node
  LoopFlow flow_;
  std::vector<EdgeFacts> edge_facts_;
  std::vector<ddg::StatementId> statements_;
  std::vector<ddg::StatementId> exits_;  // statements that decide the loop's exit
  std::vector<Pass> passes_;             // by node
  std::vector<bool> data_;               // by node
  std::vector<bool> refreshing_;         // by node: a load that gets again what its register holds
  std::vector<bool> opaque_;             // by node: passes values on, and is not seen through
  std::vector<bool> materialised_;       // by node: seen through, and a node all the same
  std::vector<bool> before_;             // by node: a copy that may pass on what was there before the loop
  std::vector<bool> handed_[2];          // by node: see find_handing; for uses in some or in all iterations
  std::vector<bool> moved_;              // by node: the same, wherever it was put
  bool tells_lines_ = false;             // it has iterations enough to tell affine values from others
  std::vector<bool> steady_;             // by node: its values are affine along the loop
  std::vector<bool> unvalued_;           // by node
  std::vector<bool> led_;              // by first node of a statement: data decide that it runs, or that the loop ends
  std::vector<std::uint32_t> agreed_;  // by node: 0, or the number of steps of which every iteration makes one
  std::vector<bool> chained_;          // by node: a step that no iteration between its first and last one leaves out
  std::vector<bool> known_;            // by node: an index value of the whole loop, and so of this level
};

}  // namespace loopfold::poly
