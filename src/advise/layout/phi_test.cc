#include "advise/layout/phi.h"

#include <gtest/gtest.h>

#include <random>

#include "advise/layout/tree.h"

namespace loopfold::layout {
namespace {

std::vector<Phi> phis_of(const std::string& clauses) {
  const Result<Directive> directive = parse_directive("f.c", clauses);
  EXPECT_TRUE(directive) << directive.error().message;
  std::vector<Phi> phis;
  for (const MapClause& map : directive->maps) phis.push_back(phi_of(map));
  return phis;
}

bool same_map(isl_ctx* context, const Phi& phi, const std::string& text) {
  const poly::Isl<isl_map> map = isl_map_of(context, phi);
  const poly::Isl<isl_map> wanted(isl_map_read_from_str(context, text.c_str()));
  return isl_map_is_equal(map.get(), wanted.get()) == isl_bool_true;
}

class PhiLayouts : public ::testing::Test {
 protected:
  poly::IslContext holder_{isl_ctx_alloc()};
  isl_ctx* context_ = holder_.get();
};

/// The paper's mapping of C, A and B, from the directive and built by hand.
TEST_F(PhiLayouts, PapersMatrixProduct) {
  const std::vector<Phi> phis = phis_of(
      "map(inout: C(e1,e2) -> (0, e1/32, e2/64, e1%32, e2%64) : double[ni, nj]) map(in: A(e1,e2) -> (1, e2, 0, e1) : "
      "double[ni, nk]) map(in: B(e1,e2) -> (1, e1, 1, e2) : double[nk, nj])");
  EXPECT_TRUE(same_map(context_, phis[0],
                       "[ni, nj] -> { C[e1, e2] -> [0, floor(e1/32), floor(e2/64), e1 mod 32, e2 mod 64] : "
                       "0 <= e1 < ni and 0 <= e2 < nj }"));
  EXPECT_TRUE(
      same_map(context_, phis[1], "[ni, nk] -> { A[e1, e2] -> [1, e2, 0, e1] : 0 <= e1 < ni and 0 <= e2 < nk }"));
  EXPECT_TRUE(
      same_map(context_, phis[2], "[nk, nj] -> { B[e1, e2] -> [1, e1, 1, e2] : 0 <= e1 < nk and 0 <= e2 < nj }"));
  EXPECT_EQ(one_to_one(context_, phis).answer, Answer::kYes);

  const QuasiAffine ni = QuasiAffine::name("ni"), nj = QuasiAffine::name("nj"), nk = QuasiAffine::name("nk");
  const Phi c = placed(tiled(identity("C", {ni, nj}), {{0, 32}, {1, 64}}), 0, 0);
  const std::vector<Phi> fusion = fused({permuted(identity("A", {ni, nk}), {1, 0}), identity("B", {nk, nj})}, 1);
  EXPECT_EQ(c.target, phis[0].target);
  EXPECT_EQ(placed(fusion[0], 0, 1).target, phis[1].target);
  EXPECT_EQ(placed(fusion[1], 0, 1).target, phis[2].target);
}

TEST_F(PhiLayouts, CollisionsHaveAWitness) {
  const Proof one = one_to_one(context_, phis_of("map(in: A(i,j) -> (i + 2*j) : int[n, 3])"));
  EXPECT_EQ(one.answer, Answer::kNo);
  EXPECT_NE(one.why.find("would be in the same place, for example with n = "), std::string::npos) << one.why;
  const Proof two = one_to_one(context_, phis_of("map(in: A(i) -> (i) : int[5]) map(in: B(i) -> (i + 4) : int[5])"));
  EXPECT_EQ(two.answer, Answer::kNo);
  EXPECT_EQ(two.why, "A[4] and B[0] would be in the same place");
  EXPECT_EQ(one_to_one(context_, phis_of("map(in: A(i,j) -> (i + 3*j) : int[3, n])")).answer, Answer::kYes);
}

/// What is proved for all sizes may be wrong for some, and right for those that are known.
TEST_F(PhiLayouts, KnownSizesCount) {
  const std::vector<Phi> phis = phis_of("map(in: A(i,j) -> (i + 3*j) : int[n, 4])");
  EXPECT_EQ(one_to_one(context_, phis).answer, Answer::kNo);
  EXPECT_EQ(one_to_one(context_, phis, {{"n", 3}}).answer, Answer::kYes);
  EXPECT_EQ(one_to_one(context_, phis, {{"n", 4}}).answer, Answer::kNo);
}

TEST_F(PhiLayouts, TreesThatDoNotExist) {
  const auto error = [&](const std::string& clauses) {
    const Result<LayoutTree> tree = build_tree(context_, phis_of(clauses));
    return tree ? "" : tree.error().message;
  };
  EXPECT_NE(
      error("map(in: A(i) -> (0, i) : int[n]) map(in: B(i) -> (i, 1) : int[n])").find("dimension 1 is a number for A"),
      std::string::npos);
  EXPECT_NE(
      error("map(in: A(i) -> (i) : int[n]) map(in: B(i) -> (i, 1) : int[n])").find("A ends where that of B goes on"),
      std::string::npos);
}

TEST_F(PhiLayouts, LengthsAndPlaces) {
  const Result<LayoutTree> tree = build_tree(
      context_, phis_of("map(inout: C(e1,e2) -> (0, e1/4, e2/8, e1%4, e2%8) : double[ni, nj]) map(in: A(e1,e2) -> "
                        "(1, e2, 0, e1) : double[ni, nk]) map(in: B(e1,e2) -> (1, e1, 1, e2) : double[nk, nj]) "
                        "pad(A: 0, 0, 0, 5)"));
  ASSERT_TRUE(tree) << tree.error().message;
  const Result<Field> field = field_of(*tree, {{"ni", 10}, {"nj", 9}, {"nk", 7}});
  ASSERT_TRUE(field) << field.error().message;
  const std::int64_t c = 3 * 2 * 4 * 8;
  EXPECT_EQ(field->size(), c + 7 * ((10 + 5) + 9));
  EXPECT_EQ(field->offset(0, {5, 8}), 1 * 64 + 1 * 32 + 1 * 8 + 0);
  EXPECT_EQ(field->offset(1, {2, 3}), c + 3 * 24 + 2);
  EXPECT_EQ(field->offset(2, {3, 2}), c + 3 * 24 + 15 + 2);
  EXPECT_FALSE(field_of(*tree, {{"ni", 10}}));
}

TEST_F(PhiLayouts, MixedTypesAreAligned) {
  const Result<LayoutTree> tree = build_tree(
      context_, phis_of("map(in: c(i) -> (i, 0) : char[n]) map(in: d(i) -> (i, 1) : double[n]) map(in: s(i) -> "
                        "(i, 2) : short[n])"));
  ASSERT_TRUE(tree);
  const Result<Field> field = field_of(*tree, {{"n", 5}});
  ASSERT_TRUE(field);
  EXPECT_EQ(field->bytes(), 5 * 24);
  EXPECT_EQ(field->offset(1, {2}), 56);
  EXPECT_EQ(field->offset(2, {2}), 64);
}

Phi random_phi(std::mt19937& random, const std::string& name) {
  const auto number = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  Phi phi = identity(name, {QuasiAffine::name("n"), number(2, 5)});
  for (int step = number(0, 3); step > 0; step--) {
    const std::size_t d = static_cast<std::size_t>(number(0, static_cast<int>(phi.target.size()) - 1));
    switch (number(0, 4)) {
      case 0:
        phi = tiled(phi, {{d, number(1, 4)}});
        break;
      case 1:
        phi = skewed(phi, d, static_cast<std::size_t>(number(0, 1)), number(-2, 2));
        break;
      case 2:
        phi.target[d] = phi.target[d].remainder(number(2, 6));
        break;
      case 3:
        phi = padded(phi, d, number(0, 2));
        break;
      default:
        std::swap(phi.target[0], phi.target[d]);
    }
  }
  return phi;
}

/// Every element of every array, its vector and its place, one by one.
TEST_F(PhiLayouts, RandomLayoutsAgainstAllElements) {
  std::mt19937 random(11);
  int legal = 0, illegal = 0, skewed_below_zero = 0;
  for (int round = 0; round < 300; round++) {
    const std::int64_t n = std::uniform_int_distribution<int>(1, 7)(random);
    const bool shared = std::uniform_int_distribution<int>(0, 2)(random) == 0;
    std::vector<Phi> phis = {random_phi(random, "A"), random_phi(random, "B")};
    if (!shared) phis = fused(phis, 0);
    const Proof proof = one_to_one(context_, phis, {{"n", n}});
    std::map<std::vector<std::int64_t>, int> vectors;
    std::vector<std::pair<std::size_t, std::vector<std::int64_t>>> elements;
    for (std::size_t a = 0; a < phis.size(); a++)
      for (std::int64_t i = 0; i < n; i++)
        for (std::int64_t j = 0; j < phis[a].extents[1].constant(); j++) {
          std::vector<std::int64_t> vector;
          for (const QuasiAffine& d : phis[a].target) vector.push_back(d.evaluated({{"e1", i}, {"e2", j}, {"n", n}}));
          vectors[vector]++;
          elements.push_back({a, {i, j}});
        }
    bool distinct = true;
    for (const auto& [vector, count] : vectors) distinct &= count == 1;
    ASSERT_EQ(proof.answer, distinct ? Answer::kYes : Answer::kNo) << proof.why;
    (distinct ? legal : illegal)++;
    if (!distinct) continue;
    const Result<LayoutTree> tree = build_tree(context_, phis, {{"n", n}});
    if (!tree) continue;
    const Result<Field> field = field_of(*tree, {{"n", n}});
    ASSERT_TRUE(field) << field.error().message;
    std::set<std::int64_t> places;
    for (const auto& [array, element] : elements) {
      const std::int64_t place = field->offset(array, element);
      EXPECT_GE(place, 0);
      EXPECT_LT(place, field->size());
      EXPECT_TRUE(places.insert(place).second);
    }
    for (const auto& [vector, count] : vectors) skewed_below_zero += vector.back() < 0;
  }
  EXPECT_GT(legal, 50);
  EXPECT_GT(illegal, 20);
  EXPECT_GT(skewed_below_zero, 20);
}

}  // namespace
}  // namespace loopfold::layout
