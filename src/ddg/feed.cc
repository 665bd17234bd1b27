#include "ddg/feed.h"

#include <array>
#include <type_traits>

namespace loopfold::ddg {

namespace {

constexpr std::uint64_t kSayEvery = 64;  // records

std::int64_t number(const void* address) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address));
}
std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

template <class T>
T& object(std::int64_t address) {
  return *reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

static_assert(std::is_trivially_copyable_v<Streams::Reader>);

}  // namespace

Feed::Feed(Streams& streams, const Entries& entries, const Sinces& sinces, bool threaded, std::uint64_t max_memory)
    : streams_(streams), settler_(streams, entries, sinces), gatherer_(streams, entries) {
  static_assert(sizeof(Reader) <= kReader * sizeof(std::int64_t));
  if (!threaded) return;
  ring_ = std::make_unique_for_overwrite<std::int64_t[]>(kRing);
  room_ = kRing;
  most_batch_bytes_ = budget(max_memory) - kRing * sizeof(std::int64_t);
}

Feed::~Feed() {
  if (direct()) return;
  publish();
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  consume();
}

// ---- The caller's side ----------------------------------------------------------------------------------------------

/// There is room for a record, in one piece, if need be at the begin of the ring.
void Feed::make_room(std::size_t words) {
  const std::size_t to_end = kRing - (produced_ & (kRing - 1));
  const std::size_t skipped = to_end < words ? to_end : 0;
  const std::uint64_t end = produced_ + skipped + words;
  // If it has to wait, then for as much that it is worth it.
  if (tail_.load(std::memory_order_acquire) + kRing < end) wait_for(std::max(end - kRing, produced_ - kRing / 2));
  if (skipped != 0) {
    ring_[produced_ & (kRing - 1)] = static_cast<std::int64_t>(Op::kSkip);
    produced_ += skipped;
  }
  const std::uint64_t free = kRing - (produced_ - tail_.load(std::memory_order_acquire));
  room_ = std::min<std::size_t>(free, kRing - (produced_ & (kRing - 1)));
}

/// What was written may be worked off; if that is much, it is.
void Feed::publish() {
  weight_ += produced_ - published_;
  published_ = produced_;
  head_.store(produced_, std::memory_order_release);
  if (weight_ - done_weight_.load(std::memory_order_relaxed) < kWorthCalling) return;
  if (!thread_.joinable() || sleeping_.load(std::memory_order_relaxed)) call();
}

void Feed::call() {
  {
    const std::lock_guard lock(mutex_);
    called_ = true;
    sleeping_.store(false, std::memory_order_relaxed);
    if (!thread_.joinable()) {
      thread_ = std::thread([this] { work(); });
      return;
    }
  }
  wake_.notify_one();
}

void Feed::wait_for(std::uint64_t position) {
  if (tail_.load(std::memory_order_acquire) >= position) return;
  publish();
  std::unique_lock lock(mutex_);
  if (!thread_.joinable() || sleeping_.load(std::memory_order_relaxed)) return consume();
  // It may have looked for the last time already, and be about to sleep.
  called_ = true;
  waits_for_.store(position);
  done_.wait(lock, [&] { return tail_.load(std::memory_order_acquire) >= position; });
  waits_for_.store(kNobody);
}

void Feed::settle(Journal& journal) {
  const JournalBatch& rows = journal.close();
  if (direct()) {
    settler_.settle(rows);
    return journal.clear();
  }
  time_known_ = false;
  for (const JournalBatch::Segment& segment : rows.segments) weight_ += segment.rows * segment.code->row.words;
  *begin(Op::kBatch, 2) = number(journal.give().release());
}

void Feed::ranks(Ranks& ranks) {
  for (const SiteId site : ranks.sites) Streams::begun(streams_.locate(site)) += ranks.n * ranks.stretches;
  if (direct()) return streams_.ranks(ranks);
  time_known_ = false;
  // They take as much room in the line as they need elsewhere: so there are never more of them than fit into it.
  const std::size_t words = 2 + std::min(ranks.bytes() / sizeof(std::int64_t), kRing / 8);
  auto given = std::make_unique<Ranks>();
  std::swap(*given, ranks);
  *begin(Op::kRanks, words, 0, words) = number(given.release());
}

