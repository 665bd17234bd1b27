// Copies that hand values from before the loop on from iteration to iteration.
#include <algorithm>

#include "poly/loop_values.h"

namespace loopfold::poly {

namespace {

constexpr std::uint32_t kOutside = FlowEdge::kOutside;

std::uint64_t at(std::span<const std::uint64_t> counts, std::size_t level) {
  return level < counts.size() ? counts[level] : 0;
}

}  // namespace

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
  std::vector<bool> mixed(count);  // gets what was put together of several values, perhaps also from before the loop
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
      else if (merges(base_[id] + local.from))
        mixed[base_[id] + local.to] = true;
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
      if (from != kOutside && passes_[from] == Pass::kNone && merges(from)) mixed[to] = true;
      if (from == kOutside || passes_[from] == Pass::kNone) continue;
      const bool carried = at(d.carried, flow_.level) > 0;
      if (carried) hops.push_back({from, to, true});
      if (!carried || d.carried.size() > flow_.level + 1u) hops.push_back({from, to, false});
    }
  }
  // A load that nothing was spilled for passes on what it has loaded itself.
  for (std::uint32_t node = 0; node < count; ++node)
    if (passes_[node] != Pass::kNone && passes_[node] != Pass::kLoad && !written[node]) before_[node] = true;
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
  for (std::uint32_t node = 0; node < count; ++node)
    if (before_[node]) mixed[node] = true;
  spread(mixed, true);
  // What copies that keep everything in its place pass on may have been put there before; not so that it is in a
  // frame, of which a recursive function has many.
  const auto find = [&](const std::vector<bool>& from_before, const auto& puts) {
    std::vector<bool> puts_there(count);
    for (const Hop& hop : hops)
      if (from_before[hop.from] && !puts_there[hop.from] && !makes_frame(hop.from))
        puts_there[hop.from] = puts(hop.from);
    std::vector<bool> put(count);
    for (bool more = true; more;) {
      more = false;
      for (const Hop& hop : hops) {
        if (put[hop.to]) continue;
        const bool brought = puts_there[hop.from] && !index_.restores(flow_.nodes[hop.to].at);
        if (brought || put[hop.from]) put[hop.to] = more = true;
      }
    }
    std::vector<bool> found(count);
    for (const Hop& hop : hops)
      if (hop.carried && from_before[hop.from] && (put[hop.from] || puts_there[hop.from])) found[hop.to] = true;
    spread(found, false);
    return found;
  };
  moved_ = find(mixed, [&](std::uint32_t copy) { return !index_.preserves(flow_.nodes[copy].at); });
  for (const bool always : {false, true})
    handed_[always ? 1 : 0] = find(before_, [&](std::uint32_t copy) { return !keeps_place(copy, always); });
}

/// It moves the stack pointer elsewhere.
bool LoopValues::makes_frame(std::uint32_t copy) const {
  constexpr std::uint8_t kStackPointer = 4;
  const trace::InstructionFacts* const facts = flow_.nodes[copy].facts;
  return passes_[copy] == Pass::kRegisterCopy && facts != nullptr &&
         std::any_of(facts->reads.begin(), facts->reads.end(), [](const trace::RegisterUse& read) {
           return read.file == trace::RegisterFile::kGeneral && read.index == kStackPointer;
         });
}

/// It keeps a part of what was in a register.
bool LoopValues::merges(std::uint32_t node) const {
  const trace::InstructionFacts* const facts = flow_.nodes[node].facts;
  return facts != nullptr && std::any_of(facts->reads.begin(), facts->reads.end(),
                                         [](const trace::RegisterUse& read) { return read.merge; });
}

/// Whether a value from before the loop comes to a use by a copy of an earlier iteration that may have put it into
/// another place: the use would have found something else there without that iteration. Where both run in every
/// iteration, that shows as another origin in the first one. In an inner loop that is not always entered it need not:
/// a use there may have begun to run after the copy did, or the copy may have run in some iterations only.
bool LoopValues::hands_on(const ddg::Origin& origin, std::uint32_t by, std::uint32_t to) const {
  const bool always = runs_in_each(flow_.nodes[to].at.statement, false);
  if (handed_[always ? 1 : 0][by]) return true;
  if (origin.local || !before_[by] || keeps_place(by, always)) return false;
  return is_carried(origin);
}

/// Whether a value from before the loop may come to a use by any copy of an earlier iteration, even by one that brings
/// it back to where it was put aside: it may have been moved there before that.
bool LoopValues::is_moved(const ddg::Origin& origin, std::uint32_t by) const {
  return moved_[by] || (!origin.local && !index_.preserves(flow_.nodes[by].at) && is_carried(origin));
}

/// Whether a use gets something from the copy of an earlier iteration.
bool LoopValues::is_carried(const ddg::Origin& origin) const {
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
  return index_.preserves(point) || index_.restores(point) || (seen_always && runs_in_each(point.statement, true));
}

/// At least once in every iteration: an inner loop that it is in went round each time, and never without it.
/// `as_often`: as often in each, so that copies have put everything where the first iteration would have.
bool LoopValues::runs_in_each(ddg::StatementId statement, bool as_often) const {
  const structure::LoopTree& tree = index_.tree();
  std::uint64_t count = index_.graph().statements[statement].count;
  for (structure::ContextId context = index_.graph().statements[statement].context;
       std::find(flow_.loops.begin(), flow_.loops.end(), context) == flow_.loops.end();
       context = tree[context].parent) {
    const structure::Context& around = tree[context];
    if (around.kind == structure::Context::Kind::kRecursion) return false;
    if (around.kind != structure::Context::Kind::kLoop) continue;
    if (around.finished != around.entries || around.trips.total != count || around.trips.min == 0) return false;
    if (as_often && around.trips.min != around.trips.max) return false;
    count = around.entries;
  }
  return runs_always(statement);
}

}  // namespace loopfold::poly
