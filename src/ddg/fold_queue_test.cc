// Whatever the number of workers and the memory, every folder gets its points, in order.
#include "ddg/fold_queue.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace loopfold::ddg {
namespace {

constexpr std::uint64_t kLittle = 32 * 1024;
constexpr std::uint64_t kMuch = std::uint64_t{16} << 20;

struct Streams {
  std::vector<std::unique_ptr<fold::Folder>> folders;
  std::vector<fold::Shape> shapes;
  std::vector<std::int64_t> next;

  explicit Streams(std::size_t count) : next(count) {
    for (std::size_t i = 0; i < count; ++i) {
      shapes.push_back({2, static_cast<std::uint16_t>(i % 3), 0});
      folders.push_back(fold::make_folder({}, shapes.back()));
    }
  }
};

/// A run, as rows.
void add_rows(FoldQueue& queue, std::uint16_t shard, fold::Folder& folder, fold::Shape shape, const fold::Run& run) {
  std::vector<std::int64_t> points;
  std::vector<std::int64_t> labels;
  fold::Rows rows;
  rows.ordered = true;
  for (std::uint64_t k = 0; k < run.n; ++k) {
    const auto times = static_cast<std::int64_t>(k);
    points.insert(points.end(), {run.point[0], run.point[1] + times});
    for (std::size_t o = 0; o < shape.outputs; ++o) labels.push_back(run.labels[o] + times * run.steps[o]);
    if (k > 0) rows.follows |= std::uint64_t{1} << k;
  }
  rows.points = points.data();
  rows.labels = labels.data();
  rows.n = run.n;
  queue.add_rows(shard, folder, shape, rows);
}

/// Streams in groups of four that share their points, as those of a statement do, single points and runs of them; now
/// and then all must be folded.
std::vector<fold::Folded> folded_with(unsigned workers, std::uint64_t budget, int steps) {
  constexpr std::int64_t kRow = 50;
  FoldQueue queue(workers, budget);
  Streams all(48);
  std::mt19937_64 random(7);
  for (int n = 0; n < steps; ++n) {
    const std::size_t group = random() % 12;
    const std::int64_t count = all.next[4 * group];
    const std::int64_t point[] = {count / kRow, count % kRow};
    const bool in_rows = random() % 4 == 0;
    const std::uint64_t points = 1 + (random() % 4 == 0 ? random() % static_cast<std::uint64_t>(kRow - point[1]) : 0);
    for (std::size_t i = 4 * group; i < 4 * group + 4; ++i) {
      all.next[i] += static_cast<std::int64_t>(points);
      const std::int64_t labels[] = {3 * count, static_cast<std::int64_t>(i % 2 == 0 ? count % kRow : random() % 9)};
      const std::int64_t steps_of[] = {3, static_cast<std::int64_t>(random() % 3)};
      const std::uint16_t shard = queue.shard_of(group);
      if (in_rows)
        add_rows(queue, shard, *all.folders[i], all.shapes[i], {point, labels, steps_of, points, 1});
      else if (points == 1)
        queue.add(shard, *all.folders[i], all.shapes[i], point, labels);
      else
        queue.add_run(shard, *all.folders[i], all.shapes[i], {point, labels, steps_of, points, 1});
    }
    if (n % 60000 == 59999) queue.drain();
  }
  queue.drain();
  std::vector<fold::Folded> result;
  for (const std::unique_ptr<fold::Folder>& folder : all.folders) result.push_back(folder->finish());
  return result;
}

void expect_same(const std::vector<fold::Folded>& a, const std::vector<fold::Folded>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].pieces, b[i].pieces) << what << ", folder " << i;
    EXPECT_EQ(a[i].points, b[i].points) << what << ", folder " << i;
  }
}

TEST(FoldQueue, TheNumberOfWorkersDoesNotMatter) {
  const std::vector<fold::Folded> alone = folded_with(0, kMuch, 50000);
  for (const unsigned workers : {1u, 2u, 7u, 100u})
    expect_same(folded_with(workers, kMuch, 50000), alone, std::to_string(workers) + " workers");
}

TEST(FoldQueue, WithLittleMemoryTheCallerFoldsToo) {
  const std::vector<fold::Folded> alone = folded_with(0, kLittle, 30000);
  for (const unsigned workers : {1u, 3u})
    for (const std::uint64_t budget : {std::uint64_t{0}, kLittle})
      expect_same(folded_with(workers, budget, 30000), alone, std::to_string(budget) + " bytes");
}

/// A folder that remembers what it was given.
class Memory : public fold::Folder {
 public:
  explicit Memory(fold::Shape shape) : Folder(shape) {}
  void add(const std::int64_t* point, const std::int64_t* labels) override {
    told.insert(told.end(), point, point + shape_.dimensions);
    told.insert(told.end(), labels, labels + shape_.outputs);
  }
  void add_run(const fold::Run& run) override {
    add(run.point, run.labels);
    told.insert(told.end(), run.steps, run.steps + shape_.outputs);
    told.push_back(static_cast<std::int64_t>(run.n));
    told.push_back(run.stride);
  }
  void give_up(std::string_view) override {}
  std::size_t bytes() const override { return 0; }
  fold::Folded finish() override { return {}; }

