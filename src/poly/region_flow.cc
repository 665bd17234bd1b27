#include "poly/region_flow.h"

#include <algorithm>

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

RegionFlow::RegionFlow(const ddg::Graph& graph, const structure::LoopTree& tree)
    : graph_(graph),
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
  points_.assign(points, State::kUnseen);
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
  add_heads(judged, loop);
  add_flows(judged, loop);
  add_control(judged, loop);
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

/// What a statement of a loop hands to its test, and is no index value of all loops around it.
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
        if (loop.tests.contains(flow.from) || !is_in(flow.from.statement, loop)) continue;
        if (std::find(loop.exits.begin(), loop.exits.end(), flow.from) == loop.exits.end())
          loop.exits.push_back(flow.from);
      }
    }
}

void RegionFlow::add_index(const JudgedLoop& judged) {
  for (const FlowNode& node : judged.values.flow().nodes) {
    State& state = points_[first_point_[node.at.statement] + node.at.instruction];
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

/// What a decision by data decides, within an iteration. Whether there is a next one is among the exits.
void RegionFlow::add_control(const JudgedLoop& judged, FlowOfLoop& into) {
  for (const ddg::StatementId id : judged.values.statements()) {
    for (const ddg::StatementId decider : judged.control.deciders(id)) {
      if (judged.values.node({decider, 0}) == kOutside || !judged.values.decides_by_data(decider)) continue;
      const structure::ContextId around =
          loop_around(graph_.statements[decider].context, graph_.statements[id].context);
      if (around == structure::kNoContext) continue;  // between copies of the loop
      const auto exits = judged.control.exit_deciders(around);
      if (std::find(exits.begin(), exits.end(), decider) != exits.end()) continue;
      KeptFlow control;
      control.from = {decider, static_cast<std::uint16_t>(graph_.statements[decider].instructions.size() - 1)};
      control.to = {id, 0};
      control.kind = KeptFlow::Kind::kControl;
      control.count = graph_.statements[id].count;
      into.flows.push_back(control);
    }
  }
}

bool RegionFlow::can_be_computed_anew(const KeptFlow& flow) const {
  if (flow.where == KeptFlow::Where::kCarried || flow.kind == KeptFlow::Kind::kControl) return false;
  if (flow.kind == KeptFlow::Kind::kEnvironment) return false;
  return is_index(flow.from) && (flow.kind == KeptFlow::Kind::kRegister || is_index(flow.to));
}

void RegionFlow::finish() {
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
