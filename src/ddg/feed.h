// What the walk finds, on its way to the streams: at once, or through a line to a thread of its own.
//
// The walk follows values event by event; what it finds goes to the streams in the order in which it finds it, and
// nothing comes back that it would have to wait for. So with more than one job all work on streams (rows of journals,
// looking up streams, folding) is done by one other thread, in the same order: same calls, same order, same result, by
// construction, for any number of jobs. Without the thread every function here is the call that it stands for.
//
// The line is a ring of numbers. A *record* is a word that says what it is, then what it needs: numbers, and addresses
// of code, which stays where it is. The point is a record of its own, only written if it changes; of a producer only
// the coordinates that are not those of the point. Rows of a journal are not copied: their batch is given away, and the
// journal gets an empty one, of those that have come back. What the thread reads beside that (sites, entries, when
// loops were entered) is in arrays that do not move (stable_array.h).
//
// Few atomic operations: the walk says how far it is every few hundred numbers, the thread how far it is every few
// dozen records. The thread sleeps when there is nothing to do, and is woken when a good deal waits, some hundred
// microseconds' work: a wake-up costs some ten. It is not even started before that. Whoever has to wait for it
// (drain(), a full ring, too many batches on their way) does its work himself if it sleeps.
//
// Limits. limit() is a record as well: streams are given up at the same place of the line whoever works it off. Its
// answer is that of the call before, which has come back by then.
//
// Memory: the ring, and at most so many bytes of batches beside one per journal; budget() is the sum, which is
// accounted for any number of jobs.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "ddg/entries.h"
#include "ddg/gatherer.h"
#include "ddg/journal.h"
#include "ddg/ranks.h"
#include "ddg/settler.h"
#include "ddg/streams.h"

namespace loopfold::ddg {

class Feed {
 public:
  using Located = Streams::Located;
  using Reader = Streams::Reader;
  using Late = std::span<const std::uint16_t>;

  /// Bytes that may be on their way, of so many that all of the analysis may use.
  static std::uint64_t budget(std::uint64_t max_memory) {
    return kRing * sizeof(std::int64_t) + std::min(kMostBatchBytes, max_memory / 32);
  }

  /// `threaded`: by another thread. All that is given must live longer.
  Feed(Streams& streams, const Entries& entries, const Sinces& sinces, bool threaded, std::uint64_t max_memory);
  /// What is still in the line is left out.
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  bool direct() const { return ring_ == nullptr; }

  /// Waits until all of it has come to the streams: only then may the caller ask what they have, or change what is
  /// read beside the line.
  void drain() {
    if (!direct()) wait_for(produced_);
  }

  // ---- As those of Streams ----------------------------------------------------------------------------------------

  [[gnu::always_inline]] void prefetch(const Located& at) const {
    if (direct()) Streams::prefetch(at);
  }
  [[gnu::always_inline]] void prefetch_folders(const Located& at) const {
    if (direct()) Streams::prefetch_folders(at);
  }

