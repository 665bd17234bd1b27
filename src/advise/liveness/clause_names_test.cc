#include "advise/liveness/clause_names.h"

#include <gtest/gtest.h>

namespace loopfold::advise::liveness {
namespace {

TEST(ClauseNames, OfC) {
  const ClauseNames names({"lu", "main"}, "/src/factor.c");
  EXPECT_EQ(names.of("a"), "a");
  EXPECT_EQ(names.of("main::tmp"), "tmp");
  EXPECT_EQ(names.of("lu::tmp"), "tmp");
  EXPECT_EQ(names.of("other::tmp"), "");  // a static variable of a function that is called
}

TEST(ClauseNames, OfFortran) {
  const ClauseNames names({"run"}, "stencil.F90");
  EXPECT_EQ(names.of("work::cp"), "cp");
  EXPECT_EQ(names.of("x"), "x");
}

TEST(ClauseNames, OfOthers) {
  const ClauseNames names({"app::run(int)", "main"}, "run.cpp");
  EXPECT_EQ(names.of("app::run(int)::tmp"), "tmp");
  EXPECT_EQ(names.of("app::tmp"), "app::tmp");
  EXPECT_EQ(names.of("app::(anonymous namespace)::tmp"), "app::tmp");
  EXPECT_EQ(names.of("app::help(int)::tmp"), "");
}

}  // namespace
}  // namespace loopfold::advise::liveness
