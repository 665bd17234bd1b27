#include "verify/iterations.h"

#include <algorithm>

namespace loopfold::verify {

IterationId Iterations::make(IterationId outer, std::uint64_t serial, std::uint64_t counter) {
  IterationId id = 0;
  if (free_.empty()) {
    id = static_cast<IterationId>(pool_.size());
    pool_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  if (outer != kNoIteration) keep(outer);
  pool_[id] = {serial, counter, outer, 1, static_cast<std::uint16_t>(pool_[outer].levels + 1)};
  return id;
}

void Iterations::release(IterationId id) {
  while (id != kNoIteration) {
    free_.push_back(id);
    id = pool_[id].outer;
    if (id == kNoIteration || --pool_[id].references != 0) return;
  }
}

IterationId Iterations::at(IterationId id, std::size_t level) const {
  while (pool_[id].levels > level + 1) id = pool_[id].outer;
  return id;
}

/// An entry of a loop is in one iteration of the loop around it: the vectors agree in all levels outside of the
/// innermost entry that they share.
Relation Iterations::relation(IterationId producer, IterationId consumer) const {
  if (producer == kNoIteration) return {};
  const std::uint16_t levels = std::min(pool_[producer].levels, pool_[consumer].levels);
  if (levels == 0) return {};
  IterationId a = at(producer, levels - 1u);
  IterationId b = at(consumer, levels - 1u);
  while (a != b && pool_[a].serial != pool_[b].serial) {
    a = pool_[a].outer;
    b = pool_[b].outer;
    if (a == kNoIteration) return {};
  }
  if (a == kNoIteration) return {};
  const auto distance = static_cast<std::int64_t>(pool_[b].counter - pool_[a].counter);
  return {pool_[a].levels, distance != 0, distance};
}

std::vector<std::uint64_t> Iterations::vector(IterationId id) const {
  std::vector<std::uint64_t> counters;
  for (; id != kNoIteration; id = pool_[id].outer) counters.push_back(pool_[id].counter);
  std::reverse(counters.begin(), counters.end());
  return counters;
}

}  // namespace loopfold::verify
