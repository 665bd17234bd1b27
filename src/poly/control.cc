// From nodes to statements. Three passes over the contexts, in an order in which what is needed is there:
// - from the leaves up: for calls that do not always come back, the branches in the callee that decide it;
// - from the root down: for every activation, what decides its call; and with it what decides each statement;
// - for every loop, the branches at its ways out.
//
// Sets are made once per spot and shared by its statements, and where a spot has no deciders in its function, with its
// call. Control dependence is computed once per function. Cost: sorting the statements and contexts, one look-up per
// decider of a spot, and the size of the result; control dependence itself may be quadratic in nested do-loops, and in
// a recursive component every statement that runs whenever its function is called, and has other deciders too, has a
// set of its own.
#include "poly/control.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "poly/function_control.h"
#include "poly/spots.h"
#include "trace/decode.h"

namespace loopfold::poly {

using ddg::Statement;
using ddg::StatementId;
using structure::Context;
using structure::ContextId;
using structure::FunctionId;
using structure::kNoContext;
using structure::kNoFunction;
using structure::NodeId;
using structure::PlaceId;

class ControlBuilder {
 public:
  ControlBuilder(const ddg::Graph& graph, const structure::Structure& structure, const structure::LoopTree& tree,
                 Control& result)
      : graph_(graph),
        structure_(structure),
        tree_(tree),
        spots_(graph, structure, tree),
        result_(result),
        functions_(structure.flow.functions().size()) {
    result_.sets_.emplace_back();
    find_endings();
    find_unwinding();
    find_unwound_callees();
    find_call_deciders();
    find_deciders();
    find_exit_deciders();
    find_one_way();
  }

 private:
  using SetId = std::uint32_t;
  static constexpr SetId kNoSet = 0xffffffff;
  static constexpr SetId kEmpty = 0;

  /// A set in the making.
  struct Found {
    std::vector<StatementId> statements;
    bool whole = true;
  };

  // ---- Sets -------------------------------------------------------------------------------------------------------

  SetId make(Found found) {
    std::sort(found.statements.begin(), found.statements.end());
    found.statements.erase(std::unique(found.statements.begin(), found.statements.end()), found.statements.end());
    if (found.statements.empty() && found.whole) return kEmpty;
    result_.sets_.push_back({result_.pool_.size(), found.statements.size(), found.whole});
    result_.pool_.insert(result_.pool_.end(), found.statements.begin(), found.statements.end());
    return static_cast<SetId>(result_.sets_.size() - 1);
  }
  void add(SetId set, Found& into) const {
    const std::span<const StatementId> members = result_.members(set);
    into.statements.insert(into.statements.end(), members.begin(), members.end());
    into.whole = into.whole && result_.sets_[set].whole;
  }
  SetId unite(Found found, SetId other) {
    if (found.statements.empty() && found.whole) return other;
    add(other, found);
    return make(std::move(found));
  }

  // ---- Code -------------------------------------------------------------------------------------------------------

  const FunctionControl& control(FunctionId function) {
    std::unique_ptr<FunctionControl>& control = functions_[function];
    if (!control) control = std::make_unique<FunctionControl>(structure_, function);
    return *control;
  }
  PlaceId place_of(const Spot& spot) const { return structure_.flow.functions()[spot.function].places[spot.node]; }
  bool hidden(const Spot& spot) const { return place_of(spot) == structure_.code.hidden(); }
  /// trace::Kind bits of the last instruction.
  std::uint32_t ending(const Spot& spot) const { return endings_[place_of(spot)]; }
  bool calls(const Spot& spot) const { return (ending(spot) & trace::kCall) != 0; }

