// An array that grows at its end and whose elements stay where they are, in chunks of 2^kLog.
//
// One thread makes it longer and may write what is new, while another one reads elements that it was told of: whoever
// tells (feed.h) orders the two. The list of chunks is replaced when it is full; old lists are kept for readers that
// are still at them, and are shorter together than the last one. An element costs one load more than that of a vector.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace loopfold::ddg {

template <class T, unsigned kLog>
class StableArray {
 public:
  /// With one element.
  StableArray() { push_back(T{}); }
  StableArray(const StableArray&) = delete;
  StableArray& operator=(const StableArray&) = delete;

  T& operator[](std::size_t i) { return chunks_.load(std::memory_order_acquire)[i >> kLog][i & kMask]; }
  const T& operator[](std::size_t i) const { return chunks_.load(std::memory_order_acquire)[i >> kLog][i & kMask]; }
  std::size_t size() const { return size_; }

  void push_back(T value) {
    if (size_ >> kLog == owned_.size()) add_chunk();
    owned_[size_ >> kLog][size_ & kMask] = std::move(value);
    ++size_;
  }

  /// Forgets those behind the first n; their room is used again.
  void truncate(std::size_t n) { size_ = std::min(size_, n); }

 private:
  static constexpr std::size_t kMask = (std::size_t{1} << kLog) - 1;
  static constexpr std::size_t kFewChunks = 16;

  void add_chunk() {
    if (owned_.size() == room_) {
      room_ = std::max(kFewChunks, 2 * room_);
      lists_.push_back(std::make_unique<T*[]>(room_));
      for (std::size_t i = 0; i < owned_.size(); ++i) lists_.back()[i] = owned_[i].get();
    }
    owned_.push_back(std::make_unique<T[]>(kMask + 1));
    lists_.back()[owned_.size() - 1] = owned_.back().get();
    chunks_.store(lists_.back().get(), std::memory_order_release);
  }

  std::atomic<T**> chunks_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;  // of the last list
  std::vector<std::unique_ptr<T*[]>> lists_;
  std::vector<std::unique_ptr<T[]>> owned_;
};

}  // namespace loopfold::ddg
