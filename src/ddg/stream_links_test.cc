// Look-ups of links against a map, for few and for many.
#include "ddg/stream_links.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

namespace loopfold::ddg {
namespace {

TEST(StreamLinks, FindsWhatWasInsertedInAnyOrder) {
  std::mt19937_64 random(7);
  for (const std::uint64_t keys : {1, 2, 8, 9, 10, 300}) {
    StreamLinks<int> links;
    std::deque<int> details;
    std::map<std::uint64_t, int*> reference;
    EXPECT_EQ(links.find(1), nullptr);
    for (int step = 0; step < 3000; ++step) {
      const std::uint64_t key = 1 + random() % keys;
      const auto known = reference.find(key);
      ASSERT_EQ(links.find(key), known == reference.end() ? nullptr : known->second) << key << " of " << keys;
      if (known != reference.end()) continue;
      details.push_back(step);
      links.insert(key, &details.back());
      reference[key] = &details.back();
      ASSERT_EQ(links.size(), reference.size());
    }
  }
}

}  // namespace
}  // namespace loopfold::ddg
