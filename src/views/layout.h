// Where the frames of a flame graph lie: an interval of instructions and a level for each node.
//
// The root covers [0, ops). Children lie side by side from their parent's start on, in the order of the tree, and what
// is the parent's own comes last. Exact integers. Should counts contradict each other (children with more than their
// parent), a child is cut at its parent's end, so that frames always nest.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"

namespace loopfold::views {

struct Span {
  std::uint64_t start = 0;
  std::uint64_t width = 0;
  std::uint32_t level = 0;  // 0 for the root
};

/// By node.
inline std::vector<Span> lay_out(const profile::Profile& profile) {
  const std::vector<profile::TreeNode>& tree = profile.tree;
  std::vector<Span> spans(tree.size());
  std::vector<std::uint64_t> next(tree.size());  // by node: where its next child starts
  for (std::size_t i = 0; i < tree.size(); i++) {
    if (!tree[i].parent || *tree[i].parent >= i) {
      spans[i] = {0, i == 0 ? tree[i].ops : 0, 0};
    } else {
      const Span& above = spans[*tree[i].parent];
      std::uint64_t& start = next[*tree[i].parent];
      const std::uint64_t left = above.start + above.width - start;
      spans[i] = {start, tree[i].ops < left ? tree[i].ops : left, above.level + 1};
      start += spans[i].width;
    }
    next[i] = spans[i].start;
  }
  return spans;
}

}  // namespace loopfold::views
