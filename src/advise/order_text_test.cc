// Orders in words: loops by their lines, and the steps from one order to another.
#include "advise/order_text.h"

#include <gtest/gtest.h>

#include "advise/testing.h"

namespace loopfold::advise {
namespace {

using structure::ContextId;
using testing::HandMade;
using testing::one_band;
using testing::rows_of;

/// A nest with an order that was chosen for it.
class Told {
 public:
  explicit Told(HandMade& made) : context_(made.tree.context()), profile_(made.tree.profile) {
    plan_.program = made.program;
    plan_.facts.resize(made.program.groups.size());
    plan_.choice.written = made.written();
    plan_.choice.best = plan_.choice.written;
  }
  Told& choose(Order order) {
    plan_.choice.best = std::move(order);
    plan_.choice.is_written = false;
    return *this;
  }
  GroupFacts& facts(std::uint32_t group) { return plan_.facts[group]; }
  OrderText text() const { return {plan_, context_, profile_}; }
  std::string before() const { return text().ast(plan_.choice.written, false); }
  std::string after() const { return text().ast(plan_.choice.best, true); }

 private:
  poly::Context context_;
  const profile::Profile& profile_;
  NestPlan plan_;
};

using Steps = std::vector<std::string>;

TEST(OrderText, TheNestAsWritten) {
  HandMade nest;
  const ContextId i = nest.loop(10);
  const std::uint32_t zero = nest.group(i, "0 <= i < 8");
  const std::uint32_t sum = nest.group(nest.loop(11, i), "0 <= i, j < 8");
  nest.flow(zero, sum, "[i] -> [i, 0]");
  nest.flow(sum, sum, "[i, j] -> [i, j + 1]", true);
  EXPECT_EQ(Told(nest).before(),
            "for hist.c:10  [parallel]\n"
            "  hist.c:100\n"
            "  for hist.c:11  [reduction, vector]\n"
            "    hist.c:101\n");
  EXPECT_TRUE(Told(nest).text().interchanged().empty());
  EXPECT_TRUE(Told(nest).text().skews().empty());
}

TEST(OrderText, TripsAreThoseOfTheLoop) {
  HandMade nest;
  const ContextId i = nest.loop(10);
  const ContextId j = nest.loop(11, i);
  nest.group(j, "0 <= i, j < 8");
  profile::Region& region = nest.tree.profile.regions.emplace_back();
  for (const ContextId id : {i, j}) {
    profile::Loop& loop = region.loops.emplace_back();
    loop.node = id;
    loop.nodes = {id};
    loop.source = nest.tree.profile.tree[id].source;
  }
  region.loops[0].trip = {8, 8, 8};
  region.loops[1].trip = {1, 15, 8.25};
  EXPECT_EQ(Told(nest).before(),
            "for hist.c:10  8 trips  [parallel]\n"
            "  for hist.c:11  ~8.25 trips  [parallel, vector]\n"
            "    hist.c:100\n");
}

TEST(OrderText, AnInterchange) {
  HandMade nest;
  const ContextId i = nest.loop(10);
  const ContextId j = nest.loop(11, i);
  nest.group(j, "0 <= i, j < 8");
  nest.flow(0, 0, "[i, j] -> [i + 1, j]");
  Told told(nest);
  told.choose(nest.examined(one_band({{0, 1}, {1, 0}})));
  EXPECT_EQ(told.after(),
            "for hist.c:11  [parallel, tile 32]\n"
            "  for hist.c:10  [tile 32]\n"
            "    hist.c:100\n");
  EXPECT_EQ(told.text().interchanged(), (std::vector<std::vector<std::uint32_t>>{{i, j}}));
  EXPECT_EQ(told.text().steps(),
            (Steps{"interchange hist.c:10 and hist.c:11", "tile hist.c:11, hist.c:10 by 32", "parallelise hist.c:11"}));
}

TEST(OrderText, ASkewIsASumOfLoops) {
  HandMade nest;
  const ContextId t = nest.loop(10);
  const ContextId i = nest.loop(11, t);
  nest.group(i, "0 <= i, j < 8");
  for (const char* const to : {"j - 2", "j", "j + 2"}) nest.flow(0, 0, fmt::format("[i, j] -> [i + 1, {}]", to));
  nest.flow(0, 0, "[i, j] -> [i, j + 1]");
  Told told(nest);
  told.choose(nest.examined(one_band({{1, 0}, {2, 1}})));
  EXPECT_EQ(told.after(),
            "for hist.c:10  [tile 32]\n"
            "  for hist.c:11 + 2*hist.c:10  [tile 32]\n"
            "    hist.c:100\n");
  EXPECT_EQ(told.text().skews(), (std::vector<std::vector<std::int64_t>>{{i, t, 2}}));
  EXPECT_EQ(told.text().steps(), (Steps{"skew hist.c:11 by 2 times hist.c:10", "tile hist.c:10, hist.c:11 by 32",
                                        "run the tiles in parallel along each wavefront"}));
  told.facts(0).natural.insert({1, 0, 2});
  EXPECT_TRUE(told.text().skews().empty()) << "the source's own counter";
}

TEST(OrderText, EveryLoopOfASkewedOrderIsThere) {
  HandMade nest;
  const ContextId i = nest.loop(10);
  const ContextId j = nest.loop(11, i);
  nest.group(j, "0 <= i, j < 8");
  nest.flow(0, 0, "[i, j] -> [i + 2, j + 1]");
  Told told(nest);
  told.choose(nest.examined(one_band({{1, -2}, {0, 1}})));
  EXPECT_EQ(told.after(),
            "for hist.c:10 - 2*hist.c:11  [parallel, tile 32]\n"
            "  for hist.c:11  [tile 32]\n"
            "    hist.c:100\n");
}

TEST(OrderText, FusedAndDistributed) {
  HandMade nest;
  const std::uint32_t a = nest.group(nest.loop(10), "0 <= i < 8");
  const std::uint32_t b = nest.group(nest.loop(20), "0 <= i < 8");
  nest.flow(a, b, "[i] -> [i]");
  const Order apart = nest.written();
  EXPECT_EQ(components(apart), 2u);
  Order together;
  together.rows = {{{{1}, 0}, {{0}, 0}}, {{{1}, 0}, {{0}, 1}}};
  together.bands.push_back({0, 1, {a, b}, false, {}, {}, {}, {}});
  together = nest.examined(together);
  ASSERT_TRUE(together.legal);
  EXPECT_EQ(components(together), 1u);
  Told told(nest);
  EXPECT_EQ(told.before(),
            "for hist.c:10  [parallel, vector]\n  hist.c:100\n"
            "for hist.c:20  [parallel, vector]\n  hist.c:101\n");
  told.choose(together);
  EXPECT_EQ(told.after(), "for hist.c:10  [parallel, vector]\n  hist.c:100\n  hist.c:101\n");
  EXPECT_EQ(told.text().steps(), (Steps{"fuse 2 loops into 1", "parallelise hist.c:10"}));
}

TEST(OrderText, ALoopOfStatementsThatAreDistributed) {
  HandMade nest;
  const ContextId i = nest.loop(10);
  const std::uint32_t a = nest.group(i, "0 <= i < 8");
  const std::uint32_t b = nest.group(i, "0 <= i < 8");
  nest.flow(a, b, "[i] -> [i]");
  nest.flow(b, b, "[i] -> [i + 1]");
  const Order order = nest.found(profile::Transformed::Fusion::kNone);
  ASSERT_TRUE(order.legal);
  EXPECT_EQ(components(order), 2u);
  Told told(nest);
  told.choose(order);
  EXPECT_EQ(told.after(), "for hist.c:10  [parallel, vector]\n  hist.c:100\nfor hist.c:10\n  hist.c:101\n");
  EXPECT_EQ(told.text().steps(), (Steps{"distribute the loops into 2", "parallelise hist.c:10"}));
}

TEST(OrderText, ARowThatOnlyOrdersIsNoComponent) {
  HandMade nest;
  nest.group(nest.loop(10), "0 <= i < 8");
  EXPECT_EQ(components(nest.examined(one_band({{0}, {1}}))), 1u);
  EXPECT_EQ(components(nest.examined(one_band({{0}}))), 0u);
  EXPECT_EQ(components(Order{}), 0u);
}

TEST(OrderText, FactorsInNames) {
  HandMade nest;
  const ContextId i = nest.loop(10);
  const ContextId j = nest.loop(11, i);
  nest.group(j, "0 <= i, j < 8");
  Told told(nest);
  EXPECT_EQ(told.text().name({{i, 1}}), "hist.c:10");
  EXPECT_EQ(told.text().name({{i, -1}}), "-hist.c:10");
  EXPECT_EQ(told.text().name({{j, 2}, {i, -1}}), "2*hist.c:11 - hist.c:10");
  EXPECT_EQ(told.text().name({{j, 1}, {i, 3}}), "hist.c:11 + 3*hist.c:10");
}

}  // namespace
}  // namespace loopfold::advise
