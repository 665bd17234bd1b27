// A map from addresses to small numbers that answers "which is the last key at or before this address", fast, while
// keys come and go: the live blocks of a heap.
//
// How: sorted keys in chunks of at most 128, and one sorted array of the chunks' first keys; a search is two binary
// searches in consecutive memory (the first array of a heap of 100 000 blocks is 10 KB), where a balanced tree would
// miss the cache at most levels. A full chunk is split, unless the new key goes behind the last one: a heap that grows
// upwards fills its chunks. A chunk that became small is joined with its neighbour.
//
// Cost: O(log n) to find; O(128 + n / 128) moved words at worst to insert and erase. Deterministic.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace loopfold::ddg {

class AddressMap {
 public:
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t value = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  std::size_t size() const { return size_; }

  /// The entry with the largest key that is not above `key`.
  std::optional<Entry> floor(std::uint64_t key) const {
    const std::size_t index = count_up_to(firsts_.data(), firsts_.size(), key);
    if (index == 0) return std::nullopt;
    const Chunk& chunk = *chunks_[index - 1];
    const std::size_t at = count_up_to(chunk.keys.data(), chunk.count, key) - 1;
    return Entry{chunk.keys[at], chunk.values[at]};
  }

  /// Replaces the value of a key that is there.
  void insert(std::uint64_t key, std::uint32_t value);

  /// False: no such key.
  bool erase(std::uint64_t key);

 private:
  static constexpr std::size_t kCapacity = 128;

  struct Chunk {
    std::size_t count = 0;
    std::array<std::uint64_t, kCapacity> keys;
    std::array<std::uint32_t, kCapacity> values;
  };

  /// How many of the sorted keys are not above `key`.
  static std::size_t count_up_to(const std::uint64_t* keys, std::size_t count, std::uint64_t key) {
    const std::uint64_t* base = keys;
    while (count > 0) {
      const std::size_t half = (count + 1) / 2;
      base += base[half - 1] <= key ? half : 0;
      count -= half;
    }
    return static_cast<std::size_t>(base - keys);
  }

  void add_chunk(std::size_t index, std::unique_ptr<Chunk> chunk);
  void remove_chunk(std::size_t index);
  void split(std::size_t index);
  void join_with_next(std::size_t index);

  std::vector<std::uint64_t> firsts_;  // the first key of each chunk
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace loopfold::ddg
