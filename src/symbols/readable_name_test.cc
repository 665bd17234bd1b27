#include "symbols/readable_name.h"

#include <gtest/gtest.h>

namespace loopfold::symbols {
namespace {

TEST(ReadableName, C) {
  EXPECT_EQ(readable_name("main"), "main");
  EXPECT_EQ(readable_name("memcpy@@GLIBC_2.14"), "memcpy");
  EXPECT_EQ(readable_name("sum.constprop.0"), "sum.constprop.0");
  EXPECT_EQ(readable_name("@odd"), "@odd");
  EXPECT_EQ(readable_name(""), "");
}

TEST(ReadableName, Cxx) {
  EXPECT_EQ(readable_name("_ZNK3geo3Box4areaEi"), "geo::Box::area(int) const");
  EXPECT_EQ(readable_name("_Z3sumi.constprop.0"), "sum(int) [clone .constprop.0]");
  EXPECT_EQ(readable_name("_Zodd"), "_Zodd");
}

TEST(ReadableName, Rust) {
  EXPECT_EQ(readable_name("_ZN1r5total17h0c9b884ea5fad6ebE"), "r::total");
  EXPECT_EQ(readable_name("_ZN1r12Foo$LT$T$GT$2go17h967a83d386b00eb7E"), "r::Foo<T>::go");
  EXPECT_EQ(readable_name("_ZN4core3ptr35drop_in_place$LT$std..env..Args$GT$17heb2ac0560c458459E"),
            "core::ptr::drop_in_place<std::env::Args>");
  EXPECT_EQ(readable_name("_ZN73_$LT$core..ops..range..Range$LT$A$GT$$u20$as$u20$core..iter..Iterator$GT$4next"
                          "17h0123456789abcdefE"),
            "<core::ops::range::Range<A> as core::iter::Iterator>::next");
  EXPECT_EQ(readable_name("_RNCNvCsa1B2_1r4main0"), "r::main::{closure#0}");
  EXPECT_EQ(readable_name("_RNvC1r1f@@VERS_1"), "r::f");
  EXPECT_EQ(readable_name("_Rodd"), "_Rodd");
}

TEST(ReadableName, ColdParts) {
  EXPECT_TRUE(is_cold_part("sum.cold"));
  EXPECT_TRUE(is_cold_part("sum.part.0.cold"));
  EXPECT_TRUE(is_cold_part("sum.cold.1"));
  EXPECT_FALSE(is_cold_part("is_cold"));
  EXPECT_FALSE(is_cold_part("sum.colder"));
  EXPECT_EQ(owner_of_cold_part("sum.part.0.cold"), "sum.part.0");
  EXPECT_EQ(owner_of_cold_part("sum.cold.1"), "sum");
}

TEST(ReadableName, BaseName) {
  EXPECT_EQ(base_name("/usr/lib/libc.so.6"), "libc.so.6");
  EXPECT_EQ(base_name("prog"), "prog");
  EXPECT_EQ(base_name(""), "");
}

}  // namespace
}  // namespace loopfold::symbols
