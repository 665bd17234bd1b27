#include "views/ast_text.h"

#include <gtest/gtest.h>

#include <random>

#include "views/advice_testing.h"
#include "views/full_ast.h"

namespace loopfold::views {
namespace {

using profile::Profile;
using profile::Transformed;
using testing::contains;
using testing::product_profile;

std::string ast(const Profile& profile, std::optional<std::uint32_t> region, bool transformed, bool full) {
  return ast_text(profile, {region, transformed, full, Charset::kUnicode});
}

TEST(AstText, simplified) {
  const Profile profile = product_profile();
  EXPECT_EQ(ast(profile, 0, false, false),
            "// Region 0: product.c:12, 88.4 % of the operations\n"
            "for product.c:12\n  for product.c:13\n    for product.c:14\n");
  EXPECT_EQ(ast(profile, std::nullopt, true, false),
            "// Region 0: product.c:12, 88.4 % of the operations, in the new order\n"
            "for product.c:12\n  for product.c:14\n    for product.c:13  [vector]\n\n"
            "// Region 1: product.c:20, 10.5 % of the operations, in the new order\n"
            "// Gave up: the budget was used up\n");
}

TEST(AstText, what_cannot_be_shown_says_why) {
  Profile profile = product_profile();
  profile.regions[0].transformed->status = Transformed::Status::kOriginal;
  EXPECT_TRUE(
      contains(ast(profile, 0, true, false), "// No better order was found: this is as written.\nfor product.c:12"));
  profile.regions[0].transformed.reset();
  EXPECT_TRUE(contains(ast(profile, 0, true, false), "// No order was looked for.\n"));
  EXPECT_TRUE(contains(ast(profile, 0, true, true), "// region 0: no schedule was found\n"));
  profile.regions.clear();
  EXPECT_EQ(ast(profile, std::nullopt, false, false), "// There are no regions: no loop has enough operations.\n");
}

TEST(AstText, complete_as_written) {
  EXPECT_EQ(ast(product_profile(), 0, false, true), R"(// Region 0: product.c:12, 88.4 % of the operations
for (int c1 = 0; c1 <= 3; c1 += 1)
  for (int c3 = 0; c3 <= 3; c3 += 1) {
    S0(c1, c3);  // product.c:13
    for (int c5 = 0; c5 <= 3; c5 += 1)
      S1(c1, c3, c5);  // product.c:15
  }
)");
}

TEST(AstText, complete_in_the_new_order) {
  EXPECT_EQ(ast(product_profile(), 0, true, true),
            R"(// Region 0: product.c:12, 88.4 % of the operations, in the new order
// parallel
for (int c0 = 0; c0 <= 3; c0 += 1) {
  for (int c3 = 0; c3 <= 3; c3 += 1)
    S0(c0, c3);  // product.c:13
  for (int c2 = 0; c2 <= 3; c2 += 1)
    // parallel
    for (int c3 = 0; c3 <= 3; c3 += 1)
      S1(c0, c3, c2);  // product.c:15
}
)");
}

TEST(AstText, what_is_not_exact_says_so) {
  Profile profile = product_profile();
  profile.statements[0].exact = false;
  EXPECT_TRUE(contains(ast(profile, 0, true, true), "// Some domains are not exact"));
}

TEST(AstText, what_isl_cannot_read_is_said_in_one_line) {
  Profile profile = product_profile();
  for (const char* schedule : {"{ S0[i0", "nonsense", "{ S9[] -> [0] }", "{ T[i] -> [i] }"}) {
    profile.regions[0].transformed->schedule = schedule;
    const std::string text = ast(profile, 0, true, true);
    EXPECT_TRUE(text.starts_with("// Region 0")) << text;
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 3) << text;
  }
  profile = product_profile();
  profile.statements[1].domain = "{ what";
  EXPECT_TRUE(contains(ast(profile, 0, true, true), "cannot be read")) << ast(profile, 0, true, true);
}

TEST(AstText, names_are_inert) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; round++) {
    Profile profile = product_profile();
    profile.regions[0].transformed.reset();
    testing::add_random_advice(profile, profile.regions[0], random);
    profile.statements[0].source = {{testing::random_text(random), 3}};
    for (const bool full : {false, true})
      EXPECT_TRUE(testing::is_inert(ast(profile, 0, false, full), Charset::kUnicode));
  }
}

}  // namespace
}  // namespace loopfold::views
