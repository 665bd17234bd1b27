#include "fold/fingerprint.h"

#include <gtest/gtest.h>

#include <set>

namespace loopfold::fold {
namespace {

Fingerprint of(const std::vector<Wide>& values) {
  Fingerprint fingerprint;
  for (const Wide value : values) fingerprint.append(Fingerprint::element(value));
  return fingerprint;
}

TEST(Fingerprint, equal_sequences_agree) {
  EXPECT_TRUE(of({}).agrees_with(of({})));
  EXPECT_TRUE(of({0, 4, 10}).agrees_with(of({0, 4, 10})));
  EXPECT_FALSE(of({0, 4, 10}).agrees_with(of({0, 31, -56})));
  EXPECT_FALSE(of({0, 4, 10}).agrees_with(of({0, 10, 4})));
}

TEST(Fingerprint, sequences_agree_as_far_as_both_go) {
  EXPECT_TRUE(of({0, 4, 10}).agrees_with(of({0, 4, 10, 11, 12})));
  EXPECT_TRUE(of({0, 4, 10, 11, 12}).agrees_with(of({0})));
  EXPECT_FALSE(of({0, 4, 9}).agrees_with(of({0, 4, 10, 11, 12})));
}

TEST(Fingerprint, past_the_bound_only_equal_lengths_compare) {
  std::vector<Wide> values;
  for (std::size_t i = 0; i < Fingerprint::kPrefixes; ++i) values.push_back(static_cast<Wide>(i * i));
  const Fingerprint bound = of(values);
  values.push_back(-1);
  const Fingerprint longer = of(values);
  EXPECT_TRUE(bound.agrees_with(longer));
  EXPECT_TRUE(longer.agrees_with(of(values)));
  values.push_back(-2);
  EXPECT_FALSE(longer.agrees_with(of(values)));
  EXPECT_EQ(of(values).bytes(), Fingerprint::kPrefixes * 8);
}

TEST(Fingerprint, what_is_forgotten_agrees_with_nothing) {
  Fingerprint fingerprint = of({0, 1});
  fingerprint.forget();
  EXPECT_FALSE(fingerprint.agrees_with(of({0, 1})));
  EXPECT_FALSE(of({0, 1}).agrees_with(fingerprint));
  EXPECT_FALSE(fingerprint.agrees_with(fingerprint));
}

/// Differences of 64-bit labels have 65 bits.
TEST(Fingerprint, all_bits_of_a_difference_count) {
  const Wide two_to_64 = static_cast<Wide>(1) << 64;
  EXPECT_FALSE(of({0, 5}).agrees_with(of({0, 5 - two_to_64})));
}

TEST(Fingerprint, slices_count_with_start_length_and_content) {
  const std::set<std::uint64_t> elements{
      Fingerprint::element(3),
      Fingerprint::element(3, 0, of({0, 4})),
      Fingerprint::element(3, 1, of({0, 4})),
      Fingerprint::element(3, 0, of({0, 5})),
      Fingerprint::element(3, 0, of({0})),
      Fingerprint::element(4, 0, of({0, 4})),
  };
  EXPECT_EQ(elements.size(), 6u);
}

}  // namespace
}  // namespace loopfold::fold