  /// Of the longest piece of code that ran at each place, and of all as long. Where there are no statements, what the
  /// way out of the block tells.
  void find_endings() {
    endings_.resize(structure_.code.places());
    for (trace::ExitId id = 0; id < structure_.code.exits().size(); ++id) {
      const structure::ExitCode& exit = structure_.code.exit(id);
      if (exit.parts != 0) endings_[structure_.code.parts(exit).back().place] |= kinds_of(exit.kind);
    }
    std::vector<std::size_t> lengths(endings_.size());
    for (const Statement& statement : graph_.statements) {
      if (statement.kind != Statement::Kind::kCode || statement.instructions.empty()) continue;
      const std::size_t length = statement.instructions.size();
      if (length < lengths[statement.place]) continue;
      if (length > lengths[statement.place]) endings_[statement.place] = 0;
      lengths[statement.place] = length;
      endings_[statement.place] |= statement.instructions.back().kinds;
    }
  }

  static std::uint32_t kinds_of(trace::ExitKind kind) {
    if (kind == trace::ExitKind::kCall) return trace::kCall;
    if (kind == trace::ExitKind::kIndirectCall) return trace::kCall | trace::kIndirect;
    if (kind == trace::ExitKind::kIndirectJump) return trace::kBranch | trace::kIndirect;
    return kind == trace::ExitKind::kReturn ? std::uint32_t{trace::kReturn} : 0;
  }

  /// Which functions, and with them which recursive components, were ever left without a return? And which by one? A
  /// function that jumps into another one is left as that one is.
  void find_unwinding() {
    unwinds_.resize(functions_.size());
    returns_.resize(functions_.size());
    component_unwinds_.resize(structure_.recursion.size());
    for (const structure::CallSite& site : structure_.flow.calls())
      if (!calls({kNoContext, site.caller, site.node})) tail_calls_.push_back(site);
    for (FunctionId id = 0; id < unwinds_.size(); ++id) {
      const structure::Function& function = structure_.flow.functions()[id];
      for (std::size_t i = 0; i < function.exits.size(); ++i) {
        if ((function.left[i] & structure::kLeftByUnwinding) != 0) set_unwinds(id);
        if ((function.left[i] & structure::kLeftByReturn) != 0 && !is_tail_call(id, function.exits[i]))
          returns_[id] = true;
      }
    }
    while (pass_tail_calls()) {
    }
    unwound_inside_.resize(functions_.size());
    for (const structure::CallSite& site : structure_.flow.calls())
      if (may_unwind(site.callee)) unwound_inside_[site.caller] = true;
  }
  void set_unwinds(FunctionId id) {
    unwinds_[id] = true;
    if (spots_.recursive(id)) component_unwinds_[structure_.recursion.component_of(id)] = true;
  }
  bool is_tail_call(FunctionId caller, NodeId node) const {
    const auto before = [](const structure::CallSite& a, const structure::CallSite& b) {
      return std::pair(a.caller, a.node) < std::pair(b.caller, b.node);
    };
    return std::binary_search(tail_calls_.begin(), tail_calls_.end(), structure::CallSite{caller, node, 0}, before);
  }
  /// Did that change anything?
  bool pass_tail_calls() {
    bool changed = false;
    for (const structure::CallSite& site : tail_calls_) {
      if (may_unwind(site.callee) && !may_unwind(site.caller)) {
        set_unwinds(site.caller);
        changed = true;
      }
      if (returns_[site.callee] && !returns_[site.caller]) returns_[site.caller] = changed = true;
    }
    return changed;
  }
  bool may_unwind(FunctionId function) const {
    return spots_.recursive(function) ? component_unwinds_[structure_.recursion.component_of(function)]
                                      : unwinds_[function];
  }

  /// How many functions were called at a spot. In a recursive component contexts do not tell.
  std::size_t callees(const Spot& spot) {
    if (spots_.recursive(spot.function)) return control(spot.function).callees(spot.node);
    std::vector<FunctionId> found;
    for (const ContextId callee : spots_.callees().at(spot)) found.push_back(tree_[callee].function);
    std::sort(found.begin(), found.end());
    return static_cast<std::size_t>(std::unique(found.begin(), found.end()) - found.begin());
  }

  /// Is there a call that did not come back, at times?
  bool unwound_by_callee(const Spot& spot) {
    if (control(spot.function).recurses(spot.node) && may_unwind(spot.function)) return true;
    const std::span<const ContextId> callees = spots_.callees().at(spot);
    return std::any_of(callees.begin(), callees.end(), [&](ContextId id) { return may_unwind(tree_[id].function); });
  }

