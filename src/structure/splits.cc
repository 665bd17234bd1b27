#include "structure/splits.h"

#include <utility>

namespace loopfold::structure {

Splits::Splits(LoopTree unsplit)
    : unsplit_(std::make_shared<const LoopTree>(std::move(unsplit))), periods_(unsplit_->contexts().size()) {}

void Splits::add(ContextId loop, std::vector<std::uint64_t> periods) {
  if (periods_[loop].empty() && !periods.empty()) ++split_;
  periods_[loop] = std::move(periods);
}

std::span<const std::uint64_t> Splits::periods(ContextId context) const {
  if (context >= periods_.size()) return {};
  return periods_[context];
}

std::vector<ContextId> unsplit_contexts(const Splits& splits, const LoopTree& tree) {
  std::vector<ContextId> unsplit(tree.contexts().size(), kNoContext);
  unsplit[LoopTree::root()] = LoopTree::root();
  for (ContextId id = 1; id < unsplit.size(); ++id) {
    ContextKey key = tree[id];
    key.parent = unsplit[key.parent];
    if (key.parent != kNoContext) unsplit[id] = key.hidden != 0 ? key.parent : splits.find(key);
  }
  return unsplit;
}

}  // namespace loopfold::structure
