// The paper's example, the counter-examples to it as printed, and small storages with known answers.
#include "advise/liveness/conflicts.h"

#include <gtest/gtest.h>

#include "advise/liveness/hand_made.h"

namespace loopfold::advise::liveness {
namespace {

using poly::Isl;
using testing::equal;
using testing::HandMade;

using Kind = Repair::Kind;

/// Trifunovic and Cohen, Figure 3: a matrix product after scalar replacement. S1 sets the scalar, S2 reads it and S6
/// writes it back, S9 stores the sum. 8 x 8 x 8.
class MatrixProduct : public ::testing::Test {
 protected:
  MatrixProduct() {
    s1 = made.unit("{ S1[i, j] : 0 <= i, j < 8 }", "{ S1[i, j] -> [0, i, 0, j, 0, 0, 0] }");
    s2 = made.unit("{ S2[i, j, k] : 0 <= i, j, k < 8 }", "{ S2[i, j, k] -> [0, i, 0, j, 1, k, 1] }");
    s6 = made.unit("{ S6[i, j, k] : 0 <= i, j, k < 8 }", "{ S6[i, j, k] -> [0, i, 0, j, 1, k, 8] }");
    s9 = made.unit("{ S9[i, j] : 0 <= i, j < 8 }", "{ S9[i, j] -> [0, i, 0, j, 2, 0, 0] }");
    scalar.name = "phi_out_of_ssa";
    scalar.bytes = 8;
    made.access(scalar, s1, true, "{ S1[i, j] -> [0] }");
    made.access(scalar, s2, false, "{ S2[i, j, k] -> [0] }");
    made.access(scalar, s6, true, "{ S6[i, j, k] -> [0] }");
    made.access(scalar, s9, false, "{ S9[i, j] -> [0] }");
    EXPECT_TRUE(find_ranges(made.isl.get(), made.written, false, scalar));
  }

  std::vector<LoopCounter> loops() const {
    return {{{0, 0, 0, 0}, 8}, {{1, 1, 1, 1}, 8}, {{std::nullopt, 2, 2, std::nullopt}, 8}};
  }
  Repair repair(const Times& times) {
    return find_repair(scalar, times, find_conflicts(scalar, times), loops(), made.domains, {});
  }
  Isl<isl_map> lambda(std::uint32_t definition, std::uint32_t use) const {
    for (const Range& range : last_uses(made.written, scalar))
      if (range.definition == definition && range.use == use) return range.map;
    return {};
  }

