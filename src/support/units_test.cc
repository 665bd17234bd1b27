#include "support/units.h"

#include <gtest/gtest.h>

namespace loopfold {
namespace {

TEST(Units, counts_are_short) {
  EXPECT_EQ(short_count(0), "0");
  EXPECT_EQ(short_count(999), "999");
  EXPECT_EQ(short_count(1000), "1.00 k");
  EXPECT_EQ(short_count(1234567), "1.23 M");
  EXPECT_EQ(short_count(45600000000), "45.6 G");
  EXPECT_EQ(short_bytes(270), "270 B");
  EXPECT_EQ(short_bytes(123456), "123 kB");
}

TEST(Units, one_is_no_plural) {
  EXPECT_EQ(counted(0, "pair"), "0 pairs");
  EXPECT_EQ(counted(1, "pair"), "1 pair");
  EXPECT_EQ(counted(2, "pair"), "2 pairs");
}

TEST(Units, counts_are_parsed) {
  EXPECT_EQ(parse_count("250"), 250u);
  EXPECT_EQ(parse_count("250k"), 250000u);
  EXPECT_EQ(parse_count("1.5M"), 1500000u);
  EXPECT_EQ(parse_count("2G"), 2000000000u);
  EXPECT_EQ(parse_count("64kB"), 64000u);
  EXPECT_EQ(parse_count("10B"), 10u);
  for (const char* bad : {"", "k", "-1", "1x", "1 k", "1kk", "inf", "nan", "1e300"}) {
    EXPECT_FALSE(parse_count(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace loopfold
