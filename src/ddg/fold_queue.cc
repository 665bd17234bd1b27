#include "ddg/fold_queue.h"

namespace loopfold::ddg {

namespace {

constexpr std::size_t kShardsPerWorker = 4;
constexpr std::size_t kMostShards = 32;
constexpr std::size_t kBatchNumbers = 8 * 1024;
constexpr std::size_t kFewestNumbers = 512;
constexpr std::size_t kSpareBatches = 4;
constexpr std::size_t kWorthWaking = 4;    // batches that wait, per worker that is awake or will be
constexpr std::size_t kWorthStarting = 8;  // the same, for a thread that is not there yet

}  // namespace

FoldQueue::FoldQueue(unsigned workers, std::uint64_t budget) {
  if (workers == 0) return;
  workers_ = std::min<std::size_t>(workers, kMostShards);
  shards_ = std::vector<Shard>(std::min(workers_ * kShardsPerWorker, kMostShards));
  const std::size_t numbers = static_cast<std::size_t>(budget / sizeof(std::int64_t));
  batch_numbers_ = std::clamp(numbers / (2 * kMostShards), kFewestNumbers, kBatchNumbers);
  most_batches_ = std::max(numbers / batch_numbers_, shards_.size() + kSpareBatches);
}

FoldQueue::~FoldQueue() {
  {
    const Lock lock(mutex_);
    stop_ = true;
  }
  work_to_do_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

/// A batch with room for so many numbers becomes the shard's. False if there is none: then all is folded.
bool FoldQueue::next_batch(Shard& shard, std::size_t most) {
  if (most > batch_numbers_) {
    drain();
    return false;
  }
  Lock lock(mutex_);
  hand_over(shard);
  call_workers();
  shard.filling = free_batch(lock);
  shard.at = shard.filling->numbers.get();
  shard.end = shard.at + batch_numbers_;
  return true;
}

/// Puts what is being filled into the line.
void FoldQueue::hand_over(Shard& shard) {
  if (shard.filling == nullptr) return;
  shard.filling->end = shard.at;
  shard.line.push_back(shard.filling);
  ++waiting_;
  shard.filling = nullptr;
  shard.at = shard.end = nullptr;
  shard.point = nullptr;
}

/// One that is not in use; if all are, folds until one is free.
FoldQueue::Batch* FoldQueue::free_batch(Lock& lock) {
  while (free_.empty() && batches_.size() >= most_batches_) {
    if (fold_one(lock)) continue;
    caller_waits_ = true;
    batch_done_.wait(lock);
    caller_waits_ = false;
  }
  if (free_.empty()) {
    batches_.push_back({std::unique_ptr<std::int64_t[]>(new std::int64_t[batch_numbers_]), nullptr});
    return &batches_.back();
  }
  Batch* const batch = free_.back();
  free_.pop_back();
  return batch;
}

/// Wakes or starts a worker if enough is waiting.
void FoldQueue::call_workers() {
  const std::size_t awake = threads_.size() - sleeping_;
  if (sleeping_ > 0) {
    if (waiting_ >= kWorthWaking * (awake + 1)) work_to_do_.notify_one();
  } else if (threads_.size() < workers_ && waiting_ >= kWorthStarting * (awake + 1)) {
    threads_.emplace_back([this] { work(); });
  }
}

void FoldQueue::drain() {
  if (direct()) return;
  Lock lock(mutex_);
  for (Shard& shard : shards_) hand_over(shard);
  call_workers();
  while (waiting_ > 0 || folding_ > 0) {
    if (fold_one(lock)) continue;
    caller_waits_ = true;
    batch_done_.wait(lock);
    caller_waits_ = false;
  }
}

/// Folds the first batch of the longest line that nobody is at; false if there is none.
bool FoldQueue::fold_one(Lock& lock) {
  Shard* longest = nullptr;
  for (Shard& shard : shards_)
    if (!shard.taken && !shard.line.empty() && (longest == nullptr || shard.line.size() > longest->line.size()))
      longest = &shard;
  if (longest == nullptr) return false;
  Batch* const batch = longest->line.front();
  longest->line.pop_front();
  longest->taken = true;
  --waiting_;
  ++folding_;
  lock.unlock();
  fold_batch(*batch);
  lock.lock();
  longest->taken = false;
  --folding_;
  free_.push_back(batch);
  return true;
}

void FoldQueue::work() {
  Lock lock(mutex_);
  while (!stop_) {
    if (fold_one(lock)) {
      if (caller_waits_) batch_done_.notify_one();
      continue;
    }
    ++sleeping_;
    work_to_do_.wait(lock);
    --sleeping_;
  }
}

void FoldQueue::fold_batch(const Batch& batch) {
  const std::int64_t* at = batch.numbers.get();
  const std::int64_t* point = nullptr;
  while (at < batch.end) {
    const auto folder_and_flags = static_cast<std::uintptr_t>(at[0]);
    auto& folder = *reinterpret_cast<fold::Folder*>(folder_and_flags & ~kFlags);
    const std::int64_t dimensions = at[1] & 0xffff;
    const std::int64_t outputs = at[1] >> 16;
    at += kHeader;
    if ((folder_and_flags & kRows) != 0) {
      fold::Rows rows;
      rows.n = static_cast<std::size_t>(at[0] & 0xffff);
      rows.same = static_cast<std::size_t>(at[0] >> 16 & 0xffff);
      rows.ordered = at[0] >> 32 != 0;
      rows.follows = static_cast<std::uint64_t>(at[1]);
      rows.points = at + 2;
      rows.labels = rows.points + static_cast<std::int64_t>(rows.n) * dimensions;
      folder.add_rows(rows);
      at = rows.labels + static_cast<std::int64_t>(rows.n) * outputs;
      continue;
    }
    if ((folder_and_flags & kSamePoint) == 0) {
      point = at;
      at += dimensions;
    }
    if ((folder_and_flags & kRun) == 0) {
      folder.add(point, at);
      at += outputs;
    } else {
      folder.add_run({point, at + 2, at + 2 + outputs, static_cast<std::uint64_t>(at[0]), at[1]});
      at += 2 + 2 * outputs;
    }
  }
}

}  // namespace loopfold::ddg
