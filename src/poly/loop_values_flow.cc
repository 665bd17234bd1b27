// The flow of a loop: one edge per use and maker of its value, with what transparent copies pass on followed to where
// it comes from. Direct dependences are taken where their producer is no copy, or one that is not seen through;
// otherwise the origins of the use; and inside an instance, copies are followed statically.
#include <algorithm>
#include <utility>

#include "poly/loop_values.h"

namespace loopfold::poly {

namespace {

constexpr std::uint32_t kOutside = FlowEdge::kOutside;
constexpr int kLongestChain = 64;  // of copies in one piece of code

std::uint64_t at(std::span<const std::uint64_t> counts, std::size_t level) {
  return level < counts.size() ? counts[level] : 0;
}

}  // namespace

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
        more.window = std::exchange(more.turns, 0);
      else
        more.even = false;
    }
    // A use in an inner loop gets one after the other in each iteration; it is this loop's matter only if an earlier
    // iteration may have put something in its place.
    const bool copied = by != kOutside && passes_[by] != Pass::kNone;
    if (!o.load && copied && index_.dimensions(statement.id) > flow_.level + 1u && !is_moved(o, by)) more.turns = 0;
    // Cells that were filled before the loop, read one after the other: where they are read, they are memory like any
    // other; where a copy in this iteration got them, what it gets changes.
    if (by == kOutside && edge.kind == Kind::kMemory) more.turns = 0;
    if (copied && !is_moved(o, by)) more.varies = std::exchange(more.turns, 0);
    // Handed on from iteration to iteration: only what is in its place anyway, or is seen by every iteration.
    if (edge.before > 0 && !more.even && by != kOutside && hands_on(o, by, to)) more.turns += edge.before;
    add_edge(edge, more);
  }
}

void LoopValues::add_edge(FlowEdge edge, EdgeFacts facts) {
  flow_.edges.push_back(edge);
  edge_facts_.push_back(facts);
}

}  // namespace loopfold::poly
