// The words of a locked run's iterations; see word_pattern.h.
#include "trace/word_pattern.h"

#include <cstring>
#include <numeric>

namespace loopfold::trace {
namespace {

using Words2 [[gnu::vector_size(16)]] = std::uint64_t;  // what every processor has that a recording runs on
using Words4 [[gnu::vector_size(32)]] = std::uint64_t;  // with AVX2

/// Adds to `different` in what so many words at `now` are not those at `before` plus the strides.
template <typename Vector>
[[gnu::always_inline]] inline void compare(const std::uint64_t* now, const std::uint64_t* before,
                                           const std::uint64_t* strides, Vector& different) {
  Vector is;
  Vector was;
  Vector stride;
  std::memcpy(&is, now, sizeof is);
  std::memcpy(&was, before, sizeof was);
  std::memcpy(&stride, strides, sizeof stride);
  different |= is ^ (was + stride);
}

/// How many words are as expected, by kStep at a time; `lap` is a multiple of that.
template <typename Vector>
[[gnu::always_inline]] inline std::size_t equal_steps(const std::uint64_t* words, std::size_t count, std::size_t length,
                                                      const std::uint64_t* strides, std::size_t lap) {
  constexpr std::size_t kEach = sizeof(Vector) / sizeof(std::uint64_t);
  static_assert(WordPattern::kStep % (2 * kEach) == 0);
  const std::uint64_t* now = words;
  const std::uint64_t* const end = words + count / WordPattern::kStep * WordPattern::kStep;
  const std::uint64_t* stride = strides;
  const std::uint64_t* const lap_end = strides + lap;
  while (now != end) {
    Vector different = {};
    Vector other = {};
    compare(now, now - length, stride, different);
    compare(now + kEach, now + kEach - length, stride + kEach, other);
    if constexpr (WordPattern::kStep == 4 * kEach) {
      compare(now + 2 * kEach, now + 2 * kEach - length, stride + 2 * kEach, different);
      compare(now + 3 * kEach, now + 3 * kEach - length, stride + 3 * kEach, other);
    }
    different |= other;
    std::uint64_t any = different[0] | different[1];
    if constexpr (kEach == 4) any |= different[2] | different[3];
    if (any != 0) break;
    now += WordPattern::kStep;
    stride += WordPattern::kStep;
    if (stride == lap_end) stride = strides;
  }
  return static_cast<std::size_t>(now - words);
}

[[gnu::target("avx2")]] std::size_t equal_steps_avx2(const std::uint64_t* words, std::size_t count, std::size_t length,
                                                     const std::uint64_t* strides, std::size_t lap) {
  return equal_steps<Words4>(words, count, length, strides, lap);
}

}  // namespace

WordPattern::WordPattern() : WordPattern(__builtin_cpu_supports("avx2") != 0) {}

void WordPattern::set(std::span<const std::uint32_t> slot_counts, std::span<const std::uint64_t> strides) {
  length_ = slot_counts.size() + strides.size();
  lap_ = std::lcm(length_, kStep);
  if (strides_.size() < lap_) strides_.resize(lap_);
  std::uint64_t* to = strides_.data();
  const std::uint64_t* from = strides.data();
  for (const std::uint32_t count : slot_counts) {
    *to++ = 0;
    for (std::uint32_t i = 0; i < count; ++i) *to++ = *from++;
  }
  for (std::size_t i = length_; i < lap_; ++i) strides_[i] = strides_[i - length_];
}

std::size_t WordPattern::expected(const std::uint64_t* words, std::size_t count) const {
  const std::uint64_t* const strides = strides_.data();
  std::size_t done = wide_ ? equal_steps_avx2(words, count, length_, strides, lap_)
                           : equal_steps<Words2>(words, count, length_, strides, lap_);
  std::size_t place = done % lap_;
  while (done < count && words[done] == *(words + done - length_) + strides[place]) {
    ++done;
    if (++place == lap_) place = 0;
  }
  return done;
}

}  // namespace loopfold::trace
