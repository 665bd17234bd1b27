#include "poly/loop_values.h"

#include <algorithm>

#include "poly/functions.h"
#include "structure/digraph.h"

namespace loopfold::poly {

namespace {

constexpr std::uint32_t kOutside = FlowEdge::kOutside;
constexpr std::uint8_t kStackPointer = 4;
constexpr std::uint64_t kFewestForALine = 3;  // iterations: two values always lie on a line
constexpr int kMostHops = 12;                 // from copy to copy
constexpr int kLongestChain = 64;             // of copies in one piece of code

/// Whether a label does not change along a coordinate, as far as the pieces tell.
bool is_constant_along(const fold::Folded& folded, std::size_t output, std::size_t coordinate) {
  if (folded.pieces.empty()) return false;
  if (folded.pieces.size() == 1) {
    const fold::Output& o = folded.pieces.front().outputs[output];
    return !o.top[coordinate] && o.value.coefficients[coordinate] == 0;
  }
  const CommonFunction function = common_function(folded, output, false);
  return function.affine() && function.constant && *function.coefficients[coordinate] == 0;
}

bool is_affine_along(const fold::Folded& folded, std::size_t coordinate) {
  if (folded.pieces.size() != 1) return false;
  const fold::Output& output = folded.pieces.front().outputs.front();
  return !output.top[coordinate] && output.modulus == 0;
}

std::uint64_t at(std::span<const std::uint64_t> counts, std::size_t level) {
  return level < counts.size() ? counts[level] : 0;
}

}  // namespace

LoopValues::LoopValues(const FlowIndex& index, const Control& control, const SourceLoop& loop,
                       std::vector<std::uint32_t>& scratch)
    : index_(index), control_(control), base_(scratch) {
  flow_.loops = loop.loops;
  flow_.level = static_cast<std::uint16_t>(ddg::dimensions_of(index.tree(), loop.loops.front()) - 1);
  add_statements();
  for (const structure::ContextId copy : loop.loops) {
    const std::span<const ddg::StatementId> exits = control.exit_deciders(copy);
    exits_.insert(exits_.end(), exits.begin(), exits.end());
  }
  std::sort(exits_.begin(), exits_.end());
  for (const structure::ContextId copy : flow_.loops)
    tells_lines_ = tells_lines_ || index.tree()[copy].trips.max >= kFewestForALine;
  judge_alone();
  find_handing();
  build_edges();
  find_agreed();
  while (true) {
    do find_data();
    while (find_recurrences() || find_state());
    const bool decided = find_decided();
    const bool opaque = find_opaque();
    if (opaque) build_edges();
    if (!decided && !opaque) break;
  }
  mark_recurrences();
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node) {
    flow_.nodes[node].index = !data_[node];
    flow_.nodes[node].seen_through = sees_through(node);
  }
}

LoopValues::~LoopValues() {
  for (const ddg::StatementId statement : statements_) base_[statement] = kOutside;
}

void LoopValues::add_statements() {
  for (const structure::ContextId copy : flow_.loops) {
    for (const ddg::StatementId id : index_.statements_in(copy)) {
      const ddg::Statement& statement = index_.graph().statements[id];
      statements_.push_back(id);
      base_[id] = static_cast<std::uint32_t>(flow_.nodes.size());
      for (std::uint16_t i = 0; i < statement.instructions.size(); ++i) {
        FlowNode node;
        node.at = {id, i};
        node.facts = index_.facts(node.at);
        passes_.push_back(index_.pass(node.at));
        node.copy = passes_.back() != Pass::kNone;
        flow_.nodes.push_back(node);
      }
    }
  }
  opaque_.assign(flow_.nodes.size(), false);
  steady_.assign(flow_.nodes.size(), false);
  unvalued_.assign(flow_.nodes.size(), false);
}

std::uint32_t LoopValues::branch_node(ddg::StatementId statement) const {
  return base_[statement] + static_cast<std::uint32_t>(index_.graph().statements[statement].instructions.size()) - 1;
}

/// A repeated string instruction goes on as its counter says, or as what it compares.
bool LoopValues::counts_repetitions(std::uint32_t node) const {
  const trace::InstructionFacts* facts = flow_.nodes[node].facts;
  return facts != nullptr && (facts->kinds & trace::kRepeat) != 0 && facts->flags_written == 0;
}

bool LoopValues::decides_by_data(ddg::StatementId statement) const {
  const std::uint32_t node = branch_node(statement);
  const trace::InstructionFacts* facts = flow_.nodes[node].facts;
  if (facts == nullptr) return true;
  if (counts_repetitions(node)) {
    for (const std::uint32_t number : index_.dependences_to(statement)) {
      const ddg::Dependence& d = index_.graph().dependences[number];
      if (d.to_instruction != flow_.nodes[node].at.instruction || d.operand >= facts->reads.size()) continue;
      const trace::RegisterUse& read = facts->reads[d.operand];
      constexpr std::uint8_t kCounter = 1;
      if (read.file != trace::RegisterFile::kGeneral || read.index != kCounter) continue;
      const std::uint32_t from = d.from == ddg::kNoStatement ? kOutside : this->node({d.from, d.from_instruction});
      if (d.from == ddg::kNoStatement || (from != kOutside && from != node && data_[from])) return true;
    }
    return false;
  }
  constexpr std::uint32_t kDecides = trace::kBranch | trace::kIndirect | trace::kRepeat;
  if ((facts->kinds & kDecides) == 0) return true;
  return data_[node];
}

