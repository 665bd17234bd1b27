// The flow that a new order of loops must keep, collected while loops are judged one by one.
//
// A schedule of several loops needs the flow of all of them at once. Each loop's judgement (verdicts.h) says what the
// loop carries that must stay in order: what every iteration can compute for itself, load again, or has in a register
// only because the compiler put it there, is gone. What goes from one statement to another within one iteration of the
// innermost loop around both must be kept, too, unless it is an index value of every loop around its producer: such a
// value can be computed anew wherever it is used.
//
// But where it is used must come behind all that it is made of. A sum over an inner loop may be the same in every
// iteration of the outer one, and an index value of that; in the inner loop it is data, and whatever is computed from
// it behind that loop, or decided by it, is *bound* to come later. What is bound is no index value here, and it is
// kept:
//   for (i...) { for (j...) s += b[j];  t = 2 * s;  if (s > i) c[i] = t; }
// Copies that a loop sees through, and that run because something bound said so, are choices: their own flow is kept.
//
// A loop whose judgement is in doubt is *opaque*: something about its flow is not known, so its iterations keep their
// order, and what it contains may be reordered only within one iteration of it.
//
// What decides how often a loop goes round, a bound that was loaded before it, decides about all that is in it:
// whatever flows from outside into the test of a loop must come before all of the loop (program.h).
//
// One loop may see through a copy, and another may not (loop_values.h). A flow that an outer loop sees inside its
// iterations, and that the innermost loop around both ends does not know at all, is kept as one of unknown distance.
//
// Sizes are linear in the flow of the loops, times their depth.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ddg/graph.h"
#include "poly/loop_flow.h"
#include "poly/verdicts.h"
#include "structure/loop_tree.h"
#include "structure/structure.h"

namespace loopfold::poly {

/// One way of a value, or of a decision.
struct KeptFlow {
  enum class Kind : std::uint8_t { kRegister, kMemory, kEnvironment, kControl };
  enum class Where : std::uint8_t {
    kCarried,  // from an earlier iteration of the loop
    kInside,   // within an iteration of the innermost loop around both
    kWithin,   // within an iteration of the loop, in whatever way: inner loops may carry it
  };
  CodePoint from;
  CodePoint to;
  std::uint8_t operand = 0;
  std::uint16_t lane = 0;
  Kind kind = Kind::kRegister;
  Where where = Where::kInside;
  bool direct = false;  // the graph has a dependence of just this
  bool reduction = false;
  trace::Associative operation = trace::Associative::kNone;  // of a reduction
  bool exits = false;  // a decision whether there is more of the loop, over what comes behind it in the iteration
  ddg::ObjectId object = ddg::kUnknownObject;
  std::int64_t least = 0;  // distance in iterations, if carried; both 0: not known
  std::int64_t greatest = 0;
  std::uint64_t count = 0;
};

/// What must be kept of one loop of the source.
struct FlowOfLoop {
  SourceLoop loop;
  std::uint16_t level = 0;  // its coordinate in iteration vectors
  Parallel parallel = Parallel::kUnknown;
  std::string doubt;  // not empty: it is opaque, because
  std::vector<KeptFlow> flows;
  std::vector<CodePoint> exits;  // branches on data that decide whether there is a next iteration
  /// Instructions whose values count for all of the loop: those by which it is decided how often it goes round, in
  /// whatever way, and those that make what is carried and not kept, with all in the loop that leads to them.
  std::set<CodePoint> heads;
  std::set<CodePoint> tests;  // of these, the former
  /// What hands index values of this loop to its tests, whatever they are in loops around it: with what was there
  /// before the loop, each iteration can tell whether it is one.
  std::set<CodePoint> counts;
};

class RegionFlow {
 public:
  RegionFlow(const ddg::Graph& graph, const structure::Structure& structure, const structure::LoopTree& tree);

  /// A VerdictOptions::on_loop. Loops come before those inside them.
  void add(const JudgedLoop& judged);
  /// After all loops: what is left out because it can be computed anew is left out.
  void finish();

  std::span<const FlowOfLoop> loops() const { return loops_; }
  /// Its results are index values of all loops around it that were judged, and not bound.
  bool is_index(CodePoint at) const { return points_[first_point_[at.statement] + at.instruction] == State::kIndex; }
  /// The innermost context of kind kLoop around both; kNoContext if there is none.
  structure::ContextId loop_around(structure::ContextId a, structure::ContextId b) const;
  /// The same of one.
  structure::ContextId loop_around(structure::ContextId context) const { return innermost_[context]; }

 private:
  enum class State : std::uint8_t { kUnseen, kIndex, kBound, kData };
  /// A decision that is an index value of the loop that was judged.
  struct Decision {
    std::uint32_t loop = 0;  // in loops_
    ddg::StatementId from = 0;
    ddg::StatementId to = 0;
    bool exits = false;  // whether there is another iteration of the innermost loop around both
  };
  using Pair = std::pair<CodePoint, CodePoint>;

  void add_index(const JudgedLoop& judged);
  void add_flows(const JudgedLoop& judged, FlowOfLoop& into);
  static void add_turns(const JudgedLoop& judged, FlowOfLoop& into);
  void add_control(const JudgedLoop& judged, FlowOfLoop& into);
  KeptFlow flow_of(const JudgedLoop& judged, std::uint32_t edge) const;
  bool can_be_computed_anew(const KeptFlow& flow) const;
  void add_tests(ddg::StatementId decider, FlowOfLoop& into) const;
  static void add_counts(const JudgedLoop& judged, FlowOfLoop& into);
  static void add_heads(const JudgedLoop& judged, FlowOfLoop& into);
  void find_bounds_inside();
  void find_bound();
  void keep_decisions();
  void keep_choices();
  void add_choice(const ddg::Dependence& dependence);
  KeptFlow control_of(ddg::StatementId from, ddg::StatementId to) const;
  std::uint32_t position(ddg::StatementId statement, structure::ContextId loop) const;
  std::uint32_t point(CodePoint at) const { return first_point_[at.statement] + at.instruction; }
  std::uint32_t branch_point(ddg::StatementId statement) const { return first_point_[statement + 1] - 1; }
  bool is_in(ddg::StatementId statement, const FlowOfLoop& loop) const;

  const ddg::Graph& graph_;
  const structure::Structure& structure_;
  const structure::LoopTree& tree_;
  std::vector<structure::ContextId> innermost_;  // by context: loop around it, or itself
  std::vector<std::uint32_t> depth_;             // by context
  std::vector<std::uint32_t> first_point_;       // by statement, and one more
  std::vector<State> points_;                    // by instruction
  std::vector<bool> seen_through_;  // by instruction: a copy that some loop sees through, no restored register
  std::vector<bool> chosen_;        // by statement: something bound decides whether it runs
  std::vector<Decision> decisions_;
  std::vector<FlowOfLoop> loops_;
  std::vector<std::uint32_t> loop_of_;                      // by context: in loops_
  std::vector<std::pair<std::uint32_t, KeptFlow>> deeper_;  // seen by a loop, and inside another one in it
  std::vector<std::set<Pair>> known_;                       // by loop: ends of all its flow
};

}  // namespace loopfold::poly