  HandMade made;
  Storage scalar;
  std::uint32_t s1 = 0, s2 = 0, s6 = 0, s9 = 0;
};

TEST_F(MatrixProduct, HasTheRangesOfThePaper) {
  EXPECT_TRUE(equal(lambda(0, 1), made.map("{ S1[i, j] -> S2[i, j, 0] : 0 <= i, j < 8 }")));
  EXPECT_TRUE(equal(lambda(2, 1), made.map("{ S6[i, j, k] -> S2[i, j, k + 1] : 0 <= i, j < 8 and 0 <= k < 7 }")));
  EXPECT_TRUE(equal(lambda(2, 3), made.map("{ S6[i, j, 7] -> S9[i, j] : 0 <= i, j < 8 }")));
  EXPECT_EQ(last_uses(made.written, scalar).size(), 3U);
  EXPECT_TRUE(scalar.inputs.empty());
}

TEST_F(MatrixProduct, AsWrittenNothingCollides) {
  EXPECT_TRUE(find_conflicts(scalar, made.written).found.empty());
  EXPECT_TRUE(broken_flow(scalar, made.written, false).found.empty());
}

TEST_F(MatrixProduct, InterchangeOfTheOuterLoopsNeedsNothing) {
  const Times times = made.order({"{ S1[i, j] -> [0, j, 0, i, 0, 0, 0] }", "{ S2[i, j, k] -> [0, j, 0, i, 1, k, 1] }",
                                  "{ S6[i, j, k] -> [0, j, 0, i, 1, k, 8] }", "{ S9[i, j] -> [0, j, 0, i, 2, 0, 0] }"});
  EXPECT_TRUE(broken_flow(scalar, times, false).found.empty());
  EXPECT_TRUE(find_conflicts(scalar, times).found.empty());
}

/// Of the loop over j, distributed, and interchanged with that over k: what is left in its order has no new conflict.
TEST_F(MatrixProduct, OneConflictIsEnoughAndWhatStaysIsNotLookedAtAgain) {
  const auto order = [&](const std::vector<std::vector<TimeSum>>& sums) {
    Times times = made.written;
    times.sums = sums;
    times.of.clear();
    times.of.push_back(made.map("{ S1[i, j] -> [0, i, 0, j, 0, 0, 0] }"));
    times.of.push_back(made.map("{ S2[i, j, k] -> [0, i, 1, k, 1, j, 1] }"));
    times.of.push_back(made.map("{ S6[i, j, k] -> [0, i, 1, k, 1, j, 8] }"));
    times.of.push_back(made.map("{ S9[i, j] -> [0, i, 2, j, 0, 0, 0] }"));
    return times;
  };
  const auto row = [](std::vector<std::int64_t> coefficients, std::int64_t constant = 0) {
    return TimeSum{std::move(coefficients), constant, 1};
  };
  const std::vector<std::int64_t> none2{0, 0}, i2{1, 0}, j2{0, 1}, none3{0, 0, 0}, i3{1, 0, 0}, j3{0, 1, 0},
      k3{0, 0, 1};
  const Times times = order({{row(none2), row(i2), row(none2), row(j2), row(none2), row(none2), row(none2)},
                             {row(none3), row(i3), row(none3, 1), row(k3), row(none3, 1), row(j3), row(none3, 1)},
                             {row(none3), row(i3), row(none3, 1), row(k3), row(none3, 1), row(j3), row(none3, 8)},
                             {row(none2), row(i2), row(none2, 2), row(j2), row(none2), row(none2), row(none2)}});
  Times written = made.written;
  written.sums = {{row(none2), row(i2), row(none2), row(j2), row(none2), row(none2), row(none2)},
                  {row(none3), row(i3), row(none3), row(j3), row(none3, 1), row(k3), row(none3, 1)},
                  {row(none3), row(i3), row(none3), row(j3), row(none3, 1), row(k3), row(none3, 8)},
                  {row(none2), row(i2), row(none2), row(j2), row(none2, 2), row(none2), row(none2)}};
  Precedence precedence(times);
  SameCells cells(scalar);
  const Conflicts all = find_conflicts(scalar, precedence, cells);
  const Conflicts again = find_conflicts(scalar, precedence, cells, false, &written);
  ASSERT_FALSE(all.found.empty());
  ASSERT_EQ(all.found.size(), again.found.size());
  for (std::size_t i = 0; i < all.found.size(); ++i) EXPECT_TRUE(equal(all.found[i].pairs, again.found[i].pairs));
  const Conflicts first = find_conflicts(scalar, precedence, cells, true);
  ASSERT_EQ(first.found.size(), 1U);
  EXPECT_EQ(isl_map_is_subset(first.found[0].pairs.get(), all.found[0].pairs.get()), isl_bool_true);
  Precedence as_written(written);
  EXPECT_TRUE(find_conflicts(scalar, as_written, cells, true).found.empty());
  EXPECT_TRUE(find_conflicts(scalar, as_written, cells, false, &written).found.empty());
}

TEST_F(MatrixProduct, InterchangeOfTheInnerLoopsIsRefusedByRangesOnly) {
  const Times times = made.order({"{ S1[i, j] -> [0, i, 0, j, 0, 0, 0] }", "{ S2[i, j, k] -> [0, i, 1, k, 1, j, 1] }",
                                  "{ S6[i, j, k] -> [0, i, 1, k, 1, j, 8] }", "{ S9[i, j] -> [0, i, 2, j, 0, 0, 0] }"});
  EXPECT_TRUE(broken_flow(scalar, times, false).found.empty());
  EXPECT_FALSE(find_conflicts(scalar, times).found.empty());
  const Repair found = repair(times);
  EXPECT_EQ(found.kind, Kind::kExpand);
  EXPECT_EQ(found.along, std::vector<std::uint32_t>{1});
  EXPECT_EQ(found.bytes, 64U);
}

TEST_F(MatrixProduct, TheOutermostLoopInParallelNeedsTheScalarPrivate) {
  const Repair found = repair(made.in_parallel({1}));
  EXPECT_EQ(found.kind, Kind::kPrivate);
  EXPECT_EQ(found.row, 1U);
  EXPECT_FALSE(found.first);
  EXPECT_FALSE(found.last);
}

TEST_F(MatrixProduct, TheInnermostLoopInParallelBreaksFlowUnlessItIsAReduction) {
  const Times times = made.in_parallel({5});
  EXPECT_FALSE(broken_flow(scalar, times, true).found.empty());
  for (Range& range : scalar.ranges) range.reduction = range.definition == 2 && range.use == 1;
  EXPECT_FALSE(broken_flow(scalar, times, false).found.empty());
  EXPECT_TRUE(broken_flow(scalar, times, true).found.empty());
}

/// Where data decided which iterations run, the domain is in pieces, and only those of them that run collide.
TEST(Conflicts, OfDomainsInPieces) {
  HandMade made;
  Storage array;
  const auto w = made.unit("{ W[k, i] : 0 <= k < 3 and (i = 0 or i = 3 or 5 <= i < 7) }", "{ W[k, i] -> [k, 0, i] }");
  const auto v = made.unit("{ V[k, i] : 0 <= k < 3 and (i = 1 or i = 3 or i = 8) }", "{ V[k, i] -> [k, 1, i] }");
  made.access(array, w, true, "{ W[k, i] -> [i] }");
  made.access(array, v, true, "{ V[k, i] -> [i] }");
  EXPECT_TRUE(find_conflicts(array, made.written).found.empty());
  const Conflicts conflicts = find_conflicts(array, made.in_parallel({0}));
  ASSERT_EQ(conflicts.found.size(), 3U);
  EXPECT_TRUE(equal(conflicts.found[0].pairs,
                    made.map("{ W[k, i] -> W[l, i] : 0 <= k, l < 3 and k != l and (i = 0 or i = 3 or 5 <= i < 7) }")));
  EXPECT_TRUE(equal(conflicts.found[1].pairs, made.map("{ W[k, 3] -> V[l, 3] : 0 <= k, l < 3 and k != l }")));
  EXPECT_TRUE(equal(conflicts.found[2].pairs,
                    made.map("{ V[k, i] -> V[l, i] : 0 <= k, l < 3 and k != l and (i = 1 or i = 3 or i = 8) }")));
}

/// Two uses of one value. As written the second one is the last; the new order brings the first one behind a definition
/// that still comes behind the second.
TEST(Conflicts, ADefinitionBeforeAnEarlierUse) {
  HandMade made;
  Storage t;
  const auto w = made.unit("{ W[i] : 0 <= i < 4 }", "{ W[i] -> [i, 0] }");
  const auto a = made.unit("{ A[i] : 0 <= i < 4 }", "{ A[i] -> [i, 1] }");
  const auto b = made.unit("{ B[i] : 0 <= i < 4 }", "{ B[i] -> [i, 2] }");
  made.access(t, w, true, "{ W[i] -> [0] }");
  made.access(t, a, false, "{ A[i] -> [0] }");
  made.access(t, b, false, "{ B[i] -> [0] }");
  ASSERT_TRUE(find_ranges(made.isl.get(), made.written, false, t));
  const Times times = made.order({"{ W[i] -> [2i, 0] }", "{ A[i] -> [2i + 3, 0] }", "{ B[i] -> [2i, 2] }"});
  EXPECT_TRUE(broken_flow(t, times, false).found.empty());
  Storage shown = t;
  shown.ranges = last_uses(made.written, t);
  EXPECT_TRUE(find_conflicts(shown, times).found.empty()) << "the paper's ranges do not show it";
  const Conflicts conflicts = find_conflicts(t, times);
  ASSERT_EQ(conflicts.found.size(), 1U);
  EXPECT_EQ(conflicts.found[0].use, 1U);
}

TEST(Conflicts, AScalarInAParallelLoop) {
  HandMade made;
  Storage t;
  const auto s = made.unit("{ S[i] : 0 <= i < 9 }", "{ S[i] -> [i] }");
  made.access(t, s, true, "{ S[i] -> [0] }");
  made.access(t, s, false, "{ S[i] -> [0] }");
  ASSERT_TRUE(find_ranges(made.isl.get(), made.written, false, t));
  const Times times = made.in_parallel({0});
  EXPECT_FALSE(find_conflicts(t, times).found.empty());
  EXPECT_EQ(find_repair(t, times, find_conflicts(t, times), {{{0}, 9}}, made.domains, {}).kind, Kind::kPrivate);
}

/// One loop, one unit: `accesses` in their order, true for a store.
class OneLoop {
 public:
  OneLoop(const std::vector<std::pair<bool, std::string>>& accesses, bool is_output) {
    const auto s = made.unit("{ S[i] : 0 <= i < 10 }", "{ S[i] -> [i] }");
    storage.bytes = 80;
    for (const auto& [write, cell] : accesses) made.access(storage, s, write, "{ S[i] -> [" + cell + "] }");
    EXPECT_TRUE(find_ranges(made.isl.get(), made.written, is_output, storage));
  }
  Repair in_parallel(const RepairOptions& options = {}) {
    const Times times = made.in_parallel({0});
    EXPECT_TRUE(broken_flow(storage, times, false).found.empty());
    return find_repair(storage, times, find_conflicts(storage, times), {{{0}, 10}}, made.domains, options);
  }

