// A budget for isl: so many operations, and, as a net only, so much time.
//
// isl counts its basic operations; past the limit every call fails with null, until the budget ends. The count is the
// same in every run, so what a budget cuts off is reproducible. But operations on large numbers take longer than others
// (100 000 may take 0.4 s or 7.5 s), so a timer, much larger than what the operations should take, stops what
// runs away; a result that it stopped says so. Budgets of one context do not nest.
#pragma once

#include <isl/ctx.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace loopfold::poly {

class IslBudget {
 public:
  IslBudget(isl_ctx* context, std::uint64_t operations, std::chrono::milliseconds net);
  ~IslBudget();
  IslBudget(const IslBudget&) = delete;
  IslBudget& operator=(const IslBudget&) = delete;

  /// Something failed since it began: it ran out, or isl refused.
  bool exceeded() const;
  /// The timer stopped it: the result depends on the machine.
  bool timed_out() const { return timed_out_; }

 private:
  void watch(std::chrono::milliseconds net);

  isl_ctx* context_;
  std::mutex mutex_;
  std::condition_variable done_;
  bool finished_ = false;
  std::atomic<bool> timed_out_ = false;
  std::thread watcher_;
};

}  // namespace loopfold::poly
