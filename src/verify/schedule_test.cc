#include "verify/schedule.h"

#include <gtest/gtest.h>

#include <vector>

namespace loopfold::verify {
namespace {

using Time = std::vector<std::int64_t>;

TEST(VerifySchedule, AffineMapsAreRows) {
  const Result<Schedule> schedule = Schedule::parse("{ S3[i, j] -> [i + 2j - 1, -j, 0]; S12[i] -> [i, 5, 1] }");
  ASSERT_TRUE(schedule) << schedule.error().message;
  EXPECT_EQ(schedule->dimensions(), 3u);
  EXPECT_EQ(schedule->counters(3), 2u);
  EXPECT_EQ(schedule->time(3, Time{4, 10}), (Time{23, -10, 0}));
  EXPECT_EQ(schedule->time(12, Time{4}), (Time{4, 5, 1}));
  EXPECT_FALSE(schedule->has(4));
  EXPECT_FALSE(schedule->time(4, Time{1}));
  EXPECT_FALSE(schedule->time(12, Time{1, 2}));
}

TEST(VerifySchedule, PiecesAndDivisionsAreAsked) {
  const Result<Schedule> schedule =
      Schedule::parse("{ S0[i] -> [floor(i/4), i] : i < 8; S0[i] -> [100, -i] : i >= 9 }");
  ASSERT_TRUE(schedule) << schedule.error().message;
  EXPECT_EQ(schedule->time(0, Time{7}), (Time{1, 7}));
  EXPECT_EQ(schedule->time(0, Time{7}), (Time{1, 7}));
  EXPECT_EQ(schedule->time(0, Time{9}), (Time{100, -9}));
  EXPECT_FALSE(schedule->time(0, Time{8}));
}

TEST(VerifySchedule, WhatIsNoScheduleIsRefused) {
  EXPECT_FALSE(Schedule::parse("{ S0[i] -> "));
  EXPECT_FALSE(Schedule::parse("{ T0[i] -> [i] }"));
  EXPECT_FALSE(Schedule::parse("{ S0[i] -> [t] : 0 <= t <= 1 }"));
  EXPECT_FALSE(Schedule::parse("{ S0[i] -> [i]; S1[i] -> [i, 0] }"));
  EXPECT_FALSE(Schedule::parse("[n] -> { S0[i] -> [i + n] }"));
}

TEST(VerifySchedule, NothingIsASchedule) {
  const Result<Schedule> schedule = Schedule::parse("{  }");
  ASSERT_TRUE(schedule) << schedule.error().message;
  EXPECT_FALSE(schedule->has(0));
}

}  // namespace
}  // namespace loopfold::verify
