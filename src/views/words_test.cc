#include "views/words.h"

#include <gtest/gtest.h>

#include "views/testing.h"

namespace loopfold::views {
namespace {

using profile::Source;
using profile::TreeNode;
using testing::TreeBuilder;

TEST(ViewWords, files_are_called_by_the_shortest_name_that_tells_them_apart) {
  TreeBuilder tree({"x"});
  for (const char* file : {"/a/b/one.c", "/a/b/two.c", "/a/c/two.c", "/x/c/two.c", "two.c", "", "/"})
    tree.call("f", Source{file, 1}, std::nullopt, 1, 1);
  const profile::Profile profile = tree.finish();
  const Words words(profile);
  EXPECT_EQ(words.file("/a/b/one.c"), "one.c");
  EXPECT_EQ(words.file("/a/b/two.c"), "b/two.c");
  EXPECT_EQ(words.file("/a/c/two.c"), "a/c/two.c");
  EXPECT_EQ(words.file("/x/c/two.c"), "x/c/two.c");
  EXPECT_EQ(words.file("two.c"), "two.c");
  EXPECT_EQ(words.file(""), "?");
  EXPECT_EQ(words.place({"/a/b/one.c", 12}), "one.c:12");
  EXPECT_EQ(words.place({"/a/b/one.c", 0}), "one.c");
}

TEST(ViewWords, nodes) {
  TreeBuilder tree({"/bin/my prog", "a b"});
  tree.call("f", Source{"f.c", 3}, std::nullopt, 1, 1).origin = "thread";
  tree.loop(Source{"f.c", 4}, 1, 7, 1);
  TreeNode& bare = tree.loop(std::nullopt, 1, 7, 1);
  bare.module = "lib.so";
  bare.address = 0x1234;
  bare.irreducible = true;
  TreeNode& jit = tree.loop(std::nullopt, 1, 7, 1);
  jit.module.clear();
  jit.address = 0x7000;
  TreeNode& level = tree.loop(Source{"f.c", 4}, 1, 7, 1);
  level.hidden = true;
  level.period = 64;
  TreeNode& again = tree.open(TreeNode::Kind::kRecursion);
  again.function = "fib";
  const profile::Profile profile = tree.finish();
  const Words words(profile);
  EXPECT_EQ(words.frame(profile.tree[0]), "my prog");
  EXPECT_EQ(words.frame(profile.tree[1]), "thread f");
  EXPECT_EQ(words.frame(profile.tree[2]), "loop f.c:4");
  EXPECT_EQ(words.frame(profile.tree[3]), "irreducible loop lib.so+0x1234");
  EXPECT_EQ(words.frame(profile.tree[4]), "loop 0x7000");
  EXPECT_EQ(words.frame(profile.tree[5]), "loop f.c:4 (hidden loop of 64)");
  EXPECT_EQ(words.frame(profile.tree[6]), "recursion fib");
  EXPECT_EQ(words.command_line(), "'/bin/my prog' 'a b'");
}

TEST(ViewWords, rounds) {
  const profile::Profile profile;
  const Words words(profile);
  TreeNode node;
  node.kind = TreeNode::Kind::kLoop;
  node.entries = 2;
  node.iterations = 602;
  node.iterations_per_entry = {301, 301, 602};
  node.trip = {300, 300, 600};
  EXPECT_EQ(words.rounds(node), "×300");
  EXPECT_EQ(Words(profile, Charset::kAscii).rounds(node), "x300");
  node.trip = {100, 501, 601};
  EXPECT_EQ(words.rounds(node), "×100..501 (mean 300.5)");
  node.trip = {1, 99999, 100000};
  EXPECT_EQ(words.rounds(node), "×1..99,999 (mean 50.0 k)");
  node.trip = {};  // not filled in
  EXPECT_EQ(words.rounds(node), "×301");
  node.kind = TreeNode::Kind::kRecursion;
  EXPECT_EQ(words.rounds(node), "×301");
}

}  // namespace
}  // namespace loopfold::views
