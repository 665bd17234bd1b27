#include "views/html_shares.h"

#include <algorithm>
#include <array>

#include "views/text.h"

namespace loopfold::views {

namespace {

using profile::Loop;
using profile::TreeNode;

/// Its one iteration has nothing to run beside.
bool never_repeats(const Loop& loop) { return loop.parallel == Loop::Parallel::kYes && loop.trip.max <= 1; }

NodeVerdict verdict_of(const Loop& loop) {
  switch (loop.parallel) {
    case Loop::Parallel::kYes:
      return never_repeats(loop) ? NodeVerdict::kNone : NodeVerdict::kParallel;
    case Loop::Parallel::kReduction:
      return NodeVerdict::kReduction;
    case Loop::Parallel::kNo:
      return NodeVerdict::kNo;
    case Loop::Parallel::kUnknown:
      break;
  }
  return NodeVerdict::kUnknown;
}

/// Blocked loops of a region that are free, or in tiles, in its new order.
void mark_transformed(const profile::Region& region, std::vector<NodeVerdict>& verdicts) {
  if (!region.transformed || region.transformed->status != profile::Transformed::Status::kFound) return;
  if (region.transformed->parallel_ops_percent <= 0) return;
  for (const profile::Band& band : region.transformed->bands) {
    for (const profile::BandMember& member : band.members) {
      const bool free = member.parallel == Loop::Parallel::kYes || member.parallel == Loop::Parallel::kReduction;
      if (member.terms.empty() || !(free || band.members.size() > 1)) continue;
      NodeVerdict& verdict = verdicts[member.terms.front().node];
      if (verdict == NodeVerdict::kNo) verdict = NodeVerdict::kTransformed;
    }
  }
}

/// What an operation is in, as the loops around it say, from the root on.
enum State : std::uint8_t { kNoLoop, kFree, kBlocked, kDoubt };

State state_below(State above, NodeVerdict verdict) {
  if (above == kFree) return kFree;
  switch (verdict) {
    case NodeVerdict::kNone:
      return above;
    case NodeVerdict::kParallel:
    case NodeVerdict::kReduction:
      return kFree;
    case NodeVerdict::kTransformed:
    case NodeVerdict::kNo:
      return above == kDoubt ? kDoubt : kBlocked;
    case NodeVerdict::kUnknown:
    case NodeVerdict::kNotJudged:
      break;
  }
  return kDoubt;
}

/// By node: the region that it is in, or none.
constexpr std::uint32_t kNoRegion = UINT32_MAX;

std::vector<std::uint32_t> region_of_nodes(const profile::Profile& profile) {
  std::vector<std::uint32_t> regions(profile.tree.size(), kNoRegion);
  for (const profile::Region& region : profile.regions)
    for (const std::uint32_t node : region.loops.empty() ? std::vector{region.node} : region.loops.front().nodes)
      regions[node] = region.id;
  for (std::size_t i = 0; i < regions.size(); i++)
    if (regions[i] == kNoRegion && profile.tree[i].parent) regions[i] = regions[*profile.tree[i].parent];
  return regions;
}

}  // namespace

std::vector<NodeVerdict> node_verdicts(const profile::Profile& profile) {
  std::vector<NodeVerdict> verdicts(profile.tree.size(), NodeVerdict::kNone);
  for (std::size_t i = 0; i < verdicts.size(); i++) {
    const bool repeats = profile.tree[i].kind == TreeNode::Kind::kLoop && profile.tree[i].iterations_per_entry.max != 1;
    if (repeats) verdicts[i] = NodeVerdict::kNotJudged;
  }
  for (const profile::Region& region : profile.regions) {
    for (const Loop& loop : region.loops)
      for (const std::uint32_t node : loop.nodes) verdicts[node] = verdict_of(loop);
    mark_transformed(region, verdicts);
  }
  return verdicts;
}

ParallelShares parallel_shares(const profile::Profile& profile) {
  const std::vector<NodeVerdict> verdicts = node_verdicts(profile);
  const std::vector<std::uint32_t> regions = region_of_nodes(profile);
  std::vector<State> states(profile.tree.size(), kNoLoop);
  std::vector<std::array<std::uint64_t, 4>> by_region(profile.regions.size() + 1);
  for (std::size_t i = 0; i < profile.tree.size(); i++) {
    const TreeNode& node = profile.tree[i];
    const NodeVerdict as_written = node.hidden ? NodeVerdict::kNone : verdicts[i];  // the source does not have it
    states[i] = state_below(node.parent ? states[*node.parent] : kNoLoop, as_written);
    by_region[std::min<std::size_t>(regions[i], profile.regions.size())][states[i]] += node.self_ops;
  }
  std::array<double, 4> sums{};
  double transformed = 0;
  for (std::size_t i = 0; i < by_region.size(); i++) {
    const std::array<std::uint64_t, 4>& ops = by_region[i];
    for (std::size_t state = 0; state < sums.size(); state++) sums[state] += static_cast<double>(ops[state]);
    if (i == profile.regions.size() || !profile.regions[i].transformed) continue;
    const double whole = static_cast<double>(ops[kNoLoop] + ops[kFree] + ops[kBlocked] + ops[kDoubt]);
    const double covered = whole * profile.regions[i].transformed->parallel_ops_percent / 100;
    const double more = std::clamp(covered - static_cast<double>(ops[kFree]), 0.0, static_cast<double>(ops[kBlocked]));
    transformed += more;
    sums[kBlocked] -= more;
  }
  const double whole = profile.tree.empty() ? 0 : static_cast<double>(profile.tree[0].ops);
  if (whole <= 0) return {};
  return {100 * sums[kFree] / whole, 100 * transformed / whole, 100 * sums[kBlocked] / whole,
          100 * sums[kDoubt] / whole, 100 * sums[kNoLoop] / whole};
}

Modelled modelled_ops(const profile::Profile& profile) {
  std::vector<bool> exact(profile.statements.size());
  for (std::size_t i = 0; i < exact.size(); i++) exact[i] = profile.statements[i].exact;
  for (const profile::Access& access : profile.accesses)
    if (!access.exact) exact[access.statement] = false;
  for (const profile::Dependence& dependence : profile.dependences)
    if (!dependence.exact || !dependence.from) exact[dependence.to] = false;
  Modelled modelled{std::vector<std::uint64_t>(profile.tree.size()), std::vector<std::uint64_t>(profile.tree.size())};
  for (const profile::Statement& statement : profile.statements) {
    modelled.all[statement.node] += statement.ops;
    if (exact[statement.id]) modelled.exact[statement.node] += statement.ops;
  }
  for (std::size_t i = profile.tree.size(); i-- > 1;) {
    if (!profile.tree[i].parent) continue;
    modelled.all[*profile.tree[i].parent] += modelled.all[i];
    modelled.exact[*profile.tree[i].parent] += modelled.exact[i];
  }
  return modelled;
}

}  // namespace loopfold::views