  HandMade made;
  Storage storage;
};

TEST(Repairs, DifferentCellsNeedNothing) {
  EXPECT_EQ(OneLoop({{false, "i"}, {true, "i"}}, true).in_parallel().kind, Kind::kNone);
}

TEST(Repairs, LastPrivate) {
  OneLoop scalar({{true, "0"}, {false, "0"}}, true);
  scalar.storage.bytes = 1;
  const Repair repair = scalar.in_parallel();
  EXPECT_EQ(repair.kind, Kind::kPrivate);
  EXPECT_TRUE(repair.last);
  EXPECT_FALSE(repair.first);
}

/// The last iteration sets one place of an array: the others must not be lost when it is copied back.
TEST(Repairs, LastPrivateArrayThatIsSetInPartIsCopiedIn) {
  const Repair repair = OneLoop({{true, "0"}, {false, "0"}}, true).in_parallel();
  EXPECT_EQ(repair.kind, Kind::kPrivate);
  EXPECT_TRUE(repair.last);
  EXPECT_TRUE(repair.first);
}

/// for i { read(s); parallel for j s = ...; }
TEST(Repairs, LastPrivateForAUseOutsideOfTheLoop) {
  HandMade made;
  const auto reads = made.unit("{ R[i] : 0 <= i < 4 }", "{ R[i] -> [i, 0, 0] }");
  const auto writes = made.unit("{ W[i, j] : 0 <= i < 4 and 0 <= j < 5 }", "{ W[i, j] -> [i, 1, j] }");
  Storage storage;
  storage.bytes = 1;
  made.access(storage, reads, false, "{ R[i] -> [0] }");
  made.access(storage, writes, true, "{ W[i, j] -> [0] }");
  ASSERT_TRUE(find_ranges(made.isl.get(), made.written, false, storage));
  Times times = made.written;
  times.parallel[writes][2] = true;
  EXPECT_TRUE(broken_flow(storage, times, false).found.empty());
  const Repair repair = find_repair(storage, times, find_conflicts(storage, times), {}, made.domains, {});
  EXPECT_EQ(repair.kind, Kind::kPrivate);
  EXPECT_TRUE(repair.last);
  EXPECT_FALSE(repair.first);
}

/// What is read is what was there, until the same iteration overwrites it.
TEST(Repairs, ReadBeforeItIsOverwrittenByALaterIteration) {
  const Repair repair = OneLoop({{false, "i + 1"}, {true, "i"}}, true).in_parallel();
  EXPECT_EQ(repair.kind, Kind::kExpand);
  EXPECT_TRUE(repair.along.empty());
  EXPECT_EQ(repair.bytes, 80U);
}

TEST(Repairs, WithoutExpansionThereIsNone) {
  EXPECT_EQ(OneLoop({{false, "i + 1"}, {true, "i"}}, true).in_parallel({true, false}).kind, Kind::kImpossible);
}

TEST(Repairs, ARingOfFourCells) {
  EXPECT_EQ(OneLoop({{true, "i mod 4"}, {false, "i mod 4"}}, false).in_parallel().kind, Kind::kPrivate);
}

/// The last values of the ring come from the last four iterations: no one of them has them all.
TEST(Repairs, ARingOfWhichAllIsNeededBehind) {
  const Repair repair = OneLoop({{true, "i mod 4"}, {false, "i mod 4"}}, true).in_parallel();
  EXPECT_EQ(repair.kind, Kind::kExpand);
  EXPECT_EQ(repair.along, std::vector<std::uint32_t>{0});
}

TEST(Repairs, BytesThatOverlap) {
  OneLoop wide({{true, "4i"}}, true);
  wide.storage.accesses[0].bytes = 4;
  EXPECT_TRUE(find_conflicts(wide.storage, wide.made.in_parallel({0})).found.empty());
  wide.storage.accesses[0].bytes = 5;
  EXPECT_FALSE(find_conflicts(wide.storage, wide.made.in_parallel({0})).found.empty());
}

}  // namespace
}  // namespace loopfold::advise::liveness
