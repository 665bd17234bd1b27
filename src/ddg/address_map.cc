// Inserting and erasing keys; address_map.h says how they are kept. No chunk is ever empty.
#include "ddg/address_map.h"

#include <utility>

namespace loopfold::ddg {

void AddressMap::add_chunk(std::size_t index, std::unique_ptr<Chunk> chunk) {
  firsts_.insert(firsts_.begin() + static_cast<std::ptrdiff_t>(index), chunk->keys[0]);
  chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(index), std::move(chunk));
}

void AddressMap::remove_chunk(std::size_t index) {
  firsts_.erase(firsts_.begin() + static_cast<std::ptrdiff_t>(index));
  chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(index));
}

/// Moves the upper half of a chunk into a new one behind it.
void AddressMap::split(std::size_t index) {
  Chunk& chunk = *chunks_[index];
  const std::size_t kept = chunk.count / 2;
  auto upper = std::make_unique<Chunk>();
  upper->count = chunk.count - kept;
  std::copy_n(chunk.keys.begin() + kept, upper->count, upper->keys.begin());
  std::copy_n(chunk.values.begin() + kept, upper->count, upper->values.begin());
  chunk.count = kept;
  add_chunk(index + 1, std::move(upper));
}

void AddressMap::join_with_next(std::size_t index) {
  Chunk& chunk = *chunks_[index];
  const Chunk& next = *chunks_[index + 1];
  std::copy_n(next.keys.begin(), next.count, chunk.keys.begin() + chunk.count);
  std::copy_n(next.values.begin(), next.count, chunk.values.begin() + chunk.count);
  chunk.count += next.count;
  remove_chunk(index + 1);
}

void AddressMap::insert(std::uint64_t key, std::uint32_t value) {
  std::size_t index = count_up_to(firsts_.data(), firsts_.size(), key);
  if (index != 0) --index;
  const bool at_the_end = chunks_.empty() || (index + 1 == chunks_.size() && chunks_[index]->count == kCapacity &&
                                              chunks_[index]->keys[kCapacity - 1] < key);
  if (at_the_end) {
    auto chunk = std::make_unique<Chunk>();
    chunk->count = 1;
    chunk->keys[0] = key;
    chunk->values[0] = value;
    add_chunk(chunks_.size(), std::move(chunk));
    ++size_;
    return;
  }
  std::size_t at = count_up_to(chunks_[index]->keys.data(), chunks_[index]->count, key);
  if (at != 0 && chunks_[index]->keys[at - 1] == key) {
    chunks_[index]->values[at - 1] = value;
    return;
  }
  if (chunks_[index]->count == kCapacity) {
    split(index);
    if (at > chunks_[index]->count) {
      at -= chunks_[index]->count;
      ++index;
    }
  }
  Chunk& chunk = *chunks_[index];
  std::copy_backward(chunk.keys.begin() + at, chunk.keys.begin() + chunk.count, chunk.keys.begin() + chunk.count + 1);
  std::copy_backward(chunk.values.begin() + at, chunk.values.begin() + chunk.count,
                     chunk.values.begin() + chunk.count + 1);
  chunk.keys[at] = key;
  chunk.values[at] = value;
  ++chunk.count;
  ++size_;
  firsts_[index] = chunk.keys[0];
}

bool AddressMap::erase(std::uint64_t key) {
  std::size_t index = count_up_to(firsts_.data(), firsts_.size(), key);
  if (index-- == 0) return false;
  Chunk& chunk = *chunks_[index];
  const std::size_t at = count_up_to(chunk.keys.data(), chunk.count, key) - 1;
  if (chunk.keys[at] != key) return false;
  std::copy(chunk.keys.begin() + at + 1, chunk.keys.begin() + chunk.count, chunk.keys.begin() + at);
  std::copy(chunk.values.begin() + at + 1, chunk.values.begin() + chunk.count, chunk.values.begin() + at);
  --chunk.count;
  --size_;
  if (chunk.count == 0) {
    remove_chunk(index);
    return true;
  }
  firsts_[index] = chunk.keys[0];
  if (index + 1 < chunks_.size() && chunk.count + chunks_[index + 1]->count <= kCapacity / 2) join_with_next(index);
  return true;
}

}  // namespace loopfold::ddg