  /// How many ways control went on by the last instruction of a spot that is no call.
  std::size_t ways_of_jump(const Spot& spot) {
    const FunctionControl& function = control(spot.function);
    const std::size_t out = function.left_at(spot.node) ? std::max<std::size_t>(1, callees(spot)) : 0;
    return function.successors(spot.node) + out;
  }

  /// Does the last instruction itself decide how control goes on, or what is called?
  bool decides(const Spot& spot) {
    if (hidden(spot)) return true;
    if (!calls(spot)) return ways_of_jump(spot) > 1;
    if ((ending(spot) & trace::kIndirect) != 0 && callees(spot) > 1) return true;
    return control(spot.function).ways(spot.node) > 1 && !unwound_by_callee(spot);
  }

  // ---- Statements that decide -------------------------------------------------------------------------------------

  /// The statements of a spot that decides.
  void add_statements(const Spot& spot, Found& into) {
    const std::size_t before = into.statements.size();
    const bool branches = (ending(spot) & (trace::kBranch | trace::kRepeat)) != 0;
    for (const StatementId id : spots_.statements().at(spot))
      if (graph_.statements[id].kind == Statement::Kind::kCode || !branches) into.statements.push_back(id);
    if (hidden(spot)) add_hidden_before(spot, into);
    if (into.statements.size() == before && (hidden(spot) || spots_.thin(spot))) into.whole = false;
  }

  /// Hidden code has its statement where it was called.
  void add_hidden_before(const Spot& spot, Found& into) {
    for (const NodeId from : structure_.flow.functions()[spot.function].graph.predecessors(spot.node))
      for (const StatementId id : spots_.statements().at({spot.base, spot.function, from}))
        if (graph_.statements[id].kind == Statement::Kind::kHidden) into.statements.push_back(id);
  }

  /// A node from which control went several ways: what decided?
  void add_decider(const Spot& spot, Found& into) {
    const bool by_callee = calls(spot) && unwound_by_callee(spot);
    if (by_callee) add_unwound_callees(spot, into);
    if (!by_callee || decides(spot)) add_statements(spot, into);
  }

  /// What decides in the function itself.
  Found direct(const Spot& spot, bool& call) {
    const FunctionControl::Deciders deciders = control(spot.function).deciders(spot.node);
    Found found;
    for (const NodeId node : deciders.nodes) add_decider({spot.base, spot.function, node}, found);
    call = deciders.call;
    return found;
  }

  // ---- Calls that do not come back --------------------------------------------------------------------------------

  /// What decides that a call does not come back, and where control goes on instead.
  struct Unwound {
    SetId whether = kEmpty;  // branches
    SetId where = kEmpty;    // the jumps by which frames are left
  };

  /// By context of a call, from the leaves up.
  void find_unwound_callees() {
    unwound_.resize(tree_.contexts().size());
    for (std::size_t i = unwound_.size(); i-- > 1;) {
      const auto id = static_cast<ContextId>(i);
      const Context& context = tree_[id];
      if (context.kind == Context::Kind::kLoop || context.kind == Context::Kind::kStart) continue;
      if (!may_unwind(context.function)) continue;
      if (context.kind == Context::Kind::kRecursion)
        unwound_[id] = {unwound_component(id), unwinding_jumps(spots_.statements().with_base(id))};
      else if (!spots_.recursive(context.function))
        unwound_[id] = {unwound_function(unwound_spots(id)), unwinding_jumps(unwound_spots(id))};
    }
  }

  /// Is the function left there without a return, by itself or by what it jumps into?
  bool unwound_at(const Spot& spot) { return control(spot.function).unwound_at(spot.node) || jumps_into_unwound(spot); }
  bool jumps_into_unwound(const Spot& spot) {
    return !calls(spot) && control(spot.function).left_at(spot.node) && unwound_by_callee(spot);
  }

