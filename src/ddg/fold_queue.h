// Folds on other threads: points go to the thread that folds their shard, in the order in which they came.
//
// Every folder belongs to one *shard*, by the number that the caller names. Points are written into the shard's current
// batch, a block of numbers; full batches wait in the shard's line. A thread takes a shard as long as it folds the
// first batch of its line, so that a folder's points are folded in order, by one thread at a time, and what comes out
// does not depend on the number of workers or on who was faster. There are more shards than threads, and whoever is
// free takes the shard with the longest line: no thread owns a hot stream, and there is nothing to balance. The
// caller's own thread folds too when it would otherwise have to wait: when all batches are in use, and in drain().
//
// A point that is that of the record before it in its batch is not written again: the streams of a statement should
// have one shard, since an instance gives each of them its point. So a value costs three numbers on the way.
//
// Workers are started when that much is waiting that a thread pays, and woken when a few batches are: a wake-up costs
// about as much as folding hundreds of points. What folds little (affine programs that are not long) has no threads.
// Without workers everything is folded at once, on the caller's thread.
//
// Memory is that of the batches, at most budget(): made when first needed, and used again and again. One lock guards
// the lines; it is taken once per batch.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "fold/fold.h"

namespace loopfold::ddg {

class FoldQueue {
 public:
  /// Bytes for points on their way, of so many that all of the analysis may use. The same for any number of workers.
  static std::uint64_t budget(std::uint64_t max_memory) { return std::min(kMostBytes, max_memory / 32); }

  explicit FoldQueue(unsigned workers, std::uint64_t budget = kMostBytes);
  ~FoldQueue();
  FoldQueue(const FoldQueue&) = delete;
  FoldQueue& operator=(const FoldQueue&) = delete;

  /// No workers: a point may as well go to its folder without coming here.
  bool direct() const { return shards_.empty(); }
  /// The shard for `key`: the same for the same key.
  std::uint16_t shard_of(std::uint64_t key) const {
    return direct() ? std::uint16_t{0} : static_cast<std::uint16_t>(key % shards_.size());
  }

  /// `folder` must stay where it is until drain().
  void add(std::uint16_t shard, fold::Folder& folder, fold::Shape shape, const std::int64_t* point,
           const std::int64_t* labels) {
    if (direct()) return folder.add(point, labels);
    const std::size_t most = kHeader + shape.dimensions + shape.outputs;
    std::int64_t* at = begin_record(shards_[shard], folder, shape, point, 0, most);
    if (at == nullptr) [[unlikely]]
      return folder.add(point, labels);
    shards_[shard].at = copy(labels, shape.outputs, at);
  }

  /// Several points at once, as Folder::add_run.
  void add_run(std::uint16_t shard, fold::Folder& folder, fold::Shape shape, const fold::Run& run) {
    if (direct()) return folder.add_run(run);
    const std::size_t most = kHeader + 2 + shape.dimensions + std::size_t{2} * shape.outputs;
    std::int64_t* at = begin_record(shards_[shard], folder, shape, run.point, kRun, most);
    if (at == nullptr) [[unlikely]]
      return folder.add_run(run);
    *at++ = static_cast<std::int64_t>(run.n);
    *at++ = run.stride;
    at = copy(run.labels, shape.outputs, at);
    shards_[shard].at = copy(run.steps, shape.outputs, at);
  }