void Feed::load_ranks(LoadRanks& ranks) {
  if (direct()) return streams_.load_ranks(ranks);
  time_known_ = false;
  const std::size_t words = 2 + std::min(ranks.bytes() / sizeof(std::int64_t), kRing / 8);
  auto given = std::make_unique<LoadRanks>();
  std::swap(*given, ranks);
  *begin(Op::kLoadRanks, words, 0, words) = number(given.release());
}

std::unique_ptr<JournalBatch> Feed::batch(std::size_t room, std::uint64_t accounted) {
  if (direct()) return std::make_unique<JournalBatch>(room);
  const std::size_t grains = (room + kGrain - 1) / kGrain;
  const std::uint64_t bytes = sizeof(JournalBatch) + grains * kGrain * sizeof(std::uint64_t);
  if (free_.size() <= grains) free_.resize(grains + 1);
  if (free_[grains].empty()) take_back();
  if (free_[grains].empty() && batch_bytes_ + bytes > accounted + most_batch_bytes_) {
    const std::uint64_t tail = tail_.load(std::memory_order_acquire);
    wait_for(tail + (produced_ - tail + 1) / 2);
    take_back();
    for (std::size_t size = 0; free_[grains].empty() && size < free_.size(); ++size) {
      batch_bytes_ -= free_[size].size() * (sizeof(JournalBatch) + size * kGrain * sizeof(std::uint64_t));
      free_[size].clear();
    }
  }
  if (free_[grains].empty()) {
    batch_bytes_ += bytes;
    return std::make_unique<JournalBatch>(grains * kGrain);
  }
  std::unique_ptr<JournalBatch> batch = std::move(free_[grains].back());
  free_[grains].pop_back();
  return batch;
}

/// Those that were worked off.
void Feed::take_back() {
  const std::lock_guard lock(returned_mutex_);
  for (std::unique_ptr<JournalBatch>& batch : returned_) free_[batch->size / kGrain].push_back(std::move(batch));
  returned_.clear();
}

Feed::Need Feed::limit(std::uint64_t bytes) {
  const Streams::Known known = streams_.known();
  if (direct()) {
    const Need before = need_;
    need_.bytes = streams_.limit(bytes, known);
    need_.streams = streams_.count();
    return before;
  }
  wait_for(limit_position_);
  const Need before = need_;
  std::int64_t* const record = begin(Op::kLimit, 4);
  record[0] = number(bytes);
  record[1] = number(std::uint64_t{known.sites});
  record[2] = number(std::uint64_t{known.definitions});
  limit_position_ = produced_;
  publish();
  return before;
}

/// The point of what comes next, unless it is known. Mostly only the last coordinate has changed.
void Feed::put_point(SiteId site, const std::int64_t* point, bool chunks) {
  const std::size_t dimensions = streams_.dimensions(site) + std::size_t{chunks};
  if (last_point_.size() == dimensions) {
    const std::size_t inner = dimensions - 1;
    std::size_t k = inner;
    while (k > 0 && last_point_[k - 1] == point[k - 1]) --k;
    if (k == 0) {
      if (last_point_[inner] == point[inner]) return;
      last_point_[inner] = point[inner];
      *begin(Op::kCounter, 2) = point[inner];
      return;
    }
  }
  last_point_.assign(point, point + dimensions);
  std::copy_n(point, dimensions, begin(Op::kPoint, 1 + dimensions, 0, dimensions));
}

void Feed::put_access(SiteId site, const MemoryAccess& access, const std::int64_t* point, const Objects::Place& place,
                      std::uint64_t entry, bool copy) {
  put_point(site, point);
  std::int64_t* const record = begin(Op::kAccess, 6, site, copy ? 1 : 0);
  record[0] = number(&access);
  record[1] = place.object;
  record[2] = place.block;
  record[3] = place.offset;
  record[4] = number(entry);
}

void Feed::put_access_run(SiteId site, const MemoryAccess& access, const std::int64_t* point,
                          const Objects::Place& place, Streams::PlaceStep step, std::uint64_t n, std::uint64_t copies,
                          std::uint64_t entry) {
  put_point(site, point);
  std::int64_t* const record = begin(Op::kAccessRun, 10, site);
  record[0] = number(&access);
  record[1] = place.object;
  record[2] = place.block;
  record[3] = place.offset;
  record[4] = number(entry);
  record[5] = step.block;
  record[6] = step.offset;
  record[7] = number(n);
  record[8] = number(copies);
}

