#include "views/html_shares.h"

#include <gtest/gtest.h>

#include <random>

#include "views/advice_testing.h"

namespace loopfold::views {
namespace {

using profile::Loop;
using profile::Profile;
using testing::product_profile;

double sum(const ParallelShares& shares) {
  return shares.parallel + shares.transformed + shares.sequential + shares.unknown + shares.none;
}

double share_of(const Profile& profile, std::uint32_t node) {
  return 100.0 * static_cast<double>(profile.tree[node].ops) / static_cast<double>(profile.tree[0].ops);
}

TEST(HtmlShares, every_operation_is_in_one_share) {
  const Profile profile = product_profile();
  const ParallelShares shares = parallel_shares(profile);
  EXPECT_NEAR(sum(shares), 100, 1e-9);
  EXPECT_NEAR(shares.parallel, share_of(profile, 2), 1e-9);
  EXPECT_NEAR(shares.sequential, share_of(profile, 5), 1e-9);
  EXPECT_EQ(shares.transformed, 0);
  EXPECT_EQ(shares.unknown, 0);
}

TEST(HtmlShares, a_new_order_turns_sequential_into_transformed) {
  Profile profile = product_profile();
  profile::Transformed& order = *profile.regions[1].transformed;
  order.status = profile::Transformed::Status::kFound;
  order.parallel_ops_percent = 40;
  order.bands = {{0, {2}, {{{{5, 1}}, Loop::Parallel::kYes}}}};
  const ParallelShares shares = parallel_shares(profile);
  EXPECT_NEAR(shares.transformed, 0.4 * share_of(profile, 5), 1e-9);
  EXPECT_NEAR(shares.sequential, 0.6 * share_of(profile, 5), 1e-9);
  EXPECT_NEAR(sum(shares), 100, 1e-9);
  EXPECT_EQ(node_verdicts(profile)[5], NodeVerdict::kTransformed);
}

TEST(HtmlShares, what_is_parallel_already_is_not_counted_as_transformed) {
  Profile profile = product_profile();
  profile.regions[0].loops[0].parallel = Loop::Parallel::kNo;
  const ParallelShares shares = parallel_shares(profile);
  EXPECT_NEAR(shares.parallel, share_of(profile, 3), 1e-9);
  EXPECT_NEAR(shares.transformed, share_of(profile, 2) - share_of(profile, 3), 1e-9);
}

TEST(HtmlShares, hidden_loops_are_not_as_written) {
  Profile profile = product_profile();
  profile.regions[0].loops[0].parallel = Loop::Parallel::kNo;
  profile.regions[0].transformed.reset();
  const double inside = parallel_shares(profile).parallel;
  EXPECT_GT(inside, 0);
  for (const std::uint32_t node : profile.regions[0].loops[1].nodes) profile.tree[node].hidden = true;
  EXPECT_LT(parallel_shares(profile).parallel, inside);
}

TEST(HtmlShares, doubt_stays_doubt_below_a_blocked_loop) {
  Profile profile = product_profile();
  for (Loop& loop : profile.regions[0].loops) loop.parallel = Loop::Parallel::kUnknown;
  profile.regions[0].loops[1].parallel = Loop::Parallel::kNo;
  profile.regions[0].transformed.reset();
  const ParallelShares shares = parallel_shares(profile);
  EXPECT_NEAR(shares.unknown, share_of(profile, 2), 1e-9);
}

TEST(HtmlShares, loops_in_no_region_are_not_judged) {
  Profile profile = product_profile();
  profile.regions.clear();
  EXPECT_EQ(node_verdicts(profile)[4], NodeVerdict::kNotJudged);
  EXPECT_EQ(node_verdicts(profile)[1], NodeVerdict::kNone);
  EXPECT_NEAR(parallel_shares(profile).unknown, share_of(profile, 2) + share_of(profile, 5), 1e-9);
}

TEST(HtmlShares, nothing_is_shared_out_of_an_empty_run) {
  EXPECT_EQ(sum(parallel_shares({})), 0);
  testing::TreeBuilder tree({"./empty"});
  EXPECT_EQ(sum(parallel_shares(tree.finish())), 0);
}

TEST(HtmlShares, modelled_operations_are_those_of_statements) {
  Profile profile = product_profile();
  for (profile::Statement& statement : profile.statements) statement.ops = 100;
  const Modelled modelled = modelled_ops(profile);
  EXPECT_EQ(modelled.all[0], 300);
  EXPECT_EQ(modelled.all[2], 200);
  EXPECT_EQ(modelled.exact[2], 200);
  EXPECT_EQ(modelled.exact[5], 0) << "its access is not exact";
  profile.dependences[1].exact = false;
  EXPECT_EQ(modelled_ops(profile).exact[2], 100) << "what flows into S1 is not exact";
}

TEST(HtmlShares, random_trees_add_up) {
  std::mt19937 random(7);
  for (int i = 0; i < 50; i++) {
    const Profile profile = testing::random_profile(random, 200);
    if (profile.tree[0].ops == 0) continue;
    EXPECT_NEAR(sum(parallel_shares(profile)), 100, 1e-6);
  }
}

}  // namespace
}  // namespace loopfold::views
