#include "ddg/entries.h"

#include <gtest/gtest.h>

#include <random>
namespace loopfold::ddg {
namespace {

std::vector<std::int64_t> vector_of(const Entries& entries, EntryId id, std::uint64_t counter) {
  std::vector<std::int64_t> into(entries.depth(id));
  entries.vector(id, counter, into.data());
  return into;
}

TEST(Entries, VectorsAreWalkedOutwards) {
  Entries entries;
  const EntryId stack = entries.add(kNoEntry, 0, 1);
  const EntryId outer = entries.add(stack, 7, 2);
  const EntryId inner = entries.add(outer, 3, 3);
  EXPECT_EQ(vector_of(entries, stack, 7), (std::vector<std::int64_t>{7}));
  EXPECT_EQ(vector_of(entries, inner, 5), (std::vector<std::int64_t>{7, 3, 5}));
}

TEST(Entries, HaveTheSliceTheyWereMadeIn) {
  Entries entries;
  const EntryId stack = entries.add(kNoEntry, 0, 1, 3);
  const EntryId again = entries.add(kNoEntry, 0, 1, 8);
  EXPECT_EQ(entries.slice(stack), 3u);
  EXPECT_EQ(entries.slice(again), 8u);
}

/// What is marked stays what it was, with all that is around it; the others are used again.
TEST(Entries, CollectingKeepsWhatIsReferredTo) {
  Entries entries;
  const EntryId stack = entries.add(kNoEntry, 0, 1);
  std::vector<EntryId> kept;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const EntryId loop = entries.add(stack, i, 2);
    const EntryId inner = entries.add(loop, i * 2, 3);
    if (i % 10 == 0) kept.push_back(inner);
  }
  const std::uint64_t bytes = entries.bytes();
  entries.begin_collection();
  for (const EntryId id : kept) entries.mark(id);
  entries.end_collection();
  for (std::uint64_t i = 0; i < 2000; ++i) entries.add(stack, i, 2);
  EXPECT_EQ(entries.bytes(), bytes);
  for (std::uint64_t i = 0; i < kept.size(); ++i) {
    const auto outer = static_cast<std::int64_t>(i * 10);
    EXPECT_EQ(vector_of(entries, kept[i], 1), (std::vector<std::int64_t>{outer, outer * 2, 1}));
  }
}

TEST(Entries, AsksForACollectionWhenTheyGrow) {
  Entries entries;
  const EntryId stack = entries.add(kNoEntry, 0, 1);
  std::uint64_t added = 0;
  while (!entries.wants_collection()) {
    entries.add(stack, added++, 2);
    ASSERT_LT(added, std::uint64_t{1} << 24);
  }
  entries.begin_collection();
  entries.mark(stack);
  entries.end_collection();
  EXPECT_FALSE(entries.wants_collection());
  EXPECT_EQ(entries.depth(stack), 1);
}

/// Two instances anywhere in random nests: what vector() says, and no coordinate is called equal that is not.
TEST(Entries, NearVectorIsTheVector) {
  std::mt19937 random(3);
  Entries entries;
  struct Instance {
    std::vector<EntryId> entries;
    std::vector<std::int64_t> point;
  };
  std::vector<Instance> made(1);
  for (int i = 0; i < 400; ++i) {
    Instance instance = made[random() % made.size()];
    const std::size_t keep = random() % (instance.entries.size() + 1);
    instance.entries.resize(keep);
    instance.point.resize(keep);
    if (keep > 0) instance.point.back() = random() % 3;
    if (keep == 0 || random() % 2 == 0) {
      const EntryId parent = keep == 0 ? kNoEntry : instance.entries.back();
      const std::uint64_t counter = keep == 0 ? 0 : static_cast<std::uint64_t>(instance.point.back());
      instance.entries.push_back(entries.add(parent, counter, static_cast<std::uint16_t>(keep + 1)));
      instance.point.push_back(random() % 3);
    }
    made.push_back(instance);
  }
  for (int i = 0; i < 20000; ++i) {
    const Instance& from = made[1 + random() % (made.size() - 1)];
    const Instance& to = made[1 + random() % (made.size() - 1)];
    std::vector<std::int64_t> near(from.point.size());
    const std::size_t equal = entries.vector_near(
        from.entries.back(), static_cast<std::uint64_t>(from.point.back()), to.point.data(), to.entries.size(),
        [&](std::size_t k) { return to.entries[k]; }, near.data());
    ASSERT_EQ(near, from.point);
    ASSERT_LE(equal, std::min(from.point.size(), to.point.size()));
    for (std::size_t k = 0; k < equal; ++k) ASSERT_EQ(near[k], to.point[k]);
    const std::size_t common = random() % (std::min(from.point.size(), to.point.size()) + 1);
    std::size_t level = 0;
    while (level < common && from.point[level] == to.point[level]) ++level;
    const Entries::Parting parting =
        entries.parting(from.entries.back(), static_cast<std::uint64_t>(from.point.back()), to.entries.back(),
                        to.point.data(), static_cast<std::uint16_t>(common));
    ASSERT_EQ(parting.level, level);
    if (level < common) {
      ASSERT_EQ(parting.coordinate, from.point[level]);
    }
  }
}

}  // namespace
}  // namespace loopfold::ddg
