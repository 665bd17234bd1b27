#include "verify/paths.h"

namespace loopfold::verify {

PathId Paths::add(NodeIndex node, IterationId iteration, PathId before) {
  PathId id = 0;
  if (free_.empty()) {
    id = static_cast<PathId>(pool_.size());
    pool_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  iterations_.keep(iteration);
  if (before != kNoPath) keep(before);
  pool_[id] = {node, iteration, before, 1, pool_[before].length + 1};
  return id;
}

PathId Paths::make(NodeIndex node, IterationId iteration, PathId before) {
  if (pool_[before].length < kLongest) return add(node, iteration, before);
  std::vector<PathId> kept;
  for (PathId id = before; pool_[id].before != kNoPath; id = pool_[id].before) kept.push_back(id);
  PathId rest = kNoPath;
  for (std::size_t i = kept.size(); i-- > 0;) {
    const PathId next = add(pool_[kept[i]].node, pool_[kept[i]].iteration, rest);
    drop(rest);
    rest = next;
  }
  const PathId made = add(node, iteration, rest);
  drop(rest);
  return made;
}

void Paths::release(PathId id) {
  while (id != kNoPath) {
    iterations_.drop(pool_[id].iteration);
    free_.push_back(id);
    id = pool_[id].before;
    if (id == kNoPath || --pool_[id].references != 0) return;
  }
}

}  // namespace loopfold::verify