  std::vector<Spot> unwound_spots(ContextId base) {
    const FunctionId function = tree_[base].function;
    std::vector<Spot> found;
    for (const NodeId node : control(function).left())
      if (unwound_at({base, function, node})) found.push_back({base, function, node});
    return found;
  }

  /// Of these spots and their callees: the system call by which a thread ends has no choice, and is none.
  SetId unwinding_jumps(const std::vector<Spot>& spots) {
    Found found;
    for (const Spot& spot : spots) {
      if (!unwound_at(spot)) continue;
      for (const ContextId callee : spots_.callees().at(spot)) add(unwound_[callee].where, found);
      const bool jumps = !calls(spot) && (ending(spot) & (trace::kIndirect | trace::kReturn)) != 0;
      if (jumps && control(spot.function).unwound_at(spot.node)) add_statements(spot, found);
    }
    return make(std::move(found));
  }

  SetId unwound_function(const std::vector<Spot>& spots) {
    Found found;
    std::vector<NodeId> nodes;
    for (const Spot& spot : spots) {
      nodes.push_back(spot.node);
      add_unwinding(spot, found);
    }
    if (spots.empty()) return kEmpty;
    const Spot& first = spots.front();
    for (const NodeId node : control(first.function).all_deciders(nodes))
      add_decider({first.base, first.function, node}, found);
    return make(std::move(found));
  }

  /// Every branch of the component.
  SetId unwound_component(ContextId base) {
    Found found;
    found.whole = !spots_.thin_region(base);
    for (const Spot& spot : spots_.statements().with_base(base)) add_unwinding(spot, found);
    return make(std::move(found));
  }

  /// What a spot has to do with how its function is left.
  void add_unwinding(const Spot& spot, Found& into) {
    const FunctionControl& function = control(spot.function);
    if (function.ways(spot.node) > 1 || decides(spot)) add_decider(spot, into);
    if (!calls(spot) && function.returned_at(spot.node) && function.unwound_at(spot.node)) add_statements(spot, into);
    if (!jumps_into_unwound(spot)) return;
    for (const ContextId callee : spots_.callees().at(spot)) add(unwound_[callee].whether, into);
  }

  void add_unwound_callees(const Spot& spot, Found& into) {
    std::vector<ContextId> callees(spots_.callees().at(spot).begin(), spots_.callees().at(spot).end());
    if (control(spot.function).recurses(spot.node) && spots_.region_of(spot.base) != kNoContext)
      callees.push_back(spots_.region_of(spot.base));
    const bool returned =
        std::any_of(callees.begin(), callees.end(), [&](ContextId id) { return returns_[tree_[id].function]; });
    const bool varied = control(spot.function).ways(spot.node) > (returned ? 2 : 1);
    for (const ContextId callee : callees) {
      add(unwound_[callee].whether, into);
      if (varied) add(unwound_[callee].where, into);
    }
  }

  // ---- What decides calls, and statements -------------------------------------------------------------------------

  /// By context: what decides whether the activation that it is the base of is called.
  void find_call_deciders() {
    unknown_ = make({{}, false});
    decided_.assign(spots_.statements().size(), kNoSet);
    call_.assign(tree_.contexts().size(), kEmpty);
    for (ContextId id = 1; id < call_.size(); ++id) {
      const Context& context = tree_[id];
      if (context.kind == Context::Kind::kCall) call_[id] = call_deciders(context);
      if (context.kind == Context::Kind::kRecursion) call_[id] = component_deciders(id);
    }
  }

  SetId call_deciders(const Context& called) {
    if (called.caller == kNoFunction) return kEmpty;
    const Spot spot = spots_.of_call(called);
    if (!decides(spot)) return decided(spot);
    Found found;
    add_statements(spot, found);
    return found.whole ? make(std::move(found)) : unite(std::move(found), decided(spot));
  }

