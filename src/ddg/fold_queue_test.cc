// Whatever the number of workers, every folder gets its points, in order.
#include "ddg/fold_queue.h"

#include <gtest/gtest.h>

#include <random>

namespace loopfold::ddg {
namespace {

std::vector<fold::Folded> folded_with(unsigned workers) {
  FoldQueue queue(workers);
  std::vector<std::unique_ptr<fold::Folder>> folders;
  std::vector<fold::Shape> shapes;
  std::vector<std::int64_t> next(40);
  for (std::size_t i = 0; i < next.size(); ++i) {
    shapes.push_back({2, static_cast<std::uint16_t>(i % 3), 0});
    folders.push_back(fold::make_folder({}, shapes.back()));
  }
  std::mt19937_64 random(7);
  for (int n = 0; n < 200000; ++n) {
    const std::size_t i = random() % folders.size();
    const std::int64_t count = next[i]++;
    const std::int64_t point[] = {count / 50, count % 50};
    const std::int64_t labels[] = {3 * count, static_cast<std::int64_t>(i % 2 == 0 ? count % 50 : random() % 9)};
    queue.add(i, *folders[i], shapes[i], point, labels);
    if (n % 60000 == 59999) queue.drain();
  }
  queue.drain();
  std::vector<fold::Folded> result;
  for (const std::unique_ptr<fold::Folder>& folder : folders) result.push_back(folder->finish());
  return result;
}

TEST(FoldQueue, TheNumberOfWorkersDoesNotMatter) {
  const std::vector<fold::Folded> alone = folded_with(0);
  for (const unsigned workers : {1u, 2u, 5u}) {
    const std::vector<fold::Folded> shared = folded_with(workers);
    ASSERT_EQ(shared.size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(shared[i].pieces, alone[i].pieces) << workers << " workers, folder " << i;
      EXPECT_EQ(shared[i].points, alone[i].points);
    }
  }
}

TEST(FoldQueue, MayEndWithoutBeingDrained) {
  FoldQueue queue(2);
  const fold::Shape shape{1, 0, 0};
  const std::unique_ptr<fold::Folder> folder = fold::make_folder({}, shape);
  for (std::int64_t i = 0; i < 100000; ++i) queue.add(0, *folder, shape, &i, nullptr);
  queue.drain();
  EXPECT_EQ(folder->finish().points, 100000u);
  FoldQueue idle(3);
}

}  // namespace
}  // namespace loopfold::ddg