  void set_time(std::uint64_t time) {
    if (direct()) [[likely]]
      return streams_.set_time(time);
    if (time_known_ && time == time_) return;
    time_ = time;
    time_known_ = true;
    *begin(Op::kTime, 2) = static_cast<std::int64_t>(time);
  }
  void instance(const Located& at, const std::int64_t* point) {
    ++Streams::begun(at);
    if (direct()) [[likely]]
      return streams_.instance(at, point);
    put_point(at.id, point);
    begin(Op::kInstance, 1, at.id);
  }
  void instance(SiteId site, const std::int64_t* point) { instance(streams_.locate(site), point); }
  void instance_run(SiteId site, const std::int64_t* point, std::uint64_t n) {
    Streams::begun(streams_.locate(site)) += n;
    if (direct()) [[likely]]
      return streams_.instance_run(site, point, n);
    put_point(site, point);
    *begin(Op::kInstanceRun, 2, site) = static_cast<std::int64_t>(n);
  }
  void access(const Located& at, const MemoryAccess& access, const std::int64_t* point, const Objects::Place& place,
              std::uint64_t entry, bool copy) {
    if (direct()) [[likely]]
      return streams_.access(at, access, point, place.object, place.block, place.offset, entry, copy);
    if (!Streams::cold(at)) put_access(at.id, access, point, place, entry, copy);
  }
  void access_run(SiteId site, const MemoryAccess& access, const std::int64_t* point, const Objects::Place& place,
                  Streams::PlaceStep step, std::uint64_t n, std::uint64_t copies, std::uint64_t entry) {
    if (direct()) [[likely]]
      return streams_.access_run(site, access, point, place, step, n, copies, entry);
    put_access_run(site, access, point, place, step, n, copies, entry);
  }
  void value(const Located& at, const IntegerValue& value, const std::int64_t* point, std::int64_t label,
             std::uint64_t entry) {
    if (direct()) [[likely]]
      return streams_.value(at, value, point, label, entry);
    if (!Streams::cold(at)) put_value(at.id, value, point, label, entry);
  }
  void value_run(SiteId site, const IntegerValue& value, const std::int64_t* point, std::int64_t label,
                 std::int64_t step, std::uint64_t n, std::uint64_t entry) {
    if (direct()) [[likely]]
      return streams_.value_run(site, value, point, label, step, n, entry);
    put_value_run(site, value, point, label, step, n, entry);
  }
  void value_list(SiteId site, const IntegerValue& value, const std::int64_t* point, const std::int64_t* labels,
                  std::size_t n, std::uint64_t entry) {
    if (direct()) [[likely]]
      return streams_.value_list(site, value, point, labels, n, entry);
    put_value_list(site, value, point, labels, n, entry);
  }
  void access_list(SiteId site, const MemoryAccess& access, const std::int64_t* point, const Objects::Place& place,
                   const std::int64_t* offsets, std::size_t n, std::uint64_t copies, std::uint64_t entry) {
    if (direct()) [[likely]]
      return streams_.access_list(site, access, point, place, offsets, n, copies, entry);
    put_access_list(site, access, point, place, offsets, n, copies, entry);
  }
  /// As Gatherer::take().
  void gathered(const Reader& reader, const Gatherer::First& first, const Cell* cells, std::size_t n) {
    if (direct()) [[likely]]
      return gatherer_.take(reader, first, cells, n);
    put_gathered(reader, first, cells, n);
  }
  /// `late`: of the coordinates for which Streams::late() is to be called if the producer is on another stack.
  void dependence(const Located& at, const Reader& reader, DefinitionId from, const std::int64_t* point,
                  const std::int64_t* producer, std::size_t equal, Late late) {
    if (direct()) [[likely]] {
      if (streams_.dependence(at, reader, from, point, producer, equal)) [[unlikely]]
        for (const std::uint16_t k : late) streams_.late(k);
      return;
    }
    if (!Streams::cold(at)) put_dependence(Reader(reader), from, point, producer, equal, late);
  }
  void lost_dependence(const Reader& reader, const std::int64_t* point) {
    if (direct()) return streams_.lost_dependence(reader, point);
    if (!streams_.cold(reader.site)) put_lost(reader, point);
  }
  /// The stream of the dependences is made, if it is not there yet. Null if there is none, or none is known here.
  Streams::Dependences prepare(const Reader& reader, DefinitionId from) {
    if (direct()) [[likely]]
      return streams_.dependences(reader, from);
    put_prepare(reader, from);
    return nullptr;
  }
  /// `to` is what prepare() gave.
  void dependence_run(Streams::Dependences to, const Reader& reader, DefinitionId from,
                      const Streams::DependenceRun& run) {
    if (direct()) [[likely]]
      return streams_.dependence_run(to, reader, from, run);
    put_dependence_run(reader, from, run);
  }
  /// `used` is not to be touched by anyone else, and stays where it is, like `read`.
  void register_run(Streams::Used& used, SiteId site, const RegisterRead& read, DefinitionId from, std::uint16_t lane,
                    const Streams::DependenceRun& run) {
    if (direct()) [[likely]]
      return streams_.register_run(used, site, read, from, lane, run);
    put_register_run(used, site, read, from, lane, run);
  }

  /// Stretches that repeat; they may be exchanged for others, which are of no use.
  void ranks(Ranks& ranks);
  void load_ranks(LoadRanks& ranks);

  // ---- Journals ---------------------------------------------------------------------------------------------------

  /// All rows of a journal that has some: it is empty afterwards.
  void settle(Journal& journal);
  /// An empty batch with room for so many numbers. `accounted`: bytes that journals are said to need, all together.
  std::unique_ptr<JournalBatch> batch(std::size_t room, std::uint64_t accounted);

  // ---- Limits -----------------------------------------------------------------------------------------------------

  struct Need {
    std::uint64_t bytes = 0;
    std::uint64_t streams = 0;  // so many there are
  };
  /// Streams::limit(). What they needed the last time that this was called.
  Need limit(std::uint64_t bytes);

  /// The thread was needed.
  bool started() const { return thread_.joinable(); }

 private:
  static constexpr std::size_t kRing = std::size_t{1} << 17;  // numbers
  static constexpr std::uint64_t kMostBatchBytes = std::uint64_t{15} << 20;
  static constexpr std::size_t kPublishEvery = 256;              // numbers
  static constexpr std::uint64_t kWorthCalling = 32 * 1024;      // numbers, with those in batches
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};    // waits
  static constexpr std::size_t kReader = 4;                      // numbers of a reader
  static constexpr std::size_t kGrain = 4 * Journal::kMostRows;  // of the size of a batch

  enum class Op : std::uint8_t {
    kSkip,  // to the begin of the ring
    kPoint,
    kCounter,
    kTime,
    kInstance,
    kInstanceRun,
    kAccess,
    kAccessRun,
    kValue,
    kValueRun,
    kValueList,
    kAccessList,
    kGathered,
    kDependence,
    kLost,
    kPrepare,
    kDependenceRun,
    kRegisterRun,
    kRanks,
    kLoadRanks,
    kBatch,
    kLimit,
  };

