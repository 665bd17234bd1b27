// The children of each node of a loop tree, in order. Profiles have parents only; built in one pass, linear.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profile/profile.h"

namespace loopfold::views {

class Children {
 public:
  /// Of all nodes for which `wanted` is true.
  template <typename Wanted>
  Children(const std::vector<profile::TreeNode>& tree, Wanted wanted) : first_(tree.size() + 1), list_() {
    const auto counts = [&](std::size_t i) { return tree[i].parent && *tree[i].parent < i && wanted(i); };
    for (std::size_t i = 0; i < tree.size(); i++) {
      if (counts(i)) first_[*tree[i].parent + 1]++;
    }
    for (std::size_t i = 1; i < first_.size(); i++) first_[i] += first_[i - 1];
    list_.resize(first_.back());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t i = 0; i < tree.size(); i++) {
      if (counts(i)) list_[next[*tree[i].parent]++] = static_cast<std::uint32_t>(i);
    }
  }

  explicit Children(const std::vector<profile::TreeNode>& tree) : Children(tree, [](std::size_t) { return true; }) {}

  std::span<const std::uint32_t> of(std::size_t node) const {
    return std::span(list_).subspan(first_[node], first_[node + 1] - first_[node]);
  }

 private:
  std::vector<std::size_t> first_;  // by node: where its children start in the list
  std::vector<std::uint32_t> list_;
};

}  // namespace loopfold::views
