#include "advise/liveness/head_text.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace loopfold::advise::liveness {
namespace {

TEST(HeadText, what_a_head_sets_or_steps) {
  EXPECT_TRUE(steps_in_head("for (i = 0; i < n; i++) {", "i", false));
  EXPECT_TRUE(steps_in_head("for (; i < n; ++i)", "i", false));
  EXPECT_TRUE(steps_in_head("for (int k = n; k > 0; k -= 2)", "k", false));
  EXPECT_FALSE(steps_in_head("for (i = 0; i < n; i++) {", "n", false));
  EXPECT_FALSE(steps_in_head("for (ii = 0; ii == i; ii++) {", "i", false));
  EXPECT_TRUE(steps_in_head("  DO I = 1, N", "i", true));
  EXPECT_FALSE(steps_in_head("  do i = 1, n", "n", true));
}

TEST(HeadText, whose_counter_it_is) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / "head_text.c").string();
  std::ofstream(path) << "void f(int n) {\n"
                         "  int i, j, k = 0;\n"
                         "  for (i = 0; i < n; i++) {\n"
                         "    for (j = i; j < n; j++) a[j] = k;\n"
                         "    k += 3;\n"
                         "  }\n"
                         "}\n";
  using Role = HeadTexts::Role;
  HeadTexts texts;
  EXPECT_EQ(texts.role_of(path, 3, "i"), Role::kOwn);
  EXPECT_EQ(texts.role_of(path, 3, "j"), Role::kInner);
  EXPECT_EQ(texts.role_of(path, 3, "k"), Role::kNone);
  EXPECT_EQ(texts.role_of(path, 4, "i"), Role::kNone);
  EXPECT_EQ(texts.role_of(path, 2, "i"), Role::kNone);
  EXPECT_EQ(texts.role_of(path + ".gone", 3, "i"), Role::kNone);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace loopfold::advise::liveness
