#include "poly/region_flow.h"

#include <algorithm>
#include <unordered_map>

#include "poly/control.h"
#include "poly/loop_values.h"

namespace loopfold::poly {

namespace {

constexpr std::uint32_t kOutside = FlowEdge::kOutside;

KeptFlow::Kind kind_of(ddg::Dependence::Kind kind) {
  switch (kind) {
    case ddg::Dependence::Kind::kMemory:
      return KeptFlow::Kind::kMemory;
    case ddg::Dependence::Kind::kEnvironment:
      return KeptFlow::Kind::kEnvironment;
    default:
      return KeptFlow::Kind::kRegister;
  }
}

}  // namespace

RegionFlow::RegionFlow(const ddg::Graph& graph, const structure::Structure& structure, const structure::LoopTree& tree)
    : graph_(graph),
      structure_(structure),
      tree_(tree),
      innermost_(tree.contexts().size(), structure::kNoContext),
      depth_(tree.contexts().size()),
      loop_of_(tree.contexts().size(), kOutside) {
  for (structure::ContextId id = 1; id < tree.contexts().size(); ++id) {
    const structure::ContextId parent = tree[id].parent;
    innermost_[id] = tree[id].kind == structure::Context::Kind::kLoop ? id : innermost_[parent];
    depth_[id] = depth_[parent] + 1;
  }
  std::uint32_t points = 0;
  for (const ddg::Statement& statement : graph.statements) {
    first_point_.push_back(points);
    points += static_cast<std::uint32_t>(std::max<std::size_t>(statement.instructions.size(), 1));
  }
  first_point_.push_back(points);
  points_.assign(points, State::kUnseen);
  seen_through_.assign(points, false);
  chosen_.assign(graph.statements.size(), false);
}

structure::ContextId RegionFlow::loop_around(structure::ContextId a, structure::ContextId b) const {
  while (a != b) {
    structure::ContextId& deeper = depth_[a] >= depth_[b] ? a : b;
    deeper = tree_[deeper].parent;
  }
  return innermost_[a];
}

void RegionFlow::add(const JudgedLoop& judged) {
  const auto number = static_cast<std::uint32_t>(loops_.size());
  FlowOfLoop& loop = loops_.emplace_back();
  known_.emplace_back();
  loop.loop = judged.verdict.loop;
  loop.level = judged.values.flow().level;
  loop.parallel = judged.verdict.parallel;
  if (!judged.verdict.doubts.empty())
    loop.doubt = judged.verdict.doubts.front().why;
  else if (judged.verdict.parallel == Parallel::kUnknown)
    loop.doubt = "it could not be judged";
  for (const structure::ContextId context : loop.loop.loops) {
    loop_of_[context] = number;
    for (const ddg::StatementId decider : judged.control.exit_deciders(context)) add_tests(decider, loop);
  }
  for (const Blocking& blocking : judged.verdict.blocking)
    if (blocking.kind == Blocking::Kind::kExit) loop.exits.push_back(blocking.from);
  add_index(judged);
  loop.heads = loop.tests;
  add_counts(judged, loop);
  add_heads(judged, loop);
  add_flows(judged, loop);
  add_turns(judged, loop);
  add_control(judged, loop);
}

/// What a loop hands on in turns has been made before it, and yet it depends on the iteration which of it an
/// instruction gets: all that get some of it keep their order.
void RegionFlow::add_turns(const JudgedLoop& judged, FlowOfLoop& into) {
  const LoopFlow& flow = judged.values.flow();
  std::vector<std::uint32_t> turns;
  for (const KeptEdge& kept : judged.kept)
    if (kept.why == KeptEdge::Why::kTurn && flow.edges[kept.edge].from == kOutside) turns.push_back(kept.edge);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const FlowEdge& edge = flow.edges[turns[i]];
    KeptFlow carried;
    carried.from = flow.nodes[flow.edges[turns[(i + 1) % turns.size()]].to].at;
    carried.to = flow.nodes[edge.to].at;
    carried.operand = edge.operand;
    carried.lane = edge.lane;
    carried.kind = KeptFlow::Kind::kMemory;
    carried.where = KeptFlow::Where::kCarried;
    carried.count = judged.values.facts(turns[i]).turns;
    into.flows.push_back(carried);
  }
}

