#include "verify/order.h"

#include <algorithm>

namespace loopfold::verify {

namespace {

using profile::Loop;

constexpr std::uint16_t kUnknown = 0xffff;

std::vector<Misplaced> list_of(const std::map<std::pair<NodeIndex, NodeIndex>, Misplaced>& found) {
  std::vector<Misplaced> list;
  for (const auto& [ends, misplaced] : found) list.push_back(misplaced);
  return list;
}

profile::Statement::Kind kind_of(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::kAllocator:
      return profile::Statement::Kind::kAllocator;
    case Node::Kind::kHidden:
      return profile::Statement::Kind::kHidden;
    case Node::Kind::kSystemCall:
      return profile::Statement::Kind::kSystemCall;
    case Node::Kind::kCode:
      break;
  }
  return profile::Statement::Kind::kCode;
}

/// Repeats itself as often as a register said before it began, whatever it copies or stores.
bool is_counted(const Node& node) {
  return node.facts != nullptr && (node.facts->kinds & trace::kRepeat) != 0 && node.facts->flags_written == 0;
}

bool has_reduction(const profile::Transformed& order) {
  return std::any_of(order.bands.begin(), order.bands.end(), [](const profile::Band& band) {
    return std::any_of(band.members.begin(), band.members.end(),
                       [](const auto& member) { return member.parallel == Loop::Parallel::kReduction; });
  });
}

}  // namespace

// ---- Statements ---------------------------------------------------------------------------------------------------

StatementNames::StatementNames(const profile::Profile& profile, symbols::Symbolizer& symbolizer,
                               const std::vector<std::uint32_t>& nodes)
    : symbolizer_(symbolizer), nodes_(nodes) {
  for (const profile::Statement& statement : profile.statements) {
    if (statement.kind != profile::Statement::Kind::kCode) {
      const auto [found, added] = calls_.try_emplace({statement.node, statement.kind}, statement.id);
      if (!added) found->second.reset();
      continue;
    }
    if (!statement.code || *statement.code >= profile.code.size()) continue;
    const profile::Code& code = profile.code[*statement.code];
    if (code.addresses.empty()) continue;
    const auto [found, added] = code_.try_emplace({statement.node, code.module, code.addresses.front()}, statement.id);
    if (!added) found->second.reset();
  }
}

std::optional<std::uint32_t> StatementNames::of(const Flow& flow, PartIndex part) {
  const auto [known, is_new] = known_.try_emplace(part);
  if (!is_new) return known->second;
  const Node& first = flow.nodes[flow.parts[part].nodes.front()];
  if (first.context >= nodes_.size()) return std::nullopt;
  const std::uint32_t node = nodes_[first.context];
  if (first.kind != Node::Kind::kCode) {
    const auto found = calls_.find({node, kind_of(first.kind)});
    if (found != calls_.end()) known->second = found->second;
    return known->second;
  }
  const symbols::Location& location = symbolizer_.locate(first.address);
  const auto found = code_.find({node, location.module, location.module_offset});
  if (found != code_.end()) known->second = found->second;
  return known->second;
}

// ---- The order ----------------------------------------------------------------------------------------------------

OrderCheck::OrderCheck(const profile::Region& region, Schedule schedule, const Flow& flow,
                       const structure::LoopTree& tree, const Judges& judges, StatementNames& statements, Needs& needs)
    : region_(region),
      schedule_(std::move(schedule)),
      flow_(flow),
      tree_(tree),
      judges_(judges),
      statements_(statements),
      needs_(needs),
      inside_(tree.contexts().size()),
      loops_(tree.contexts().size()),
      hands_on_(flow.nodes.size()),
      index_from_(flow.nodes.size(), kUnknown),
      bands_(region.transformed->bands.size()) {
  for (structure::ContextId id = 1; id < tree_.contexts().size(); ++id) {
    loops_[id] = loops_[tree_[id].parent];
    if (tree_[id].kind != structure::Context::Kind::kCall) loops_[id].push_back(id);
    const bool outer = inside_[tree_[id].parent];
    inside_[id] = outer || judges_.contains(id);
    if (inside_[id] && !outer) level_ = static_cast<std::uint16_t>(loops_[id].size() - 1);
  }
  if (has_reduction(*region.transformed))
    for (const auto& [context, judge] : judges_)
      if (!chains_.contains(judge)) chains_.emplace(judge, judge->chains());
}

