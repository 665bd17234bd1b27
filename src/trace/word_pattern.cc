// The words of a locked run's iterations; see word_pattern.h.
#include "trace/word_pattern.h"

#include <cstring>

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

/// How many words are as expected, by kStep at a time. `strides` has kStep more than `length`.
template <typename Vector>
[[gnu::always_inline]] inline std::size_t equal_steps(const std::uint64_t* words, std::size_t count, std::size_t length,
                                                      const std::uint64_t* strides) {
  constexpr std::size_t kEach = sizeof(Vector) / sizeof(std::uint64_t);
  static_assert(WordPattern::kStep == 2 * kEach || WordPattern::kStep == 4 * kEach);
  const std::uint64_t* now = words;
  const std::uint64_t* const end = words + count / WordPattern::kStep * WordPattern::kStep;
  const std::size_t turn = WordPattern::kStep % length;
  std::size_t place = 0;  // in the iteration
  while (now != end) {
    const std::uint64_t* const before = now - length;
    const std::uint64_t* const stride = strides + place;
    Vector different = {};
    Vector other = {};
    compare(now, before, stride, different);
    compare(now + kEach, before + kEach, stride + kEach, other);
    if constexpr (WordPattern::kStep == 4 * kEach) {
      compare(now + 2 * kEach, before + 2 * kEach, stride + 2 * kEach, different);
      compare(now + 3 * kEach, before + 3 * kEach, stride + 3 * kEach, other);
    }
    different |= other;
    std::uint64_t any = different[0] | different[1];
    if constexpr (kEach == 4) any |= different[2] | different[3];
    if (any != 0) break;
    now += WordPattern::kStep;
    place += turn;
    if (place >= length) place -= length;
  }
  return static_cast<std::size_t>(now - words);
}

[[gnu::target("avx2")]] std::size_t equal_steps_avx2(const std::uint64_t* words, std::size_t count, std::size_t length,
                                                     const std::uint64_t* strides) {
  return equal_steps<Words4>(words, count, length, strides);
}

}  // namespace

WordPattern::WordPattern() : WordPattern(__builtin_cpu_supports("avx2") != 0) {}

void WordPattern::set(std::span<const std::uint32_t> slot_counts, std::span<const std::uint64_t> strides) {
  length_ = slot_counts.size() + strides.size();
  if (strides_.size() < length_ + kStep) strides_.resize(2 * (length_ + kStep));
  std::uint64_t* to = strides_.data();
  const std::uint64_t* from = strides.data();
  for (const std::uint32_t count : slot_counts) {
    *to++ = 0;
    for (std::uint32_t i = 0; i < count; ++i) *to++ = *from++;
  }
  for (std::size_t i = 0; i < kStep; ++i) to[i] = strides_[i];
}

std::size_t WordPattern::expected(const std::uint64_t* words, std::size_t count) const {
  const std::uint64_t* const strides = strides_.data();
  std::size_t done =
      wide_ ? equal_steps_avx2(words, count, length_, strides) : equal_steps<Words2>(words, count, length_, strides);
  std::size_t place = done % length_;
  while (done < count && words[done] == *(words + done - length_) + strides[place]) {
    ++done;
    if (++place == length_) place = 0;
  }
  return done;
}

}  // namespace loopfold::trace