  /// A record of so many numbers, the first of which says what it is; the result is behind that. `n` has 24 bits.
  std::int64_t* begin(Op op, std::size_t words, SiteId site = 0, std::size_t n = 0) {
    if (produced_ - published_ >= kPublishEvery) [[unlikely]]
      publish();
    if (words > room_) [[unlikely]]
      make_room(words);
    std::int64_t* const record = ring_.get() + (produced_ & (kRing - 1));
    produced_ += words;
    room_ -= words;
    *record = static_cast<std::int64_t>(std::uint64_t{site} << 32 | n << 8 | static_cast<std::uint64_t>(op));
    return record + 1;
  }
  void make_room(std::size_t words);
  void publish();
  void call();
  void wait_for(std::uint64_t position);

  void put_point(SiteId site, const std::int64_t* point, bool chunks = false);
  void put_access(SiteId site, const MemoryAccess& access, const std::int64_t* point, const Objects::Place& place,
                  std::uint64_t entry, bool copy);
  void put_access_run(SiteId site, const MemoryAccess& access, const std::int64_t* point, const Objects::Place& place,
                      Streams::PlaceStep step, std::uint64_t n, std::uint64_t copies, std::uint64_t entry);
  void put_value(SiteId site, const IntegerValue& value, const std::int64_t* point, std::int64_t label,
                 std::uint64_t entry);
  void put_value_run(SiteId site, const IntegerValue& value, const std::int64_t* point, std::int64_t label,
                     std::int64_t step, std::uint64_t n, std::uint64_t entry);
  void put_value_list(SiteId site, const IntegerValue& value, const std::int64_t* point, const std::int64_t* labels,
                      std::size_t n, std::uint64_t entry);
  void put_access_list(SiteId site, const MemoryAccess& access, const std::int64_t* point, const Objects::Place& place,
                       const std::int64_t* offsets, std::size_t n, std::uint64_t copies, std::uint64_t entry);
  void put_gathered(const Reader& reader, const Gatherer::First& first, const Cell* cells, std::size_t n);
  void put_dependence(const Reader& reader, DefinitionId from, const std::int64_t* point, const std::int64_t* producer,
                      std::size_t equal, Late late);
  void put_lost(const Reader& reader, const std::int64_t* point);
  void put_prepare(const Reader& reader, DefinitionId from);
  void put_dependence_run(const Reader& reader, DefinitionId from, const Streams::DependenceRun& run);
  void put_register_run(Streams::Used& used, SiteId site, const RegisterRead& read, DefinitionId from,
                        std::uint16_t lane, const Streams::DependenceRun& run);
  void take_back();

  // Of whoever works it off.
  void work();
  void consume();
  void say_progress(std::uint64_t position);
  std::uint64_t take(std::uint64_t position);
  const std::int64_t* take_producer(const std::int64_t* at, std::size_t equal, std::size_t words);
  Late take_late(const std::int64_t* at, std::size_t n);
  void take_batch(JournalBatch* batch);

  Streams& streams_;
  Settler settler_;
  Gatherer gatherer_;
  std::unique_ptr<std::int64_t[]> ring_;  // null: there is no line

  // The caller's. Positions count all numbers that were ever written.
  std::uint64_t produced_ = 0;
  std::uint64_t published_ = 0;
  std::size_t room_ = 0;  // numbers that may be written behind it
  std::uint64_t weight_ = 0;
  std::uint64_t time_ = 0;
  bool time_known_ = false;
  std::vector<std::int64_t> last_point_;
  std::uint64_t limit_position_ = 0;  // behind the last one
  std::uint64_t batch_bytes_ = 0;     // of all that there are
  std::uint64_t most_batch_bytes_ = 0;
  std::vector<std::vector<std::unique_ptr<JournalBatch>>> free_;  // by size

  alignas(64) std::atomic<std::uint64_t> head_ = 0;  // as far as it may be worked off
  std::atomic<bool> sleeping_ = false;

  alignas(64) std::atomic<std::uint64_t> tail_ = 0;  // so far it was
  std::atomic<std::uint64_t> done_weight_ = 0;
  std::atomic<std::uint64_t> waits_for_ = kNobody;
  std::atomic<bool> stop_ = false;

  // Of whoever works it off.
  alignas(64) std::vector<std::int64_t> point_;
  std::vector<std::int64_t> producer_;
  std::vector<std::uint16_t> late_;
  std::uint64_t taken_weight_ = 0;
  Need need_;  // as of the last limit

  std::mutex returned_mutex_;
  std::vector<std::unique_ptr<JournalBatch>> returned_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  bool called_ = false;  // under the lock
  std::thread thread_;
};

}  // namespace loopfold::ddg
