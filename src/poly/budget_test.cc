// Budgets: what runs out fails, and the context is as good as new afterwards.
#include "poly/budget.h"

#include <gtest/gtest.h>

#include <chrono>

#include "poly/isl.h"

namespace loopfold::poly {
namespace {

constexpr std::chrono::milliseconds kLong(60'000);

/// Some thousands of operations; null if they are too many.
Isl<isl_set> work(isl_ctx* context) {
  Isl<isl_set> set(isl_set_read_from_str(
      context, "{ [i, j, k] : 0 <= i < 100 and i <= j < 200 and j <= 2k < 300 and (i + j) mod 3 = 1 }"));
  const Isl<isl_set> other(
      isl_set_read_from_str(context, "{ [i, j, k] : 5 <= i + k < 90 and 0 <= j - k < 70 and (j + k) mod 5 != 2 }"));
  set = Isl<isl_set>(isl_set_subtract(set.release(), other.copy()));
  return Isl<isl_set>(isl_set_coalesce(set.release()));
}

TEST(Budget, EnoughIsNotNoticed) {
  const IslContext context(isl_ctx_alloc());
  const IslBudget budget(context.get(), 10'000'000, kLong);
  EXPECT_TRUE(work(context.get()));
  EXPECT_FALSE(budget.exceeded());
  EXPECT_FALSE(budget.timed_out());
}

TEST(Budget, OperationsRunOutAndComeBack) {
  const IslContext context(isl_ctx_alloc());
  for (int round = 0; round < 3; ++round) {
    {
      const IslBudget budget(context.get(), 20, kLong);
      EXPECT_FALSE(work(context.get()));
      EXPECT_TRUE(budget.exceeded());
      EXPECT_FALSE(budget.timed_out());
    }
    EXPECT_TRUE(work(context.get())) << "no budget, no limit";
    const IslBudget budget(context.get(), 10'000'000, kLong);
    EXPECT_FALSE(budget.exceeded()) << "what failed before is forgotten";
    EXPECT_TRUE(work(context.get()));
  }
}

/// The same amount is enough in every round: what was used before does not count.
TEST(Budget, EachBeginsAtZero) {
  const IslContext context(isl_ctx_alloc());
  std::uint64_t enough = 1;
  for (bool done = false; !done; enough *= 2) {
    const IslBudget budget(context.get(), enough, kLong);
    done = static_cast<bool>(work(context.get()));
  }
  for (int round = 0; round < 5; ++round) {
    const IslBudget budget(context.get(), enough, kLong);
    EXPECT_TRUE(work(context.get()));
  }
}

TEST(Budget, TheTimerStopsWhatOperationsDoNot) {
  const IslContext context(isl_ctx_alloc());
  {
    const IslBudget budget(context.get(), 0, std::chrono::milliseconds(20));  // 0: no limit
    const auto start = std::chrono::steady_clock::now();
    while (work(context.get()))
      ASSERT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30)) << "nothing stops it";
    EXPECT_TRUE(budget.exceeded());
    EXPECT_TRUE(budget.timed_out());
  }
  EXPECT_TRUE(work(context.get()));
  const IslBudget budget(context.get(), 10'000'000, kLong);
  EXPECT_FALSE(budget.timed_out());
  EXPECT_TRUE(work(context.get()));
}

TEST(Budget, EndsAtOnce) {
  const IslContext context(isl_ctx_alloc());
  const auto start = std::chrono::steady_clock::now();
  { const IslBudget budget(context.get(), 1000, kLong); }
  EXPECT_LT(std::chrono::steady_clock::now() - start, kLong / 2) << "the timer was waited for";
}

}  // namespace
}  // namespace loopfold::poly
