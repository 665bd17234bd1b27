#include "verify/judge.h"

#include <algorithm>

#include "structure/digraph.h"

namespace loopfold::verify {

namespace {

using trace::Associative;

bool is_sum(const Node& node) {
  return node.facts != nullptr &&
         (node.facts->associative == Associative::kAdd || node.facts->associative == Associative::kSubtract);
}

/// The same instruction but for its registers.
bool is_alike(const Node& a, const Node& b) {
  return a.facts->form == b.facts->form && a.facts->constants == b.facts->constants &&
         a.facts->displacement == b.facts->displacement;
}

/// mov r,imm and its like.
bool makes_constant(const Node& node) {
  constexpr std::uint32_t kMore = trace::kLoad | trace::kStore | trace::kBranch | trace::kCall | trace::kUnknown;
  return node.facts != nullptr && (node.facts->kinds & kMore) == 0 && node.facts->reads.empty() &&
         node.facts->constants != trace::kNoConstants && node.facts->flags_read == 0;
}

}  // namespace

Judge::Judge(const Flow& flow, const structure::Structure& structure, const structure::LoopTree& tree,
             const LoopPlace& loop, const std::vector<bool>& pure)
    : flow_(flow), tree_(tree), loop_(loop), pure_(pure) {
  find_nodes();
  find_edges();
  find_ends(structure);
  find_data();
  find_led();
  find_carried();
  find_excused();
}

bool Judge::is_pure(NodeIndex node) const {
  const structure::ContextId context = flow_.nodes[node].context;
  return context < pure_.size() && pure_[context];
}

// ---- The flow of the loop -----------------------------------------------------------------------------------------

void Judge::find_nodes() {
  std::vector<std::uint32_t> copy_of(tree_.contexts().size(), kNone);  // by context
  for (structure::ContextId id = 1; id < copy_of.size(); ++id) {
    const auto found = std::find(loop_.contexts.begin(), loop_.contexts.end(), id);
    copy_of[id] = found != loop_.contexts.end() ? static_cast<std::uint32_t>(found - loop_.contexts.begin())
                                                : copy_of[tree_[id].parent];
  }
  index_.assign(flow_.nodes.size(), kNone);
  for (NodeIndex id = 0; id < flow_.nodes.size(); ++id) {
    const std::uint32_t copy = copy_of[flow_.nodes[id].context];
    if (copy == kNone) continue;
    index_[id] = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(id);
    copy_.push_back(copy);
  }
  part_index_.assign(flow_.parts.size(), kNone);
  for (PartIndex id = 0; id < flow_.parts.size(); ++id) {
    if (copy_of[flow_.parts[id].context] == kNone) continue;
    part_index_[id] = static_cast<std::uint32_t>(parts_.size());
    parts_.push_back(id);
  }
}

/// What an edge is for this loop. Copies of the loop share nothing of its level: flow between them is counted as not
/// carried by the level outside of it.
bool Judge::add_counts(const Edge& edge, std::uint32_t from, std::uint32_t to_copy, std::uint64_t& carried,
                       std::uint64_t& inside, std::uint64_t& between) const {
  if (edge.level != Edge::kAllLevels && edge.level != loop_.level) return false;
  if (copy_[from] != to_copy) {
    if (loop_.level >= 1 && edge.levels.size() >= loop_.level) between = edge.levels[loop_.level - 1u].inside;
    return between > 0;
  }
  if (edge.levels.size() <= loop_.level) return false;
  carried = edge.levels[loop_.level].carried;
  inside = edge.levels[loop_.level].inside;
  for (std::size_t level = loop_.level + 1u; level < edge.levels.size(); ++level)
    inside += edge.levels[level].inside + edge.levels[level].carried;
  return carried + inside > 0;
}

void Judge::find_edges() {
  in_.resize(nodes_.size());
  out_.resize(nodes_.size());
  decides_.resize(nodes_.size());
  for (std::uint32_t to = 0; to < nodes_.size(); ++to) {
    for (const Use& use : node(to).uses) {
      for (const Edge& edge : use.edges) {
        Flowing flowing{index_[edge.from], to, &use, &edge, 0, 0, 0};
        if (flowing.from == kNone) continue;
        if (!add_counts(edge, flowing.from, copy_[to], flowing.carried, flowing.inside, flowing.between)) continue;
        instances_ += flowing.carried + flowing.inside + flowing.between;
        in_[to].push_back(static_cast<std::uint32_t>(edges_.size()));
        out_[flowing.from].push_back(static_cast<std::uint32_t>(edges_.size()));
        edges_.push_back(flowing);
      }
    }
  }
  for (std::uint32_t to = 0; to < parts_.size(); ++to) {
    const PartNode& part = flow_.parts[parts_[to]];
    if (part.nodes.empty()) continue;
    for (const Edge& edge : part.control.edges) {
      Deciding deciding{index_[edge.from], to, &edge, 0, 0};
      if (deciding.from == kNone) continue;
      std::uint64_t between = 0;
      const std::uint32_t copy = copy_[index_[part.nodes.front()]];
      if (!add_counts(edge, deciding.from, copy, deciding.carried, deciding.inside, between)) continue;
      decides_[deciding.from].push_back(static_cast<std::uint32_t>(decisions_.size()));
      decisions_.push_back(deciding);
    }
  }
}

/// The branch must be in the loop's own function, so that what leaves the loop is known.
void Judge::find_ends(const structure::Structure& structure) {
  ends_.resize(nodes_.size());
  for (const PartIndex id : parts_) {
    const PartNode& part = flow_.parts[id];
    if (part.nodes.empty() || part.node == structure::kNoNode) continue;
    structure::ContextId context = part.context;
    while (std::find(loop_.contexts.begin(), loop_.contexts.end(), context) == loop_.contexts.end() &&
           tree_[context].kind == structure::Context::Kind::kLoop)
      context = tree_[context].parent;
    const structure::Context& loop = tree_[context];
    if (loop.kind != structure::Context::Kind::kLoop || loop.function != part.function) continue;
    const structure::LoopForest& forest = structure.forests[part.function];
    std::size_t stays = 0;
    for (const structure::NodeId to : structure.flow.functions()[part.function].graph.successors(part.node))
      if (forest.contains(loop.loop, to)) ++stays;
    ends_[index_[part.nodes.back()]] = stays == 1;
  }
}

// ---- Index values -------------------------------------------------------------------------------------------------

bool Judge::speaks_against(const Node& node) const {
  if (node.kind != Node::Kind::kCode || node.facts == nullptr) return true;
  if ((node.facts->kinds & (trace::kUnknown | trace::kSyscall)) != 0) return true;
  for (const Use& use : node.uses) {
    if (use.levels.size() <= loop_.level) continue;
    if (use.levels[loop_.level].varies || use.levels[loop_.level].moves) return true;
  }
  return false;
}

/// A repeated string instruction goes on as its counter says, unless it compares.
bool Judge::decides_by_data(std::uint32_t index) const {
  const Node& n = node(index);
  if (n.facts != nullptr && (n.facts->kinds & trace::kRepeat) != 0 && n.facts->flags_written == 0) return false;
  return data_[index];
}

/// Whether there is more of the loop may have been decided before it came to this branch.
bool Judge::leads_by_data(std::uint32_t index) const {
  return decides_by_data(index) || part_led_[part_index_[node(index).part]];
}

/// Parts behind branches that may leave the loop, and do so by data.
void Judge::find_led() {
  part_led_.resize(parts_.size());
  for (bool more = true; more;) {
    more = false;
    for (const Deciding& decision : decisions_) {
      if (part_led_[decision.to] || decision.inside == 0 || !ends_[decision.from]) continue;
      if (leads_by_data(decision.from)) part_led_[decision.to] = more = true;
    }
  }
}

void Judge::mark(std::uint32_t index, std::vector<std::uint32_t>& work) {
  if (data_[index] || agreed_[index]) return;
  data_[index] = true;
  work.push_back(index);
}

/// Data decide whether the part runs; and so, whether what comes behind its branch does, if that can only leave the
/// loop. `work` gets what is data by that.
void Judge::decide(std::uint32_t first, std::vector<std::uint32_t>& work) {
  std::vector<std::uint32_t> parts{first};
  while (!parts.empty()) {
    const std::uint32_t part = parts.back();
    parts.pop_back();
    if (part_decided_[part]) continue;
    part_decided_[part] = true;
    const std::vector<NodeIndex>& nodes = flow_.parts[parts_[part]].nodes;
    for (const NodeIndex decided : nodes) mark(index_[decided], work);
    if (nodes.empty() || !ends_[index_[nodes.back()]]) continue;
    for (const std::uint32_t decision : decides_[index_[nodes.back()]])
      if (decisions_[decision].inside > 0) parts.push_back(decisions_[decision].to);
  }
}

void Judge::spread() {
  std::vector<std::uint32_t> work;
  for (std::uint32_t index = 0; index < nodes_.size(); ++index)
    if (data_[index]) work.push_back(index);
  while (!work.empty()) {
    const std::uint32_t index = work.back();
    work.pop_back();
    for (const std::uint32_t edge : out_[index]) mark(edges_[edge].to, work);
    if (!decides_by_data(index) || ends_[index]) continue;
    for (const std::uint32_t decision : decides_[index]) decide(decisions_[decision].to, work);
  }
}

void Judge::find_data() {
  data_.resize(nodes_.size());
  part_decided_.resize(parts_.size());
  agreed_.resize(nodes_.size());
  on_line_.resize(nodes_.size());
  find_agreed();
  for (std::uint32_t index = 0; index < nodes_.size(); ++index) data_[index] = speaks_against(node(index));
  std::vector<std::uint32_t> work;
  for (std::uint32_t part = 0; part < parts_.size(); ++part)
    if ((flow_.parts[parts_[part]].decided >> loop_.level & 1) != 0) decide(part, work);
  do {
    spread();
  } while (find_recurrences() || find_state());
  mark_recurrences();
  for (std::uint32_t part = 0; part < parts_.size(); ++part)
    if (part_decided_[part]) decided_parts_.push_back(parts_[part]);
}

/// Strongly connected components of the index values that are not left out: by node, a member of its own.
std::vector<std::uint32_t> Judge::components(const std::vector<bool>& left_out) const {
  std::vector<structure::Edge> edges;
  for (const Flowing& edge : edges_)
    if (!data_[edge.from] && !data_[edge.to] && !left_out[edge.from] && !left_out[edge.to])
      edges.push_back({edge.from, edge.to});
  return structure::strong_component_heads(structure::Digraph(nodes_.size(), edges), {});
}

/// Recurrences that do not advance evenly are data. Says whether there were any.
bool Judge::find_recurrences() {
  std::vector<bool> anchored(nodes_.size());
  for (std::uint32_t index = 0; index < nodes_.size(); ++index) anchored[index] = !data_[index] && is_anchored(index);
  const std::vector<std::uint32_t> head = components(anchored);
  std::vector<bool> recurs(nodes_.size());
  bool any = false;
  for (const Flowing& edge : edges_) {
    if (edge.carried + edge.between == 0 || data_[edge.from] || data_[edge.to]) continue;
    if (anchored[edge.from] || anchored[edge.to] || head[edge.from] != head[edge.to]) continue;
    recurs[head[edge.from]] = any = true;
  }
  if (!any) return false;
  for (std::uint32_t index = 0; index < nodes_.size(); ++index)
    if (!data_[index] && !anchored[index] && recurs[head[index]]) data_[index] = true;
  return true;
}

/// Says whether there was any.
bool Judge::find_state() {
  const std::vector<std::uint32_t> head = components(std::vector<bool>(nodes_.size()));
  std::vector<bool> state(nodes_.size());
  bool any = false;
  for (const Flowing& edge : edges_) {
    if (edge.carried == 0 || !edge.use->memory || edge.edge->behind_copies || data_[edge.from] || data_[edge.to])
      continue;
    if (head[edge.from] != head[edge.to] || (node(edge.from).frame && node(edge.to).frame)) continue;
    state[head[edge.from]] = any = true;
  }
  if (!any) return false;
  std::vector<bool> counts(nodes_.size());
  std::vector<bool> seen(nodes_.size());
  std::vector<std::uint32_t> work;
  for (const Deciding& decision : decisions_)
    if (decision.carried > 0) work.push_back(decision.from);
  while (!work.empty()) {
    const std::uint32_t index = work.back();
    work.pop_back();
    if (seen[index] || data_[index]) continue;
    seen[index] = true;
    counts[head[index]] = true;
    for (const std::uint32_t edge : in_[index]) work.push_back(edges_[edge].from);
  }
  any = false;
  for (std::uint32_t index = 0; index < nodes_.size(); ++index)
    if (!data_[index] && state[head[index]] && !counts[head[index]]) data_[index] = any = true;
  return any;
}

/// Its recorded values grow evenly, in every iteration.
bool Judge::advances(const Node& n) const {
  if (n.values.size() <= loop_.level) return false;
  const Line& line = n.values[loop_.level];
  return line.even() && line.told() && line.gapless();
}

/// What an instruction stores has no recorded value; who loads it has.
bool Judge::is_anchored(std::uint32_t index) const {
  const Node& n = node(index);
  if (agreed_[index] || on_line_[index]) return true;
  if ((n.copy || n.load || is_sum(n)) && advances(n)) return true;
  if (adds_constant(index)) return true;
  if (!is_sum(n) || (n.facts->kinds & trace::kStore) == 0) return false;
  bool loaded = false;
  for (const std::uint32_t number : out_[index]) {
    const Flowing& edge = edges_[number];
    if (!edge.use->memory || !node(edge.to).load) continue;
    if (!advances(node(edge.to))) return false;
    loaded = true;
  }
  return loaded;
}

// ---- Steps on several ways ----------------------------------------------------------------------------------------

/// Each iteration runs one of them, and all are on one line, in every entry.
bool Judge::agree(const std::vector<std::uint32_t>& group) const {
  struct All {
    Line::Entry line;
    std::uint64_t count = 0;
  };
  std::vector<All> entries;
  for (const std::uint32_t index : group) {
    for (const std::uint32_t number : in_[index]) {
      const Flowing& edge = edges_[number];
      if (edge.inside > 0) return false;
      if (std::find(group.begin(), group.end(), edge.from) == group.end() && !makes_constant(node(edge.from)))
        return false;
    }
    for (const Line::Entry& entry : node(index).values[loop_.level].entries()) {
      const auto found =
          std::find_if(entries.begin(), entries.end(), [&](const All& all) { return all.line.serial == entry.serial; });
      if (found == entries.end()) {
        entries.push_back({entry, entry.count});
        continue;
      }
      All& all = *found;
      if (all.line.count > 1 && entry.count > 1 &&
          (all.line.step != entry.step || all.line.offset != entry.offset || entry.step == 0))
        return false;
      all.count += entry.count;
      all.line.first = std::min(all.line.first, entry.first);
      all.line.last = std::max(all.line.last, entry.last);
      if (all.line.count < 2) {
        all.line.step = entry.step;
        all.line.offset = entry.offset;
        all.line.count = entry.count;
      }
    }
  }
  return !entries.empty() && std::all_of(entries.begin(), entries.end(), [](const All& all) {
    return all.count == all.line.last - all.line.first + 1;
  });
}

/// The part ends with a branch on a comparison of these steps with what was there before the loop: which nodes that
/// takes.
bool Judge::tests_agreed(PartIndex part, const std::vector<std::uint32_t>& group,
                         std::vector<std::uint32_t>& tests) const {
  const auto is_one = [&](std::uint32_t index) { return std::find(group.begin(), group.end(), index) != group.end(); };
  const std::uint32_t branch = index_[flow_.parts[part].nodes.back()];
  const trace::InstructionFacts* facts = node(branch).facts;
  if (facts == nullptr || (facts->kinds & trace::kBranch) == 0 || (facts->kinds & trace::kConditional) == 0)
    return false;
  bool any = false;
  for (const std::uint32_t flag : in_[branch]) {
    const std::uint32_t compare = edges_[flag].from;
    if (node(compare).part != part) return false;
    tests.push_back(compare);
    if (is_one(compare)) {
      any = true;
      continue;
    }
    for (const std::uint32_t number : in_[compare]) {
      if (!is_one(edges_[number].from) || edges_[number].carried > 0) return false;
      any = true;
    }
  }
  tests.push_back(branch);
  return any;
}

/// First those that are one instruction: what only reads a step is no step, and often a sum, too.
void Judge::find_agreed() {
  find_agreed(true);
  find_agreed(false);
}

void Judge::find_agreed(bool alike) {
  const auto is_step = [&](std::uint32_t index) {
    const Node& n = node(index);
    if (agreed_[index] || on_line_[index] || !is_sum(n) || n.values.size() <= loop_.level) return false;
    return n.values[loop_.level].even() && flow_.parts[n.part].levels == loop_.level + 1u;
  };
  std::vector<std::vector<std::uint32_t>> groups;
  std::vector<std::uint32_t> group_of(nodes_.size(), kNone);
  for (const Flowing& edge : edges_) {
    if (edge.carried == 0 || edge.use->operand == kFlagsOperand || edge.from == edge.to) continue;
    if (!is_step(edge.from) || !is_step(edge.to)) continue;
    if (alike ? !is_alike(node(edge.from), node(edge.to)) : edge.use->address) continue;
    std::uint32_t group = group_of[edge.from] != kNone ? group_of[edge.from] : group_of[edge.to];
    if (group == kNone) {
      group = static_cast<std::uint32_t>(groups.size());
      groups.emplace_back();
    }
    for (const std::uint32_t index : {edge.from, edge.to}) {
      if (group_of[index] != kNone) continue;
      group_of[index] = group;
      groups[group].push_back(index);
    }
  }
  std::erase_if(groups, [&](const auto& group) { return group.size() < 2 || !agree(group); });
  // Where not every iteration makes one of the steps, it may be data that say where they begin and end.
  std::uint64_t iterations = 0;
  for (const structure::ContextId loop : loop_.contexts) iterations += tree_[loop].trips.total;
  std::erase_if(groups, [&](const auto& group) {
    std::uint64_t ran = 0;
    for (const std::uint32_t index : group) ran += node(index).count;
    for (const std::uint32_t index : group) on_line_[index] = true;
    return ran < iterations;
  });
  for (const std::vector<std::uint32_t>& group : groups)
    for (const std::uint32_t index : group) agreed_[index] = true;
  for (const std::vector<std::uint32_t>& group : groups) find_tests(group);
}

/// Each step is followed by a test, in its own iteration: the tests are agreed, too.
void Judge::find_tests(const std::vector<std::uint32_t>& group) {
  std::vector<std::uint32_t> tests;
  std::vector<bool> compares(nodes_.size());
  for (const PartIndex part : parts_) {
    std::vector<std::uint32_t> found;
    if (flow_.parts[part].nodes.empty() || !tests_agreed(part, group, found)) continue;
    for (const std::uint32_t test : found) compares[test] = true;
    tests.insert(tests.end(), found.begin(), found.end());
  }
  for (const std::uint32_t index : group) {
    if (compares[index]) continue;
    std::uint64_t tested = 0;
    for (const std::uint32_t number : out_[index])
      if (compares[edges_[number].to]) tested += edges_[number].inside;
    if (tested < node(index).count) return;
  }
  for (const std::uint32_t test : tests) agreed_[test] = true;
}

/// x = x + c, once in every iteration, c from before the loop.
bool Judge::adds_constant(std::uint32_t index) const {
  const Node& n = node(index);
  if (!is_sum(n) || n.facts->floating || n.facts->scale > 1) return false;
  int recurring = -1;
  for (const std::uint32_t number : in_[index]) {
    const Flowing& edge = edges_[number];
    if (edge.use->address && edge.use->memory) continue;
    if (edge.use->address && edge.from != index && (n.facts->kinds & (trace::kLoad | trace::kStore)) != 0) continue;
    if (edge.from != index || edge.inside > 0) return false;
    const EdgeLevel& level = edge.edge->levels[loop_.level];
    if (level.least != 1 || level.greatest != 1) return false;
    if (recurring >= 0 && recurring != edge.use->operand) return false;
    recurring = edge.use->operand;
  }
  if (recurring < 0) return false;
  if (n.facts->associative != Associative::kSubtract || n.facts->accumulator == trace::kAnyOperand) return true;
  return n.facts->accumulator == trace::kMemoryOperand ? recurring >= kFirstMemory : recurring == n.facts->accumulator;
}

/// A number, or one that is added to what was there before the loop.
bool Judge::is_made_of_constants(std::uint32_t index) const {
  const Node& n = node(index);
  if (makes_constant(n)) return true;
  if (!is_sum(n) || n.facts->reads.size() != 1 || (n.facts->kinds & (trace::kLoad | trace::kStore)) != 0) return false;
  return std::all_of(in_[index].begin(), in_[index].end(), [&](std::uint32_t number) {
    return edges_[number].from == index || makes_constant(node(edges_[number].from));
  });
}

void Judge::mark_recurrences() {
  const std::vector<std::uint32_t> head = components(std::vector<bool>(nodes_.size()));
  std::vector<bool> recurs(nodes_.size());
  for (const Flowing& edge : edges_)
    if (edge.carried + edge.between > 0 && !data_[edge.from] && !data_[edge.to] && head[edge.from] == head[edge.to])
      recurs[head[edge.from]] = true;
  recurs_.resize(nodes_.size());
  for (std::uint32_t index = 0; index < nodes_.size(); ++index) recurs_[index] = !data_[index] && recurs[head[index]];
}

bool Judge::is_repeatable(NodeIndex id) const {
  if (!contains(id)) return false;
  const std::uint32_t index = index_[id];
  if (part_decided_[part_index_[node(index).part]]) return false;
  return std::none_of(in_[index].begin(), in_[index].end(),
                      [&](std::uint32_t number) { return edges_[number].use->address && data_[edges_[number].from]; });
}

// ---- What is carried ----------------------------------------------------------------------------------------------

void Judge::find_carried() {
  for (const Flowing& edge : edges_) {
    if (edge.carried + edge.between == 0) continue;
    Carried carried;
    carried.kind = edge.use->memory                    ? Carried::Kind::kMemory
                   : edge.use->operand == kEnvironment ? Carried::Kind::kEnvironment
                                                       : Carried::Kind::kRegister;
    carried.from = nodes_[edge.from];
    carried.to = nodes_[edge.to];
    carried.use = edge.use;
    carried.edge = edge.edge;
    carried.count = edge.carried + edge.between;
    carried.between_copies = edge.between > 0;
    if (edge.carried > 0) {
      carried.least = edge.edge->levels[loop_.level].least;
      carried.greatest = edge.edge->levels[loop_.level].greatest;
    }
    carried_.push_back(carried);
  }
  for (const Deciding& decision : decisions_) {
    if (decision.carried == 0) continue;
    Carried carried;
    carried.kind = Carried::Kind::kControl;
    carried.from = nodes_[decision.from];
    carried.to = flow_.parts[parts_[decision.to]].nodes.front();
    carried.edge = decision.edge;
    carried.count = decision.carried;
    carried.least = decision.edge->levels[loop_.level].least;
    carried.greatest = decision.edge->levels[loop_.level].greatest;
    carried_.push_back(carried);
  }
  find_unwound();
  for (std::uint32_t index = 0; index < nodes_.size(); ++index) {
    for (const Use& use : node(index).uses) {
      if (use.levels.size() <= loop_.level || use.levels[loop_.level].turns == 0) continue;
      Carried carried;
      carried.kind = Carried::Kind::kTurn;
      carried.from = carried.to = nodes_[index];
      carried.use = &use;
      carried.count = use.levels[loop_.level].turns;
      carried_.push_back(carried);
    }
  }
}

std::vector<NodeIndex> Judge::exits() const {
  std::vector<bool> decides(nodes_.size());
  std::vector<std::uint32_t> work;
  const auto add = [&](std::uint32_t index) {
    if (decides[index]) return;
    decides[index] = true;
    work.push_back(index);
  };
  for (const Deciding& decision : decisions_)
    if (decision.carried > 0) add(decision.from);
  for (std::uint32_t index = 0; index < nodes_.size(); ++index)
    if (ends_[index]) add(index);
  while (!work.empty()) {
    const std::uint32_t part = part_index_[node(work.back()).part];
    work.pop_back();
    for (const Deciding& decision : decisions_)
      if (decision.to == part) add(decision.from);
  }
  std::vector<NodeIndex> found;
  for (std::uint32_t index = 0; index < nodes_.size(); ++index)
    if (decides[index]) found.push_back(nodes_[index]);
  return found;
}

/// It gets an induction variable as it was some iterations ago, and so values from before the loop in the first ones.
bool Judge::starts_behind(const Use& use) const {
  std::uint64_t entries = 0;
  for (const structure::ContextId loop : loop_.contexts) entries += tree_[loop].entries;
  bool any = false;
  for (const Edge& edge : use.edges) {
    if (!contains(edge.from) || !edge.counts(loop_.level) || edge.levels[loop_.level].carried == 0) continue;
    const EdgeLevel& level = edge.levels[loop_.level];
    if (!is_computable(edge.from) || level.least != level.greatest || level.least < 2) return false;
    if (use.levels[loop_.level].turns > static_cast<std::uint64_t>(level.least - 1) * entries) return false;
    any = true;
  }
  return any;
}

/// Whether it does not keep iterations in order.
bool Judge::is_excused(const Carried& carried) const {
  if (carried.kind == Carried::Kind::kControl) return !leads_by_data(index_[carried.from]);
  if (carried.kind == Carried::Kind::kTurn)
    return !carried.use->levels[loop_.level].uneven || starts_behind(*carried.use);
  if (is_pure(carried.from) && is_pure(carried.to)) return true;
  const bool data = is_data(carried.from);
  if (carried.between_copies && !data) return true;
  const bool same_distance = carried.greatest <= 1 || carried.least == carried.greatest;
  if (is_computable(carried.from) && (!carried.edge->behind_copies || same_distance)) return true;
  if (!data && carried.greatest <= 1 && (on_line_[index_[carried.from]] || is_made_of_constants(index_[carried.from])))
    return true;
  const EdgeLevel* level = carried.edge->levels.size() > loop_.level ? &carried.edge->levels[loop_.level] : nullptr;
  if (carried.edge->load && is_repeatable(carried.from) && level != nullptr && level->rewritten == 0 &&
      level->reread == 0)
    return true;
  if (data || carried.use->levels.size() <= loop_.level) return false;
  const UseLevel& use = carried.use->levels[loop_.level];
  if (use.unknown_values) return false;
  return use.values.same() ||
         (use.values.even() && (carried.use->address || (carried.greatest <= 1 && compares_inside(carried.to))));
}

/// It only compares, in a loop inside this one: with where that one ends, say.
bool Judge::compares_inside(NodeIndex to) const {
  const Node& n = flow_.nodes[to];
  return n.facts != nullptr && n.facts->flags_written != 0 && n.facts->writes.empty() &&
         (n.facts->kinds & (trace::kStore | trace::kLoad)) == 0 && flow_.parts[n.part].levels > loop_.level + 1;
}

void Judge::find_excused() {
  std::set<std::tuple<NodeIndex, NodeIndex, std::uint8_t>> needed;
  for (const Carried& carried : carried_) {
    if (carried.use == nullptr || carried.kind == Carried::Kind::kTurn) continue;
    (is_excused(carried) ? excused_ : needed).insert({carried.from, carried.to, carried.use->operand});
  }
  for (const auto& ends : needed) excused_.erase(ends);
}

/// What decided that frames were left, and this loop with them, decided that there was no other iteration.
void Judge::find_unwound() {
  for (const Unwinding& unwinding : flow_.unwindings) {
    if ((unwinding.levels >> loop_.level & 1) == 0 || !contains(unwinding.branch)) continue;
    std::uint32_t branch = index_[unwinding.branch];
    std::vector<bool> seen(nodes_.size());
    while (!decides_by_data(branch) && !seen[branch]) {
      seen[branch] = true;
      const std::uint32_t part = part_index_[node(branch).part];
      for (const Deciding& decision : decisions_)
        if (decision.to == part && !seen[decision.from]) branch = decision.from;
    }
    if (!decides_by_data(branch)) continue;
    Carried carried;
    carried.kind = Carried::Kind::kControl;
    carried.from = carried.to = nodes_[branch];
    carried.count = node(branch).count;
    carried_.push_back(carried);
  }
}

}  // namespace loopfold::verify
