#include "views/report_shares.h"

#include <vector>

#include "views/text.h"

namespace loopfold::views {

namespace {

using profile::Loop;
using profile::TreeNode;

Shares::Group group_of(Loop::Parallel verdict) {
  switch (verdict) {
    case Loop::Parallel::kYes:
      return Shares::kParallel;
    case Loop::Parallel::kReduction:
      return Shares::kReduction;
    case Loop::Parallel::kNo:
      return Shares::kNo;
    case Loop::Parallel::kUnknown:
      break;
  }
  return Shares::kUnknown;
}

/// Its one iteration has nothing to run beside: to call its operations parallel would mislead.
bool never_repeats(const Loop& loop) { return loop.parallel == Loop::Parallel::kYes && loop.trip.max == 1; }

/// By node: the group of the loop that it is; kNoLoop for what is none.
std::vector<Shares::Group> groups_of(const profile::Profile& profile) {
  std::vector<Shares::Group> groups(profile.tree.size(), Shares::kNoLoop);
  for (std::size_t i = 0; i < groups.size(); i++)
    if (profile.tree[i].kind == TreeNode::Kind::kLoop) groups[i] = Shares::kNotJudged;
  for (const profile::Region& region : profile.regions)
    for (const Loop& loop : region.loops)
      for (const std::uint32_t node : loop.nodes)
        groups[node] = never_repeats(loop) ? Shares::kNoLoop : group_of(loop.parallel);
  return groups;
}

}  // namespace

Shares shares_of(const profile::Profile& profile) {
  std::vector<Shares::Group> innermost = groups_of(profile);
  std::vector<Shares::Group> outermost = innermost;
  std::array<std::uint64_t, Shares::kGroups> by_innermost{};
  std::array<std::uint64_t, Shares::kGroups> by_outermost{};
  for (std::size_t i = 0; i < profile.tree.size(); i++) {
    const TreeNode& node = profile.tree[i];
    if (node.parent && innermost[i] == Shares::kNoLoop) innermost[i] = innermost[*node.parent];
    if (node.parent && outermost[*node.parent] != Shares::kNoLoop) outermost[i] = outermost[*node.parent];
    by_innermost[innermost[i]] += node.self_ops;
    by_outermost[outermost[i]] += node.self_ops;
  }
  const std::uint64_t whole = profile.tree.empty() ? 0 : profile.tree[0].ops;
  Shares shares;
  for (std::size_t i = 0; i < Shares::kGroups; i++) {
    shares.innermost[i] = percent_of(by_innermost[i], whole);
    shares.outermost[i] = percent_of(by_outermost[i], whole);
  }
  return shares;
}

}  // namespace loopfold::views