  /// What decides that it is entered, and any call of itself.
  SetId component_deciders(ContextId region) {
    Found found;
    found.whole = !spots_.thin_region(region);
    for (const Spot& spot : spots_.statements().with_base(region)) {
      if (!control(spot.function).recurses(spot.node)) continue;
      bool call = false;
      const Found deciders = direct(spot, call);
      found.statements.insert(found.statements.end(), deciders.statements.begin(), deciders.statements.end());
      found.whole = found.whole && deciders.whole;
      if (decides(spot)) add_statements(spot, found);
    }
    return unite(std::move(found), call_deciders(tree_[region]));
  }

  /// An activation whose context could not be made (there were too many) is somewhere in another one's.
  SetId call_of(const Spot& spot) const {
    const Context& base = tree_[spot.base];
    if (base.kind == Context::Kind::kRecursion) return call_[spot.base];
    const bool own = base.kind != Context::Kind::kLoop && base.function == spot.function;
    return own ? call_[spot.base] : unknown_;
  }

  SetId decided(const Spot& spot) {
    const std::size_t index = spots_.statements().index_of(spot);
    if (index < decided_.size() && decided_[index] != kNoSet) return decided_[index];
    bool call = false;
    Found found = direct(spot, call);
    const SetId set = unite(std::move(found), call ? call_of(spot) : kEmpty);
    if (index < decided_.size()) decided_[index] = set;
    return set;
  }

  void find_deciders() {
    for (const Statement& statement : graph_.statements) {
      const Spot spot = spots_.of(statement);
      result_.deciders_.push_back(decided(spot));
      const Context& context = tree_[statement.context];
      const bool alone = context.kind == Context::Kind::kLoop && context.function == spot.function &&
                         context.hidden == 0 && !spots_.recursive(spot.function) &&
                         spots_.statements().at(spot).size() == 1 && !unwound_inside_[spot.function];
      result_.on_every_round_.push_back(alone && control(spot.function).is_on_every_round(spot.node) &&
                                        structure_.forests[spot.function].innermost(spot.node) == context.loop);
    }
  }

  // ---- Loops ------------------------------------------------------------------------------------------------------

  void find_exit_deciders() {
    result_.exits_.assign(tree_.contexts().size(), kEmpty);
    for (ContextId id = 1; id < result_.exits_.size(); ++id)
      if (tree_[id].kind == Context::Kind::kLoop) result_.exits_[id] = exit_deciders(id);
  }

  SetId exit_deciders(ContextId loop) {
    const Context& context = tree_[loop];
    const FunctionControl& function = control(context.function);
    const ContextId base = spots_.base_of(loop, context.function);
    Found found;
    for (const NodeId node : function.exits(context.loop)) add_decider({base, context.function, node}, found);
    if (function.loop_recurses(context.loop)) add_branches(spots_.region_of(base), loop, found);
    std::erase_if(found.statements, [&](StatementId id) { return !in(loop, id); });
    return make(std::move(found));
  }

  bool in(ContextId context, StatementId statement) const {
    return spots_.inside(context, graph_.statements[statement].context);
  }

  /// All branches of a recursive component, inside a loop of it.
  void add_branches(ContextId region, ContextId loop, Found& into) {
    if (region == kNoContext) return;
    into.whole = into.whole && !spots_.thin_region(region);
    for (const StatementId id : branches_of(region))
      if (in(loop, id)) into.statements.push_back(id);
  }

  const std::vector<StatementId>& branches_of(ContextId region) {
    if (region == branches_region_) return branches_;
    branches_region_ = region;
    Found found;
    for (const Spot& spot : spots_.statements().with_base(region))
      if (control(spot.function).ways(spot.node) > 1 || decides(spot)) add_decider(spot, found);
    branches_ = std::move(found.statements);
    return branches_;
  }

  // ---- Branches that decide nothing -------------------------------------------------------------------------------

  void find_one_way() {
    for (const Statement& statement : graph_.statements) {
      if (statement.kind != Statement::Kind::kCode || statement.instructions.empty()) continue;
      const std::uint32_t kinds = statement.instructions.back().kinds;
      const bool conditional = (kinds & trace::kBranch) != 0 && (kinds & trace::kConditional) != 0;
      if (!conditional && (kinds & trace::kIndirect) == 0) continue;
      const Spot spot = spots_.of(statement);
      if ((kinds & trace::kCall) == 0 && control(spot.function).unwound_at(spot.node)) continue;
      if (((kinds & trace::kCall) != 0 ? callees(spot) : ways_of_jump(spot)) <= 1)
        result_.one_way_.push_back(statement.id);
    }
  }

