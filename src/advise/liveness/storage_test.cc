// What comes before what, said by the rows of an order and by its maps: both must be the same.
#include "advise/liveness/storage.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <random>
#include <string>

#include "advise/liveness/hand_made.h"

namespace loopfold::advise::liveness {
namespace {

using poly::Isl;
using testing::equal;

class TimesBySums : public ::testing::Test {
 protected:
  /// A unit of so many coordinates.
  void unit(std::size_t dimensions, const std::vector<TimeSum>& sums) {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < dimensions; ++k) names.push_back(fmt::format("i{}", k));
    std::vector<std::string> rows;
    for (const TimeSum& sum : sums) {
      std::string text = std::to_string(sum.constant);
      for (std::size_t k = 0; k < dimensions; ++k) text += fmt::format(" + {}i{}", sum.coefficients[k], k);
      rows.push_back(fmt::format("floor(({})/{})", text, sum.divisor));
    }
    const std::string text =
        fmt::format("{{ U{}[{}] -> [{}] }}", by_sums.of.size(), fmt::join(names, ", "), fmt::join(rows, ", "));
    by_sums.of.emplace_back(isl_map_read_from_str(isl.get(), text.c_str()));
    EXPECT_TRUE(by_sums.of.back()) << text;
    by_sums.sums.push_back(sums);
  }

  void expect_the_same() {
    by_maps = by_sums;
    by_maps.sums.clear();
    Precedence kept(by_sums);
    for (std::uint32_t a = 0; a < by_sums.of.size(); ++a)
      for (std::uint32_t b = 0; b < by_sums.of.size(); ++b) {
        for (const std::int64_t position : {0, 1, 2}) {
          Access x;
          x.unit = a;
          x.position = 1;
          Access y;
          y.unit = b;
          y.position = position;
          EXPECT_TRUE(equal(before(by_sums, x, y), before(by_maps, x, y))) << a << " " << b << " " << position;
          EXPECT_TRUE(equal(kept.before(x, y), before(by_maps, x, y)));
          EXPECT_TRUE(equal(at_once(by_sums, x, y), at_once(by_maps, x, y))) << a << " " << b;
          EXPECT_TRUE(equal(kept.at_once(x, y), at_once(by_maps, x, y)));
        }
        for (std::size_t rows = 0; rows <= length_of(by_sums); ++rows) {
          EXPECT_TRUE(equal(equal_first(by_sums, a, b, rows), equal_first(by_maps, a, b, rows)));
          EXPECT_TRUE(equal(kept.equal_first(a, b, rows), equal_first(by_maps, a, b, rows)));
        }
      }
  }

