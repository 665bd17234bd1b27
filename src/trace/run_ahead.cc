#include "trace/run_ahead.h"

#include <utility>

namespace loopfold::trace {

void* RunAhead::Arena::allocate(std::size_t bytes) {
  constexpr std::size_t kAlign = alignof(std::max_align_t);
  bytes = (bytes + kAlign - 1) / kAlign * kAlign;
  while (block_ < blocks_.size() && blocks_[block_].size - at_ < bytes) {
    ++block_;
    at_ = 0;
  }
  if (block_ == blocks_.size()) {
    const std::size_t size = bytes > kBlock ? bytes : kBlock;
    blocks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size});
    at_ = 0;
  }
  void* const result = blocks_[block_].bytes.get() + at_;
  at_ += bytes;
  used_ += bytes;
  return result;
}

/// Blocks of single long runs are not kept.
void RunAhead::Arena::clear() {
  std::erase_if(blocks_, [](const Block& block) { return block.size > kBlock; });
  block_ = at_ = used_ = 0;
}

RunAhead::RunAhead(RunCursor cursor) : cursor_(std::move(cursor)), batches_(kBatches) {
  for (Batch& batch : batches_) free_.push_back(&batch);
  thread_ = std::thread([this] { work(); });
}

RunAhead::~RunAhead() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

/// Null if no more are wanted.
RunAhead::Batch* RunAhead::free_batch() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stop_ || !free_.empty(); });
  if (stop_) return nullptr;
  Batch* const batch = free_.back();
  free_.pop_back();
  return batch;
}

void RunAhead::work() {
  for (bool last = false; !last;) {
    Batch* const batch = free_batch();
    if (batch == nullptr) return;
    fill(*batch);
    last = batch->last;
    {
      const std::lock_guard lock(mutex_);
      ready_.push_back(batch);
    }
    changed_.notify_all();
  }
}

void RunAhead::fill(Batch& batch) {
  batch.arena.clear();
  batch.count = 0;
  while (batch.count < kMostEntries && batch.arena.used() < kMostBytes) {
    const Result<RunCursor::Item> item = cursor_.next();
    if (!item) batch.error = item.error();
    if (!item || *item == RunCursor::Item::kEnd) {
      batch.last = true;
      return;
    }
    if (batch.count == batch.entries.size()) batch.entries.emplace_back();
    Entry& entry = batch.entries[batch.count++];
    entry.group = cursor_.group();
    entry.side.reset();
    entry.sides.clear();
    if (*item == RunCursor::Item::kSide)
      entry.side = cursor_.side();
    else
      copy(cursor_.run(), batch, entry);
  }
}

void RunAhead::copy(const Run& run, Batch& batch, Entry& into) {
  Arena& arena = batch.arena;
  into.run = run;
  RunPath* const paths = arena.copied(run.paths);
  for (std::size_t i = 0; i < run.paths.size(); ++i) {
    paths[i].exits = arena.copy(paths[i].exits);
    paths[i].columns = arena.copy(paths[i].columns);
  }
  RunColumn* const columns = arena.copied(run.columns);
  for (std::size_t i = 0; i < run.columns.size(); ++i) columns[i].values = arena.copy(columns[i].values);
  into.run.paths = {paths, run.paths.size()};
  into.run.columns = {columns, run.columns.size()};
  into.run.sequence = arena.copy(run.sequence);
  into.run.slots = arena.copy(run.slots);
  into.sides.assign(run.sides.begin(), run.sides.end());
}

Result<RunCursor::Item> RunAhead::next() {
  while (current_ == nullptr || taken_ == current_->count) {
    if (current_ != nullptr && current_->last) {
      if (current_->error) return tl::unexpected<Error>(*current_->error);
      return RunCursor::Item::kEnd;
    }
    std::unique_lock lock(mutex_);
    if (current_ != nullptr) {
      free_.push_back(current_);
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return !ready_.empty(); });
    current_ = ready_.front();
    ready_.pop_front();
    taken_ = 0;
  }
  Entry& entry = current_->entries[taken_++];
  group_ = entry.group;
  if (entry.side) {
    side_ = &*entry.side;
    return RunCursor::Item::kSide;
  }
  // Only now: the entries of a batch may have moved while it was filled.
  entry.run.sides = entry.sides;
  run_ = &entry.run;
  return RunCursor::Item::kRun;
}

}  // namespace loopfold::trace
