// Every reference of every kernel: one nest, no deeper than the source's, that generates the same addresses; and
// prediction works.
#include <gtest/gtest.h>

#include "reconstruct/kernels_for_test.h"
#include "reconstruct/reconstruct.h"

namespace loopfold::reconstruct {

namespace {

using Trace = std::vector<std::vector<std::uint64_t>>;  // by reference

template <class Kernel>
Trace trace_of(kernels::Size n) {
  Trace trace(Kernel::about().depths.size());
  Kernel::run(n, [&](unsigned reference, std::uint64_t address) { trace[reference].push_back(address); });
  return trace;
}

void check(const kernels::About& about, unsigned reference, const std::vector<std::uint64_t>& addresses) {
  SCOPED_TRACE(testing::Message() << about.name << " reference " << reference << ", " << addresses.size()
                                  << " addresses");
  Reconstructor loops;
  loops.add(addresses);
  const Summary& summary = loops.finish();
  ASSERT_EQ(summary.pieces, 1U);
  EXPECT_LE(summary.levels, about.depths[reference]);
  EXPECT_LT(summary.peak_bytes, std::size_t{1} << 20);
  if (addresses.size() >= 2000) {
    EXPECT_GT(static_cast<double>(summary.by_bounds + summary.by_stride), 0.99 * static_cast<double>(addresses.size()));
  }
  std::size_t at = 0;
  bool same = true;
  regenerate(loops.pieces()[0], [&](const Run& run) {
    for (std::uint64_t i = 0; i < run.count; ++i, ++at)
      same &= at < addresses.size() && addresses[at] == run.start + static_cast<std::uint64_t>(run.stride) * i;
  });
  EXPECT_TRUE(same);
  EXPECT_EQ(at, addresses.size());
}

class ReconstructKernels : public testing::TestWithParam<kernels::Size> {};

TEST_P(ReconstructKernels, EveryReferenceIsOneNestNoDeeperThanItsSource) {
  std::size_t references = 0;
  std::size_t all = 0;
  kernels::for_each_kernel([&]<class Kernel>() {
    const Trace trace = trace_of<Kernel>(GetParam());
    const kernels::About about = Kernel::about();
    for (unsigned r = 0; r < trace.size(); ++r, ++references) check(about, r, trace[r]);
    ++all;
  });
  EXPECT_GE(all, 28U);
  EXPECT_GE(references, 150U);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ReconstructKernels, testing::Values(5, 6, 7, 8, 11, 16, 33, 50));

}  // namespace

}  // namespace loopfold::reconstruct
