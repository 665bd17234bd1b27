#include "views/table5.h"

#include <gtest/gtest.h>

#include <sstream>

#include "views/advice_testing.h"
#include "views/report_markdown.h"
#include "views/report_text.h"

namespace loopfold::views {
namespace {

using profile::Profile;
using testing::contains;
using testing::product_profile;

/// The cells of each line of a Markdown table.
std::vector<std::vector<std::string>> cells_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ")) continue;
    std::vector<std::string>& cells = rows.emplace_back();
    for (std::size_t at = 2; at < line.size();) {
      const std::size_t end = std::min(line.find(" | ", at), line.size() - 2);
      cells.push_back(line.substr(at, end - at));
      at = end + 3;
    }
  }
  return rows;
}

std::string markdown_of(const Profile& profile) {
  return table5_markdown(ReportWords(profile), testing::all_regions(profile));
}

TEST(Table5, has_the_columns_of_the_paper) {
  const std::vector<std::string> names = {"Region", "\\#V",       "\\#E",
                                          "%Aff",   "%ops",       "%Mops",
                                          "%FPops", "interproc.", "what would stop a static compiler",
                                          "skew",   "%\\|\\|ops", "%simdops",
                                          "%reuse", "%Preuse",    "ld-src",
                                          "ld-bin", "TileD",      "%Tilops",
                                          "C",      "Comp.",      "fusion"};
  EXPECT_EQ(cells_of(markdown_of(product_profile()))[0], names);
}

TEST(Table5, a_row_per_region_and_a_total) {
  const std::vector<std::vector<std::string>> rows = cells_of(markdown_of(product_profile()));
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1],
            (std::vector<std::string>{"product.c:12", "2",   "2",    "100%", "88%", "40%", "20%", "N", "A", "N", "100%",
                                      "60%",          "75%", "100%", "3D",   "3D",  "3D",  "90%", "2", "1", "S"}));
  EXPECT_EQ(rows[2], (std::vector<std::string>{
                         "product.c:20", "1",  "1", "50%", "11%", "20%", "0%", "Y", "RF", "-", "-", "-", "-", "-",
                         "1D",           "1D", "-", "-",   "-",   "-",   "-"}));
  EXPECT_EQ(rows[3][0], "total");
  EXPECT_EQ(rows[3][1], "3");
  EXPECT_EQ(rows[3][8], "ARF");
  EXPECT_EQ(rows[3][10], "100%") << "what has no schedule does not count";
}

TEST(Table5, shares_of_the_total_are_weighed) {
  Profile profile = product_profile();
  profile.regions[0].ops_percent = 60;
  profile.regions[1].ops_percent = 20;
  profile.regions[1].transformed = profile.regions[0].transformed;
  profile.regions[1].transformed->parallel_ops_percent = 20;
  profile.regions[1].transformed->reuse_percent = 0;
  profile.regions[1].transformed->fusion = profile::Transformed::Fusion::kMax;
  profile.regions[1].transformed->skew = {{2, 3, 1}};
  const std::vector<std::string> total = cells_of(markdown_of(profile)).back();
  EXPECT_EQ(total[3], "88%") << "(60 * 100 + 20 * 50) / 80";
  EXPECT_EQ(total[4], "80%");
  EXPECT_EQ(total[7], "Y");
  EXPECT_EQ(total[9], "Y");
  EXPECT_EQ(total[10], "80%") << "(60 * 100 + 20 * 20) / 80";
  EXPECT_EQ(total[12], "64%") << "of accesses: 75 * 60 * 40 / (60 * 40 + 20 * 20)";
  EXPECT_EQ(total[18], "4");
  EXPECT_EQ(total[20], "SM");
}

TEST(Table5, nothing_to_show_is_no_trouble) {
  Profile profile = product_profile();
  profile.regions.clear();
  const std::vector<std::vector<std::string>> rows = cells_of(markdown_of(profile));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1][3], "-");
  EXPECT_EQ(rows[1][4], "0%");
}

TEST(Table5, is_a_report_of_its_own) {
  const Profile profile = product_profile();
  ReportOptions options;
  options.table5 = true;
  const std::string text = report_text(profile, options);
  EXPECT_TRUE(contains(text, "Loops of ./product"));
  EXPECT_TRUE(contains(text, "one run: what follows holds"));
  EXPECT_TRUE(contains(text, "\nproduct.c:12  2  2 100%  88%   40%    20%          N      A\n")) << text;
  EXPECT_TRUE(
      contains(text, "\nproduct.c:20    -      -        -      -       -     1D     1D     -       - -     -      -\n"))
      << text;
  EXPECT_FALSE(contains(text, "verdict"));
  EXPECT_LE(testing::widest(text), 100u);
  EXPECT_TRUE(contains(report_markdown(profile, options), "| product.c:12 | 2 | 2 | 100% |"));
}

}  // namespace
}  // namespace loopfold::views
