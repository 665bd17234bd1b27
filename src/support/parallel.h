// A loop over numbers on several threads, for work that is cut into independent parts whose results have places.
//
// for_each_range(jobs, n, grain, visit) calls visit(begin, end) for ranges that cover 0 .. n-1 once each, of `grain`
// numbers but for the last. Who takes which range depends on who is free, so visit must write only what belongs to its
// numbers; then the result is the same for any number of jobs. With one job, or one range only, all is done by the
// caller in order, in one call, and no thread is started; else the caller takes ranges too, and jobs - 1 threads at the
// most live as long as the call. visit must not throw.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace loopfold {

template <class Visit>
void for_each_range(unsigned jobs, std::size_t n, std::size_t grain, const Visit& visit) {
  const std::size_t ranges = (n + grain - 1) / grain;
  if (jobs <= 1 || ranges <= 1) {
    if (n > 0) visit(std::size_t{0}, n);
    return;
  }
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t range = next++; range < ranges; range = next++)
      visit(range * grain, std::min(n, (range + 1) * grain));
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < std::min<std::size_t>(jobs, ranges); ++i) threads.emplace_back(take);
  take();
  for (std::thread& thread : threads) thread.join();
}

/// visit(state, i) for each of 0 .. n-1, by whoever is free, one at a time and the smaller ones first. Every thread has
/// a state of its own, which is what make() returns.
template <class Make, class Visit>
void for_each_with(unsigned jobs, std::size_t n, const Make& make, const Visit& visit) {
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    auto state = make();
    for (std::size_t i = next++; i < n; i = next++) visit(state, i);
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < std::min<std::size_t>(jobs, n); ++i) threads.emplace_back(take);
  take();
  for (std::thread& thread : threads) thread.join();
}

/// for_each_range, number by number.
template <class Visit>
void for_each_number(unsigned jobs, std::size_t n, std::size_t grain, const Visit& visit) {
  for_each_range(jobs, n, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) visit(i);
  });
}

}  // namespace loopfold