  poly::IslContext isl{isl_ctx_alloc()};
  Times by_sums;
  Times by_maps;
};

TEST_F(TimesBySums, AreThoseOfTheMaps) {
  unit(2, {{{0, 0}, 0, 1}, {{1, 0}, 0, 1}, {{0, 0}, 1, 1}, {{0, 1}, 0, 1}});
  unit(2, {{{0, 0}, 0, 1}, {{1, 0}, 0, 1}, {{0, 0}, 2, 1}, {{0, 1}, 3, 1}});
  unit(1, {{{0}, 0, 1}, {{1}, 0, 1}, {{0}, 0, 1}, {{0}, 0, 1}});
  by_sums.parallel.assign(3, {false, true, false, true});
  expect_the_same();
}

TEST_F(TimesBySums, MayBeTilesAndSkewed) {
  unit(2, {{{1, 0}, 0, 4}, {{1, 1}, 0, 4}, {{1, 0}, 0, 1}, {{1, 1}, 0, 1}});
  unit(2, {{{1, 0}, 1, 4}, {{1, 1}, -3, 4}, {{1, 0}, 1, 1}, {{-1, 1}, -3, 1}});
  unit(1, {{{1}, 0, 4}, {{0}, -(1 << 30), 1}, {{1}, 0, 1}, {{0}, -7, 4}});
  by_sums.parallel.assign(3, {true, false, false, true});
  by_sums.parallel[2] = {true, false, true, true};
  expect_the_same();
}

TEST_F(TimesBySums, AtRandom) {
  std::mt19937 random(20240517);
  const auto number = [&](int least, int greatest) {
    return std::uniform_int_distribution<std::int64_t>(least, greatest)(random);
  };
  for (int round = 0; round < 12; ++round) {
    by_sums = {};
    for (int u = 0; u < 2; ++u) {
      const auto dimensions = static_cast<std::size_t>(number(1, 2));
      std::vector<TimeSum> sums;
      for (int row = 0; row < 3; ++row) {
        TimeSum& sum = sums.emplace_back();
        for (std::size_t k = 0; k < dimensions; ++k) sum.coefficients.push_back(number(0, 2) == 0 ? number(-1, 2) : 0);
        sum.constant = number(-2, 2);
        sum.divisor = number(0, 3) == 0 ? 4 : 1;
      }
      unit(dimensions, sums);
      by_sums.parallel.push_back({number(0, 1) == 0, number(0, 1) == 0, number(0, 1) == 0});
    }
    expect_the_same();
  }
}

/// Rows that say nothing, tiles of other loops, and places with other numbers are no other order.
TEST_F(TimesBySums, MayHaveTheSameOrder) {
  const TimeSum i{{1, 0}, 0, 1}, j{{0, 1}, 0, 1}, tile{{0, 1}, 0, 4};
  const auto place = [](std::int64_t number) { return TimeSum{{0, 0}, number, 1}; };
  const auto times = [](const std::vector<TimeSum>& a, const std::vector<TimeSum>& b) {
    Times made;
    made.sums = {a, b};
    return made;
  };
  const Times written = times({i, place(0), j, place(0)}, {i, place(0), j, place(1)});
  EXPECT_TRUE(have_same_order(written, written, 0, 1));
  EXPECT_TRUE(have_same_order(written, times({i, j, place(-3)}, {i, j, place(5)}), 0, 1));
  EXPECT_FALSE(have_same_order(written, times({i, j, place(5)}, {i, j, place(5)}), 0, 1));  // the unit's number decides
  EXPECT_FALSE(have_same_order(written, times({i, j, place(6)}, {i, j, place(5)}), 0, 1));
  EXPECT_FALSE(have_same_order(written, times({i, tile, j, place(0)}, {i, tile, j, place(1)}), 0, 1));
  EXPECT_FALSE(have_same_order(written, times({j, i, place(0)}, {j, i, place(1)}), 0, 1));
  EXPECT_FALSE(have_same_order(written, Times(), 0, 1));
  const Times apart = times({i, place(0), j}, {i, place(1), j});
  EXPECT_TRUE(have_same_order(apart, times({i, place(0), tile, j}, {i, place(1), place(0), j}), 0, 1));
  EXPECT_TRUE(have_same_order(apart, times({i, place(0), tile, j}, {i, place(1), place(0), j}), 1, 0));
  EXPECT_FALSE(have_same_order(apart, times({i, place(0), tile, j}, {i, place(1), place(0), j}), 0, 0));
}

TEST_F(TimesBySums, AreInTheSameOrderOnlyIfTheMapsAre) {
  std::mt19937 random(11);
  const auto number = [&](int least, int greatest) {
    return std::uniform_int_distribution<std::int64_t>(least, greatest)(random);
  };
  int same = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<Times> both;
    for (int t = 0; t < 2; ++t) {
      by_sums = {};
      for (int u = 0; u < 2; ++u) {
        std::vector<TimeSum> sums;
        for (int row = 0; row < 2; ++row)
          sums.push_back({{number(0, 3) == 0 ? 1 : 0}, number(-1, 1), number(0, 3) == 0 ? 4 : 1});
        unit(1, sums);
        by_sums.parallel.emplace_back(2);
      }
      both.push_back(by_sums);
    }
    for (const std::uint32_t a : {0U, 1U})
      for (const std::uint32_t b : {0U, 1U}) {
        if (!have_same_order(both[0], both[1], a, b)) continue;
        ++same;
        for (const std::int64_t position : {0, 1, 2}) {
          Access x;
          x.unit = a;
          x.position = 1;
          Access y;
          y.unit = b;
          y.position = position;
          EXPECT_TRUE(equal(before(both[0], x, y), before(both[1], x, y)));
        }
      }
  }
  EXPECT_GT(same, 100);
}

}  // namespace
}  // namespace loopfold::advise::liveness