void Feed::put_value(SiteId site, const IntegerValue& value, const std::int64_t* point, std::int64_t label,
                     std::uint64_t entry) {
  put_point(site, point);
  std::int64_t* const record = begin(Op::kValue, 4, site);
  record[0] = number(&value);
  record[1] = number(entry);
  record[2] = label;
}

void Feed::put_value_run(SiteId site, const IntegerValue& value, const std::int64_t* point, std::int64_t label,
                         std::int64_t step, std::uint64_t n, std::uint64_t entry) {
  put_point(site, point);
  std::int64_t* const record = begin(Op::kValueRun, 6, site);
  record[0] = number(&value);
  record[1] = number(entry);
  record[2] = label;
  record[3] = step;
  record[4] = number(n);
}

void Feed::put_value_list(SiteId site, const IntegerValue& value, const std::int64_t* point, const std::int64_t* labels,
                          std::size_t n, std::uint64_t entry) {
  put_point(site, point);
  std::int64_t* const record = begin(Op::kValueList, 3 + n, site, n);
  record[0] = number(&value);
  record[1] = number(entry);
  std::copy_n(labels, n, record + 2);
}

void Feed::put_access_list(SiteId site, const MemoryAccess& access, const std::int64_t* point,
                           const Objects::Place& place, const std::int64_t* offsets, std::size_t n,
                           std::uint64_t copies, std::uint64_t entry) {
  put_point(site, point);
  std::int64_t* const record = begin(Op::kAccessList, 6 + n, site, n);
  record[0] = number(&access);
  record[1] = place.object;
  record[2] = place.block;
  record[3] = number(copies);
  record[4] = number(entry);
  std::copy_n(offsets, n, record + 5);
}

void Feed::put_gathered(const Reader& reader, const Gatherer::First& first, const Cell* cells, std::size_t n) {
  std::int64_t* const record = begin(Op::kGathered, 4 + kReader + 2 * n, reader.site, n);
  record[0] = number(std::uint64_t{first.entry});
  record[1] = number(first.counter);
  record[2] = number(first.serial);
  std::memcpy(record + 3, &reader, sizeof(reader));
  std::memcpy(record + 3 + kReader, cells, n * sizeof(Cell));
}

void Feed::put_dependence(const Reader& reader, DefinitionId from, const std::int64_t* point,
                          const std::int64_t* producer, std::size_t equal, Late late) {
  put_point(reader.site, point, reader.chunks);
  const std::size_t depth = streams_.dimensions_of_definition(from);
  equal = std::min(equal, depth);
  std::int64_t* record = begin(Op::kDependence, 3 + kReader + (depth - equal) + late.size(), from, late.size());
  record[0] = number(std::uint64_t{equal});
  record[1] = number(std::uint64_t{depth - equal});
  std::memcpy(record + 2, &reader, sizeof(reader));
  record = std::copy(producer + equal, producer + depth, record + 2 + kReader);
  std::copy(late.begin(), late.end(), record);
}

void Feed::put_lost(const Reader& reader, const std::int64_t* point) {
  put_point(reader.site, point, reader.chunks);
  std::memcpy(begin(Op::kLost, 1 + kReader), &reader, sizeof(reader));
}

void Feed::put_prepare(const Reader& reader, DefinitionId from) {
  std::memcpy(begin(Op::kPrepare, 1 + kReader, from), &reader, sizeof(reader));
}

void Feed::put_dependence_run(const Reader& reader, DefinitionId from, const Streams::DependenceRun& run) {
  put_point(reader.site, run.point);
  const std::size_t depth = streams_.dimensions_of_definition(from);
  const std::size_t equal = std::min(run.equal, depth);
  std::int64_t* record = begin(Op::kDependenceRun, 7 + kReader + (depth - equal) + run.late.size() + run.outer.size(),
                               from, run.late.size());
  record[0] = number(std::uint64_t{run.outer.size()} << 32 | equal);
  record[1] = number(std::uint64_t{depth - equal});
  record[2] = run.step;
  record[3] = number(run.n);
  record[4] = number(run.reloads);
  record[5] = run.stride;
  std::memcpy(record + 6, &reader, sizeof(reader));
  record = std::copy(run.producer + equal, run.producer + depth, record + 6 + kReader);
  record = std::copy(run.late.begin(), run.late.end(), record);
  std::copy(run.outer.begin(), run.outer.end(), record);
}

