#include "poly/budget.h"

#include <isl/options.h>

namespace loopfold::poly {

IslBudget::IslBudget(isl_ctx* context, std::uint64_t operations, std::chrono::milliseconds net) : context_(context) {
  isl_options_set_on_error(context, ISL_ON_ERROR_CONTINUE);
  isl_ctx_reset_error(context);
  isl_ctx_reset_operations(context);
  isl_ctx_set_max_operations(context, operations);
  watcher_ = std::thread([this, net] { watch(net); });
}

IslBudget::~IslBudget() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    finished_ = true;
  }
  done_.notify_one();
  watcher_.join();
  isl_ctx_set_max_operations(context_, 0);
  isl_ctx_reset_operations(context_);
  isl_ctx_resume(context_);
  isl_ctx_reset_error(context_);
}

bool IslBudget::exceeded() const { return isl_ctx_last_error(context_) != isl_error_none; }

void IslBudget::watch(std::chrono::milliseconds net) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (done_.wait_for(lock, net, [this] { return finished_; })) return;
  timed_out_ = true;
  isl_ctx_abort(context_);
}

}  // namespace loopfold::poly