void RegionFlow::add_counts(const JudgedLoop& judged, FlowOfLoop& into) {
  const LoopFlow& flow = judged.values.flow();
  for (const FlowEdge& edge : flow.edges)
    if (edge.from != kOutside && flow.nodes[edge.from].index && into.tests.contains(flow.nodes[edge.to].at))
      into.counts.insert(flow.nodes[edge.from].at);
}

/// What makes a carried value that need not be kept, and what leads to it.
void RegionFlow::add_heads(const JudgedLoop& judged, FlowOfLoop& into) {
  const LoopFlow& flow = judged.values.flow();
  std::set<std::uint32_t> kept;
  for (const KeptEdge& edge : judged.kept) kept.insert(edge.edge);
  std::vector<bool> found(flow.nodes.size());
  std::vector<std::uint32_t> todo;
  const auto add = [&](std::uint32_t node) {
    if (node == kOutside || found[node]) return;
    found[node] = true;
    todo.push_back(node);
  };
  for (std::uint32_t i = 0; i < flow.edges.size(); ++i)
    if (flow.edges[i].carried > 0 && !kept.contains(i)) add(flow.edges[i].from);
  while (!todo.empty()) {
    const std::uint32_t node = todo.back();
    todo.pop_back();
    into.heads.insert(flow.nodes[node].at);
    for (const std::uint32_t edge : flow.in[node]) add(flow.edges[edge].from);
  }
}

void RegionFlow::add_tests(ddg::StatementId decider, FlowOfLoop& into) const {
  const ddg::Statement& statement = graph_.statements[decider];
  if (statement.instructions.empty()) return;
  std::set<std::uint16_t> found{static_cast<std::uint16_t>(statement.instructions.size() - 1)};
  for (bool more = true; more;) {
    more = false;
    for (const ddg::LocalFlow& flow : statement.local)
      if (found.contains(flow.to) && found.insert(flow.from).second) more = true;
  }
  for (const std::uint16_t instruction : found) into.tests.insert({decider, instruction});
}

bool RegionFlow::is_in(ddg::StatementId statement, const FlowOfLoop& loop) const {
  for (structure::ContextId at = graph_.statements[statement].context; at != structure::LoopTree::root();
       at = tree_[at].parent)
    if (std::find(loop.loop.loops.begin(), loop.loop.loops.end(), at) != loop.loop.loops.end()) return true;
  return false;
}

/// What a statement of a loop hands to its test, and is no index value of all loops around it; but not what the loop
/// itself counts by.
void RegionFlow::find_bounds_inside() {
  std::map<CodePoint, std::vector<std::uint32_t>> loops;  // by test
  for (std::uint32_t i = 0; i < loops_.size(); ++i)
    for (const CodePoint test : loops_[i].tests) loops[test].push_back(i);
  for (const FlowOfLoop& other : loops_)
    for (const KeptFlow& flow : other.flows) {
      if (flow.where == KeptFlow::Where::kCarried || flow.kind == KeptFlow::Kind::kControl) continue;
      const auto found = loops.find(flow.to);
      if (found == loops.end()) continue;
      for (const std::uint32_t number : found->second) {
        FlowOfLoop& loop = loops_[number];
        if (loop.tests.contains(flow.from) || loop.counts.contains(flow.from)) continue;
        if (!is_in(flow.from.statement, loop)) continue;
        if (std::find(loop.exits.begin(), loop.exits.end(), flow.from) == loop.exits.end())
          loop.exits.push_back(flow.from);
      }
    }
}

void RegionFlow::add_index(const JudgedLoop& judged) {
  for (const FlowNode& node : judged.values.flow().nodes) {
    State& state = points_[point(node.at)];
    if (node.seen_through && !judged.values.index().preserves(node.at)) seen_through_[point(node.at)] = true;
    if (!node.index)
      state = State::kData;
    else if (state == State::kUnseen)
      state = State::kIndex;
  }
}

KeptFlow RegionFlow::flow_of(const JudgedLoop& judged, std::uint32_t number) const {
  const LoopFlow& flow = judged.values.flow();
  const FlowEdge& edge = flow.edges[number];
  KeptFlow kept;
  kept.from = flow.nodes[edge.from].at;
  kept.to = flow.nodes[edge.to].at;
  kept.operand = edge.operand;
  kept.lane = edge.lane;
  kept.kind = kind_of(edge.kind);
  kept.direct = !edge.behind_copies;
  kept.object = edge.object;
  kept.count = edge.inside;
  return kept;
}