void Feed::put_register_run(Streams::Used& used, SiteId site, const RegisterRead& read, DefinitionId from,
                            std::uint16_t lane, const Streams::DependenceRun& run) {
  put_point(site, run.point);
  const std::size_t depth = streams_.dimensions_of_definition(from);
  const std::size_t equal = std::min(run.equal, depth);
  std::int64_t* record = begin(Op::kRegisterRun, 7 + (depth - equal) + run.late.size(), site, run.late.size());
  record[0] = number(std::uint64_t{from} << 32 | (depth - equal) << 16 | equal);
  record[1] = number(&used);
  record[2] = number(&read);
  record[3] = lane;
  record[4] = run.step;
  record[5] = number(run.n);
  record = std::copy(run.producer + equal, run.producer + depth, record + 6);
  std::copy(run.late.begin(), run.late.end(), record);
}

// ---- The other side -------------------------------------------------------------------------------------------------

void Feed::work() {
  std::unique_lock lock(mutex_);
  while (!stop_.load(std::memory_order_relaxed)) {
    if (!called_) {
      sleeping_.store(true, std::memory_order_relaxed);
      wake_.wait(lock, [&] { return called_ || stop_.load(std::memory_order_relaxed); });
    }
    called_ = false;
    lock.unlock();
    consume();
    lock.lock();
    done_.notify_one();
  }
}

/// All that there is.
void Feed::consume() {
  std::uint64_t position = tail_.load(std::memory_order_relaxed);
  std::uint64_t records = 0;
  for (;;) {
    const std::uint64_t head = head_.load(std::memory_order_acquire);
    if (position == head) return;
    while (position != head) {
      position = take(position);
      if (++records % kSayEvery == 0) say_progress(position);
    }
    say_progress(position);
  }
}

void Feed::say_progress(std::uint64_t position) {
  taken_weight_ += position - tail_.load(std::memory_order_relaxed);
  done_weight_.store(taken_weight_, std::memory_order_relaxed);
  tail_.store(position, std::memory_order_release);
  if (waits_for_.load(std::memory_order_relaxed) > position) return;
  const std::lock_guard lock(mutex_);
  done_.notify_one();
}

/// The vector of a producer of which the first coordinates are those of the point.
const std::int64_t* Feed::take_producer(const std::int64_t* at, std::size_t equal, std::size_t words) {
  if (producer_.size() < equal + words) producer_.resize(equal + words);
  std::int64_t* const rest = std::copy_n(point_.data(), equal, producer_.data());
  std::copy_n(at, words, rest);
  return producer_.data();
}

Feed::Late Feed::take_late(const std::int64_t* at, std::size_t n) {
  if (n == 0) return {};
  late_.resize(n);
  for (std::size_t i = 0; i < n; ++i) late_[i] = static_cast<std::uint16_t>(at[i]);
  return late_;
}

void Feed::take_batch(JournalBatch* rows) {
  std::unique_ptr<JournalBatch> batch(rows);
  if (!stop_.load(std::memory_order_relaxed)) settler_.settle(*batch);
  for (const JournalBatch::Segment& segment : batch->segments) taken_weight_ += segment.rows * segment.code->row.words;
  batch->clear();
  const std::lock_guard lock(returned_mutex_);
  returned_.push_back(std::move(batch));
}

