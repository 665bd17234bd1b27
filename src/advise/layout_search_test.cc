// Layouts for a nest by hand: what they save, what copying costs, and when there is nothing to gain.
#include "advise/layout_search.h"

#include <gtest/gtest.h>

#include "advise/testing.h"

namespace loopfold::advise {
namespace {

using structure::ContextId;
using testing::HandMade;

/// Two loops of n iterations around one access to a matrix of n rows, whose bytes move so along them. Every value is
/// made from the one before along both loops, in an order that nothing else keeps: the loops stay as they are.
class Nest {
 public:
  Nest(std::int64_t n, std::int64_t outer, std::int64_t inner, std::int64_t element = 8, bool used_elsewhere = false)
      : n_(static_cast<double>(n)) {
    const ContextId i = nest_.loop(10);
    const ContextId j = nest_.loop(11, i);
    const std::uint32_t g = nest_.group(j, "0 <= i, j < 100");
    nest_.flow(g, g, "[i, j] -> [i + 1, j - 1]");
    nest_.flow(g, g, "[i, j] -> [i, j + 1]");
    profile::Profile& profile = nest_.tree.profile;
    profile.program.instructions = static_cast<std::uint64_t>(10 * n * n);
    profile::Object& matrix = profile.objects.emplace_back();
    matrix.name = "A";
    matrix.kind = profile::Object::Kind::kGlobal;
    matrix.size = static_cast<std::uint64_t>(n * n * element);
    matrix.blocks = 1;
    profile::Access& access = profile.accesses.emplace_back();
    access.size = 8;
    access.count = static_cast<std::uint64_t>(20 * n * n);
    access.coefficients = {outer, inner};
    access.block_coefficients = {0, 0};
    access.constant = 0;
    access.exact = true;
    for (const ContextId loop : {i, j})
      profile.tree[nest_.tree.context().nodes[loop]].iterations_per_entry.max = static_cast<std::uint64_t>(n);
    profile.statements[0].loops = {nest_.tree.context().nodes[i], nest_.tree.context().nodes[j]};
    if (used_elsewhere) {
      profile::Statement& other = profile.statements.emplace_back(profile.statements[0]);
      other.id = 1;
      profile.accesses.push_back(profile.accesses[0]);
      profile.accesses.back().statement = 1;
    }
  }

  LayoutSearch search() {
    NestPlan plan;
    plan.program = nest_.program;
    GroupFacts& facts = plan.facts.emplace_back();
    facts.ops = 1000;
    facts.innermost = true;
    facts.trips = {n_, n_};
    AccessFacts& access = facts.accesses.emplace_back();
    access.access = &nest_.tree.profile.accesses[0];
    access.steps = access.access->coefficients;
    access.count = access.access->count;
    plan.choice = choose_order(nest_.isl.get(), plan.program, plan.facts, 3'000'000);
    arrays_ = find_arrays(nest_.tree.profile);
    std::vector<Order> orders = {plan.choice.written};
    if (!plan.choice.is_written) orders.push_back(plan.choice.best);
    return search_layouts(plan, orders, {0}, arrays_, nest_.tree.profile, machine_);
  }

  std::string map(const Layout& layout) const {
    return layout_map(layout, arrays_[layout.object], nest_.tree.profile.objects[layout.object]);
  }

 private:
  double n_;
  Machine machine_ = Machine::beyond_caches();
  HandMade nest_;
  std::vector<Array> arrays_;
};

TEST(Layouts, AMatrixThatIsWalkedByColumns) {
  Nest nest(100, 8, 800);
  const LayoutSearch search = nest.search();
  ASSERT_EQ(search.layout_alone.layouts.size(), 1u);
  EXPECT_EQ(nest.map(search.layout_alone.layouts[0]), "{ A[i0, i1] -> [i1, i0] }");
  EXPECT_EQ(search.layout_alone.layouts[0].order, (std::vector<std::uint32_t>{1, 0}));
  EXPECT_LT(search.layout_alone.cost.total(), search.written.cost.total() / 2);
  EXPECT_EQ(search.layout_alone.cost.copies, 0);
  EXPECT_DOUBLE_EQ(search.fetched, 8 * search.used);
  EXPECT_DOUBLE_EQ(search.fetched_after, search.used);
}

TEST(Layouts, OneThatIsWalkedByRowsStays) {
  Nest nest(100, 800, 8);
  const LayoutSearch search = nest.search();
  EXPECT_TRUE(search.layout_alone.layouts.empty());
  EXPECT_EQ(search.layout_alone.cost.total(), search.written.cost.total());
}

TEST(Layouts, AFieldOfAStructure) {
  Nest nest(100, 6400, 64, 64);
  const LayoutSearch search = nest.search();
  ASSERT_EQ(search.layout_alone.layouts.size(), 1u);
  EXPECT_TRUE(search.layout_alone.layouts[0].apart);
  EXPECT_EQ(nest.map(search.layout_alone.layouts[0]), "{ A[i0, i1, field] -> [field, i0, i1] }");
}

TEST(Layouts, WhatIsUsedElsewhereIsCopied) {
  Nest nest(100, 8, 800, 8, true);
  const LayoutSearch search = nest.search();
  ASSERT_EQ(search.layout_alone.layouts.size(), 1u);
  EXPECT_GT(search.layout_alone.cost.copies, 0);
}

TEST(Layouts, PermutationsAreOneToOne) {
  Array array;
  array.element = 8;
  array.dimensions = {{4800, 10}, {480, 10}, {8, 60}};
  array.fields = {{0, 8, 1}};
  Layout layout{0, {2, 0, 1}, false, 0};
  EXPECT_FALSE(layout.is_identity(array));
  EXPECT_EQ(layout_map(layout, array, {}), "{ [i0, i1, i2] -> [i2, i0, i1] }");
  layout.order = {0, 1, 2};
  EXPECT_TRUE(layout.is_identity(array));
}

}  // namespace
}  // namespace loopfold::advise