/// What speaks against a node by itself, whatever flows into it.
void LoopValues::judge_alone() {
  data_.assign(flow_.nodes.size(), false);
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node) {
    const FlowNode& n = flow_.nodes[node];
    const bool known = n.facts != nullptr && (n.facts->kinds & trace::kUnknown) == 0 &&
                       index_.graph().statements[n.at.statement].followed;
    if (!known) data_[node] = true;
    steady_[node] = known && is_steady(n.at);
  }
  for (const ddg::StatementId statement : statements_) {
    const ddg::Access* before = nullptr;
    for (const std::uint32_t number : index_.accesses_of(statement)) {
      const ddg::Access& access = index_.graph().accesses[number];
      const std::uint32_t node = base_[statement] + access.instruction;
      const bool stack = index_.graph().objects[access.object].kind == ddg::Object::Kind::kStack;
      const bool another = before != nullptr && before->instruction == access.instruction &&
                           before->index == access.index && before->object != access.object;
      before = &access;
      const bool innermost = index_.dimensions(statement) == flow_.level + 1;
      const bool same_offset = (innermost && access.same_offset) || is_constant_along(access.address, 1, flow_.level);
      const bool same_block =
          stack || (innermost && access.same_block) || is_constant_along(access.address, 0, flow_.level);
      if (another || !same_offset || !same_block) data_[node] = true;
    }
  }
}

/// Its values are affine along the loop, step by step in each entry.
bool LoopValues::is_steady(CodePoint point) const {
  if (!tells_lines_) return false;
  const bool innermost = index_.dimensions(point.statement) == flow_.level + 1;
  bool steady = false;
  for (const std::uint32_t number : index_.values_of(point.statement)) {
    const ddg::Value& value = index_.graph().values[number];
    if (value.instruction != point.instruction || value.reg == kStackPointer) continue;
    if (!(innermost && value.steady) && !is_affine_along(value.value, flow_.level)) return false;
    steady = true;
  }
  return steady;
}

// ---- Decisions and copies ------------------------------------------------------------------------------------------

/// Statements that run or not as data decide. The loop's own exits do not count here: data that decide them are a
/// verdict of their own. Says whether there are more than before.
bool LoopValues::find_decided() {
  bool more = false;
  for (const ddg::StatementId statement : statements_) {
    const std::uint32_t first = base_[statement];
    if (flow_.nodes[first].data_decided) continue;
    for (const ddg::StatementId decider : control_.deciders(statement)) {
      if (base_[decider] == kOutside || !decides_by_data(decider)) continue;
      if (std::binary_search(exits_.begin(), exits_.end(), decider)) continue;
      more = true;
      for (std::size_t i = 0; i < index_.graph().statements[statement].instructions.size(); ++i) {
        flow_.nodes[first + i].data_decided = true;
        if (!agreed_[first + i]) data_[first + i] = true;
      }
      break;
    }
  }
  return more;
}

/// Copies and loads that are not seen through: under a decision by data, or behind another such copy.
bool LoopValues::find_opaque() {
  bool any = false;
  bool more = true;
  while (more) {
    more = false;
    for (const ddg::StatementId id : statements_) {
      const ddg::Statement& statement = index_.graph().statements[id];
      for (std::uint16_t i = 0; i < statement.instructions.size(); ++i) {
        const std::uint32_t node = base_[id] + i;
        if (passes_[node] == Pass::kNone || opaque_[node]) continue;
        const bool decided = flow_.nodes[node].data_decided && !index_.preserves(flow_.nodes[node].at);
        if (!decided && !passes_opaque(statement, i)) continue;
        opaque_[node] = true;
        more = any = true;
      }
    }
  }
  return any;
}

/// Whether what an instruction passes on comes from an opaque copy.
bool LoopValues::passes_opaque(const ddg::Statement& statement, std::uint16_t instruction) const {
  const trace::InstructionFacts& facts = *flow_.nodes[base_[statement.id] + instruction].facts;
  const auto is_opaque_copy = [&](std::uint32_t from) { return from != kOutside && opaque_[from]; };
  for (const ddg::LocalFlow& local : statement.local)
    if (local.to == instruction && FlowIndex::is_passed(facts, local.operand) &&
        is_opaque_copy(base_[statement.id] + local.from))
      return true;
  for (const std::uint32_t number : index_.dependences_to(statement.id)) {
    const ddg::Dependence& d = index_.graph().dependences[number];
    if (d.to_instruction != instruction || d.from == ddg::kNoStatement) continue;
    if (!FlowIndex::is_passed(facts, d.operand) || FlowIndex::is_ignored(&facts, d.operand)) continue;
    if (d.kind == Kind::kMemory && d.reloads == 0) continue;
    if (is_opaque_copy(node({d.from, d.from_instruction}))) return true;
  }
  return false;
}

// ---- Flow ----------------------------------------------------------------------------------------------------------

