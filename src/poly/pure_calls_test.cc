#include "poly/pure_calls.h"

#include <gtest/gtest.h>

#include "poly/testing.h"

namespace loopfold::poly {
namespace {

TEST(PureCalls, names) {
  EXPECT_TRUE(is_called("rand", "rand"));
  EXPECT_TRUE(is_called("f(int, double)", "f"));
  EXPECT_TRUE(is_called("f(int, double)", "f(int, double)"));
  EXPECT_TRUE(is_called("ns::g(void (*)(int)) const", "ns::g"));
  EXPECT_TRUE(is_called("ns::f<int>(int)", "ns::f<int>"));
  EXPECT_FALSE(is_called("random", "rand"));
  EXPECT_FALSE(is_called("f(int)", "f(double)"));
  EXPECT_FALSE(is_called("ns::f(int)", "f"));
  EXPECT_FALSE(is_called("(anonymous)", ""));
  EXPECT_FALSE(is_called("", ""));
  EXPECT_FALSE(is_called(")", "("));
}

/// main calls rand in a loop, which calls rand_r, and log after it.
class PureCallsOfTree : public ::testing::Test {
 protected:
  PureCallsOfTree() {
    main_ = tree_.start(1);
    loop_ = tree_.loop(main_, 5);
    rand_ = tree_.call(loop_);
    inner_ = tree_.loop(rand_, 7);
    rand_r_ = tree_.call(inner_);
    log_ = tree_.call(main_);
    for (const auto& [id, name] : {std::pair{main_, "main"}, {rand_, "rand"}, {rand_r_, "rand_r(int*)"}, {log_, "log"}})
      tree_.profile.tree[id].function = name;
    tree_.profile.tree[loop_].function = "log";  // a loop is no call
    tree_.tree[rand_].instructions = 10;
    tree_.tree[rand_r_].instructions = 100;
    tree_.tree[main_].instructions = 1000;
  }

  PureCalls find(const std::vector<std::string>& names) { return pure_calls(names, tree_.context(), tree_.profile); }

  testing::Tree tree_;
  structure::ContextId main_, loop_, rand_, inner_, rand_r_, log_;
};

TEST_F(PureCallsOfTree, all_below_a_call_is_pure) {
  const PureCalls pure = find({"rand"});
  for (structure::ContextId id = 0; id < pure.contexts.size(); ++id)
    EXPECT_EQ(pure.contexts[id], id == rand_ || id == inner_ || id == rand_r_) << id;
  EXPECT_EQ(pure.contexts.size(), tree_.tree.contexts().size());
  EXPECT_EQ(pure.instructions, 110u);
  EXPECT_TRUE(pure.unmatched.empty());
}

TEST_F(PureCallsOfTree, several_names) {
  const PureCalls pure = find({"rand_r", "log", "none", "main"});
  for (structure::ContextId id = 0; id < pure.contexts.size(); ++id)
    EXPECT_EQ(pure.contexts[id], id == rand_r_ || id == log_) << id;
  EXPECT_EQ(pure.unmatched, (std::vector<std::string>{"none", "main"}));
}

TEST_F(PureCallsOfTree, without_names_nothing) {
  EXPECT_TRUE(find({}).contexts.empty());
  EXPECT_TRUE(find({}).unmatched.empty());
}

}  // namespace
}  // namespace loopfold::poly
