// Made-up profiles for tests of views: one as a numerical program leaves it, and random, deep, wide and hostile ones.
//
// All keep what profile.h promises: parents before children, depth first, instructions that add up. The hostile ones
// have names that try to break out of a terminal, of XML, of a script and of line-based formats.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "support/utf8.h"

namespace loopfold::views::testing {

using profile::Counts;
using profile::Profile;
using profile::Source;
using profile::TreeNode;

/// Builds a tree depth first: nodes are opened below the one that is open, and closed again.
class TreeBuilder {
 public:
  explicit TreeBuilder(std::vector<std::string> argv) {
    profile_.program.argv = std::move(argv);
    profile_.program.exit_status = 0;
    profile_.program.threads = 1;
    open(TreeNode::Kind::kRoot);
  }

  TreeNode& open(TreeNode::Kind kind) {
    TreeNode node;
    node.id = static_cast<std::uint32_t>(profile_.tree.size());
    node.kind = kind;
    if (!path_.empty()) {
      node.parent = path_.back().first;
      node.index = path_.back().second++;
      node.module = profile_.tree[*node.parent].module;
      node.function = profile_.tree[*node.parent].function;
    }
    path_.emplace_back(node.id, 0);
    profile_.tree.push_back(std::move(node));
    return profile_.tree.back();
  }

  TreeNode& call(const std::string& function, std::optional<Source> source, std::optional<Source> site,
                 std::uint64_t times, std::uint64_t self) {
    TreeNode& node = open(TreeNode::Kind::kCall);
    node.function = function;
    node.source = std::move(source);
    node.call_site = std::move(site);
    node.entries = times;
    node.address = 0x1100 + 16 * node.id;
    return weigh(node, self);
  }

  /// `rounds` iterations in each entry, each with `self` instructions of its own.
  TreeNode& loop(std::optional<Source> source, std::uint64_t times, std::uint64_t rounds, std::uint64_t self) {
    TreeNode& node = open(TreeNode::Kind::kLoop);
    const TreeNode& above = profile_.tree[*node.parent];
    node.source = std::move(source);
    node.entries = times;
    node.iterations = times * (rounds + 1);
    node.iterations_per_entry = {rounds + 1, rounds + 1, times * (rounds + 1)};
    node.trip = {rounds, rounds, times * rounds};
    node.depth_binary = node.depth_source = above.kind == TreeNode::Kind::kLoop ? above.depth_binary + 1 : 1;
    node.address = 0x1100 + 16 * node.id;
    return weigh(node, self * times * rounds);
  }

  TreeNode& weigh(TreeNode& node, std::uint64_t self) {
    node.self_ops = self;
    node.self_mem_ops = self / 3;
    node.self_fp_ops = self / 5;
    return node;
  }

  void close(std::size_t levels = 1) {
    for (; levels > 0; levels--) path_.pop_back();
  }

  Profile finish() {
    for (TreeNode& node : profile_.tree) {
      node.ops += node.self_ops;
      node.mem_ops += node.self_mem_ops;
      node.fp_ops += node.self_fp_ops;
    }
    for (std::size_t i = profile_.tree.size(); i-- > 1;) {
      TreeNode& above = profile_.tree[*profile_.tree[i].parent];
      above.ops += profile_.tree[i].ops;
      above.mem_ops += profile_.tree[i].mem_ops;
      above.fp_ops += profile_.tree[i].fp_ops;
    }
    profile_.program.instructions = profile_.tree[0].ops;
    return std::move(profile_);
  }

  Profile& profile() { return profile_; }

