#include "views/row.h"

#include <gtest/gtest.h>

#include <random>

namespace loopfold::views {
namespace {

Row sample() {
  Row row;
  row.add("loop ", Style::kLoop);
  row.add_name("std::vector<int>::push_back(int const&)", Style::kCall, 12);
  row.add("  x300");
  row.add_optional(" (vector.h:12)");
  row.add_optional(" called at main.c:3");
  return row;
}

TEST(ViewRow, gives_way_in_order) {
  const auto fitted = [](std::size_t width) { return sample().fitted(width, false, Charset::kUnicode); };
  EXPECT_EQ(fitted(100), "loop std::vector<int>::push_back(int const&)  x300 (vector.h:12) called at main.c:3");
  EXPECT_EQ(fitted(70), "loop std::vector<int>::push_back(int const&)  x300 (vector.h:12)");
  EXPECT_EQ(fitted(60), "loop std::vector<int>::push_back(int const&)  x300");
  EXPECT_EQ(fitted(40), "loop std::vector<…>::push_back(…)  x300");
  EXPECT_EQ(fitted(23).substr(0, 6), "loop s");
  EXPECT_EQ(columns(fitted(10)), 10u);
}

TEST(ViewRow, never_wider_than_asked) {
  for (std::size_t width = 0; width < 100; width++)
    EXPECT_LE(columns(sample().fitted(width, false, Charset::kAscii)), width);
}

TEST(ViewRow, styles_surround_text) {
  EXPECT_EQ(styled("a", Style::kLoop, true), "\x1b[36ma\x1b[0m");
  EXPECT_EQ(styled("a", Style::kLoop, false), "a");
  EXPECT_EQ(styled("", Style::kLoop, true), "");
  EXPECT_EQ(styled("a", Style::kPlain, true), "a");
}

}  // namespace
}  // namespace loopfold::views
