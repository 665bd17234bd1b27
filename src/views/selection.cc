#include "views/selection.h"

#include "views/text.h"

namespace loopfold::views {

namespace {

using profile::TreeNode;

/// A node's fate, from its parent's. `level` is counted from the root, or from what was found by name.
struct Place {
  bool inside = false;  // it or something above it has the name
  std::uint32_t level = 0;
};

}  // namespace

std::vector<Fate> select(const profile::Profile& profile, const Filter& filter) {
  const std::vector<TreeNode>& tree = profile.tree;
  const std::uint64_t whole = tree.empty() ? 0 : tree[0].ops;
  const auto has_name = [&](const TreeNode& node) {
    return filter.function.empty() || node.function.find(filter.function) != std::string::npos;
  };
  std::vector<Fate> fates(tree.size(), Fate::kShown);
  std::vector<Place> places(tree.size());
  for (std::size_t i = 0; i < tree.size(); i++) {
    const bool below = tree[i].parent && *tree[i].parent < i;
    const Place above = below ? places[*tree[i].parent] : Place{};
    const Fate fate_above = below ? fates[*tree[i].parent] : Fate::kShown;
    places[i].inside = above.inside || has_name(tree[i]);
    places[i].level = above.inside ? above.level + 1 : 0;
    const bool found = places[i].inside && !above.inside;
    if (!places[i].inside) {
      fates[i] = Fate::kOther;
    } else if (!found && !is_shown(fate_above)) {
      fates[i] = fate_above;
    } else if (!found && filter.depth && places[i].level > *filter.depth) {
      fates[i] = Fate::kDeeper;
    } else if (!found && percent_of(tree[i].ops, whole) < filter.min_percent) {
      fates[i] = Fate::kSmall;
    }
  }
  for (std::size_t i = tree.size(); i-- > 0;) {
    const bool below = tree[i].parent && *tree[i].parent < i;
    if (below && is_shown(fates[i]) && fates[*tree[i].parent] == Fate::kOther) fates[*tree[i].parent] = Fate::kWay;
  }
  if (!fates.empty() && fates[0] == Fate::kOther) fates[0] = Fate::kWay;
  return fates;
}

}  // namespace loopfold::views