const Judge* OrderCheck::judge_at(NodeIndex node, std::size_t level) const {
  const std::vector<structure::ContextId>& loops = loops_[flow_.nodes[node].context];
  if (level >= loops.size()) return nullptr;
  const auto found = judges_.find(loops[level]);
  return found == judges_.end() ? nullptr : found->second;
}

/// An index value of all loops around it, from that of a level on.
bool OrderCheck::is_recomputed(NodeIndex node, std::size_t level) const {
  std::uint16_t& known = index_from_[node];
  if (known == kUnknown) {
    const std::vector<structure::ContextId>& loops = loops_[flow_.nodes[node].context];
    known = static_cast<std::uint16_t>(loops.size());
    for (; known > 0; --known) {
      const Judge* const judge = judge_at(node, known - 1u);
      if (judge != nullptr && judge->is_data(node)) break;
    }
  }
  return known <= level;
}

bool OrderCheck::runs_anyway(NodeIndex node) const {
  const Judge* const judge = judge_at(node, loops_[flow_.nodes[node].context].size() - 1);
  return judge != nullptr && judge->is_agreed(node);
}

/// Whether the consumer computes the value anew, or loads it again, where it needs it.
bool OrderCheck::is_needless(const Instance& instance) const {
  const std::size_t level = instance.relation.shared - 1u;
  const Judge* judge = judge_at(instance.to, level);
  if (judge == nullptr || instance.operand == kEnvironment || instance.operand == kKernelMemory) return false;
  if (instance.operand == kControl)
    return (is_recomputed(instance.from, level) || is_counted(flow_.nodes[instance.from])) &&
           !judge->decides(instance.from);
  if (!instance.relation.carried) {
    const bool reloads = flow_.nodes[instance.to].copy;
    const bool memory = instance.operand >= kFirstMemory && instance.operand < kKernelMemory && !reloads;
    return is_recomputed(instance.from, level) && (!memory || is_recomputed(instance.to, level));
  }
  if (judge->excuses(instance.from, instance.to, instance.operand)) return true;
  return instance.value != nullptr && instance.value->kind == Value::Kind::kLoaded &&
         judge->is_repeatable(instance.from) && !instance.rewritten && !instance.reread;
}

/// Whether it happens at the time of its statement, and not wherever it is needed.
bool OrderCheck::is_due(NodeIndex node) const {
  const Node& n = flow_.nodes[node];
  const bool stores = n.facts == nullptr || ((n.facts->kinds & trace::kStore) != 0 && !n.frame);
  return stores || !is_recomputed(node, level_);
}

/// From one step of a reduction to another.
bool OrderCheck::may_reorder(const Instance& instance) const {
  const auto chains = chains_.find(judge_at(instance.to, instance.relation.shared - 1u));
  return instance.relation.carried && chains != chains_.end() && chains->second.contains({instance.from, instance.to});
}

std::optional<Source> OrderCheck::timed(NodeIndex node, IterationId iteration, const Iterations& iterations) const {
  const std::optional<std::uint32_t> statement = statements_.of(flow_, flow_.nodes[node].part);
  if (!statement || !schedule_.has(*statement)) return std::nullopt;
  std::vector<std::uint64_t> vector = iterations.vector(iteration);
  const std::size_t counters = schedule_.counters(*statement);
  if (counters > vector.size()) return std::nullopt;
  const std::vector<std::int64_t> instance(vector.end() - static_cast<std::ptrdiff_t>(counters), vector.end());
  std::optional<std::vector<std::int64_t>> time = schedule_.time(*statement, instance);
  if (!time) return std::nullopt;
  return Source{node,
                *statement,
                iterations.serial(iteration),
                iterations.counter(iteration),
                std::move(*time),
                std::move(vector)};
}

