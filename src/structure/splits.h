// Loops that are to be counted by several counters: hidden loops.
//
// A loop of the binary may go over a nest of the source's making: for (k = 0; k < n * m; k++) a[k % m][k / m] = ... .
// Where its iterations are counted as (k / m, k % m), domains and addresses are affine that are not along k. A split
// gives a loop more than one level: the outermost counts blocks of iterations, each of the *hidden* levels inside it
// starts again with every iteration of the level around it, and ends after its *period*. Levels are contexts of the
// loop tree, nested in each other, and whatever comes behind the walk takes them for loops.
//
// It is another name for the same iterations: nothing is claimed by it, and none is too bad to be right. Which loops
// are worth it is decided elsewhere (poly/hidden_loops.h).
//
// A split belongs to a context. Contexts are named by their place in a tree without splits; the walk finds for each
// context that it makes the one that it would have been there.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "structure/loop_tree.h"

namespace loopfold::structure {

class Splits {
 public:
  Splits() = default;
  /// `unsplit`: the tree of a walk over the same trace without splits.
  explicit Splits(LoopTree unsplit);

  /// The loop of this context gets so many hidden levels: their periods, outermost first, each at least 2.
  void add(ContextId loop, std::vector<std::uint64_t> periods);

  bool empty() const { return split_ == 0; }
  std::size_t size() const { return split_; }
  /// Of a context of the tree without splits; none: it is not split.
  std::span<const std::uint64_t> periods(ContextId context) const;
  /// The context of the tree without splits with this key, whose parent is one of that tree too.
  ContextId find(const ContextKey& key) const { return unsplit_->find(key); }
  const LoopTree& unsplit() const { return *unsplit_; }

 private:
  std::shared_ptr<const LoopTree> unsplit_;
  std::vector<std::vector<std::uint64_t>> periods_;  // by context of it
  std::size_t split_ = 0;
};

/// By context of a tree with splits: the one that it would be without. The levels of a loop are all the loop.
std::vector<ContextId> unsplit_contexts(const Splits& splits, const LoopTree& tree);

}  // namespace loopfold::structure
