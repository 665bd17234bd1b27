// What all streams need together, without asking each of them each time.
//
// Limits are looked at whenever there are some streams more, and there are many streams, of which most have got nothing
// since: code that ran a few times. What a folder needs depends on what it was given alone, so only those are asked
// that were given something since the last time: a bit for each stream, set by whoever gives it a point.
//
// Exact: the sum is that of asking all of them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace loopfold::ddg {

class StreamSizes {
 public:
  /// A stream more, which has to be asked.
  void add() {
    const std::size_t stream = sizes_.size();
    if (stream % 64 == 0) touched_.push_back(0);
    sizes_.push_back(0);
    touch(stream);
  }
  /// It may need something else than the last time.
  void touch(std::size_t stream) { touched_[stream / 64] |= std::uint64_t{1} << stream % 64; }

  /// What all need; `size_of` says it of one.
  template <class SizeOf>
  std::uint64_t total(const SizeOf& size_of) {
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      for (std::uint64_t rest = touched_[i]; rest != 0; rest &= rest - 1) {
        const std::size_t stream = i * 64 + static_cast<std::size_t>(std::countr_zero(rest));
        const std::uint64_t size = size_of(stream);
        total_ += size - sizes_[stream];
        sizes_[stream] = size;
      }
      touched_[i] = 0;
    }
    return total_;
  }

 private:
  std::vector<std::uint64_t> touched_;  // by stream, as bits
  std::vector<std::uint64_t> sizes_;    // by stream, as of the last time
  std::uint64_t total_ = 0;
};

}  // namespace loopfold::ddg
