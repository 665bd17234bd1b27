// Against std::map.
#include "ddg/address_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace loopfold::ddg {
namespace {

std::optional<AddressMap::Entry> floor_of(const std::map<std::uint64_t, std::uint32_t>& map, std::uint64_t key) {
  const auto after = map.upper_bound(key);
  if (after == map.begin()) return std::nullopt;
  return AddressMap::Entry{std::prev(after)->first, std::prev(after)->second};
}

TEST(AddressMap, IsEmptyAtFirst) {
  AddressMap map;
  EXPECT_EQ(map.size(), 0U);
  EXPECT_EQ(map.floor(~std::uint64_t{0}), std::nullopt);
  EXPECT_FALSE(map.erase(3));
}

TEST(AddressMap, AgreesWithAMap) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937_64 random(seed);
    AddressMap map;
    std::map<std::uint64_t, std::uint32_t> reference;
    const std::uint64_t span = seed % 3 == 0 ? 500 : 100000;
    for (int step = 0; step < 20000; ++step) {
      const bool grows = step / 5000 % 2 == 0;
      const std::uint64_t key =
          seed % 4 == 1 && grows ? static_cast<std::uint64_t>(step) * 16 : random() % span * (seed % 2 + 1);
      if (random() % 4 < (grows ? 3U : 1U)) {
        map.insert(key, static_cast<std::uint32_t>(step));
        reference[key] = static_cast<std::uint32_t>(step);
      } else {
        const auto victim = reference.lower_bound(key);
        const std::uint64_t which = victim != reference.end() && random() % 8 != 0 ? victim->first : key;
        ASSERT_EQ(map.erase(which), reference.erase(which) == 1);
      }
      ASSERT_EQ(map.size(), reference.size());
      const std::uint64_t asked = random() % 3 == 0 ? key : random() % (2 * span);
      ASSERT_EQ(map.floor(asked), floor_of(reference, asked)) << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace loopfold::ddg