void LoopValues::build_edges() {
  flow_.edges.clear();
  edge_facts_.clear();
  flow_.in.assign(flow_.nodes.size(), {});
  flow_.out.assign(flow_.nodes.size(), {});
  materialised_.assign(flow_.nodes.size(), false);
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node)
    if (opaque_[node]) materialised_[node] = true;
  // A copy that turns out to be needed as a node gets its edges in another round.
  std::vector<bool> before;
  do {
    before = materialised_;
    flow_.edges.clear();
    edge_facts_.clear();
    for (const ddg::StatementId id : statements_) edges_to(index_.graph().statements[id]);
  } while (before != materialised_);
  for (std::uint32_t edge = 0; edge < flow_.edges.size(); ++edge) {
    flow_.in[flow_.edges[edge].to].push_back(edge);
    if (flow_.edges[edge].from != kOutside) flow_.out[flow_.edges[edge].from].push_back(edge);
  }
}

void LoopValues::edges_to(const ddg::Statement& statement) {
  direct_edges(statement);
  local_edges(statement);
  origin_edges(statement);
}

/// Whether an operand makes an edge: what copies pass on does only if they are nodes.
bool LoopValues::consumes(std::uint32_t node, std::uint8_t operand) const {
  const FlowNode& n = flow_.nodes[node];
  if (FlowIndex::is_ignored(n.facts, operand)) return false;
  switch (passes_[node]) {
    case Pass::kNone:
      return true;
    case Pass::kRegisterCopy:
    case Pass::kSpill:
      return materialised_[node];
    case Pass::kLoad:
      return materialised_[node] || index_.sometimes_plain(n.at);
  }
  return true;
}

/// Whether an operand is what a copy, which is a node, passes on.
bool LoopValues::passes_on(std::uint32_t node, std::uint8_t operand) const {
  return passes_[node] != Pass::kNone && materialised_[node] && FlowIndex::is_passed(*flow_.nodes[node].facts, operand);
}

FlowEdge LoopValues::counted(std::span<const std::uint64_t> carried, CodePoint from) const {
  FlowEdge edge;
  edge.from = from.statement == ddg::kNoStatement ? kOutside : node(from);
  for (std::size_t level = 0; level < carried.size(); ++level) {
    if (edge.from == kOutside || level < flow_.level)
      edge.before += carried[level];
    else
      (level == flow_.level ? edge.carried : edge.inside) += carried[level];
  }
  return edge;
}

void LoopValues::materialise(CodePoint point) {
  const std::uint32_t number = node(point);
  if (number != kOutside && passes_[number] != Pass::kNone) materialised_[number] = true;
}

/// Origins have the order of to_instruction, operand, lane, so that those of an operand are neighbours.
bool LoopValues::has_origins(const ddg::Dependence& dependence) const {
  const std::span<const std::uint32_t> numbers = index_.origins_to(dependence.to);
  const auto key = [&](std::uint32_t number) {
    const ddg::Origin& origin = index_.graph().origins[number];
    return std::pair(origin.to_instruction, origin.operand);
  };
  const std::pair wanted(dependence.to_instruction, dependence.operand);
  auto found = std::lower_bound(numbers.begin(), numbers.end(), wanted,
                                [&](std::uint32_t number, const auto& value) { return key(number) < value; });
  for (; found != numbers.end() && key(*found) == wanted; ++found) {
    const ddg::Origin& origin = index_.graph().origins[*found];
    if (!origin.local && origin.by == dependence.from && origin.by_instruction == dependence.from_instruction)
      return true;
  }
  return false;
}

void LoopValues::direct_edges(const ddg::Statement& statement) {
  for (const std::uint32_t number : index_.dependences_to(statement.id)) {
    const ddg::Dependence& d = index_.graph().dependences[number];
    const std::uint32_t to = base_[statement.id] + d.to_instruction;
    if (d.from == ddg::kNoStatement || !consumes(to, d.operand)) continue;
    const bool reload = d.kind == Kind::kMemory && passes_[to] == Pass::kLoad && d.reloads == d.map.points;
    if (reload && !materialised_[to]) continue;
    FlowEdge edge = counted(d.carried, {d.from, d.from_instruction});
    const bool copies_it = passes_on(to, d.operand) && (passes_[to] != Pass::kLoad || d.reloads > 0);
    const Pass pass = index_.pass({d.from, d.from_instruction});
    const bool opaque = edge.from != kOutside && opaque_[edge.from];
    if (pass != Pass::kNone && !opaque && !copies_it) {
      if (pass == Pass::kLoad && d.kind != Kind::kMemory) {
        // What another iteration loaded is in the origins.
        if (!index_.sometimes_plain({d.from, d.from_instruction})) continue;
        if (edge.from == kOutside) continue;
        edge.carried = 0;
        edge.before = 0;
        edge.inside = d.carried.back();
        if (edge.inside == 0) continue;
      } else if (has_origins(d) || is_local_spill(d)) {
        if (is_local_spill(d)) edges_of_local_spill(statement, d);
        continue;
      } else {
        materialise({d.from, d.from_instruction});
      }
    } else if (copies_it) {
      materialise({d.from, d.from_instruction});
    }
    edge.to = to;
    edge.operand = d.operand;
    edge.lane = d.lane;
    edge.kind = d.kind;
    edge.address = d.address;
    edge.object = d.object;
    if (edge.carried > 0 && flow_.level + 1u < d.carried.size()) set_distance(d.map, edge);
    EdgeFacts facts;
    facts.load = pass == Pass::kLoad;
    if (facts.load && opaque) facts.load = false;
    add_edge(edge, facts);
  }
}