/// One record; the result is where the next one is.
std::uint64_t Feed::take(std::uint64_t position) {
  const std::int64_t* const record = ring_.get() + (position & (kRing - 1));
  const auto what = static_cast<std::uint64_t>(*record);
  const auto op = static_cast<Op>(what & 0xff);
  const std::size_t n = what >> 8 & 0xffffff;
  const auto site = static_cast<SiteId>(what >> 32);
  const std::int64_t* const at = record + 1;
  const auto natural = [&](std::size_t i) { return static_cast<std::uint64_t>(at[i]); };
  const auto reader_at = [&](std::size_t i) {
    Reader reader;
    std::memcpy(static_cast<void*>(&reader), at + i, sizeof(reader));
    return reader;
  };
  const std::int64_t* const point = point_.data();
  switch (op) {
    case Op::kSkip:
      return (position | (kRing - 1)) + 1;
    case Op::kPoint:
      point_.assign(at, at + n);
      return position + 1 + n;
    case Op::kCounter:
      point_.back() = at[0];
      return position + 2;
    case Op::kTime:
      streams_.set_time(natural(0));
      return position + 2;
    case Op::kInstance:
      streams_.instance(site, point);
      return position + 1;
    case Op::kInstanceRun:
      streams_.instance_run(site, point, natural(0));
      return position + 2;
    case Op::kAccess:
      streams_.access(site, object<const MemoryAccess>(at[0]), point, static_cast<ObjectId>(at[1]), at[2], at[3],
                      natural(4), n != 0);
      return position + 6;
    case Op::kAccessRun:
      streams_.access_run(site, object<const MemoryAccess>(at[0]), point, {static_cast<ObjectId>(at[1]), at[2], at[3]},
                          {at[5], at[6]}, natural(7), natural(8), natural(4));
      return position + 10;
    case Op::kValue:
      streams_.value(site, object<const IntegerValue>(at[0]), point, at[2], natural(1));
      return position + 4;
    case Op::kValueRun:
      streams_.value_run(site, object<const IntegerValue>(at[0]), point, at[2], at[3], natural(4), natural(1));
      return position + 6;
    case Op::kValueList:
      streams_.value_list(site, object<const IntegerValue>(at[0]), point, at + 2, n, natural(1));
      return position + 3 + n;
    case Op::kAccessList:
      streams_.access_list(site, object<const MemoryAccess>(at[0]), point, {static_cast<ObjectId>(at[1]), at[2], 0},
                           at + 5, n, natural(3), natural(4));
      return position + 6 + n;
    case Op::kGathered: {
      std::array<Cell, Gatherer::kMost> cells;
      std::memcpy(static_cast<void*>(cells.data()), at + 3 + kReader, n * sizeof(Cell));
      gatherer_.take(reader_at(3), {static_cast<EntryId>(at[0]), natural(1), natural(2)}, cells.data(), n);
      return position + 4 + kReader + 2 * n;
    }
    case Op::kDependence: {
      const std::size_t words = natural(1);
      const std::int64_t* const producer = take_producer(at + 2 + kReader, natural(0), words);
      if (streams_.dependence(reader_at(2), site, point, producer, natural(0)))
        for (const std::uint16_t k : take_late(at + 2 + kReader + words, n)) streams_.late(k);
      return position + 3 + kReader + words + n;
    }
    case Op::kLost:
      streams_.lost_dependence(reader_at(0), point);
      return position + 1 + kReader;
    case Op::kPrepare:
      streams_.dependences(reader_at(0), site);
      return position + 1 + kReader;
    case Op::kDependenceRun: {
      const std::size_t equal = natural(0) & 0xffffffff;
      const std::size_t outer = natural(0) >> 32;
      const std::size_t words = natural(1);
      const std::int64_t* const producer = take_producer(at + 6 + kReader, equal, words);
      const Late late = take_late(at + 6 + kReader + words, n);
      streams_.dependence_run(
          nullptr, reader_at(6), site,
          {point, producer, equal, at[2], natural(3), natural(4), at[5], late, {at + 6 + kReader + words + n, outer}});
      return position + 7 + kReader + words + n + outer;
    }
    case Op::kRegisterRun: {
      const std::size_t equal = natural(0) & 0xffff;
      const std::size_t words = natural(0) >> 16 & 0xffff;
      const std::int64_t* const producer = take_producer(at + 6, equal, words);
      const Late late = take_late(at + 6 + words, n);
      streams_.register_run(object<Streams::Used>(at[1]), site, object<const RegisterRead>(at[2]),
                            static_cast<DefinitionId>(natural(0) >> 32), static_cast<std::uint16_t>(at[3]),
                            {point, producer, equal, at[4], natural(5), 0, 1, late});
      return position + 7 + words + n;
    }
    case Op::kRanks: {
      const std::unique_ptr<Ranks> ranks(&object<Ranks>(at[0]));
      streams_.ranks(*ranks);
      return position + n;
    }
    case Op::kLoadRanks: {
      const std::unique_ptr<LoadRanks> ranks(&object<LoadRanks>(at[0]));
      streams_.load_ranks(*ranks);
      return position + n;
    }
    case Op::kBatch:
      take_batch(&object<JournalBatch>(at[0]));
      return position + 2;
    case Op::kLimit:
      need_.bytes = streams_.limit(natural(0), {natural(1), natural(2)});
      need_.streams = streams_.count();
      return position + 4;
  }
  return position + 1;
}

}  // namespace loopfold::ddg
