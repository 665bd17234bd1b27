#include "verify/needs.h"

#include <algorithm>

namespace loopfold::verify {

namespace {

constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15u;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t with) {
  hash = (hash ^ with) * kFactor;
  return hash ^ hash >> 29;
}

}  // namespace

std::size_t Needs::Hash::operator()(const Set& set) const {
  std::uint64_t hash = set.size();
  for (const SourceId id : set) hash = mixed(hash, id);
  return hash;
}

std::size_t Needs::Hash::operator()(const Source& source) const {
  return mixed(mixed(source.node, source.serial), source.counter);
}

NeedsId Needs::set(Set members) {
  const auto [found, added] = set_ids_.try_emplace(std::move(members), static_cast<NeedsId>(sets_.size()));
  if (added) sets_.push_back(found->first);
  return found->second;
}

NeedsId Needs::one(const Source& source) {
  const auto [found, added] = source_ids_.try_emplace(source, static_cast<SourceId>(sources_.size()));
  if (added) sources_.push_back(source);
  return set({found->second});
}

NeedsId Needs::both(NeedsId a, NeedsId b) {
  if (a == b || b == kNoNeeds) return a;
  if (a == kNoNeeds) return b;
  Set all;
  std::set_union(sets_[a].begin(), sets_[a].end(), sets_[b].begin(), sets_[b].end(), std::back_inserter(all));
  if (all.size() > kMost) {
    std::stable_sort(all.begin(), all.end(),
                     [&](SourceId x, SourceId y) { return sources_[x].time > sources_[y].time; });
    all.resize(kMost);
    std::sort(all.begin(), all.end());
  }
  return set(std::move(all));
}

}  // namespace loopfold::verify
