// Suggestions for nests by hand: what is suggested, how they rank, and what they need.
#include "advise/suggest.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "advise/testing.h"

namespace loopfold::advise {
namespace {

using profile::Loop;
using profile::Suggestion;
using structure::ContextId;
using testing::HandMade;

TEST(Suggest, AmdahlsLaw) {
  EXPECT_DOUBLE_EQ(amdahl(0, 8), 1);
  EXPECT_DOUBLE_EQ(amdahl(1, 8), 8);
  EXPECT_DOUBLE_EQ(amdahl(0.5, 2), 4.0 / 3);
  EXPECT_DOUBLE_EQ(amdahl(0.5, 1), 1);
  EXPECT_LT(amdahl(0.9, 1e9), 10.0 + 1e-6);
}

/// A matrix of doubles that is walked through by two loops, which have all of the program.
class Walk {
 public:
  Walk(std::vector<profile::Coefficient> steps, Loop::Parallel outer, Loop::Parallel inner) {
    const ContextId i = nest_.loop(10);
    const ContextId j = nest_.loop(11, i);
    nest_.group(j, "0 <= i, j < 100");
    profile::Profile& profile = nest_.tree.profile;
    profile.program.instructions = 40'000;
    profile::Object& matrix = profile.objects.emplace_back();
    matrix.size = 1 << 20;
    matrix.blocks = 1;
    profile::Access& access = profile.accesses.emplace_back();
    access.size = 8;
    access.count = 10'000;
    access.coefficients = steps;
    access.block_coefficients = {0, 0};
    profile.statements[0].loops = {i, j};
    profile.statements[0].code = 0;
    profile.code.emplace_back().addresses = {0x1000, 0x1004};
    region_ = &profile.regions.emplace_back();
    add_loop(i, 0, outer);
    add_loop(j, 1, inner);
    steps_ = std::move(steps);
  }

  Loop& loop(std::size_t number) { return region_->loops[number]; }
  HandMade& nest() { return nest_; }
  double& share() { return ops_; }
  /// So many of the operations of the nest are elsewhere in it.
  double& elsewhere() { return elsewhere_; }

  std::vector<Suggestion> suggestions() {
    RegionPlan plan;
    NestPlan& made = plan.nests.emplace_back();
    made.program = nest_.program;
    made.ops = ops_ + elsewhere_;
    GroupFacts& facts = made.facts.emplace_back();
    facts.ops = ops_;
    facts.innermost = true;
    AccessFacts& access = facts.accesses.emplace_back();
    access.access = &nest_.tree.profile.accesses[0];
    access.steps = steps_;
    access.count = access.access->count;
    made.choice = choose_order(nest_.isl.get(), made.program, made.facts, 3'000'000);
    return suggest(plan, nest_.tree.context(), *region_, nest_.tree.profile);
  }

 private:
  void add_loop(ContextId id, std::uint32_t depth, Loop::Parallel parallel) {
    Loop& made = region_->loops.emplace_back();
    made.node = id;
    made.nodes = {id};
    made.source = nest_.tree.profile.tree[id].source;
    made.depth = depth;
    made.ops_percent = 100;
    made.trip = {100, 100, 100};
    made.parallel = parallel;
  }

  HandMade nest_;
  profile::Region* region_ = nullptr;
  std::vector<profile::Coefficient> steps_;
  double ops_ = 40'000;
  double elsewhere_ = 0;
};

const Suggestion* find(const std::vector<Suggestion>& all, const std::string& rule) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Suggestion& s) { return s.rule == rule; });
  return found == all.end() ? nullptr : &*found;
}

TEST(Suggest, ColumnsAreBetterWalkedAlongRows) {
  Walk walk({8, 800}, Loop::Parallel::kYes, Loop::Parallel::kYes);
  const std::vector<Suggestion> all = walk.suggestions();
  const Suggestion* const interchange = find(all, "LF-ICH");
  ASSERT_NE(interchange, nullptr);
  EXPECT_GT(interchange->gain, 1.5);
  EXPECT_EQ(interchange->loops.size(), 2u);
  EXPECT_EQ(interchange->where.size(), 2u);
  EXPECT_FALSE(interchange->estimate.empty());
  EXPECT_FALSE(interchange->evidence.empty());
}

