// Walking nests: against loops written out, and skipping against walking.
#include "reconstruct/nest.h"

#include <gtest/gtest.h>

#include <random>

namespace loopfold::reconstruct {

namespace {

Nest triangle() { return {1000, 10, {800, 8}, {3, 0}, {-1, 0, 1, -1}}; }

std::vector<std::uint64_t> all(const Nest& nest) {
  std::vector<std::uint64_t> addresses;
  for_each_row(nest, [&](const Run& row) {
    for (std::uint64_t i = 0; i < row.count; ++i)
      addresses.push_back(row.start + static_cast<std::uint64_t>(row.stride) * i);
  });
  return addresses;
}

TEST(ReconstructNest, NoLoopsIsOneAccess) {
  Nest nest;
  nest.base = 42;
  EXPECT_EQ(all(nest), std::vector<std::uint64_t>{42});
}

TEST(ReconstructNest, WalksATriangle) {
  std::vector<std::uint64_t> expected;
  for (std::uint64_t i = 0; i <= 3; ++i)
    for (std::uint64_t j = 0; j <= i; ++j) expected.push_back(1000 + 800 * i + 8 * j);
  EXPECT_EQ(all(triangle()), expected);
  EXPECT_EQ(count_of(triangle()), 10U);
}

TEST(ReconstructNest, ALoopEndsInFrontOfAnEmptyOne) {
  const Nest nest{0, 0, {100, 1}, {9, 2}, {-1, 0, -1, -1}};  // rows of 3, 2, 1 and then none
  EXPECT_EQ(all(nest), (std::vector<std::uint64_t>{0, 1, 2, 100, 101, 200}));
}

TEST(ReconstructNest, AnEmptyFirstLoopGeneratesNothing) {
  const Nest nest{0, 0, {100, 1}, {9, -1}, {-1, 0, 0, -1}};
  EXPECT_TRUE(NestWalk(nest).done());
}

TEST(ReconstructNest, AddressesWrapAround) {
  const Nest nest{0xffffffffffffffff, 3, {1}, {2}, {-1}};
  EXPECT_EQ(all(nest), (std::vector<std::uint64_t>{0xffffffffffffffff, 0, 1}));
}

TEST(ReconstructNest, BoundsThatDoNotFitAreNotFollowed) {
  Shape shape;
  shape.levels = 2;
  shape.w = {5, 1};
  shape.u[1][0] = std::int64_t{1} << 62;
  const std::int64_t index[] = {4};
  std::int64_t bound = 0;
  EXPECT_FALSE(bound_at(shape, 1, index, 1, bound));
}

TEST(ReconstructNest, SkippingIsWalking) {
  std::mt19937_64 random(1);
  const Nest nests[] = {triangle(),
                        {7, 60, {500, 40, -3}, {4, 3, 2}, {-1, 0, 0, 0, -1, 0, 0, 0, -1}},
                        {7, 0, {500, 40, -3}, {4, 3, 6}, {-1, 0, 0, 1, -1, 0, 0, -1, -1}},
                        {7, 0, {500, 40, -3, 0}, {5, 0, 3, 2}, {-1, 0, 0, 0, 1, -1, 0, 0, 0, 0, -1, 0, -1, 1, 0, -1}}};
  for (const Nest& nest : nests) {
    const std::vector<std::uint64_t> addresses = all(nest);
    for (int trial = 0; trial < 200; ++trial) {
      NestWalk walk(nest);
      std::size_t at = 0;
      while (at < addresses.size()) {
        ASSERT_FALSE(walk.done());
        ASSERT_EQ(walk.row().start, addresses[at]);
        const std::uint64_t by = random() % (addresses.size() / 2 + 1);
        walk.skip(by);
        at += by;
      }
      EXPECT_TRUE(walk.done());
    }
  }
}

}  // namespace

}  // namespace loopfold::reconstruct
