// Finding a child: the one found last time, else a hash table of all contexts.
#include "structure/loop_tree.h"

namespace loopfold::structure {

namespace {

constexpr std::size_t kMostContexts = std::size_t{1} << 22;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

std::size_t hash_of(const ContextKey& context) {
  std::uint64_t hash = mix(context.parent, static_cast<std::uint64_t>(context.kind));
  hash = mix(hash, std::uint64_t{context.function} << 32 | context.site);
  hash = mix(hash, std::uint64_t{context.caller} << 32 | context.node);
  return mix(hash, std::uint64_t{context.hidden} << 40 | std::uint64_t{context.loop} << 8 |
                       static_cast<std::uint64_t>(context.origin));
}

}  // namespace

LoopTree::LoopTree() : contexts_(1), last_child_(1, kNoContext), table_(1024, kNoContext) {}

ContextId LoopTree::child(const ContextKey& key, std::uint32_t index, std::uint32_t minor) {
  ContextId& last = last_child_[key.parent];
  if (last != kNoContext && key == contexts_[last]) return last;
  std::size_t slot = hash_of(key) & (table_.size() - 1);
  for (; table_[slot] != kNoContext; slot = (slot + 1) & (table_.size() - 1)) {
    if (key == contexts_[table_[slot]]) return last = table_[slot];
  }
  if (contexts_.size() >= kMostContexts) {
    full_ = true;
    return key.parent;
  }
  const auto id = static_cast<ContextId>(contexts_.size());
  table_[slot] = last = id;
  Context& context = contexts_.emplace_back();
  static_cast<ContextKey&>(context) = key;
  context.index = index;
  context.minor = minor;
  last_child_.push_back(kNoContext);
  if (contexts_.size() * 2 > table_.size()) grow();
  return id;
}

ContextId LoopTree::find(const ContextKey& key) const {
  if (key.parent >= contexts_.size()) return kNoContext;
  for (std::size_t slot = hash_of(key) & (table_.size() - 1); table_[slot] != kNoContext;
       slot = (slot + 1) & (table_.size() - 1))
    if (key == contexts_[table_[slot]]) return table_[slot];
  return kNoContext;
}

void LoopTree::grow() {
  table_.assign(table_.size() * 2, kNoContext);
  for (ContextId id = 1; id < contexts_.size(); ++id) {
    std::size_t slot = hash_of(contexts_[id]) & (table_.size() - 1);
    while (table_[slot] != kNoContext) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = id;
  }
}

}  // namespace loopfold::structure