/// Of the iterations that carry it, as far as they are told apart from those that do not.
void LoopValues::set_distance(const fold::Folded& map, FlowEdge& edge) const {
  bool any = false;
  for (const fold::Piece& piece : map.pieces) {
    const fold::Output& output = piece.outputs[flow_.level];
    if (output.distance_maximum <= 0) continue;
    const std::int64_t least = std::max<std::int64_t>(1, output.distance_minimum);
    edge.least = any ? std::min(edge.least, least) : least;
    edge.greatest = any ? std::max(edge.greatest, output.distance_maximum) : output.distance_maximum;
    any = true;
  }
}

/// An operand in memory that the same instance spilled: what it passed on was made here, or is in the origins.
bool LoopValues::is_local_spill(const ddg::Dependence& d) const {
  return d.kind == Kind::kMemory && d.from == d.to && d.from_instruction < d.to_instruction && d.carried.back() > 0 &&
         d.carried.back() == d.map.points && index_.pass({d.from, d.from_instruction}) == Pass::kSpill;
}

void LoopValues::edges_of_local_spill(const ddg::Statement& statement, const ddg::Dependence& d) {
  const trace::InstructionFacts& facts = *flow_.nodes[base_[statement.id] + d.from_instruction].facts;
  const ddg::LocalFlow flow{d.from_instruction, d.to_instruction, d.operand, static_cast<std::uint8_t>(d.lane)};
  for (const ddg::LocalFlow& inner : statement.local)
    if (inner.to == d.from_instruction && FlowIndex::is_passed(facts, inner.operand) &&
        !FlowIndex::is_ignored(&facts, inner.operand))
      local_edge(statement, flow, inner.from, 1);
}

void LoopValues::local_edges(const ddg::Statement& statement) {
  for (const ddg::LocalFlow& local : statement.local) {
    if (!consumes(base_[statement.id] + local.to, local.operand)) continue;
    local_edge(statement, local, local.from, 0);
  }
}

/// From `from`, or from what it passes on inside the instance.
void LoopValues::local_edge(const ddg::Statement& statement, const ddg::LocalFlow& flow, std::uint16_t from,
                            int depth) {
  const std::uint32_t to = base_[statement.id] + flow.to;
  const std::uint32_t node = base_[statement.id] + from;
  const bool copies_it = passes_on(to, flow.operand);
  const Pass pass = passes_[node];
  if (copies_it) materialised_[node] = materialised_[node] || pass != Pass::kNone;
  if (pass != Pass::kNone && !opaque_[node] && !copies_it) {
    if (pass == Pass::kLoad) {
      spilled_edges(statement, flow, from, depth);
      if (!index_.sometimes_plain(flow_.nodes[node].at)) return;
    }
    if (pass == Pass::kRegisterCopy && depth < kLongestChain) {
      const trace::InstructionFacts& facts = *flow_.nodes[node].facts;
      for (const ddg::LocalFlow& inner : statement.local)
        if (inner.to == from && FlowIndex::is_passed(facts, inner.operand) &&
            !FlowIndex::is_ignored(&facts, inner.operand))
          local_edge(statement, flow, inner.from, depth + 1);
      return;
    }
  }
  FlowEdge edge;
  edge.from = node;
  edge.to = to;
  edge.operand = flow.operand;
  edge.lane = flow.lane;
  const trace::InstructionFacts* facts = flow_.nodes[to].facts;
  edge.address = facts != nullptr && flow.operand < facts->reads.size() && facts->reads[flow.operand].address;
  edge.inside = statement.count;
  edge.behind_copies = depth > 0;
  add_edge(edge, {});
}

/// What a load gets that was spilled in the same instance comes from there.
void LoopValues::spilled_edges(const ddg::Statement& statement, const ddg::LocalFlow& flow, std::uint16_t load,
                               int depth) {
  if (depth >= kLongestChain) return;
  for (const std::uint32_t number : index_.dependences_to(statement.id)) {
    const ddg::Dependence& d = index_.graph().dependences[number];
    if (d.to_instruction != load || d.kind != Kind::kMemory || d.reloads == 0) continue;
    if (d.from != statement.id || d.carried.back() == 0 || d.from_instruction >= load) continue;
    const trace::InstructionFacts& facts = *flow_.nodes[base_[statement.id] + d.from_instruction].facts;
    for (const ddg::LocalFlow& inner : statement.local)
      if (inner.to == d.from_instruction && FlowIndex::is_passed(facts, inner.operand) &&
          !FlowIndex::is_ignored(&facts, inner.operand))
        local_edge(statement, flow, inner.from, depth + 1);
  }
}