TEST(Suggest, RowsStayRows) {
  Walk walk({800, 8}, Loop::Parallel::kYes, Loop::Parallel::kYes);
  EXPECT_EQ(find(walk.suggestions(), "LF-ICH"), nullptr);
}

TEST(Suggest, NoInterchangeThatFlowForbids) {
  Walk walk({8, 800}, Loop::Parallel::kNo, Loop::Parallel::kYes);
  walk.nest().flow(0, 0, "[i, j] -> [i + 1, j - 1]");
  walk.nest().flow(0, 0, "[i, j] -> [i + 1, j + 1]");
  EXPECT_EQ(find(walk.suggestions(), "LF-ICH"), nullptr);
}

TEST(Suggest, ThreadsGoOutsideAndOnlyThere) {
  Walk walk({800, 8}, Loop::Parallel::kYes, Loop::Parallel::kYes);
  const std::vector<Suggestion> all = walk.suggestions();
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const Suggestion& s) { return s.rule == "LF-PAR"; }), 1);
  const Suggestion* const parallel = find(all, "LF-PAR");
  EXPECT_EQ(parallel->loops, std::vector<std::uint32_t>{walk.loop(0).node});
  EXPECT_DOUBLE_EQ(parallel->gain, kCores);
}

TEST(Suggest, TilesGainNoMoreThanTheirLoopsHave) {
  Walk walk({0, 8}, Loop::Parallel::kYes, Loop::Parallel::kYes);
  ASSERT_NE(find(walk.suggestions(), "LF-TIL"), nullptr);
  walk.share() = 400;
  walk.elsewhere() = 39'600;
  EXPECT_EQ(find(walk.suggestions(), "LF-TIL"), nullptr);
}

TEST(Suggest, VectorsBehindAnInterchangeGainNoMoreThanTheirLoopsHave) {
  Walk walk({8, 800}, Loop::Parallel::kYes, Loop::Parallel::kYes);
  const auto behind = [&] {
    double gain = 1;
    for (const Suggestion& s : walk.suggestions())
      if (s.rule == "LF-SIMD") gain = std::max(gain, s.gain);
    return gain;
  };
  EXPECT_GT(behind(), 2);
  walk.share() = 4'000;
  walk.elsewhere() = 36'000;
  EXPECT_LE(behind(), amdahl(0.1, 1e9));
}

TEST(Suggest, NoMoreThreadsThanIterations) {
  Walk walk({800, 8}, Loop::Parallel::kYes, Loop::Parallel::kYes);
  walk.loop(0).trip = {2, 2, 2};
  const std::vector<Suggestion> all = walk.suggestions();
  const Suggestion* const parallel = find(all, "LF-PAR");
  ASSERT_NE(parallel, nullptr);
  EXPECT_LE(parallel->gain, 2);
}

TEST(Suggest, ABranchThatWentOneWayIsRequiredToOnce) {
  Walk walk({800, 8}, Loop::Parallel::kYes, Loop::Parallel::kYes);
  walk.loop(0).assumes = {{profile::Source{"/home/me/walk.c", 9}}, {profile::Source{"/home/me/walk.c", 9}}};
  const std::vector<Suggestion> all = walk.suggestions();
  const Suggestion* const parallel = find(all, "LF-PAR");
  ASSERT_NE(parallel, nullptr);
  const auto assumed = [](const profile::Requirement& r) {
    return r.kind == "assume" && r.variable == "/home/me/walk.c:9";
  };
  EXPECT_EQ(std::count_if(parallel->requirements.begin(), parallel->requirements.end(), assumed), 1);
}