/// Whether somebody may compute anew what it makes. Not if it has a time and is data in every loop around it.
bool OrderCheck::hands_on(NodeIndex node) const {
  std::optional<bool>& known = hands_on_[node];
  if (known) return *known;
  const std::optional<std::uint32_t> statement = statements_.of(flow_, flow_.nodes[node].part);
  const std::vector<structure::ContextId>& loops = loops_[flow_.nodes[node].context];
  known = !statement || !schedule_.has(*statement) || flow_.nodes[node].load ||
          std::any_of(loops.begin(), loops.end(), [&](structure::ContextId loop) {
            const auto judge = judges_.find(loop);
            return judge != judges_.end() && !judge->second->is_data(node);
          });
  return *known;
}

NeedsId OrderCheck::add(const Instance& instance, const Iterations& iterations) {
  if (instance.relation.shared <= level_ || !is_in_region(instance.from) || !is_in_region(instance.to)) return kNoNeeds;
  if (instance.level != Edge::kAllLevels && instance.level + 1u != instance.relation.shared) return kNoNeeds;
  std::optional<Source> from;
  if (!is_needless(instance)) from = timed(instance.from, instance.producer, iterations);
  if (!from && instance.needs == kNoNeeds) return kNoNeeds;
  const std::vector<NodeIndex>& decided = flow_.parts[flow_.nodes[instance.to].part].nodes;
  const bool due = instance.operand == kControl
                       ? std::any_of(decided.begin(), decided.end(), [&](NodeIndex node) { return is_due(node); })
                       : is_due(instance.to);
  if (due) {
    if (const std::optional<Source> to = timed(instance.to, instance.consumer, iterations)) {
      if (from) check(instance, *from, *to);
      if (!from)
        for (const Needs::SourceId id : needs_[instance.needs]) check(instance, needs_.source(id), *to);
    }
  }
  if (!hands_on(instance.to) && instance.operand != kControl) return kNoNeeds;
  return from ? needs_.one(*from) : instance.needs;
}

/// Equal times are right within one iteration only.
void OrderCheck::check(const Instance& instance, const Source& from, const Source& to) {
  ++checked_;
  const bool same_iteration = from.serial == to.serial && from.counter == to.counter;
  if (to.time < from.time || (to.time == from.time && !same_iteration)) note(found_, from, to);
  check_bands(instance, from, to);
}

void OrderCheck::check_bands(const Instance& instance, const Source& from, const Source& to) {
  const std::vector<profile::Band>& bands = region_.transformed->bands;
  for (std::size_t i = 0; i < bands.size(); ++i) {
    const profile::Band& band = bands[i];
    const auto is_member = [&](std::uint32_t statement) {
      return std::find(band.statements.begin(), band.statements.end(), statement) != band.statements.end();
    };
    if (!is_member(from.statement) || !is_member(to.statement)) continue;
    if (band.first + band.members.size() > schedule_.dimensions()) continue;
    const auto first = static_cast<std::ptrdiff_t>(band.first);
    if (!std::equal(from.time.begin(), from.time.begin() + first, to.time.begin())) continue;
    ++bands_[i].checked;
    bool equal_before = true;
    bool wrong = false;
    for (std::size_t member = 0; member < band.members.size(); ++member) {
      const std::int64_t distance = to.time[band.first + member] - from.time[band.first + member];
      const Loop::Parallel parallel = band.members[member].parallel;
      const bool still =
          parallel == Loop::Parallel::kYes || (parallel == Loop::Parallel::kReduction && !may_reorder(instance));
      wrong = wrong || distance < 0 || (equal_before && still && distance != 0);
      equal_before = equal_before && distance == 0;
    }
    if (wrong) note(bands_[i].found, from, to);
  }
}

void OrderCheck::note(Found& found, const Source& from, const Source& to) {
  Misplaced& misplaced = found[{from.node, to.node}];
  if (misplaced.count++ > 0) return;
  misplaced.from = from.node;
  misplaced.to = to.node;
  misplaced.producer = from.vector;
  misplaced.consumer = to.vector;
  misplaced.from_time = from.time;
  misplaced.to_time = to.time;
}

std::vector<Misplaced> OrderCheck::misplaced() const { return list_of(found_); }
std::vector<Misplaced> OrderCheck::misplaced_in(std::size_t band) const { return list_of(bands_[band].found); }

}  // namespace loopfold::verify