 private:
  Profile profile_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> path_;  // open nodes, and how many children they have
};

/// A small solver: nests, a triangular loop, templates, a library without lines, a thread, a signal handler, recursion.
inline Profile solver_profile() {
  const auto at = [](int line) { return Source{"/home/me/solver/solver.c", line}; };
  TreeBuilder tree({"./solver", "--size", "300"});
  tree.profile().program.threads = 3;
  tree.profile().quality.push_back({"no debug info", "functions of libm.so.6 have no line information", 0.031});
  TreeNode& main = tree.call("main", at(80), std::nullopt, 1, 1200);
  main.module = "solver";
  tree.call("fill", at(10), at(84), 2, 40);
  tree.loop(at(12), 2, 300, 4);
  tree.loop(at(13), 600, 300, 9);
  tree.call("rand", std::nullopt, at(14), 180000, 180000 * 6).module = "libc.so.6";
  tree.close(4);
  tree.call("run", at(70), at(88), 1, 30);
  tree.call("solve", at(60), at(72), 1, 25);
  tree.call("matmul", at(20), at(62), 1, 60);
  tree.loop(at(22), 1, 300, 5);
  tree.loop(at(23), 300, 300, 8);
  tree.loop(at(24), 90000, 300, 7);
  tree.close(4);
  tree.call("triangle", at(30), at(63), 40, 40 * 44);
  tree.loop(at(31), 40, 300, 6);
  TreeNode& triangle = tree.loop(at(32), 12000, 150, 9);
  triangle.trip = {1, 300, 12000 * 150 + 6000};
  triangle.iterations_per_entry = {2, 301, 12000 * 151 + 6000};
  triangle.iterations = triangle.iterations_per_entry.total;
  tree.close(3);
  tree.call(
      "void std::__introsort_loop<__gnu_cxx::__normal_iterator<double*, std::vector<double, std::allocator<double> "
      "> >, long, __gnu_cxx::__ops::_Iter_less_iter>(double*, double*, long)",
      Source{"/usr/include/c++/12/bits/stl_algo.h", 1908}, Source{"/usr/include/c++/12/bits/stl_algo.h", 1937}, 1,
      90000);
  TreeNode& inlined = tree.loop(Source{"/usr/include/c++/12/bits/stl_algo.h", 1864}, 90000, 31, 11);
  inlined.inlined = {"std::__unguarded_partition_pivot", "std::__unguarded_partition"};
  tree.close(2);
  TreeNode& sum = tree.open(TreeNode::Kind::kRecursion);
  sum.function = "tree_sum";
  sum.source = at(41);
  sum.call_site = at(66);
  sum.entries = 1;
  sum.iterations = 16382;
  sum.iterations_per_entry = {16382, 16382, 16382};
  tree.weigh(sum, 16382 * 400);
  tree.close(3);
  tree.call("norm", at(50), at(90), 900, 900 * 12);
  tree.loop(at(52), 900, 300, 14);
  tree.call("sqrt", std::nullopt, at(53), 270000, 270000 * 30).module = "libm.so.6";
  tree.close(3);
  for (int i = 0; i < 14; i++) {
    tree.call("helper_" + std::to_string(i), at(100 + i), at(92), 3, 300);
    tree.close();
  }
  TreeNode& odd = tree.loop(at(94), 4, 10000, 70);
  odd.irreducible = true;
  tree.close(2);
  TreeNode& worker = tree.call("worker", at(120), at(89), 2, 700);
  worker.origin = "thread";
  worker.module = "solver";
  tree.loop(at(122), 2, 150000, 60);
  tree.close(2);
  TreeNode& handler = tree.call("on_alarm", at(130), std::nullopt, 7, 7000);
  handler.origin = "signal handler";
  tree.close(1);
  return tree.finish();
}

/// Names that act if they are let.
inline std::vector<std::string> hostile_names() {
  return {"\x1b[31mred\x1b[0m",
          "\x1b]0;title\x07",
          "two\nlines",
          "a;b;c",
          " spaces at the ends ",
          "<script>alert(1)</script>",
          "]]><script>alert(2)</script>",
          "\" onload=\"alert(3)",
          "' onmouseover='alert(4)",
          "&lt;img src=x onerror=alert(5)&gt;",
          "</text></svg><svg onload=\"alert(6)\">",
          "javascript:alert(7)",
          std::string("zero\0inside", 11),
          "bad utf-8 \xff\xfe \xc3(",
          "\xed\xa0\x80 surrogate",
          "\xe2\x80\xae right to left",
          "\xc2\x9b"
          "31m C1 control",
          "tab\there\r",
          "{}{:d}{0}%s%n",
          "back\\slash \\x41",
          "größe→δ 漢字 😀",
          "",
          "operator<<",
          "operator()(int)::{lambda()#1}",
          std::string(5000, 'x')};
}

inline std::string random_text(std::mt19937& random) {
  const std::vector<std::string> hostile = hostile_names();
  if (random() % 4 == 0) return hostile[random() % hostile.size()];
  std::string text;
  const std::size_t length = random() % 12;
  for (std::size_t i = 0; i < length; i++) text += static_cast<char>('a' + random() % 26);
  return text;
}

inline std::optional<Source> random_source(std::mt19937& random) {
  if (random() % 4 == 0) return std::nullopt;
  return Source{random_text(random) + "/" + random_text(random) + ".c", static_cast<int>(random() % 1000)};
}

/// Any tree of so many nodes, with any values. `well_formed`: all strings are UTF-8.
inline Profile random_profile(std::mt19937& random, std::size_t nodes, bool well_formed = false) {
  const auto text = [&] { return well_formed ? valid_utf8(random_text(random)) : random_text(random); };
  const auto source = [&] {
    std::optional<Source> result = random_source(random);
    if (result && well_formed) result->file = valid_utf8(result->file);
    return result;
  };
  TreeBuilder tree({text(), text()});
  Profile& profile = tree.profile();
  profile.program.partial = random() % 2 == 0;
  if (profile.program.partial) profile.program.exit_status.reset();
  profile.program.threads = random() % 100;
  for (std::size_t i = random() % 3; i > 0; i--)
    profile.quality.push_back({text(), text(), static_cast<double>(random() % 101) / 100});
  std::size_t depth = 0;
  for (std::size_t i = 1; i < nodes; i++) {
    const std::size_t up = random() % 3 == 0 ? random() % (depth + 1) : 0;
    tree.close(up);
    depth -= up;
    const std::uint64_t times = random() % 1000;
    const std::uint64_t self = random() % 5 == 0 ? 0 : std::uint64_t{random()} >> random() % 32;
    if (random() % 2 == 0) {
      tree.call(text(), source(), source(), times, self);
    } else {
      tree.loop(source(), times, random() % 1000, self % 1000);
    }
    TreeNode& node = profile.tree.back();
    node.module = text();
    node.irreducible = random() % 10 == 0;
    if (random() % 10 == 0) node.kind = TreeNode::Kind::kRecursion;
    if (random() % 10 == 0) node.origin = text();
    if (random() % 10 == 0) node.trip = {random(), random(), random()};
    for (std::size_t k = random() % 3; k > 0; k--) node.inlined.push_back(text());
    depth++;
  }
  return tree.finish();
}

/// One path of so many levels; calls and loops in turn, or calls only.
inline Profile deep_profile(std::size_t levels, bool calls_only = false) {
  TreeBuilder tree({"deep"});
  for (std::size_t i = 0; i < levels; i++) {
    const Source source{"deep.c", static_cast<int>(i % 1000) + 1};
    if (calls_only || i % 2 == 0) {
      tree.call("f" + std::to_string(i), source, source, 1, 10);
    } else {
      tree.loop(source, 1, 10, 1);
    }
  }
  return tree.finish();
}

/// So many calls below the root, each with one loop.
inline Profile wide_profile(std::size_t calls) {
  TreeBuilder tree({"wide"});
  for (std::size_t i = 0; i < calls; i++) {
    tree.call("f" + std::to_string(i), Source{"wide.c", 1}, Source{"wide.c", 2}, 1, 10 + i % 7);
    tree.loop(Source{"wide.c", 3}, 1, 10, 1 + i % 3);
    tree.close(2);
  }
  return tree.finish();
}

}  // namespace loopfold::views::testing
