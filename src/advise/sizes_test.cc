#include "advise/sizes.h"

#include <gtest/gtest.h>

#include <string>

namespace loopfold::advise {
namespace {

using poly::Isl;

class SizesOf : public ::testing::Test {
 protected:
  Isl<isl_map> map(const std::string& text) { return Isl<isl_map>(isl_map_read_from_str(isl_.get(), text.c_str())); }
  Sizes of(const std::vector<Isl<isl_map>>& maps) {
    Sizes sizes;
    for (const Isl<isl_map>& map : maps) sizes.look_at(map);
    sizes.choose();
    return sizes;
  }
  /// The map with parameters, where they are what they stand for.
  Isl<isl_map> at_values(const Sizes& sizes, Isl<isl_map> map) {
    for (std::size_t i = 0; i < sizes.values().size(); ++i)
      map = Isl<isl_map>(isl_map_fix_val(map.release(), isl_dim_param, static_cast<unsigned>(i),
                                         isl_val_int_from_si(isl_.get(), sizes.values()[i])));
    return Isl<isl_map>(isl_map_project_out(map.release(), isl_dim_param, 0,
                                            static_cast<unsigned>(isl_map_dim(map.get(), isl_dim_param))));
  }

  poly::IslContext isl_{isl_ctx_alloc()};
};

TEST_F(SizesOf, NumbersCloseToEachOtherAreOneSize) {
  const std::vector<Isl<isl_map>> maps{
      map("{ A[i, j] -> B[i + 1, o] : i >= 0 and 0 <= j <= 268 - i and 0 <= o <= 265 - i }"),
      map("{ B[266, j] -> A[267, j - 1] : 0 < j <= 2 }"), map("{ A[i, j] -> A[i + 100, j] : 2i - j >= -1234 }")};
  const Sizes sizes = of(maps);
  EXPECT_EQ(sizes.values(), (std::vector<std::int64_t>{1234, 268, 100}));
  for (const Isl<isl_map>& map : maps) {
    const Isl<isl_map> with = sizes.put_into(map);
    EXPECT_EQ(isl_map_dim(with.get(), isl_dim_param), 3);
    EXPECT_EQ(isl_map_is_equal(at_values(sizes, with).get(), map.get()), isl_bool_true)
        << poly::take_text(isl_map_to_str(with.get()));
  }
  const Isl<isl_map> expected = map("[n0, n1, n2] -> { B[n1 - 2, j] -> A[n1 - 1, j - 1] : 0 < j <= 2 }");
  EXPECT_EQ(isl_map_is_equal(sizes.put_into(maps[1]).get(), expected.get()), isl_bool_true);
}

TEST_F(SizesOf, SmallNumbersStay) {
  const Isl<isl_map> small = map("{ A[i, j] -> B[i + 1, j] : 0 <= i <= 9 and j <= 15 - i }");
  const Sizes sizes = of({small});
  EXPECT_TRUE(sizes.values().empty());
  EXPECT_EQ(isl_map_plain_is_equal(sizes.put_into(small).get(), small.get()), isl_bool_true);
}

TEST_F(SizesOf, PartsOfASizeAreNoOthers) {
  const std::vector<Isl<isl_map>> maps{map("{ A[i] -> A[999 - i] : 0 <= i <= 499 }"),
                                       map("{ A[i] -> B[i, j] : j >= 250 and 3j <= 333 + i }")};
  const Sizes sizes = of(maps);
  EXPECT_EQ(sizes.values(), (std::vector<std::int64_t>{999}));
  for (const Isl<isl_map>& map : maps)
    EXPECT_EQ(isl_map_is_equal(at_values(sizes, sizes.put_into(map)).get(), map.get()), isl_bool_true);
  const Isl<isl_map> expected = map("[n0] -> { A[i] -> A[n0 - i] : 0 <= i and 2i <= n0 - 1 }");
  EXPECT_EQ(isl_map_is_equal(sizes.put_into(maps[0]).get(), expected.get()), isl_bool_true);
}

TEST_F(SizesOf, ManyNumbersStay) {
  const std::string text = "j >= 20 and j <= 231 - i and j <= 517 + i and 2j <= 1291 + i and 3j <= 2999 - i";
  EXPECT_TRUE(of({map("{ A[i] -> B[j] : " + text + " }")}).values().empty());
}

TEST_F(SizesOf, QuantifiedVariablesMayBeThere) {
  const Isl<isl_map> lattice = map("{ A[i] -> B[j] : i mod 2 = 0 and 2j = i + 300 and 0 <= i <= 500 }");
  const Sizes sizes = of({lattice});
  const Isl<isl_map> with = at_values(sizes, sizes.put_into(lattice));
  EXPECT_EQ(isl_map_is_subset(lattice.get(), with.get()), isl_bool_true);
}

}  // namespace
}  // namespace loopfold::advise