  const ddg::Graph& graph_;
  const structure::Structure& structure_;
  const structure::LoopTree& tree_;
  const Spots spots_;
  Control& result_;
  std::vector<std::unique_ptr<FunctionControl>> functions_;
  std::vector<std::uint32_t> endings_;  // by place
  std::vector<structure::CallSite> tail_calls_;
  std::vector<bool> unwinds_;  // by function
  std::vector<bool> returns_;  // by function
  std::vector<bool> component_unwinds_;
  std::vector<bool> unwound_inside_;  // by function: a call of it did not come back, at times
  std::vector<Unwound> unwound_;      // by context
  std::vector<SetId> call_;           // by context
  std::vector<SetId> decided_;        // by index of a spot among those of statements
  SetId unknown_ = kEmpty;
  ContextId branches_region_ = kNoContext;  // whose branches these are
  std::vector<StatementId> branches_;
};

Control::Control(const ddg::Graph& graph, const structure::Structure& structure, const structure::LoopTree& tree) {
  ControlBuilder(graph, structure, tree, *this);
  tree_ = &tree;
  structure_ = &structure;
  for (const ddg::Statement& statement : graph.statements) {
    context_of_.push_back(statement.context);
    const bool placed = statement.kind == ddg::Statement::Kind::kCode && statement.function != structure::kNoFunction &&
                        statement.node != structure::kNoNode;
    index_of_.push_back(placed ? structure.forests[statement.function].index_of(statement.node) : 0);
    node_of_.push_back(placed && tree[statement.context].function == statement.function ? statement.node
                                                                                        : structure::kNoNode);
  }
}

/// Whether a way leads from a node to a loop of its function, with no new iteration of the loop around that one.
bool Control::leads_to(structure::NodeId node, const structure::Context& loop) const {
  using structure::Context;
  const Context& around = (*tree_)[loop.parent];
  const bool plain = loop.kind == Context::Kind::kLoop && loop.hidden == 0 && around.hidden == 0 &&
                     around.function == loop.function && around.kind != Context::Kind::kRecursion;
  if (node == structure::kNoNode || !plain) return true;
  const structure::LoopForest& forest = structure_->forests[loop.function];
  const structure::LoopId parent = forest.loops()[loop.loop].parent;
  if (parent != (around.kind == Context::Kind::kLoop ? around.loop : structure::kNoLoop)) return true;
  if (parent != structure::kNoLoop && forest.loops()[parent].irreducible) return true;
  const structure::Digraph& graph = structure_->flow.functions()[loop.function].graph;
  std::vector<bool> seen(graph.size());
  std::vector<structure::NodeId> open;
  for (structure::NodeId inside = 0; inside < graph.size(); ++inside)
    if (forest.contains(loop.loop, inside)) open.push_back(inside);
  while (!open.empty()) {
    const structure::NodeId at = open.back();
    open.pop_back();
    if (parent != structure::kNoLoop && forest.loops()[parent].header == at) continue;
    for (const structure::NodeId before : graph.predecessors(at)) {
      if (before == node) return true;
      if (seen[before] || forest.contains(loop.loop, before)) continue;
      seen[before] = true;
      open.push_back(before);
    }
  }
  return false;
}

bool Control::may_come_between(ddg::StatementId statement, structure::ContextId loop) const {
  const structure::Context& its = (*tree_)[loop];
  if (context_of_[statement] == its.parent)
    return index_of_[statement] <= its.index && leads_to(node_of_[statement], its);
  structure::ContextId at = context_of_[statement];
  while (at != loop && at != structure::kNoContext && (*tree_)[at].parent != its.parent) at = (*tree_)[at].parent;
  return at != loop && at != structure::kNoContext && (*tree_)[at].index <= its.index;
}

}  // namespace loopfold::poly