void LoopValues::origin_edges(const ddg::Statement& statement) {
  for (const std::uint32_t number : index_.origins_to(statement.id)) {
    const ddg::Origin& o = index_.graph().origins[number];
    const std::uint32_t to = base_[statement.id] + o.to_instruction;
    if (!consumes(to, o.operand)) continue;
    if (passes_[to] != Pass::kLoad && passes_on(to, o.operand)) continue;
    if (o.by == ddg::kNoStatement) continue;  // not known: a doubt of its own
    const std::uint32_t by = node({o.by, o.by_instruction});
    if (by != kOutside && opaque_[by]) continue;
    if (o.from != ddg::kNoStatement && index_.pass({o.from, o.from_instruction}) != Pass::kLoad)
      materialise({o.from, o.from_instruction});
    FlowEdge edge = counted(o.carried, {o.from, o.from_instruction});
    edge.to = to;
    edge.operand = o.operand;
    edge.lane = o.lane;
    edge.behind_copies = o.by != o.from || o.by_instruction != o.from_instruction;
    const trace::InstructionFacts* facts = flow_.nodes[to].facts;
    edge.address = facts != nullptr && o.operand < facts->reads.size() && facts->reads[o.operand].address;
    if (o.operand >= ddg::kFirstMemoryOperand && o.operand < ddg::kEnvironmentOperand) edge.kind = Kind::kMemory;
    if (edge.carried > 0 && flow_.level < o.least.size()) {
      edge.least = o.least[flow_.level];
      edge.greatest = o.greatest[flow_.level];
    }
    EdgeFacts more;
    more.load = o.load;
    more.rewritten = at(o.rewritten, flow_.level);
    more.reread = at(o.reread, flow_.level);
    more.turns = at(o.turns, flow_.level);
    more.even = o.load && o.even && tells_lines_ && index_.dimensions(statement.id) == flow_.level + 1 &&
                runs_always(statement.id);
    // A window over an array: the first elements were loaded before the loop, the rest in it.
    if (more.even) {
      std::uint64_t rewritten = 0;
      for (std::size_t level = 0; level < o.rewritten.size(); ++level)
        if (edge.from == kOutside || level < flow_.level) rewritten += o.rewritten[level];
      if (rewritten == 0)
        more.turns = 0;
      else
        more.even = false;
    }
    // Handed on from iteration to iteration: only what is in its place anyway, or is seen by every iteration.
    if (edge.before > 0 && !more.even && by != kOutside && hands_on(o, by, to)) more.turns += edge.before;
    add_edge(edge, more);
  }
}

void LoopValues::add_edge(FlowEdge edge, EdgeFacts facts) {
  flow_.edges.push_back(edge);
  edge_facts_.push_back(facts);
}

// ---- Index values --------------------------------------------------------------------------------------------------

/// What gets data is data.
void LoopValues::find_data() {
  std::vector<std::uint32_t> work;
  const auto mark = [&](std::uint32_t node) {
    if (data_[node]) return;
    data_[node] = true;
    work.push_back(node);
  };
  for (std::uint32_t edge = 0; edge < flow_.edges.size(); ++edge) {
    const FlowEdge& e = flow_.edges[edge];
    const bool data = e.from != kOutside && data_[e.from] && e.carried + e.inside > 0;
    if (data || edge_facts_[edge].turns > 0 || e.kind == Kind::kEnvironment) mark(e.to);
  }
  while (!work.empty()) {
    const std::uint32_t node = work.back();
    work.pop_back();
    for (const std::uint32_t edge : flow_.out[node])
      if (flow_.edges[edge].carried + flow_.edges[edge].inside > 0) mark(flow_.edges[edge].to);
  }
}

/// Strongly connected components of the index values that are not left out: by node, its component's head.
std::vector<std::uint32_t> LoopValues::components(const std::vector<bool>& left_out) const {
  std::vector<structure::Edge> edges;
  for (const FlowEdge& edge : flow_.edges) {
    if (edge.from == kOutside || edge.carried + edge.inside == 0) continue;
    if (data_[edge.from] || data_[edge.to] || left_out[edge.from] || left_out[edge.to]) continue;
    edges.push_back({edge.from, edge.to});
  }
  const structure::Digraph graph(flow_.nodes.size(), edges);
  return structure::strong_component_heads(graph, {});
}

/// Recurrences that are not affine are data. Says whether there were any.
bool LoopValues::find_recurrences() {
  std::vector<bool> anchored(flow_.nodes.size());
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node) anchored[node] = !data_[node] && is_anchored(node);
  const std::vector<std::uint32_t> head = components(anchored);
  std::vector<bool> recurs(flow_.nodes.size());
  bool any = false;
  for (const FlowEdge& edge : flow_.edges) {
    if (edge.from == kOutside || edge.carried == 0) continue;
    if (data_[edge.from] || data_[edge.to] || anchored[edge.from] || anchored[edge.to]) continue;
    if (head[edge.from] != head[edge.to]) continue;
    recurs[head[edge.from]] = true;
    any = true;
  }
  if (!any) return false;
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node) {
    if (data_[node] || anchored[node] || !recurs[head[node]]) continue;
    const trace::InstructionFacts* facts = flow_.nodes[node].facts;
    unvalued_[node] = facts != nullptr && (facts->kinds & trace::kIntegerVector) != 0;
    data_[node] = true;
  }
  return true;
}

/// Its address is the stack or frame pointer plus a constant.
bool LoopValues::is_frame_access(const trace::InstructionFacts& facts) {
  constexpr std::uint8_t kFramePointer = 5;
  for (const trace::RegisterUse& read : facts.reads)
    if (read.address && read.index != kStackPointer && read.index != kFramePointer) return false;
  return true;
}

