// How the levels of a loop that is split are called (structure/splits.h, TreeNode::hidden and TreeNode::block).
//
// The loop itself is called by its place, as all loops are; a hidden level by the loop's place and its period. Where
// the outermost level is meant as a counter, not the loop that it is part of, its iterations are blocks of the loop's.
#pragma once

#include <string>

#include "profile/profile.h"

namespace loopfold::profile {

/// Behind the place of a loop: " (hidden loop of 64)", or nothing.
inline std::string hidden_words(const TreeNode& node) {
  return node.hidden ? " (hidden loop of " + std::to_string(node.period) + ")" : "";
}

/// Behind the place of a loop whose counter is meant: the same, or " (blocks of 64)", or nothing.
inline std::string counter_words(const TreeNode& node) {
  if (!node.hidden && node.block != 0) return " (blocks of " + std::to_string(node.block) + ")";
  return hidden_words(node);
}

}  // namespace loopfold::profile
