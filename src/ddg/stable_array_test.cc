#include "ddg/stable_array.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace loopfold::ddg {
namespace {

TEST(StableArray, ElementsStayWhereTheyAre) {
  StableArray<int, 2> array;
  ASSERT_EQ(array.size(), 1u);
  EXPECT_EQ(array[0], 0);
  std::vector<const int*> places{&array[0]};
  for (int i = 1; i < 1000; ++i) {
    array.push_back(i);
    places.push_back(&array[static_cast<std::size_t>(i)]);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(&array[i], places[i]);
    EXPECT_EQ(array[i], static_cast<int>(i));
  }
}

TEST(StableArray, RoomIsUsedAgain) {
  StableArray<int, 2> array;
  for (int i = 1; i < 10; ++i) array.push_back(i);
  const int* const third = &array[3];
  array.truncate(3);
  EXPECT_EQ(array.size(), 3u);
  array.push_back(33);
  EXPECT_EQ(&array[3], third);
  EXPECT_EQ(array[3], 33);
}

TEST(StableArray, IsReadWhileItGrows) {
  StableArray<std::uint64_t, 3> array;
  std::atomic<std::size_t> known = 1;
  std::thread reader([&] {
    for (std::size_t n = 0; n < 20000;) {
      n = known.load(std::memory_order_acquire);
      EXPECT_EQ(array[n - 1], n - 1);
      EXPECT_EQ(array[n / 2], n / 2);
    }
  });
  for (std::uint64_t i = 1; i < 20000; ++i) {
    array.push_back(i);
    known.store(i + 1, std::memory_order_release);
  }
  reader.join();
}

}  // namespace
}  // namespace loopfold::ddg
