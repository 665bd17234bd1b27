#include "verify/hidden.h"

#include <algorithm>
#include <map>
#include <utility>

namespace loopfold::verify {

bool has_hidden_loops(const profile::Profile& profile) {
  return std::any_of(profile.tree.begin(), profile.tree.end(),
                     [](const profile::TreeNode& node) { return node.hidden; });
}

FlatProfile flat_profile(const profile::Profile& profile) {
  FlatProfile flat;
  std::vector<std::uint32_t> place(profile.tree.size());  // by node: in the flat tree
  for (const profile::TreeNode& node : profile.tree) {
    if (node.hidden) {
      place[node.id] = place[*node.parent];
      continue;
    }
    place[node.id] = static_cast<std::uint32_t>(flat.nodes.size());
    flat.nodes.push_back(node.id);
    profile::TreeNode& copy = flat.profile.tree.emplace_back(node);
    copy.id = place[node.id];
    if (node.parent) copy.parent = place[*node.parent];
  }
  flat.profile.program = profile.program;
  flat.profile.quality = profile.quality;
  flat.profile.objects = profile.objects;
  for (const profile::Region& region : profile.regions) {
    profile::Region& copy = flat.profile.regions.emplace_back();
    copy.id = region.id;
    copy.node = place[region.node];
    copy.source = region.source;
    for (const profile::Loop& loop : region.loops) {
      if (!loop.blocks) continue;
      profile::Loop& row = copy.loops.emplace_back(loop);
      row.node = place[loop.node];
      for (std::uint32_t& node : row.nodes) node = place[node];
    }
  }
  return flat;
}

profile::Profile level_profile(const profile::Profile& profile) {
  profile::Profile levels = profile;
  for (profile::Region& region : levels.regions) {
    for (profile::Loop& loop : region.loops) {
      if (!loop.blocks) continue;
      const bool is_claim = *loop.blocks != profile::Loop::Parallel::kNo;
      loop.parallel = is_claim ? *loop.blocks : profile::Loop::Parallel::kUnknown;
      loop.blocking.clear();
    }
  }
  return levels;
}

structure::Splits splits_of(const profile::Profile& profile, const FlatProfile& flat, structure::LoopTree unsplit,
                            const std::vector<std::uint32_t>& nodes) {
  std::map<std::uint32_t, std::vector<std::uint64_t>> periods;  // by node of a loop, those of its levels
  std::vector<std::uint32_t> loop_of(profile.tree.size());      // by node: the loop that a level is of
  for (const profile::TreeNode& node : profile.tree) {
    loop_of[node.id] = node.hidden ? loop_of[*node.parent] : node.id;
    if (node.hidden) periods[loop_of[node.id]].push_back(node.period);
  }
  const std::size_t contexts = unsplit.contexts().size();
  structure::Splits splits(std::move(unsplit));
  for (structure::ContextId id = 1; id < contexts; ++id) {
    if (splits.unsplit()[id].kind != structure::Context::Kind::kLoop || nodes[id] >= flat.nodes.size()) continue;
    const auto found = periods.find(flat.nodes[nodes[id]]);
    if (found != periods.end()) splits.add(id, found->second);
  }
  return splits;
}

}  // namespace loopfold::verify