void RegionFlow::add_flows(const JudgedLoop& judged, FlowOfLoop& into) {
  const LoopFlow& flow = judged.values.flow();
  const std::uint32_t number = static_cast<std::uint32_t>(loops_.size() - 1);
  for (const KeptEdge& kept : judged.kept) {
    const FlowEdge& edge = flow.edges[kept.edge];
    if (edge.from == kOutside) continue;
    KeptFlow carried = flow_of(judged, kept.edge);
    carried.where = KeptFlow::Where::kCarried;
    carried.reduction = kept.why == KeptEdge::Why::kReduction;
    carried.operation = kept.operation;
    carried.count = edge.carried;
    carried.least = edge.least;
    carried.greatest = edge.greatest;
    into.flows.push_back(carried);
  }
  for (std::uint32_t i = 0; i < flow.edges.size(); ++i) {
    const FlowEdge& edge = flow.edges[i];
    if (edge.from == kOutside) continue;
    KeptFlow inside = flow_of(judged, i);
    known_[number].insert({inside.from, inside.to});
    if (edge.inside == 0) continue;
    const structure::ContextId around =
        loop_around(graph_.statements[inside.from.statement].context, graph_.statements[inside.to.statement].context);
    if (std::find(into.loop.loops.begin(), into.loop.loops.end(), around) != into.loop.loops.end())
      into.flows.push_back(inside);
    else
      deeper_.emplace_back(number, inside);
  }
}

KeptFlow RegionFlow::control_of(ddg::StatementId from, ddg::StatementId to) const {
  KeptFlow control;
  control.from = {from, static_cast<std::uint16_t>(graph_.statements[from].instructions.size() - 1)};
  control.to = {to, 0};
  control.kind = KeptFlow::Kind::kControl;
  control.count = graph_.statements[to].count;
  return control;
}

/// Where in an iteration of a loop around it a statement stands, or the call or inner loop that it is in.
std::uint32_t RegionFlow::position(ddg::StatementId id, structure::ContextId loop) const {
  const ddg::Statement& statement = graph_.statements[id];
  if (statement.context == loop) return structure_.forests[statement.function].index_of(statement.node);
  structure::ContextId at = statement.context;
  while (tree_[at].parent != loop) at = tree_[at].parent;
  return tree_[at].index;
}

/// What a decision by data decides, within an iteration. Whether there is a next one is among the exits; but whether
/// there is more of this one is not. Decisions by index values are looked at again when it is known what is bound.
void RegionFlow::add_control(const JudgedLoop& judged, FlowOfLoop& into) {
  const auto number = static_cast<std::uint32_t>(loops_.size() - 1);
  const auto has = [](std::span<const ddg::StatementId> statements, ddg::StatementId id) {
    return std::find(statements.begin(), statements.end(), id) != statements.end();
  };
  for (const ddg::StatementId id : judged.values.statements()) {
    for (const ddg::StatementId decider : judged.control.deciders(id)) {
      if (judged.values.node({decider, 0}) == kOutside) continue;
      const structure::ContextId around =
          loop_around(graph_.statements[decider].context, graph_.statements[id].context);
      if (around == structure::kNoContext) continue;  // between copies of the loop
      const bool exits = has(judged.control.exit_deciders(around), decider);
      const bool own = std::find(into.loop.loops.begin(), into.loop.loops.end(), around) != into.loop.loops.end();
      if (!judged.values.decides_by_data(decider)) {
        if (!exits || !own) decisions_.push_back({number, decider, id, exits});
      } else if (!exits || (own && position(id, around) > position(decider, around))) {
        into.flows.push_back(control_of(decider, id));
        into.flows.back().exits = exits;
      }
    }
  }
}

// ---- What is bound -------------------------------------------------------------------------------------------------

