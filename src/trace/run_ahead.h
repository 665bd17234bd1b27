// Runs and side events as a RunCursor gives them, decoded ahead of their use by a thread of its own.
//
// What the cursor shows is copied into *batches*, which own all that their items refer to; full ones wait in a line for
// the caller, who gives them back when all of their items were taken. A few batches go round, so the thread is at most
// that far ahead. The order is the cursor's, and so are the items; an error comes where the cursor would report it.
//
// Memory: a few hundred kilobytes per batch, or what the longest run needs, if that is more.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <type_traits>
#include <vector>

#include "trace/reader.h"

namespace loopfold::trace {

class RunAhead {
 public:
  explicit RunAhead(RunCursor cursor);
  ~RunAhead();
  RunAhead(const RunAhead&) = delete;
  RunAhead& operator=(const RunAhead&) = delete;

  // As those of RunCursor.
  Result<RunCursor::Item> next();
  const Run& run() const { return *run_; }
  const SideEvent& side() const { return *side_; }
  std::size_t group() const { return group_; }

 private:
  /// Memory for numbers, which stays where it is until clear().
  class Arena {
   public:
    template <class T>
    std::span<const T> copy(std::span<const T> from) {
      return {copied(from), from.size()};
    }
    /// The same, to be changed.
    template <class T>
    T* copied(std::span<const T> from) {
      static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t));
      T* const into = static_cast<T*>(allocate(from.size() * sizeof(T)));
      if (!from.empty()) std::memcpy(into, from.data(), from.size() * sizeof(T));
      return into;
    }
    std::size_t used() const { return used_; }
    void clear();

   private:
    static constexpr std::size_t kBlock = std::size_t{64} << 10;
    struct Block {
      std::unique_ptr<std::byte[]> bytes;
      std::size_t size = 0;
    };
    void* allocate(std::size_t bytes);

    std::vector<Block> blocks_;
    std::size_t block_ = 0;  // that is being filled
    std::size_t at_ = 0;     // in that
    std::size_t used_ = 0;   // of all
  };

  struct Entry {
    Run run;
    std::optional<SideEvent> side;  // it is no run
    std::vector<PlacedSide> sides;  // of the run
    std::size_t group = 0;
  };
  struct Batch {
    std::vector<Entry> entries;  // the first `count` of them
    std::size_t count = 0;
    Arena arena;
    bool last = false;           // nothing comes behind it
    std::optional<Error> error;  // but this
  };

  static constexpr std::size_t kBatches = 4;
  static constexpr std::size_t kMostEntries = 1024;
  static constexpr std::size_t kMostBytes = std::size_t{256} << 10;

  void work();
  void fill(Batch& batch);
  static void copy(const Run& run, Batch& batch, Entry& into);
  Batch* free_batch();

  RunCursor cursor_;
  std::deque<Batch> batches_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch*> ready_;
  std::vector<Batch*> free_;
  bool stop_ = false;

  // The caller's.
  Batch* current_ = nullptr;
  std::size_t taken_ = 0;  // of its entries
  const Run* run_ = nullptr;
  const SideEvent* side_ = nullptr;
  std::size_t group_ = 0;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace loopfold::trace