TEST(Suggest, AReductionSaysSo) {
  Walk walk({800, 8}, Loop::Parallel::kReduction, Loop::Parallel::kNo);
  profile::Reduction& sum = walk.loop(0).reductions.emplace_back();
  sum.operation = "+";
  sum.variable = "total";
  const std::vector<Suggestion> all = walk.suggestions();
  EXPECT_EQ(find(all, "LF-PAR"), nullptr);
  const Suggestion* const reduction = find(all, "LF-RED");
  ASSERT_NE(reduction, nullptr);
  EXPECT_TRUE(std::any_of(reduction->requirements.begin(), reduction->requirements.end(),
                          [](const profile::Requirement& r) { return r.clause == "reduction(+:total)"; }));
}

bool needs_reduction(const Suggestion& suggestion, const std::string& clause) {
  return std::any_of(suggestion.requirements.begin(), suggestion.requirements.end(),
                     [&](const profile::Requirement& r) { return r.kind == "reduction" && r.clause == clause; });
}

TEST(Suggest, VectorsOfAReductionSaySo) {
  Walk walk({800, 8}, Loop::Parallel::kNo, Loop::Parallel::kReduction);
  walk.loop(1).stride01_percent = 100;
  profile::Reduction& sum = walk.loop(1).reductions.emplace_back();
  sum.operation = "+";
  sum.variable = "total";
  const std::vector<Suggestion> all = walk.suggestions();
  const Suggestion* const vectors = find(all, "LF-SIMD");
  ASSERT_NE(vectors, nullptr);
  EXPECT_TRUE(needs_reduction(*vectors, "reduction(+:total)"));
  EXPECT_NE(vectors->title.find("as a reduction"), std::string::npos);
}

TEST(Suggest, VectorsNeedAReductionWhereTheLoopIsOneEvenWithoutAName) {
  for (const Loop::Parallel inner : {Loop::Parallel::kReduction, Loop::Parallel::kYes}) {
    Walk walk({800, 8}, Loop::Parallel::kNo, inner);
    walk.loop(1).stride01_percent = 100;
    const std::vector<Suggestion> all = walk.suggestions();
    const Suggestion* const vectors = find(all, "LF-SIMD");
    ASSERT_NE(vectors, nullptr);
    EXPECT_EQ(needs_reduction(*vectors, ""), inner == Loop::Parallel::kReduction);
  }
}

/// Columns that are added up: walked along rows, the innermost loop still adds up.
TEST(Suggest, VectorsOfAReductionAfterAnInterchangeSaySo) {
  Walk walk({8, 800}, Loop::Parallel::kReduction, Loop::Parallel::kYes);
  profile::Reduction& sum = walk.loop(0).reductions.emplace_back();
  sum.operation = "+";
  sum.variable = "total";
  walk.nest().flow(0, 0, "[i, j] -> [i + 1, j]", true);
  const std::vector<Suggestion> all = walk.suggestions();
  ASSERT_NE(find(all, "LF-ICH"), nullptr);
  const Suggestion* const vectors = find(all, "LF-SIMD");
  ASSERT_NE(vectors, nullptr);
  EXPECT_EQ(vectors->loops, std::vector<std::uint32_t>{walk.loop(0).node});
  EXPECT_TRUE(needs_reduction(*vectors, "reduction(+:total)"));
}

TEST(Suggest, WhatGainsLittleIsLeftOut) {
  Walk walk({8, 800}, Loop::Parallel::kYes, Loop::Parallel::kYes);
  walk.share() = 40;  // a thousandth
  for (const std::size_t i : {0, 1}) walk.loop(i).ops_percent = 0.1;
  EXPECT_TRUE(walk.suggestions().empty());
}

TEST(Suggest, TheBestComesFirst) {
  Walk walk({8, 800}, Loop::Parallel::kYes, Loop::Parallel::kYes);
  const std::vector<Suggestion> all = walk.suggestions();
  ASSERT_GE(all.size(), 2u);
  EXPECT_TRUE(
      std::is_sorted(all.begin(), all.end(), [](const Suggestion& a, const Suggestion& b) { return a.gain > b.gain; }));
}

}  // namespace
}  // namespace loopfold::advise