/// A recurrence through memory that is no slot of a frame is an induction variable only if the loop counts by it: if
/// one of its exits hangs on it. Otherwise it is state that happens to be regular: a number of objects made, the end of
/// a vector. Says whether there was any.
bool LoopValues::find_state() {
  const std::vector<std::uint32_t> head = components(std::vector<bool>(flow_.nodes.size()));
  std::vector<bool> state(flow_.nodes.size());
  bool any = false;
  for (const FlowEdge& edge : flow_.edges) {
    if (edge.from == kOutside || edge.carried == 0 || edge.kind != Kind::kMemory || edge.behind_copies) continue;
    if (data_[edge.from] || data_[edge.to] || head[edge.from] != head[edge.to]) continue;
    const bool stack = index_.graph().objects[edge.object].kind == ddg::Object::Kind::kStack;
    if (stack && is_frame_access(*flow_.nodes[edge.from].facts) && is_frame_access(*flow_.nodes[edge.to].facts))
      continue;
    state[head[edge.from]] = any = true;
  }
  if (!any) return false;
  std::vector<bool> counts(flow_.nodes.size());
  std::vector<std::uint32_t> work;
  for (const ddg::StatementId exit : exits_) work.push_back(branch_node(exit));
  std::vector<bool> seen(flow_.nodes.size());
  while (!work.empty()) {
    const std::uint32_t node = work.back();
    work.pop_back();
    if (seen[node] || data_[node]) continue;
    seen[node] = true;
    counts[head[node]] = true;
    for (const std::uint32_t edge : flow_.in[node])
      if (flow_.edges[edge].from != kOutside) work.push_back(flow_.edges[edge].from);
  }
  any = false;
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node) {
    if (data_[node] || !state[head[node]] || counts[head[node]]) continue;
    data_[node] = any = true;
  }
  return any;
}

/// Where a compiler has put the end of a body on several ways, each way steps the counter: whichever data choose, every
/// iteration does the same. Such steps are told by their values: each iteration runs one of them, and all have the same
/// affine function of the iteration.
void LoopValues::find_agreed() {
  agreed_.assign(flow_.nodes.size(), false);
  std::vector<std::vector<std::uint32_t>> groups;
  std::vector<std::uint32_t> group_of(flow_.nodes.size(), kOutside);
  const auto is_step = [&](std::uint32_t node) {
    const FlowNode& n = flow_.nodes[node];
    if (data_[node] || !steady_[node] || index_.dimensions(n.at.statement) != flow_.level + 1) return false;
    return n.facts->associative == trace::Associative::kAdd || n.facts->associative == trace::Associative::kSubtract;
  };
  for (const FlowEdge& edge : flow_.edges) {
    if (edge.from == kOutside || edge.carried == 0 || edge.address || edge.from == edge.to) continue;
    if (edge.operand == ddg::kFlagsOperand || !is_step(edge.from) || !is_step(edge.to)) continue;
    std::uint32_t& group = group_of[edge.from];
    if (group == kOutside && group_of[edge.to] == kOutside) {
      group = static_cast<std::uint32_t>(groups.size());
      groups.push_back({edge.from});
    }
    const std::uint32_t both = group != kOutside ? group : group_of[edge.to];
    for (const std::uint32_t node : {edge.from, edge.to}) {
      if (group_of[node] == both) {
        if (std::find(groups[both].begin(), groups[both].end(), node) == groups[both].end())
          groups[both].push_back(node);
        continue;
      }
      if (group_of[node] != kOutside) continue;
      group_of[node] = both;
      groups[both].push_back(node);
    }
  }
  for (const std::vector<std::uint32_t>& group : groups) {
    if (group.size() < 2 || !agree(group)) continue;
    for (const std::uint32_t node : group) agreed_[node] = true;
  }
}

/// It ends with a branch on a comparison of agreed steps with what was there before the loop.
bool LoopValues::tests_step(ddg::StatementId statement) const {
  const std::uint32_t branch = branch_node(statement);
  const trace::InstructionFacts* facts = flow_.nodes[branch].facts;
  if (facts == nullptr || (facts->kinds & trace::kBranch) == 0 || (facts->kinds & trace::kConditional) == 0)
    return false;
  bool any = false;
  for (const std::uint32_t flag : flow_.in[branch]) {
    const std::uint32_t compare = flow_.edges[flag].from;
    if (compare == kOutside || flow_.nodes[compare].at.statement != statement) return false;
    if (agreed_[compare]) {
      any = true;
      continue;
    }
    for (const std::uint32_t edge : flow_.in[compare]) {
      const FlowEdge& e = flow_.edges[edge];
      if (e.from == kOutside) continue;
      if (!agreed_[e.from] || e.inside == 0 || e.carried > 0) return false;
      any = true;
    }
  }
  return any;
}

bool LoopValues::ends_alike(ddg::StatementId statement) const {
  if (!tests_step(statement)) return false;
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node)
    if (agreed_[node] && !tests_step(flow_.nodes[node].at.statement)) return false;
  return true;
}

bool LoopValues::agree(std::span<const std::uint32_t> nodes) const {
  const auto value_of = [&](std::uint32_t node) {
    const CodePoint at = flow_.nodes[node].at;
    for (const std::uint32_t number : index_.values_of(at.statement)) {
      const ddg::Value& value = index_.graph().values[number];
      if (value.instruction == at.instruction && value.reg != kStackPointer)
        return common_function(value.value, 0, false);
    }
    return CommonFunction{};
  };
  std::uint64_t ran = 0;
  const CommonFunction first = value_of(nodes.front());
  if (first.coefficients.empty() || !first.affine() || !first.constant || *first.coefficients[flow_.level] == 0)
    return false;
  for (const std::uint32_t node : nodes) {
    const CommonFunction value = value_of(node);
    if (value.coefficients != first.coefficients || value.constant != first.constant) return false;
    for (const std::uint32_t edge : flow_.in[node]) {
      const FlowEdge& e = flow_.edges[edge];
      if (e.inside > 0) return false;
      if (e.carried > 0 && std::find(nodes.begin(), nodes.end(), e.from) == nodes.end()) return false;
    }
    ran += index_.graph().statements[flow_.nodes[node].at.statement].count;
  }
  std::uint64_t iterations = 0;
  for (const structure::ContextId copy : flow_.loops) iterations += index_.tree()[copy].trips.total;
  return ran >= iterations && ran > 0;
}