  std::vector<std::int64_t> told;
};

TEST(FoldQueue, PointsArriveAsTheyWere) {
  std::mt19937_64 random(11);
  for (const unsigned workers : {0u, 1u, 3u}) {
    FoldQueue queue(workers, kLittle);
    std::vector<std::unique_ptr<Memory>> folders;
    std::vector<std::unique_ptr<Memory>> expected;
    std::vector<fold::Shape> shapes;
    for (std::uint16_t i = 0; i < 24; ++i) {
      shapes.push_back({static_cast<std::uint16_t>(1 + i % 3), static_cast<std::uint16_t>(i % 4), 0});
      folders.push_back(std::make_unique<Memory>(shapes.back()));
      expected.push_back(std::make_unique<Memory>(shapes.back()));
    }
    for (int n = 0; n < 40000; ++n) {
      const std::size_t i = random() % folders.size();
      std::int64_t numbers[9];
      for (std::int64_t& number : numbers) number = static_cast<std::int64_t>(random() % 2);
      const std::uint64_t points = random() % 3;
      const std::uint16_t shard = queue.shard_of(i);
      if (random() % 4 == 0) {
        std::vector<std::int64_t> some(64 * 7);
        for (std::int64_t& number : some) number = static_cast<std::int64_t>(random() % 2);
        const fold::Rows rows{
            some.data(), some.data() + 64 * 3, static_cast<std::size_t>(1 + random() % 64), false, nullptr, 0, 0};
        queue.add_rows(shard, *folders[i], shapes[i], rows);
        expected[i]->add_rows(rows);
      } else if (points > 0) {
        const fold::Run run{numbers, numbers + 3, numbers + 6, points, static_cast<std::int64_t>(1 + random() % 5)};
        queue.add_run(shard, *folders[i], shapes[i], run);
        expected[i]->add_run(run);
      } else {
        queue.add(shard, *folders[i], shapes[i], numbers, numbers + 3);
        expected[i]->add(numbers, numbers + 3);
      }
    }
    queue.drain();
    for (std::size_t i = 0; i < folders.size(); ++i) EXPECT_EQ(folders[i]->told, expected[i]->told) << "folder " << i;
  }
}

TEST(FoldQueue, APointThatFitsIntoNoBatchComesInOrderToo) {
  FoldQueue queue(2, 0);
  const fold::Shape small{1, 0, 0};
  const fold::Shape large{40000, 30000, 0};
  Memory first(small);
  Memory second(large);
  const std::vector<std::int64_t> numbers(70000, 5);
  const std::int64_t one = 1;
  queue.add(0, first, small, &one, nullptr);
  queue.add(0, second, large, numbers.data(), numbers.data());
  EXPECT_EQ(first.told.size(), 1u);
  queue.add_run(1, second, large, {numbers.data(), numbers.data(), numbers.data(), 3, 1});
  queue.add(0, first, small, &one, nullptr);
  queue.drain();
  EXPECT_EQ(first.told.size(), 2u);
  EXPECT_EQ(second.told.size(), 70000u + 100002u);
}

TEST(FoldQueue, ThreadsStartWhenThereIsEnoughToFold) {
  FoldQueue queue(3, kMuch);
  const fold::Shape shape{1, 0, 0};
  const std::unique_ptr<fold::Folder> folder = fold::make_folder({}, shape);
  std::int64_t next = 0;
  for (; next < 1000; ++next) queue.add(0, *folder, shape, &next, nullptr);
  queue.drain();
  EXPECT_EQ(queue.threads(), 0u);
  for (; next < 1000000; ++next) queue.add(0, *folder, shape, &next, nullptr);
  EXPECT_GE(queue.threads(), 1u);
  queue.drain();
  EXPECT_EQ(folder->finish().points, 1000000u);
}

TEST(FoldQueue, MayEndWithoutBeingDrained) {
  const fold::Shape shape{1, 0, 0};
  Memory folder(shape);
  FoldQueue queue(2, kMuch);
  for (std::int64_t i = 0; i < 1000000; ++i) queue.add(queue.shard_of(3), folder, shape, &i, nullptr);
  FoldQueue idle(3);
}

TEST(FoldQueue, TakesASmallShareOfTheMemory) {
  EXPECT_EQ(FoldQueue::budget(0), 0u);
  EXPECT_EQ(FoldQueue::budget(3200), 100u);
  EXPECT_EQ(FoldQueue::budget(~std::uint64_t{0}), kMuch);
}

}  // namespace
}  // namespace loopfold::ddg
