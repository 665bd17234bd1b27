// Folds on other threads: points go to the thread that has their folder, in the order in which they came.
//
// Every folder belongs to one worker, by the shard that the caller names, so its points are folded in order, and what
// comes out does not depend on the number of workers. Points are copied into batches; a worker that is behind makes the
// caller wait, so memory is bounded. With no workers everything is folded at once, on the caller's thread.
#pragma once

#include <condition_variable>
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
  explicit FoldQueue(unsigned workers);
  ~FoldQueue();
  FoldQueue(const FoldQueue&) = delete;
  FoldQueue& operator=(const FoldQueue&) = delete;

  /// No workers: a point may as well go to its folder without coming here.
  bool direct() const { return workers_.empty(); }

  /// `folder` must stay where it is until drain().
  void add(std::uint64_t shard, fold::Folder& folder, fold::Shape shape, const std::int64_t* point,
           const std::int64_t* labels) {
    if (workers_.empty()) return folder.add(point, labels);
    enqueue(*workers_[shard % workers_.size()], folder, shape, point, labels);
  }

  /// n points at once, as Folder::add_run.
  void add_run(std::uint64_t shard, fold::Folder& folder, fold::Shape shape, const std::int64_t* point,
               const std::int64_t* labels, const std::int64_t* steps, std::uint64_t n) {
    if (workers_.empty()) return folder.add_run(point, labels, steps, n);
    enqueue_run(*workers_[shard % workers_.size()], folder, shape, point, labels, steps, n);
  }

  /// Waits until all points are folded: only then may the caller use folders.
  void drain();

 private:
  /// Per point: folder, dimensions, outputs, coordinates, labels. Several at once: dimensions and kRun, then how many,
  /// and steps behind the labels.
  using Batch = std::vector<std::int64_t>;
  static constexpr std::int64_t kRun = std::int64_t{1} << 32;
  struct Worker {
    Batch filling;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Batch> waiting;  // the first is being folded, if `busy`
    std::vector<Batch> spare;
    bool busy = false;
    bool stop = false;
    std::thread thread;
  };

  static void enqueue(Worker& worker, fold::Folder& folder, fold::Shape shape, const std::int64_t* point,
                      const std::int64_t* labels);
  static void enqueue_run(Worker& worker, fold::Folder& folder, fold::Shape shape, const std::int64_t* point,
                          const std::int64_t* labels, const std::int64_t* steps, std::uint64_t n);
  static void hand_over(Worker& worker);
  static void work(Worker& worker);
  static void fold_batch(const Batch& batch);

  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace loopfold::ddg
