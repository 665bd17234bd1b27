// What the words of a locked run's iterations have to do with each other: each is the word at the same place of the
// iteration before, plus a stride, which is 0 for the words that name exits.
//
// So a run goes on as long as words[i] = words[i - L] + stride(i), where L is the length of an iteration in words. That
// is one loop without decisions over words that are in the cache, two at a time. To have no ends of iterations
// in it, the strides go on behind the iteration as they began, by what is compared at once.
//
//     h a b | h a+8 b | h a+16 b | ...     strides: 0 8 0 | 0 8 0 0 8 0 0 8
//
// Exact: no word is taken for another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace loopfold::trace {

class WordPattern {
 public:
  static constexpr std::size_t kStep = 8;  // words that are compared at a time

  WordPattern();
  /// With vectors of four words, which the processor must have, or of two.
  explicit WordPattern(bool wide) : wide_(wide) {}

  void clear() { length_ = 0; }
  bool ready() const { return length_ != 0; }
  /// An iteration of events with so many slots each; the slots grow by `strides`, one for each.
  void set(std::span<const std::uint32_t> slot_counts, std::span<const std::uint64_t> strides);

  std::size_t length() const { return length_; }
  /// How many of these words, from the first on, are as the iteration directly before them leads to expect.
  std::size_t expected(const std::uint64_t* words, std::size_t count) const;

 private:
  bool wide_;
  std::size_t length_ = 0;
  std::vector<std::uint64_t> strides_;  // the first length_ + kStep
};

}  // namespace loopfold::trace
