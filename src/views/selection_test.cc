#include "views/selection.h"

#include <gtest/gtest.h>

#include <random>

#include "views/testing.h"
#include "views/text.h"

namespace loopfold::views {
namespace {

using profile::Profile;

/// The way from the root to a node.
std::vector<std::size_t> way_to(const Profile& profile, std::size_t node) {
  std::vector<std::size_t> way{node};
  while (profile.tree[way.back()].parent) way.push_back(*profile.tree[way.back()].parent);
  std::reverse(way.begin(), way.end());
  return way;
}

/// Slow and obvious: looks at the whole way for each node. Hidden ones are not told apart.
bool shown_by_definition(const Profile& profile, const Filter& filter, std::size_t node) {
  const std::vector<std::size_t> way = way_to(profile, node);
  std::size_t found = 0;
  while (found < way.size() && profile.tree[way[found]].function.find(filter.function) == std::string::npos) found++;
  for (std::size_t i = found + 1; i < way.size(); i++) {
    if (filter.depth && i - found > *filter.depth) return false;
    if (percent_of(profile.tree[way[i]].ops, profile.tree[0].ops) < filter.min_percent) return false;
  }
  return found < way.size();
}

TEST(Selection, is_what_its_definition_says) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; round++) {
    const Profile profile = testing::random_profile(random, 1 + random() % 80);
    Filter filter;
    if (random() % 2 == 0) filter.depth = random() % 6;
    if (random() % 2 == 0) filter.min_percent = random() % 20;
    if (random() % 2 == 0) filter.function = std::string(1, static_cast<char>('a' + random() % 26));
    const std::vector<Fate> fates = select(profile, filter);
    std::vector<bool> expected(profile.tree.size());
    expected[0] = true;
    for (std::size_t i = 0; i < profile.tree.size(); i++) {
      if (!shown_by_definition(profile, filter, i)) continue;
      for (const std::size_t node : way_to(profile, i)) expected[node] = true;
    }
    for (std::size_t i = 0; i < fates.size(); i++) EXPECT_EQ(is_shown(fates[i]), expected[i]) << round << " " << i;
  }
}

TEST(Selection, says_why) {
  const Profile profile = testing::solver_profile();
  const std::vector<Fate> fates = select(profile, {2, 1.0, ""});
  EXPECT_EQ(fates[0], Fate::kShown);
  EXPECT_EQ(fates[1], Fate::kShown);  // main
  EXPECT_EQ(fates[2], Fate::kSmall);  // fill
  EXPECT_EQ(fates[3], Fate::kSmall);  // in fill
  EXPECT_EQ(fates[6], Fate::kShown);  // run
  EXPECT_EQ(fates[7], Fate::kDeeper);
  const std::vector<Fate> named = select(profile, {std::nullopt, 50.0, "fill"});
  EXPECT_EQ(named[0], Fate::kWay);
  EXPECT_EQ(named[1], Fate::kWay);
  EXPECT_EQ(named[2], Fate::kShown);
  EXPECT_EQ(named[3], Fate::kSmall);
  EXPECT_EQ(named[6], Fate::kOther);
}

}  // namespace
}  // namespace loopfold::views
