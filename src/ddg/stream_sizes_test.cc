// Sizes of streams that change at random, against asking all of them.
#include "ddg/stream_sizes.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

namespace loopfold::ddg {
namespace {

TEST(StreamSizes, NoStreams) {
  StreamSizes sizes;
  EXPECT_EQ(sizes.total([](std::size_t) { return std::uint64_t{1}; }), 0u);
}

TEST(StreamSizes, SameAsAskingAll) {
  std::mt19937 random(7);
  StreamSizes sizes;
  std::vector<std::uint64_t> all;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t choice = random() % 16;
    if (all.empty() || choice == 0) {
      sizes.add();
      all.push_back(random() % 1000);
    } else if (choice < 14) {
      const std::size_t stream = random() % all.size();
      all[stream] = random() % 1000;  // less than before, too
      sizes.touch(stream);
    } else {
      const std::uint64_t sum = std::accumulate(all.begin(), all.end(), std::uint64_t{0});
      ASSERT_EQ(sizes.total([&](std::size_t stream) { return all[stream]; }), sum);
    }
  }
}

/// Those that nothing was given are not asked.
TEST(StreamSizes, OnlyThoseThatChanged) {
  StreamSizes sizes;
  for (int i = 0; i < 200; ++i) sizes.add();
  std::vector<std::size_t> asked;
  const auto ask = [&](std::size_t stream) {
    asked.push_back(stream);
    return std::uint64_t{10};
  };
  EXPECT_EQ(sizes.total(ask), 2000u);
  EXPECT_EQ(asked.size(), 200u);
  asked.clear();
  for (const std::size_t stream : {63, 64, 199, 64}) sizes.touch(stream);
  EXPECT_EQ(sizes.total(ask), 2000u);
  EXPECT_EQ(asked, (std::vector<std::size_t>{63, 64, 199}));
}

}  // namespace
}  // namespace loopfold::ddg
