// Every number is visited once, whatever the number of jobs.
#include "support/parallel.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <mutex>
#include <set>

namespace loopfold {
namespace {

TEST(Parallel, VisitsEveryNumberOnce) {
  for (const unsigned jobs : {0u, 1u, 2u, 3u, 8u}) {
    for (const std::size_t n : {0u, 1u, 7u, 64u, 1000u}) {
      for (const std::size_t grain : {1u, 3u, 64u, 5000u}) {
        std::vector<int> visits(n);
        for_each_number(jobs, n, grain, [&](std::size_t i) { ++visits[i]; });
        EXPECT_EQ(visits, std::vector<int>(n, 1)) << jobs << " jobs, grain " << grain;
      }
    }
  }
}

TEST(Parallel, EveryThreadHasItsState) {
  for (const unsigned jobs : {0u, 1u, 3u}) {
    std::atomic<int> states = 0;
    std::vector<int> visits(500);
    for_each_with(
        jobs, visits.size(),
        [&] {
          ++states;
          return std::this_thread::get_id();
        },
        [&](std::thread::id owner, std::size_t i) { visits[i] += owner == std::this_thread::get_id() ? 1 : 2; });
    EXPECT_EQ(visits, std::vector<int>(500, 1)) << jobs << " jobs";
    EXPECT_LE(states, static_cast<int>(std::max(jobs, 1u)));
  }
}

TEST(Parallel, RangesHaveTheGrainButForTheLast) {
  std::mutex mutex;
  std::set<std::pair<std::size_t, std::size_t>> ranges;
  for_each_range(3, 10, 4, [&](std::size_t begin, std::size_t end) {
    const std::lock_guard lock(mutex);
    ranges.insert({begin, end});
  });
  EXPECT_EQ(ranges, (std::set<std::pair<std::size_t, std::size_t>>{{0, 4}, {4, 8}, {8, 10}}));
}

TEST(Parallel, OneJobOrOneRangeIsTheCallersAlone) {
  const auto threads_of = [](unsigned jobs, std::size_t n, std::size_t grain) {
    std::set<std::thread::id> threads;
    for_each_range(jobs, n, grain, [&](std::size_t, std::size_t) { threads.insert(std::this_thread::get_id()); });
    return threads;
  };
  const std::set<std::thread::id> caller = {std::this_thread::get_id()};
  EXPECT_EQ(threads_of(1, 1000, 10), caller);
  EXPECT_EQ(threads_of(8, 10, 10), caller);
}

}  // namespace
}  // namespace loopfold
