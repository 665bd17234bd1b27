#include "views/tree_text.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <sstream>

#include "views/testing.h"

namespace loopfold::views {
namespace {

using profile::Profile;
using profile::Source;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string text_of(const Profile& profile, const Filter& filter, std::size_t width = 100) {
  TreeTextOptions options;
  options.filter = filter;
  options.width = width;
  options.next_command = "loopfold flame --svg flame.svg";
  return tree_text(profile, options);
}

/// Does any line hold all of this?
bool has_line(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& line : lines_of(text)) {
    const auto there = [&](const std::string& part) { return line.find(part) != std::string::npos; };
    if (std::all_of(parts.begin(), parts.end(), there)) return true;
  }
  return false;
}

TEST(TreeText, a_newcomer_can_read_it) {
  EXPECT_EQ(text_of(testing::solver_profile(), {std::nullopt, 1.0, ""}),
            R"(Loop tree of ./solver --size 300: 279 M instructions in 3 threads, exit status 0
no debug info: functions of libm.so.6 have no line information (3.1 % of ops)

 ops %  self %    times  loops and calls
 100.0     0.0           the whole run
  93.5     0.0        1  ├ main (solver.c:80)
  87.3     0.0        1  │ ├ run → solve (solver.c:60)
  68.1     0.0        1  │ │ ├ matmul (solver.c:20) called at solver.c:62
  68.1     0.0        1  │ │ │ └ loop solver.c:22  ×300
  68.1     0.3      300  │ │ │   └ loop solver.c:23  ×300
  67.8    67.8   90.0 k  │ │ │     └ loop solver.c:24  ×300
   5.8     0.0       40  │ │ ├ triangle (solver.c:30) called at solver.c:63
   5.8     0.0       40  │ │ │ └ loop solver.c:31  ×300
   5.8     5.8   12.0 k  │ │ │   └ loop solver.c:32  ×1..300 (mean 150.5)
  11.0     0.0        1  │ │ ├ void std::__introsort_loop<…>(…) (stl_algo.h:1908)
  11.0    11.0   90.0 k  │ │ │ └ loop stl_algo.h:1864  ×31  inlined std::__unguarded_partition
   2.4     2.4        1  │ │ └ recursion tree_sum (solver.c:41) called at solver.c:66  ×16,382 steps
   4.3     0.0      900  │ ├ norm (solver.c:50) called at solver.c:90
   4.3     1.4      900  │ │ └ loop solver.c:52  ×300
   2.9     2.9    270 k  │ │   └ sqrt (libm.so.6) called at solver.c:53
   1.0     1.0        4  │ ├ irreducible loop solver.c:94  ×10,000
   1.0                   │ └ … 15 more below 1 %
   6.5     0.0        2  ├ thread worker (solver.c:120) started at solver.c:89
   6.5     6.5        2  │ └ loop solver.c:122  ×150,000
   0.0                   └ … 1 more below 1 %

ops %: instructions, with all below; self %: without. times: calls, or entries of a loop. ×N: iterations per entry.
Next: loopfold flame --svg flame.svg
)");
}

TEST(TreeText, ascii_is_ascii) {
  std::mt19937 random(1);
  TreeTextOptions options;
  options.charset = Charset::kAscii;
  for (int round = 0; round < 50; round++) {
    for (const char c : tree_text(testing::random_profile(random, 60), options)) {
      ASSERT_LT(static_cast<unsigned char>(c), 0x7f);
      ASSERT_TRUE(c == '\n' || c >= 0x20);
    }
  }
  const std::string text = tree_text(testing::solver_profile(), options);
  EXPECT_TRUE(has_line(text, {"|-run -> solve"}));
  EXPECT_TRUE(has_line(text, {"`-loop solver.c:24  x300"}));
}

TEST(TreeText, hostile_names_do_not_act) {
  std::mt19937 random(2);
  for (int round = 0; round < 50; round++) {
    const Profile profile = testing::random_profile(random, 60);
    TreeTextOptions options;
    for (const char c : tree_text(profile, options)) ASSERT_TRUE(c == '\n' || (c & 0xe0) != 0) << int{c};
    options.color = true;
    const std::string text = tree_text(profile, options);
    for (std::size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b', at + 1)) {
      const std::size_t end = text.find_first_not_of("0123456789;", at + 2);
      ASSERT_EQ(text[at + 1], '[');
      ASSERT_EQ(text[end], 'm');
      ASSERT_LT(end - at, 8u);
    }
  }
}

/// A row for each node that is shown, but for those that are merged into the row of the node before them.
TEST(TreeText, rows_account_for_all_nodes) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; round++) {
    Profile profile = testing::random_profile(random, 1 + random() % 60);
    for (profile::TreeNode& node : profile.tree) {
      node.function = "f" + std::to_string(node.id) + "_";
      node.kind = node.id == 0 ? profile::TreeNode::Kind::kRoot : profile::TreeNode::Kind::kCall;
    }
    const std::string text = text_of(profile, {}, 400);
    for (const profile::TreeNode& node : profile.tree) {
      if (node.id != 0) {
        EXPECT_TRUE(has_line(text, {node.function})) << node.function << "\n" << text;
      }
    }
  }
}

