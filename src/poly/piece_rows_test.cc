#include "poly/piece_rows.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace loopfold::poly {
namespace {

class Rows : public ::testing::Test {
 protected:
  Isl<isl_basic_map> piece(const std::string& text) const {
    Isl<isl_basic_map> made(isl_basic_map_read_from_str(isl.get(), text.c_str()));
    EXPECT_TRUE(made) << text;
    return made;
  }
  bool inside(const std::string& a, const std::string& b) const {
    return PieceRows(piece(a)).is_inside(PieceRows(piece(b)));
  }
  bool apart(const std::string& a, const std::string& b) const {
    return PieceRows(piece(a)).is_apart(PieceRows(piece(b)));
  }

  IslContext isl{isl_ctx_alloc()};
};

TEST_F(Rows, OneCoordinateShowsThatPiecesAreApart) {
  EXPECT_TRUE(apart("{ [i, j] -> [k] : i = 3 and j <= k }", "{ [i, j] -> [k] : i = 4 and k <= j }"));
  EXPECT_TRUE(apart("{ [i, j] -> [k] : 0 <= k < 10 }", "{ [i, j] -> [k] : k >= 10 }"));
  EXPECT_FALSE(apart("{ [i, j] -> [k] : 0 <= k <= 10 }", "{ [i, j] -> [k] : k >= 10 }"));
  EXPECT_FALSE(apart("{ [i, j] -> [k] : i < j }", "{ [i, j] -> [k] : i > j }"));  // no single one does
}

TEST_F(Rows, EndsAreApartWhereNothingIsBetween) {
  const PieceRows first(piece("{ [i] -> [j] : 0 <= j < 8 and i = 50 }"));
  EXPECT_TRUE(first.ends_apart_from(PieceRows(piece("{ [j] -> [k, l] : j > 7 }"))));
  EXPECT_FALSE(first.ends_apart_from(PieceRows(piece("{ [j] -> [k, l] : j > 6 and k = 9 }"))));
}

TEST_F(Rows, ConstraintsOfTheLargerOneAreThoseOfTheSmallerOne) {
  EXPECT_TRUE(inside("{ [i, j] -> [k] : 0 <= i < j and j < 10 and k > i }", "{ [i, j] -> [k] : 0 <= i < j < 12 }"));
  EXPECT_FALSE(inside("{ [i, j] -> [k] : 0 <= i < j and j < 13 }", "{ [i, j] -> [k] : 0 <= i < j < 12 }"));
  EXPECT_FALSE(inside("{ [i, j] -> [k] : 0 <= i and j < 12 }", "{ [i, j] -> [k] : 0 <= i < j < 12 }"));
  EXPECT_TRUE(inside("{ [i, j] -> [k] }", "{ [i, j] -> [k] }"));
}

TEST_F(Rows, EquationsCarryConstraintsFromOneEndToTheOther) {
  EXPECT_TRUE(inside("{ [i] -> [j] : j = i + 1 and 0 <= i < 10 }", "{ [i] -> [j] : 1 <= j < 11 }"));
  EXPECT_FALSE(inside("{ [i] -> [j] : j = i + 1 and 0 <= i < 10 }", "{ [i] -> [j] : 1 <= j < 10 }"));
  EXPECT_TRUE(inside("{ [i] -> [j] : j = 3 and i = 4 }", "{ [i] -> [j] : i = j + 1 }"));
  EXPECT_FALSE(inside("{ [i] -> [j] : 0 <= j <= i + 1 }", "{ [i] -> [j] : i = j + 1 }"));
}

TEST_F(Rows, NothingIsSaidOfDivisionsParametersAndPiecesThatDoNotFit) {
  EXPECT_FALSE(inside("{ [i] -> [j] : i = 4 }", "{ [i] -> [j] : exists e : i = 2e }"));
  EXPECT_TRUE(inside("{ [i] -> [j] : exists e : i = 2e and 0 <= i < 5 }", "{ [i] -> [j] : 0 <= i < 5 }"));
  EXPECT_FALSE(inside("[n] -> { [i] -> [j] : i < 5 }", "[n] -> { [i] -> [j] : i < 5 and n > 3 }"));
  EXPECT_FALSE(apart("{ [i] -> [j] : i = 1 }", "{ [i] -> [j, k] : i = 2 }"));
  EXPECT_FALSE(inside("{ [i] -> [j] : i = 1 }", "{ [i] -> [j, k] : i = 1 }"));
  EXPECT_FALSE(
      PieceRows(piece("{ [i] -> [j] : j = 1 }")).ends_apart_from(PieceRows(piece("{ [i, k] -> [j] : i = 2 }"))));
}

/// Small systems, with equations, divisions and numbers that meet: what is said is what isl says.
TEST_F(Rows, WhatIsSaidIsTrue) {
  std::mt19937 random(7);
  const auto number = [&](int least, int greatest) { return std::uniform_int_distribution<>(least, greatest)(random); };
  const auto made = [&] {
    std::string text = "{ [a, b] -> [c] : exists e : 0 <= a";
    for (int k = number(1, 4); k > 0; --k) {
      const int kind = number(0, 5);
      if (kind == 0)
        text += " and " + std::string(1, "abc"[number(0, 2)]) + " = " + std::to_string(number(-2, 4));
      else if (kind == 1)
        text += " and c = 2e + " + std::to_string(number(0, 1));
      else if (kind == 2)
        text += " and c = a + " + std::to_string(number(-2, 2)) + "b";
      else
        text += " and " + std::to_string(number(-1, 1)) + "a + " + std::to_string(number(-1, 1)) + "b + " +
                std::to_string(number(-1, 1)) + "c <= " + std::to_string(number(-3, 5));
    }
    return text + " }";
  };
  int apart = 0;
  int inside = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::string x = made();
    const std::string y = number(0, 2) == 0 ? x.substr(0, x.rfind(" and ")) + " }" : made();
    const Isl<isl_basic_map> a = piece(x);
    const Isl<isl_basic_map> b = piece(y);
    if (PieceRows(a).is_apart(PieceRows(b))) {
      ++apart;
      const Isl<isl_basic_map> both(isl_basic_map_intersect(a.copy(), b.copy()));
      EXPECT_EQ(isl_basic_map_is_empty(both.get()), isl_bool_true) << x << "\n" << y;
    }
    if (PieceRows(a).is_inside(PieceRows(b))) {
      ++inside;
      EXPECT_EQ(isl_basic_map_is_subset(a.get(), b.get()), isl_bool_true) << x << "\n" << y;
    }
    const Isl<isl_basic_map> turned(isl_basic_map_reverse(b.copy()));
    if (PieceRows(turned).ends_apart_from(PieceRows(a))) {
      const Isl<isl_basic_map> way(isl_basic_map_apply_range(turned.copy(), a.copy()));
      EXPECT_EQ(isl_basic_map_is_empty(way.get()), isl_bool_true) << x << "\n" << y;
    }
  }
  EXPECT_GT(apart, 50);
  EXPECT_GT(inside, 50);
}

}  // namespace
}  // namespace loopfold::poly
