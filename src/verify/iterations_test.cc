#include "verify/iterations.h"

#include <gtest/gtest.h>

#include <vector>

namespace loopfold::verify {
namespace {

TEST(VerifyIterations, TellsWhoCarries) {
  Iterations iterations;
  const IterationId stack = iterations.make(kNoIteration, 1, 0);
  const IterationId outer0 = iterations.make(stack, 2, 0);
  const IterationId outer1 = iterations.make(stack, 2, 1);
  const IterationId inner00 = iterations.make(outer0, 3, 0);
  const IterationId inner02 = iterations.make(outer0, 3, 2);
  const IterationId inner10 = iterations.make(outer1, 4, 0);

  const Relation same = iterations.relation(inner00, inner00);
  EXPECT_EQ(same.shared, 3);
  EXPECT_FALSE(same.carried);

  const Relation by_inner = iterations.relation(inner00, inner02);
  EXPECT_TRUE(by_inner.carried_at(2));
  EXPECT_FALSE(by_inner.carried_at(1));
  EXPECT_TRUE(by_inner.inside(1));
  EXPECT_EQ(by_inner.distance, 2);

  const Relation by_outer = iterations.relation(inner02, inner10);
  EXPECT_TRUE(by_outer.carried_at(1));
  EXPECT_FALSE(by_outer.inside(2));
  EXPECT_EQ(by_outer.distance, 1);

  const Relation from_above = iterations.relation(outer0, inner02);
  EXPECT_EQ(from_above.shared, 2);
  EXPECT_FALSE(from_above.carried);
  EXPECT_EQ(iterations.vector(inner02), (std::vector<std::uint64_t>{0, 0, 2}));
}

TEST(VerifyIterations, OtherStacksShareNothing) {
  Iterations iterations;
  const IterationId a = iterations.make(kNoIteration, 1, 0);
  const IterationId b = iterations.make(kNoIteration, 2, 1);
  EXPECT_EQ(iterations.relation(a, b).shared, 0);
  EXPECT_EQ(iterations.relation(kNoIteration, b).shared, 0);
}

TEST(VerifyIterations, WhatNothingRefersToIsGivenBack) {
  Iterations iterations;
  const IterationId stack = iterations.make(kNoIteration, 1, 0);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const IterationId outer = iterations.make(stack, 2, i);
    const IterationId inner = iterations.make(outer, 3 + i, 0);
    iterations.drop(outer);  // still referred to by the inner one
    EXPECT_EQ(iterations.counter(outer), i);
    iterations.drop(inner);
  }
  EXPECT_EQ(iterations.live(), 1u);
}

}  // namespace
}  // namespace loopfold::verify