TEST(TreeText, rows_fit_into_the_width) {
  std::mt19937 random(4);
  for (int round = 0; round < 60; round++) {
    Profile profile = testing::random_profile(random, 80);
    profile.quality.clear();
    profile.program.partial = false;
    TreeTextOptions options;
    options.legend = false;
    options.width = 60 + random() % 100;
    for (const std::string& line : lines_of(tree_text(profile, options)))
      EXPECT_LE(columns(line), options.width) << line;
  }
}

TEST(TreeText, chains_need_equal_times_and_a_single_callee) {
  const auto chain = [](std::uint64_t inner_times, std::uint64_t own, bool second) {
    testing::TreeBuilder tree({"x"});
    tree.call("outer", Source{"a.c", 1}, std::nullopt, 5, own);
    tree.call("inner", Source{"a.c", 9}, Source{"a.c", 2}, inner_times, 100000);
    tree.close();
    if (second) tree.call("other", Source{"a.c", 20}, Source{"a.c", 3}, 5, 100000);
    return text_of(tree.finish(), {});
  };
  EXPECT_TRUE(has_line(chain(5, 10, false), {"outer → inner (a.c:9)"}));
  EXPECT_FALSE(has_line(chain(6, 10, false), {"→"}));
  EXPECT_FALSE(has_line(chain(5, 5000, false), {"→"}));
  EXPECT_FALSE(has_line(chain(5, 10, true), {"→"}));
}

TEST(TreeText, depth_counts_what_it_hides) {
  const std::string text = text_of(testing::solver_profile(), {2, 1.0, ""});
  EXPECT_TRUE(has_line(text, {"run (solver.c:70)", "… 11 more, deeper"})) << text;
  EXPECT_FALSE(has_line(text, {"matmul"}));
}

TEST(TreeText, a_function_is_shown_with_the_way_to_it) {
  const std::string text = text_of(testing::solver_profile(), {std::nullopt, 1.0, "fill"});
  EXPECT_TRUE(has_line(text, {"main (solver.c:80)"}));
  EXPECT_TRUE(has_line(text, {"└ fill (solver.c:10)"}));
  EXPECT_FALSE(has_line(text, {"matmul"}));
  EXPECT_FALSE(has_line(text, {"worker"}));
  EXPECT_TRUE(has_line(text_of(testing::solver_profile(), {std::nullopt, 1.0, "absent"}), {"No function", "absent"}));
}

TEST(TreeText, flat_programs_say_where_everything_is) {
  const std::string text = text_of(testing::wide_profile(1000), {std::nullopt, 1.0, ""});
  EXPECT_TRUE(has_line(text, {"the whole run", "… 1000 more below 1 %"}));
  EXPECT_TRUE(has_line(text, {"--min-percent 0"}));
}

TEST(TreeText, a_partial_run_is_said_to_be_one) {
  Profile profile = testing::solver_profile();
  profile.program.partial = true;
  profile.program.exit_status.reset();
  EXPECT_TRUE(has_line(text_of(profile, {}), {"partial:", "missing"}));
  EXPECT_TRUE(has_line(text_of(profile, {}), {"exit status not known"}));
  profile.quality.push_back({"partial", "recording was killed", 1.0});
  EXPECT_TRUE(has_line(text_of(profile, {}), {"partial: recording was killed"}));
  EXPECT_FALSE(has_line(text_of(profile, {}), {"missing"}));
}

TEST(TreeText, empty_profiles_are_no_trouble) {
  EXPECT_NE(tree_text(Profile{}, {}), "");
  EXPECT_TRUE(has_line(text_of(testing::TreeBuilder({}).finish(), {}), {"the whole run"}));
}

TEST(TreeText, deep_and_wide_trees_are_no_trouble) {
  const auto start = std::chrono::steady_clock::now();
  const std::string deep = text_of(testing::deep_profile(10000), {});
  EXPECT_EQ(lines_of(deep).size(), 10000u + 7);
  for (const std::string& line : lines_of(deep)) ASSERT_LE(columns(line), 120u);
  EXPECT_TRUE(has_line(deep, {"levels"}));
  EXPECT_TRUE(has_line(text_of(testing::deep_profile(10000, true), {}), {"f0 → f1 → … 9996 more … → f9998 → f9999"}));
  EXPECT_EQ(lines_of(text_of(testing::wide_profile(50000), {})).size(), 100000u + 7);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 30);  // a second or so; quadratic would be minutes
}

}  // namespace
}  // namespace loopfold::views
