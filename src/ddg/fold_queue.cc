#include "ddg/fold_queue.h"

#include <bit>
#include <utility>

namespace loopfold::ddg {

namespace {

constexpr std::size_t kBatch = 32 * 1024;  // numbers
constexpr std::size_t kMaxWaiting = 8;     // batches of one worker

}  // namespace

FoldQueue::FoldQueue(unsigned workers) {
  for (unsigned i = 0; i < workers; ++i) {
    workers_.push_back(std::make_unique<Worker>());
    Worker& worker = *workers_.back();
    worker.filling.reserve(kBatch);
    worker.thread = std::thread([&worker] { work(worker); });
  }
}

FoldQueue::~FoldQueue() {
  for (const std::unique_ptr<Worker>& worker : workers_) {
    {
      const std::lock_guard lock(worker->mutex);
      worker->stop = true;
    }
    worker->changed.notify_all();
    worker->thread.join();
  }
}

void FoldQueue::enqueue(Worker& worker, fold::Folder& folder, fold::Shape shape, const std::int64_t* point,
                        const std::int64_t* labels) {
  Batch& batch = worker.filling;
  batch.push_back(std::bit_cast<std::int64_t>(&folder));
  batch.push_back(shape.dimensions);
  batch.push_back(shape.outputs);
  batch.insert(batch.end(), point, point + shape.dimensions);
  if (shape.outputs > 0) batch.insert(batch.end(), labels, labels + shape.outputs);
  if (batch.size() >= kBatch) hand_over(worker);
}

void FoldQueue::enqueue_run(Worker& worker, fold::Folder& folder, fold::Shape shape, const std::int64_t* point,
                            const std::int64_t* labels, const std::int64_t* steps, std::uint64_t n) {
  Batch& batch = worker.filling;
  batch.push_back(std::bit_cast<std::int64_t>(&folder));
  batch.push_back(shape.dimensions | kRun);
  batch.push_back(shape.outputs);
  batch.push_back(static_cast<std::int64_t>(n));
  batch.insert(batch.end(), point, point + shape.dimensions);
  if (shape.outputs > 0) {
    batch.insert(batch.end(), labels, labels + shape.outputs);
    batch.insert(batch.end(), steps, steps + shape.outputs);
  }
  if (batch.size() >= kBatch) hand_over(worker);
}

void FoldQueue::hand_over(Worker& worker) {
  std::unique_lock lock(worker.mutex);
  worker.changed.wait(lock, [&] { return worker.waiting.size() < kMaxWaiting; });
  worker.waiting.push_back(std::move(worker.filling));
  worker.filling = {};
  if (!worker.spare.empty()) {
    worker.filling = std::move(worker.spare.back());
    worker.spare.pop_back();
  }
  lock.unlock();
  worker.changed.notify_all();
}

void FoldQueue::drain() {
  for (const std::unique_ptr<Worker>& worker : workers_)
    if (!worker->filling.empty()) hand_over(*worker);
  for (const std::unique_ptr<Worker>& worker : workers_) {
    std::unique_lock lock(worker->mutex);
    worker->changed.wait(lock, [&] { return worker->waiting.empty() && !worker->busy; });
  }
}

void FoldQueue::work(Worker& worker) {
  std::unique_lock lock(worker.mutex);
  for (;;) {
    worker.changed.wait(lock, [&] { return worker.stop || !worker.waiting.empty(); });
    if (worker.waiting.empty()) return;
    Batch batch = std::move(worker.waiting.front());
    worker.waiting.pop_front();
    worker.busy = true;
    lock.unlock();
    worker.changed.notify_all();
    fold_batch(batch);
    batch.clear();
    lock.lock();
    worker.busy = false;
    worker.spare.push_back(std::move(batch));
    worker.changed.notify_all();
  }
}

void FoldQueue::fold_batch(const Batch& batch) {
  const std::int64_t* at = batch.data();
  const std::int64_t* const end = at + batch.size();
  while (at < end) {
    auto* folder = std::bit_cast<fold::Folder*>(at[0]);
    const std::int64_t dimensions = at[1] & (kRun - 1);
    const std::int64_t outputs = at[2];
    if (at[1] != dimensions) {
      const auto n = static_cast<std::uint64_t>(at[3]);
      at += 4;
      folder->add_run(at, at + dimensions, at + dimensions + outputs, n);
      at += dimensions + 2 * outputs;
    } else {
      at += 3;
      folder->add(at, at + dimensions);
      at += dimensions + outputs;
    }
  }
}

}  // namespace loopfold::ddg
