#include "views/written_order.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "views/advice_testing.h"

namespace loopfold::views {
namespace {

using profile::Dependence;
using profile::Profile;
using profile::Region;
using testing::flow_of;
using testing::product_profile;
using testing::statement_at;

TEST(WrittenOrder, counters_and_places_alternate) {
  const Profile profile = product_profile();
  EXPECT_EQ(statements_of(profile, profile.regions[0]), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(written_schedule(profile, profile.regions[0]),
            "{ S0[i0, i1] -> [0, i0, 0, i1, 0, 0, 0]; S1[i0, i1, i2] -> [0, i0, 0, i1, 1, i2, 0] }");
  EXPECT_EQ(written_schedule(profile, profile.regions[1]), "{ S2[i0] -> [0, i0, 0] }");
}

TEST(WrittenOrder, what_is_needed_comes_first_though_it_ran_later) {
  Profile profile = product_profile();
  profile.dependences = {flow_of(1, 0, Dependence::Kind::kRegister, "", std::nullopt, 16)};
  EXPECT_EQ(written_schedule(profile, profile.regions[0]),
            "{ S0[i0, i1] -> [0, i0, 0, i1, 1, 0, 0]; S1[i0, i1, i2] -> [0, i0, 0, i1, 0, i2, 0] }");
  profile.dependences[0].carried = {{3, 16}};
  EXPECT_EQ(written_schedule(profile, profile.regions[0]),
            "{ S0[i0, i1] -> [0, i0, 0, i1, 0, 0, 0]; S1[i0, i1, i2] -> [0, i0, 0, i1, 1, i2, 0] }")
      << "what an earlier iteration made does not count";
}

TEST(WrittenOrder, threads_and_calls) {
  testing::TreeBuilder tree({"x"});
  tree.call("main", std::nullopt, std::nullopt, 1, 1);
  tree.loop(std::nullopt, 1, 4, 1);
  tree.call("f", std::nullopt, std::nullopt, 4, 1);
  tree.loop(std::nullopt, 4, 4, 1);
  Profile profile = tree.finish();
  profile.statements = {statement_at(0, 4, {std::nullopt, 2, 4}, "", 1), statement_at(1, 3, {std::nullopt, 2}, "", 1)};
  Region region;
  region.node = 2;
  EXPECT_EQ(written_schedule(profile, region),
            "{ S0[i0, i1, i2] -> [i0, 0, i1, 0, 0, i2, 0]; S1[i0, i1] -> [i0, 0, i1, 0, 1, 0, 0] }");
}

TEST(WrittenOrder, circles_and_nothing_are_no_trouble) {
  Profile profile = product_profile();
  profile.dependences = {flow_of(1, 0, Dependence::Kind::kRegister, "", std::nullopt, 16),
                         flow_of(0, 1, Dependence::Kind::kRegister, "", std::nullopt, 16)};
  EXPECT_EQ(written_schedule(profile, profile.regions[0]),
            "{ S0[i0, i1] -> [0, i0, 0, i1, 0, 0, 0]; S1[i0, i1, i2] -> [0, i0, 0, i1, 1, i2, 0] }");
  profile.statements.clear();
  profile.dependences.clear();
  EXPECT_EQ(written_schedule(profile, profile.regions[0]), "{  }");
}

/// Random trees, in which a hidden order of the statements decides what may depend on what.
TEST(WrittenOrder, keeps_every_dependence_within_an_iteration) {
  std::mt19937 random(12);
  for (int round = 0; round < 200; round++) {
    Profile profile = testing::random_profile(random, 2 + random() % 15);
    Region region;
    region.node = 0;
    const std::size_t count = 2 + random() % 12;
    std::vector<std::uint32_t> rank(count);  // in preorder of the tree: then no node's items interleave
    for (std::uint32_t id = 0; id < count; id++)
      profile.statements.push_back(
          statement_at(id, static_cast<std::uint32_t>(random() % profile.tree.size()), {}, "", 1));
    std::iota(rank.begin(), rank.end(), 0);
    std::sort(rank.begin(), rank.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(profile.statements[a].node, a) < std::pair(profile.statements[b].node, b);
    });
    for (int i = 0; i < 20; i++) {
      const std::size_t a = random() % count;
      const std::size_t b = random() % count;
      if (a < b)
        profile.dependences.push_back(flow_of(rank[a], rank[b], Dependence::Kind::kMemory, "", std::nullopt, 1));
    }
    const std::vector<std::uint32_t> statements = statements_of(profile, region);
    ASSERT_EQ(statements.size(), count);
    const std::vector<std::vector<Time>> order = written_order(profile, region, statements);
    const auto places = [&](std::uint32_t id) {
      std::vector<std::uint32_t> list;
      for (const Time& time : order[id]) list.push_back(time.value);
      return list;
    };
    for (const Dependence& dependence : profile.dependences)
      ASSERT_LT(places(*dependence.from), places(dependence.to)) << *dependence.from << " -> " << dependence.to;
  }
}

}  // namespace
}  // namespace loopfold::views
