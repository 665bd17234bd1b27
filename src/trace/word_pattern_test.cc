#include "trace/word_pattern.h"

#include <gtest/gtest.h>

#include <random>

namespace loopfold::trace {
namespace {

struct Iterations {
  std::vector<std::uint32_t> counts;  // of slots
  std::vector<std::uint64_t> strides;
  std::vector<std::uint64_t> words;
  std::size_t length = 0;

  Iterations(std::mt19937_64& random, std::size_t iterations) {
    for (std::uint64_t n = 1 + random() % 6; n > 0; --n) counts.push_back(static_cast<std::uint32_t>(random() % 7));
    for (const std::uint32_t count : counts)
      for (std::uint32_t i = 0; i < count; ++i) strides.push_back(random() % 2 == 0 ? 0 : random() >> random() % 64);
    length = counts.size() + strides.size();
    std::vector<std::uint64_t> values;
    for (std::size_t i = 0; i < strides.size(); ++i) values.push_back(random());
    for (std::size_t n = 0; n < iterations; ++n) {
      std::size_t slot = 0;
      for (std::size_t e = 0; e < counts.size(); ++e) {
        words.push_back(64 + e);
        for (std::uint32_t i = 0; i < counts[e]; ++i, ++slot) words.push_back(values[slot] + n * strides[slot]);
      }
    }
  }
};

/// Any change of any word is found where it is, and nothing behind the words is looked at.
TEST(WordPattern, FindsTheFirstWordThatDiffers) {
  std::mt19937_64 random(1);
  for (const bool wide : {false, true}) {
    if (wide && __builtin_cpu_supports("avx2") == 0) continue;
    WordPattern pattern(wide);
    for (int round = 0; round < 3000; ++round) {
      Iterations made(random, 2 + random() % 40);
      pattern.set(made.counts, made.strides);
      ASSERT_TRUE(pattern.ready());
      ASSERT_EQ(pattern.length(), made.length);
      // Of any length, not only whole iterations, and with nothing behind it.
      const std::size_t count = random() % (made.words.size() - made.length + 1);
      made.words.resize(made.length + count);
      made.words.shrink_to_fit();
      const std::uint64_t* const from = made.words.data() + made.length;
      ASSERT_EQ(pattern.expected(from, count), count);
      if (count == 0) continue;
      const std::size_t broken = random() % count;
      made.words[made.length + broken] ^= std::uint64_t{1} << random() % 64;
      ASSERT_EQ(pattern.expected(from, count), broken);
    }
  }
}

TEST(WordPattern, IsOfTheLastIterationThatWasSet) {
  WordPattern pattern;
  EXPECT_FALSE(pattern.ready());
  const std::vector<std::uint32_t> counts = {1};
  std::vector<std::uint64_t> strides = {8};
  const std::vector<std::uint64_t> words = {70, 100, 70, 108, 70, 116, 70, 125};
  pattern.set(counts, strides);
  EXPECT_EQ(pattern.expected(words.data() + 2, 6), 5u);
  strides = {9};
  pattern.set(counts, strides);
  EXPECT_EQ(pattern.expected(words.data() + 2, 6), 1u);
  EXPECT_EQ(pattern.expected(words.data() + 6, 2), 2u);
  pattern.clear();
  EXPECT_FALSE(pattern.ready());
}

}  // namespace
}  // namespace loopfold::trace