  /// The same for Folder::add_rows, of at most 64 rows. What the caller knows of their ends is left to the folder.
  void add_rows(std::uint16_t shard, fold::Folder& folder, fold::Shape shape, const fold::Rows& rows) {
    if (direct()) return folder.add_rows(rows);
    const std::size_t numbers = rows.n * (std::size_t{shape.dimensions} + shape.outputs);
    Shard& into = shards_[shard];
    if (static_cast<std::size_t>(into.end - into.at) < kHeader + 2 + numbers &&
        !next_batch(into, kHeader + 2 + numbers)) [[unlikely]]
      return folder.add_rows(rows);
    std::int64_t* at = into.at;
    at[0] = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&folder) | kRows);
    at[1] = static_cast<std::int64_t>(shape.dimensions | std::size_t{shape.outputs} << 16);
    at[2] = static_cast<std::int64_t>(rows.n | rows.same << 16 | std::size_t{rows.ordered} << 32);
    at[3] = static_cast<std::int64_t>(rows.follows);
    at = copy(rows.points, rows.n * shape.dimensions, at + kHeader + 2);
    into.at = copy(rows.labels, rows.n * shape.outputs, at);
    into.point = nullptr;
  }

  /// Waits until all points are folded: only then may the caller use folders.
  void drain();

  /// That were started so far.
  std::size_t threads() const { return threads_.size(); }

 private:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;
  static constexpr std::size_t kHeader = 2;
  // In the lowest bits of a folder's address, which are 0.
  static constexpr std::uintptr_t kRun = 1;
  static constexpr std::uintptr_t kSamePoint = 2;
  static constexpr std::uintptr_t kRows = 4;
  static constexpr std::uintptr_t kFlags = 7;
  static_assert(alignof(fold::Folder) > kFlags);

  /// Records: folder and flags; dimensions and outputs; the point, unless it is that of the record before; how many and
  /// how far apart, if kRun; labels; steps, if kRun. If kRows, behind the dimensions: how many, and what is known of
  /// them; which follow each other; points; labels.
  struct Batch {
    std::unique_ptr<std::int64_t[]> numbers;
    std::int64_t* end = nullptr;  // behind the last record
  };
  struct alignas(64) Shard {
    // The caller's.
    std::int64_t* at = nullptr;
    std::int64_t* end = nullptr;
    const std::int64_t* point = nullptr;  // in the current batch, null: none yet
    std::size_t dimensions = 0;           // of that point
    Batch* filling = nullptr;
    // Under the lock.
    alignas(64) std::deque<Batch*> line;
    bool taken = false;
  };

  static std::int64_t* copy(const std::int64_t* from, std::size_t n, std::int64_t* to) {
    for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
    return to + n;
  }

  /// From behind: that is where points that follow each other differ.
  static bool equal(const std::int64_t* a, const std::int64_t* b, std::size_t n) {
    while (n > 0 && a[n - 1] == b[n - 1]) --n;
    return n == 0;
  }

  /// Writes what all records begin with, in a new batch if there is no room for `most` numbers. Null, with all points
  /// folded that came before, if no batch has room for them.
  std::int64_t* begin_record(Shard& shard, fold::Folder& folder, fold::Shape shape, const std::int64_t* point,
                             std::uintptr_t flags, std::size_t most) {
    if (static_cast<std::size_t>(shard.end - shard.at) < most && !next_batch(shard, most)) [[unlikely]]
      return nullptr;
    std::int64_t* at = shard.at;
    const std::size_t dimensions = shape.dimensions;
    const bool same = shard.point != nullptr && shard.dimensions == dimensions && equal(point, shard.point, dimensions);
    if (same) flags |= kSamePoint;
    at[0] = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&folder) | flags);
    at[1] = static_cast<std::int64_t>(dimensions | std::size_t{shape.outputs} << 16);
    at += kHeader;
    if (same) return at;
    shard.point = at;
    shard.dimensions = dimensions;
    return copy(point, dimensions, at);
  }

  using Lock = std::unique_lock<std::mutex>;
  bool next_batch(Shard& shard, std::size_t most);
  void hand_over(Shard& shard);
  Batch* free_batch(Lock& lock);
  void call_workers();
  bool fold_one(Lock& lock);
  void work();
  static void fold_batch(const Batch& batch);

  std::size_t workers_ = 0;
  std::size_t batch_numbers_ = 0;
  std::size_t most_batches_ = 0;
  std::vector<Shard> shards_;

  std::mutex mutex_;
  std::condition_variable work_to_do_;
  std::condition_variable batch_done_;
  std::deque<Batch> batches_;
  std::vector<Batch*> free_;
  std::size_t waiting_ = 0;   // batches in lines
  std::size_t folding_ = 0;   // batches that someone folds
  std::size_t sleeping_ = 0;  // workers
  bool caller_waits_ = false;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace loopfold::ddg