/// Only the ends of loops decide whether it runs: it runs in every iteration, in the same way.
bool LoopValues::runs_always(ddg::StatementId statement) const {
  std::vector<ddg::StatementId> work{statement};
  std::vector<ddg::StatementId> seen;
  const auto ends_loop_around = [&](ddg::StatementId decider) {
    if (std::binary_search(exits_.begin(), exits_.end(), decider)) return true;
    for (structure::ContextId context = index_.graph().statements[statement].context;
         context != structure::LoopTree::root(); context = index_.tree()[context].parent) {
      if (index_.tree()[context].kind != structure::Context::Kind::kLoop) continue;
      const std::span<const ddg::StatementId> exits = control_.exit_deciders(context);
      if (std::binary_search(exits.begin(), exits.end(), decider)) return true;
      if (std::find(flow_.loops.begin(), flow_.loops.end(), context) != flow_.loops.end()) break;
    }
    return false;
  };
  while (!work.empty()) {
    const ddg::StatementId at = work.back();
    work.pop_back();
    for (const ddg::StatementId decider : control_.deciders(at)) {
      if (base_[decider] == kOutside || std::find(seen.begin(), seen.end(), decider) != seen.end()) continue;
      if (!ends_loop_around(decider)) return false;
      seen.push_back(decider);
      work.push_back(decider);
    }
  }
  return true;
}

bool LoopValues::is_anchored(std::uint32_t node) const {
  if (agreed_[node]) return true;
  // A state that changes back and forth is even where a body was unrolled; only sums step.
  const FlowNode& n = flow_.nodes[node];
  const bool steps =
      passes_[node] != Pass::kNone || (n.facts != nullptr && (n.facts->associative == trace::Associative::kAdd ||
                                                              n.facts->associative == trace::Associative::kSubtract));
  if (steps && steady_[node] && runs_always(n.at.statement)) return true;
  if (adds_constant(node)) return true;
  const trace::InstructionFacts* facts = n.facts;
  if (facts == nullptr || (facts->kinds & trace::kStore) == 0) return false;
  if (!steps && facts->transfer != trace::Transfer::kCopy) return false;
  // What a store wrote is seen by a load that reads it.
  bool read = false;
  for (const std::uint32_t edge : flow_.out[node]) {
    const FlowEdge& e = flow_.edges[edge];
    if (e.kind != Kind::kMemory || passes_[e.to] != Pass::kLoad) continue;
    if (!steady_[e.to] || !runs_always(flow_.nodes[e.to].at.statement)) return false;
    read = true;
  }
  return read;
}

/// x = x + c, once in every iteration, c from before the loop.
bool LoopValues::adds_constant(std::uint32_t node) const {
  const trace::InstructionFacts* facts = flow_.nodes[node].facts;
  if (facts == nullptr || facts->floating) return false;
  if (facts->associative != trace::Associative::kAdd && facts->associative != trace::Associative::kSubtract)
    return false;
  int recurring = -1;
  for (const std::uint32_t edge : flow_.in[node]) {
    const FlowEdge& e = flow_.edges[edge];
    if (edge_facts_[edge].turns > 0) return false;
    if (e.address || e.from == kOutside || e.carried + e.inside == 0) continue;
    if (e.from != node || e.inside > 0 || (recurring >= 0 && recurring != e.operand)) return false;
    recurring = e.operand;
  }
  if (recurring < 0 || facts->scale > 1) return false;
  // c - x is no step.
  const bool memory = recurring >= ddg::kFirstMemoryOperand;
  if (facts->associative == trace::Associative::kSubtract && facts->accumulator != trace::kAnyOperand &&
      (facts->accumulator == trace::kMemoryOperand ? !memory : recurring != facts->accumulator))
    return false;
  return once_per_iteration(flow_.nodes[node].at.statement);
}

bool LoopValues::once_per_iteration(ddg::StatementId statement) const {
  if (index_.dimensions(statement) != flow_.level + 1) return false;
  for (const ddg::StatementId decider : control_.deciders(statement))
    if (base_[decider] != kOutside && !std::binary_search(exits_.begin(), exits_.end(), decider)) return false;
  return true;
}

void LoopValues::mark_recurrences() {
  const std::vector<std::uint32_t> head = components(std::vector<bool>(flow_.nodes.size()));
  std::vector<bool> recurs(flow_.nodes.size());
  for (const FlowEdge& edge : flow_.edges) {
    if (edge.from == kOutside || edge.carried == 0 || data_[edge.from] || data_[edge.to]) continue;
    if (head[edge.from] == head[edge.to]) recurs[head[edge.from]] = true;
  }
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node)
    flow_.nodes[node].in_recurrence = !data_[node] && recurs[head[node]];
}

