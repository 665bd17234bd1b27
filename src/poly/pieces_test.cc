#include "poly/pieces.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "poly/budget.h"

namespace loopfold::poly {
namespace {

class Pieces : public ::testing::Test {
 protected:
  Isl<isl_map> map(const std::string& text) const {
    Isl<isl_map> made(isl_map_read_from_str(isl.get(), text.c_str()));
    EXPECT_TRUE(made) << text;
    return made;
  }
  Isl<isl_set> set(const std::string& text) const {
    Isl<isl_set> made(isl_set_read_from_str(isl.get(), text.c_str()));
    EXPECT_TRUE(made) << text;
    return made;
  }
  static bool equal(const Isl<isl_map>& a, const Isl<isl_map>& b) {
    return isl_map_is_equal(a.get(), b.get()) == isl_bool_true;
  }

  IslContext isl{isl_ctx_alloc()};
  // Pieces with a division, points, and triangles, some of them of no use to the other.
  const Isl<isl_map> a =
      map("{ A[i, j] -> B[k] : 0 <= i < 10 and j = 2i and k > i; A[i, j] -> B[k] : i = 12 and k = 3;"
          "  A[i, j] -> B[k] : 0 <= i < j < 20 and (exists e : k = 3e) and 0 <= k < 30 }");
  const Isl<isl_map> b =
      map("{ A[i, j] -> B[k] : j > 4 and k < 9; A[i, j] -> B[k] : i = 12; A[i, j] -> B[k] : i + j + k = 17 }");
};

TEST_F(Pieces, IntersectAsIslDoes) {
  EXPECT_TRUE(equal(intersect(a, b), Isl<isl_map>(isl_map_intersect(a.copy(), b.copy()))));
  EXPECT_TRUE(equal(intersect(a, a), a));
  const Isl<isl_map> apart = map("{ A[i, j] -> B[k] : i < -5 }");
  const Isl<isl_map> nothing = intersect(a, apart);
  EXPECT_EQ(isl_map_n_basic_map(nothing.get()), 0);
  EXPECT_EQ(isl_map_is_empty(nothing.get()), isl_bool_true);
}

TEST_F(Pieces, IntersectEnds) {
  const Isl<isl_set> from = set("{ A[i, j] : i = 1 or i = 12 or j > 15 }");
  const Isl<isl_set> to = set("{ B[k] : k = 3 or 6 <= k < 8 }");
  EXPECT_TRUE(equal(intersect_domain(a, from), Isl<isl_map>(isl_map_intersect_domain(a.copy(), from.copy()))));
  EXPECT_TRUE(equal(intersect_range(a, to), Isl<isl_map>(isl_map_intersect_range(a.copy(), to.copy()))));
}

/// Many pieces, most of which are apart, some inside others, and some neither.
TEST_F(Pieces, ManyAreAsOne) {
  std::string pairs;
  std::string ends;
  std::string ways;
  for (int i = 0; i < 12; ++i) {
    const std::string n = std::to_string(i);
    pairs += (i == 0 ? "{ " : "; ") + ("A[" + n + ", j] -> B[k] : 0 <= j < " + n + " + 3 and k = j + " + n);
    ends += (i == 0 ? "{ " : "; ") + ("A[i, j] : i = " + n + " and 0 <= j < 9 and i + j < 15");
    ways += (i == 0 ? "{ " : "; ") + ("B[k] -> C[l] : " + n + " <= k < " + n + " + 2 and l = k + " + n);
  }
  const Isl<isl_map> all = map(pairs + "; A[i, j] -> B[k] : i = 3j and 0 <= k < 4 }");
  const Isl<isl_set> from = set(ends + "; A[i, j] : exists e : i = 2e and 5 <= j < 7 }");
  const Isl<isl_set> to(isl_map_range(all.copy()));
  const Isl<isl_map> next = map(ways + " }");
  EXPECT_TRUE(equal(intersect_domain(all, from), Isl<isl_map>(isl_map_intersect_domain(all.copy(), from.copy()))));
  EXPECT_TRUE(equal(intersect_range(all, to), all));
  EXPECT_EQ(isl_map_n_basic_map(intersect_range(all, to).get()), isl_map_n_basic_map(all.get()));
  const Isl<isl_map> other(isl_map_intersect_domain(all.copy(), from.copy()));
  EXPECT_TRUE(equal(intersect(all, other), other));
  EXPECT_TRUE(equal(apply_range(all, next), Isl<isl_map>(isl_map_apply_range(all.copy(), next.copy()))));
  EXPECT_FALSE(apply_range(all, Isl<isl_map>()));
  EXPECT_FALSE(apply_range(Isl<isl_map>(), all));
}

TEST_F(Pieces, AreComparedByCoordinates) {
  const Isl<isl_map> pairs = map("{ A[i, j] -> A[k, l] : 0 <= i, j, k, l < 4; A[7, j] -> A[k, 9] }");
  EXPECT_TRUE(
      equal(with_equal_first(pairs, 1), Isl<isl_map>(isl_map_equate(pairs.copy(), isl_dim_in, 0, isl_dim_out, 0))));
  EXPECT_TRUE(equal(with_equal_first(pairs, 0), pairs));
  EXPECT_TRUE(
      equal(with_step(pairs, 1, 1), Isl<isl_map>(isl_map_order_lt(pairs.copy(), isl_dim_in, 1, isl_dim_out, 1))));
  EXPECT_TRUE(
      equal(with_step(pairs, 1, -1), Isl<isl_map>(isl_map_order_gt(pairs.copy(), isl_dim_in, 1, isl_dim_out, 1))));
  EXPECT_TRUE(equal(with_step(pairs, 1, 0), Isl<isl_map>(isl_map_equate(pairs.copy(), isl_dim_in, 1, isl_dim_out, 1))));
}

TEST_F(Pieces, AreUnited) {
  MapUnion all(map("{ A[i] -> B[j] : false }"));
  Isl<isl_map> one_by_one = map("{ A[i] -> B[j] : false }");
  for (int i = 0; i < 37; ++i) {
    const Isl<isl_map> point = map("{ A[" + std::to_string(i) + "] -> B[" + std::to_string(i * i) + "] }");
    all.add(point);
    one_by_one = Isl<isl_map>(isl_map_union(one_by_one.release(), point.copy()));
  }
  const Isl<isl_map> made = all.take();
  EXPECT_EQ(isl_map_n_basic_map(made.get()), 37);
  EXPECT_TRUE(equal(made, one_by_one));
  MapUnion none(map("{ A[i] -> B[j] : false }"));
  EXPECT_EQ(isl_map_is_empty(none.take().get()), isl_bool_true);
}

TEST_F(Pieces, WithNothingInThemAreLeftOut) {
  const Isl<isl_map> odd = map("{ A[i] -> B[j] : 0 <= i < 5 and 1 <= 10j - 3i and 10j - 3i <= 0; A[i] -> B[i] }");
  EXPECT_TRUE(equal(without_empty(odd), odd));
  EXPECT_EQ(isl_map_n_basic_map(without_empty(odd).get()), 1);
}

TEST_F(Pieces, OfNothingAreNothing) {
  EXPECT_FALSE(intersect(a, Isl<isl_map>()));
  EXPECT_FALSE(intersect(Isl<isl_map>(), a));
  EXPECT_FALSE(without_empty(Isl<isl_map>()));
  const IslBudget budget(isl.get(), 1, std::chrono::milliseconds(10'000));
  EXPECT_FALSE(intersect(a, b));  // it is not known which of them are empty
}

}  // namespace
}  // namespace loopfold::poly