/// All that gets something that must be kept, or is decided by such, though every loop around it could do without.
void RegionFlow::find_bound() {
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> users;       // by point
  std::unordered_map<std::uint32_t, std::vector<ddg::StatementId>> decided;  // by the point of a branch
  const auto add = [&](const KeptFlow& flow) {
    if (flow.kind != KeptFlow::Kind::kControl && points_[point(flow.to)] == State::kIndex)
      users[point(flow.from)].push_back(point(flow.to));
  };
  for (const FlowOfLoop& loop : loops_)
    for (const KeptFlow& flow : loop.flows) add(flow);
  for (const auto& [number, flow] : deeper_) add(flow);
  for (const ddg::Dependence& d : graph_.dependences)
    if (d.from != ddg::kNoStatement && seen_through_[point({d.from, d.from_instruction})] &&
        points_[point({d.to, d.to_instruction})] == State::kIndex)
      users[point({d.from, d.from_instruction})].push_back(point({d.to, d.to_instruction}));
  for (const Decision& decision : decisions_) decided[branch_point(decision.from)].push_back(decision.to);
  std::vector<std::uint32_t> work;
  const auto bind = [&](std::uint32_t at) {
    if (points_[at] != State::kIndex) return;
    points_[at] = State::kBound;
    work.push_back(at);
  };
  for (std::uint32_t at = 0; at < points_.size(); ++at)
    if (points_[at] == State::kData && !seen_through_[at]) work.push_back(at);
  while (!work.empty()) {
    const std::uint32_t at = work.back();
    work.pop_back();
    if (const auto found = users.find(at); found != users.end())
      for (const std::uint32_t user : found->second) bind(user);
    if (const auto found = decided.find(at); found != decided.end())
      for (const ddg::StatementId id : found->second) {
        chosen_[id] = true;
        for (std::uint32_t point = first_point_[id]; point < first_point_[id + 1]; ++point) bind(point);
      }
  }
}

void RegionFlow::keep_decisions() {
  for (const Decision& decision : decisions_) {
    const State state = points_[branch_point(decision.from)];
    if (!decision.exits && (state == State::kBound || state == State::kData))
      loops_[decision.loop].flows.push_back(control_of(decision.from, decision.to));
  }
}

/// From copies that run because something bound said so, to whoever gets what they left.
void RegionFlow::keep_choices() {
  for (const ddg::Dependence& d : graph_.dependences)
    if (d.from != ddg::kNoStatement && chosen_[d.from] && seen_through_[point({d.from, d.from_instruction})])
      add_choice(d);
}

void RegionFlow::add_choice(const ddg::Dependence& d) {
  KeptFlow flow;
  flow.from = {d.from, d.from_instruction};
  flow.to = {d.to, d.to_instruction};
  flow.operand = d.operand;
  flow.lane = d.lane;
  flow.kind = kind_of(d.kind);
  flow.direct = true;
  flow.object = d.object;
  structure::ContextId around = loop_around(graph_.statements[d.from].context, graph_.statements[d.to].context);
  for (bool innermost = true; around != structure::kNoContext; innermost = false) {
    if (loop_of_[around] != kOutside) {
      FlowOfLoop& loop = loops_[loop_of_[around]];
      flow.where = KeptFlow::Where::kInside;
      flow.count = d.carried.empty() ? 0 : d.carried.back();
      if (innermost && flow.count > 0) loop.flows.push_back(flow);
      flow.where = KeptFlow::Where::kCarried;
      flow.count = loop.level + 1u < d.carried.size() ? d.carried[loop.level] : 0;
      if (flow.count > 0) loop.flows.push_back(flow);
    }
    around = tree_[around].parent == structure::kNoContext ? structure::kNoContext : innermost_[tree_[around].parent];
  }
}

bool RegionFlow::can_be_computed_anew(const KeptFlow& flow) const {
  if (flow.where == KeptFlow::Where::kCarried || flow.kind == KeptFlow::Kind::kControl) return false;
  if (flow.kind == KeptFlow::Kind::kEnvironment) return false;
  return is_index(flow.from) && (flow.kind == KeptFlow::Kind::kRegister || is_index(flow.to));
}

void RegionFlow::finish() {
  find_bound();
  keep_decisions();
  keep_choices();
  for (FlowOfLoop& loop : loops_)
    std::erase_if(loop.flows, [&](const KeptFlow& flow) { return can_be_computed_anew(flow); });
  for (auto& [number, flow] : deeper_) {
    if (can_be_computed_anew(flow)) continue;
    const structure::ContextId around =
        loop_around(graph_.statements[flow.from.statement].context, graph_.statements[flow.to.statement].context);
    const std::uint32_t inner = around == structure::kNoContext ? kOutside : loop_of_[around];
    if (inner != kOutside && known_[inner].contains({flow.from, flow.to})) continue;
    flow.where = KeptFlow::Where::kWithin;
    loops_[number].flows.push_back(flow);
  }
  deeper_.clear();
  known_.clear();
  find_bounds_inside();
}

}  // namespace loopfold::poly
