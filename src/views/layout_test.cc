#include "views/layout.h"

#include <gtest/gtest.h>

#include <random>

#include "views/testing.h"

namespace loopfold::views {
namespace {

/// Frames nest, siblings do not overlap, and widths are instructions.
void expect_nested(const profile::Profile& profile, const std::vector<Span>& spans) {
  std::vector<std::uint64_t> used(profile.tree.size());
  for (std::size_t i = 1; i < spans.size(); i++) {
    const std::size_t parent = *profile.tree[i].parent;
    EXPECT_EQ(spans[i].level, spans[parent].level + 1);
    EXPECT_EQ(spans[i].start, spans[parent].start + used[parent]);
    EXPECT_LE(used[parent] + spans[i].width, spans[parent].width);
    used[parent] += spans[i].width;
  }
}

TEST(FlameLayout, is_exact) {
  std::mt19937 random(1);
  for (int round = 0; round < 100; round++) {
    const profile::Profile profile = testing::random_profile(random, 1 + random() % 100);
    const std::vector<Span> spans = lay_out(profile);
    expect_nested(profile, spans);
    for (std::size_t i = 0; i < spans.size(); i++) EXPECT_EQ(spans[i].width, profile.tree[i].ops);
  }
}

TEST(FlameLayout, frames_nest_even_if_counts_contradict_each_other) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; round++) {
    profile::Profile profile = testing::random_profile(random, 50);
    for (profile::TreeNode& node : profile.tree) node.ops = random() % 3 == 0 ? ~std::uint64_t{0} : random();
    expect_nested(profile, lay_out(profile));
  }
}

}  // namespace
}  // namespace loopfold::views