bool LoopValues::is_computable(std::uint32_t node, int depth) const {
  const FlowNode& n = flow_.nodes[node];
  if (data_[node]) return false;
  if (n.in_recurrence) return true;
  if (!n.copy || passes_[node] == Pass::kLoad || opaque_[node] || depth >= kLongestChain) return false;
  for (const std::uint32_t edge : flow_.in[node]) {
    const FlowEdge& e = flow_.edges[edge];
    if (e.address) continue;
    if (edge_facts_[edge].turns > 0) return false;
    if (e.from == kOutside || e.carried + e.inside == 0) continue;
    if (!is_computable(e.from, depth + 1)) return false;
  }
  return true;
}

/// Which copies may pass on what was there before the loop, and which get it by a copy of an earlier iteration that may
/// have put it into another place.
void LoopValues::find_handing() {
  struct Hop {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    bool carried = false;
  };
  std::vector<Hop> hops;
  const std::size_t count = flow_.nodes.size();
  std::vector<bool> written(count);
  before_.assign(count, false);
  for (const ddg::StatementId id : statements_) {
    const ddg::Statement& statement = index_.graph().statements[id];
    const auto passes = [&](std::uint16_t instruction, std::uint8_t operand) {
      const std::uint32_t to = base_[id] + instruction;
      return passes_[to] != Pass::kNone && FlowIndex::is_passed(*flow_.nodes[to].facts, operand) &&
             !FlowIndex::is_ignored(flow_.nodes[to].facts, operand);
    };
    for (const ddg::LocalFlow& local : statement.local) {
      if (!passes(local.to, local.operand)) continue;
      written[base_[id] + local.to] = true;
      if (passes_[base_[id] + local.from] != Pass::kNone)
        hops.push_back({base_[id] + local.from, base_[id] + local.to, false});
    }
    for (const std::uint32_t number : index_.dependences_to(id)) {
      const ddg::Dependence& d = index_.graph().dependences[number];
      if (!passes(d.to_instruction, d.operand) || (d.kind == Kind::kMemory && d.reloads == 0)) continue;
      const std::uint32_t to = base_[id] + d.to_instruction;
      written[to] = true;
      const std::uint32_t from = d.from == ddg::kNoStatement ? kOutside : node({d.from, d.from_instruction});
      bool older = from == kOutside;
      for (std::size_t level = 0; level < std::min<std::size_t>(flow_.level, d.carried.size()); ++level)
        older = older || d.carried[level] > 0;
      if (older) before_[to] = true;
      if (from == kOutside || passes_[from] == Pass::kNone) continue;
      const bool carried = at(d.carried, flow_.level) > 0;
      if (carried) hops.push_back({from, to, true});
      if (!carried || d.carried.size() > flow_.level + 1u) hops.push_back({from, to, false});
    }
  }
  for (std::uint32_t node = 0; node < count; ++node)
    if (passes_[node] != Pass::kNone && !written[node]) before_[node] = true;
  const auto spread = [&](std::vector<bool>& marked, bool over_carried) {
    for (bool more = true; more;) {
      more = false;
      for (const Hop& hop : hops) {
        if (!marked[hop.from] || marked[hop.to] || (hop.carried && !over_carried)) continue;
        marked[hop.to] = more = true;
      }
    }
  };
  spread(before_, true);
  for (const bool always : {false, true}) {
    std::vector<bool>& handed = handed_[always ? 1 : 0];
    handed.assign(count, false);
    for (const Hop& hop : hops)
      if (hop.carried && before_[hop.from] && !keeps_place(hop.from, always)) handed[hop.to] = true;
    spread(handed, false);
  }
}

/// Whether a value from before the loop comes to a use by a copy of an earlier iteration that may have put it into
/// another place: the use would have found something else there without that iteration. Where both run in every
/// iteration, that shows as another origin in the first one.
bool LoopValues::hands_on(const ddg::Origin& origin, std::uint32_t by, std::uint32_t to) const {
  const bool always = runs_always(flow_.nodes[to].at.statement);
  if (handed_[always ? 1 : 0][by]) return true;
  if (origin.local || !before_[by] || keeps_place(by, always)) return false;
  for (const std::uint32_t number : index_.dependences_to(origin.to)) {
    const ddg::Dependence& d = index_.graph().dependences[number];
    if (d.to_instruction != origin.to_instruction || d.operand != origin.operand) continue;
    if (d.from != origin.by || d.from_instruction != origin.by_instruction) continue;
    if (at(d.carried, flow_.level) > 0) return true;
  }
  return false;
}

bool LoopValues::keeps_place(std::uint32_t copy, bool seen_always) const {
  const CodePoint point = flow_.nodes[copy].at;
  return index_.preserves(point) || index_.restores(point) || (seen_always && runs_always(point.statement));
}

bool LoopValues::can_be_repeated(std::uint32_t node) const {
  if (flow_.nodes[node].data_decided || opaque_[node]) return false;
  for (const std::uint32_t edge : flow_.in[node]) {
    const FlowEdge& e = flow_.edges[edge];
    if (!e.address) continue;
    if (edge_facts_[edge].turns > 0) return false;
    if (e.from != kOutside && e.carried + e.inside > 0 && data_[e.from]) return false;
  }
  return true;
}

}  // namespace loopfold::poly
