#include "views/collapsed.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <sstream>

#include "views/testing.h"
#include "views/words.h"

namespace loopfold::views {
namespace {

using profile::Profile;

std::string text_of(const Profile& profile) {
  std::string text;
  EXPECT_TRUE(write_collapsed(profile, [&](std::string_view piece) {
    text += piece;
    return true;
  }));
  return text;
}

/// As flamegraph.pl reads it: what stands before the last space is the stack. Each stack once.
std::map<std::string, std::uint64_t> stacks_of(const std::string& text) {
  std::map<std::string, std::uint64_t> stacks;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t space = line.rfind(' ');
    EXPECT_NE(space, std::string::npos) << line;
    const std::string stack = line.substr(0, space);
    EXPECT_EQ(line.find_first_not_of("0123456789", space + 1), std::string::npos) << line;
    EXPECT_TRUE(stacks.emplace(stack, std::stoull(line.substr(space + 1))).second) << line;
    EXPECT_FALSE(stack.starts_with(' ') || stack.ends_with(' ') || stack.find("; ") != std::string::npos) << line;
  }
  return stacks;
}

TEST(Collapsed, solver) {
  const std::string text = text_of(testing::solver_profile());
  EXPECT_NE(text.find("solver;main;run;solve;matmul;loop solver.c:22;loop solver.c:23;loop solver.c:24 189000000\n"),
            std::string::npos);
  EXPECT_NE(text.find("solver;thread worker;loop solver.c:122 18000000\n"), std::string::npos);
  EXPECT_NE(text.find("solver;main;run;solve;recursion tree_sum 6552800\n"), std::string::npos);
  EXPECT_EQ(text.find("solver 0"), std::string::npos);
}

/// Depth of a stack is kept whatever names hold, and instructions add up, stack by stack.
TEST(Collapsed, instructions_add_up) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; round++) {
    const Profile profile = testing::random_profile(random, 1 + random() % 80);
    const Words words(profile);
    std::map<std::size_t, std::uint64_t> by_depth;
    std::vector<std::size_t> depth(profile.tree.size(), 1);
    for (std::size_t i = 0; i < profile.tree.size(); i++) {
      if (i > 0) depth[i] = depth[*profile.tree[i].parent] + 1;
      if (profile.tree[i].self_ops > 0) by_depth[depth[i]] += profile.tree[i].self_ops;
    }
    std::map<std::size_t, std::uint64_t> written;
    for (const auto& [stack, self] : stacks_of(text_of(profile)))
      written[static_cast<std::size_t>(std::count(stack.begin(), stack.end(), ';')) + 1] += self;
    EXPECT_EQ(written, by_depth);
  }
}

TEST(Collapsed, equal_stacks_are_one) {
  testing::TreeBuilder tree({"x"});
  for (int i = 0; i < 2; i++) {
    tree.call("f", profile::Source{"a.c", 1}, profile::Source{"a.c", 5 + i}, 1, 10);
    tree.call("g", profile::Source{"a.c", 2}, std::nullopt, 1, 5);
    tree.close(2);
  }
  EXPECT_EQ(text_of(tree.finish()), "x;f 20\nx;f;g 10\n");
}

TEST(Collapsed, names_cannot_break_the_format) {
  testing::TreeBuilder tree({"x"});
  for (const char* name : {"a;b", " edge ", "two\nlines", "f 12"}) {
    tree.call(name, std::nullopt, std::nullopt, 1, 1);
    tree.close();
  }
  EXPECT_EQ(text_of(tree.finish()), "x;a\\x3bb 1\nx;\\x20edge\\x20 1\nx;two\\nlines 1\nx;f 12 1\n");
}

TEST(Collapsed, stops_when_nothing_can_be_written) {
  int pieces = 0;
  EXPECT_FALSE(write_collapsed(testing::wide_profile(1000), [&](std::string_view) { return ++pieces < 10; }));
  EXPECT_EQ(pieces, 10);
}

TEST(Collapsed, deep_trees_are_no_trouble) {
  std::uint64_t bytes = 0;
  EXPECT_TRUE(write_collapsed(testing::deep_profile(3000), [&](std::string_view piece) {
    bytes += piece.size();
    return true;
  }));
  EXPECT_GT(bytes, 3000u * 3000 / 2);
}

}  // namespace
}  // namespace loopfold::views
