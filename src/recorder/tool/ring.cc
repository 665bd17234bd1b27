// The producer of the ring: segment switches, publishing, waiting for the reader, and letting go of it.
//
// Waiting: a full ring means that the recording process is behind. The target sleeps on a futex and wakes when half the
// ring is free (waking for each segment would cost more than filling it), or every 50 ms to see whether the recording
// process still lives (its end of a pipe is open). If not, the target detaches: the write pointer is moved to a scratch
// segment of its own, at the next system call all translations are dropped and made anew without instrumentation, and
// the program goes on as if nobody watched.
#include "ring.h"

#include "syscalls.h"

namespace loopfold::tool {

namespace {

using wire::kSegmentBytes;
using wire::kSegments;

struct Ring {
  wire::RingHeader* header = nullptr;
  char* segments = nullptr;
  Int ring_fd = -1;
  Int alive_fd = -1;
  bool attached = false;
  ThreadId client = VG_INVALID_THREADID;  // the thread whose shadow registers hold the pointers
  bool stale_translations = false;        // instrumented ones, although nothing is recorded any more
  ULong segment = 0;                      // number of the segment being written, counted from the start
  ULong cursor = 0;                       // next byte to write (an address)
  ULong end = 0;                          // end of the segment, less the reserve
};

constinit Ring ring;
alignas(64) constinit char scratch[kSegmentBytes] = {};

char* segment_start() { return ring.attached ? ring.segments + (ring.segment % kSegments) * kSegmentBytes : scratch; }

/// With a string instruction, which takes over whole cache lines without fetching what the reader left in them.
void zero_segment(char* start) {
  ULong words = kSegmentBytes / 8;
  asm volatile("rep stosq" : "+D"(start), "+c"(words) : "a"(0ull) : "memory");
}

void open_segment() {
  char* start = segment_start();
  zero_segment(start);
  ring.cursor = reinterpret_cast<ULong>(start);
  ring.end = ring.cursor + kSegmentBytes - kReserveBytes;
}

bool reader_lives() {
  vki_pollfd poll{ring.alive_fd, VKI_POLLIN, 0};
  constexpr short kHungUp = 0x08 | 0x10;  // POLLERR, POLLHUP
  return sys_poll(&poll, 1, 0) <= 0 || (poll.revents & kHungUp) == 0;
}

/// Waits until the segment after the current one may be overwritten. False if the reader is gone or wants no more.
bool wait_for_room() {
  wire::RingHeader& header = *ring.header;
  const ULong needed = (ring.segment + 1) * ULong{kSegmentBytes} + kSegmentBytes;
  for (;;) {
    if (header.stop.load(std::memory_order_acquire) != 0) return false;
    const UInt seen = header.consumed_segments.load(std::memory_order_acquire);
    if (needed <= header.consumed.load(std::memory_order_acquire) + wire::kRingBytes - wire::kHeaderBytes) return true;
    header.target_waits_for.store(needed - (wire::kRingBytes - wire::kHeaderBytes) / 2, std::memory_order_seq_cst);
    if (header.consumed_segments.load(std::memory_order_seq_cst) == seen) {
      sys_futex_wait(&header.consumed_segments, seen, 50);
    }
    header.target_waits_for.store(0, std::memory_order_relaxed);
    if (!reader_lives()) return false;
  }
}

void next_segment() {
  if (ring.attached) {
    wire::RingHeader& header = *ring.header;
    ring_publish(false);
    header.written_segments.fetch_add(1, std::memory_order_seq_cst);
    const ULong unread = ring.segment - header.consumed.load(std::memory_order_relaxed) / kSegmentBytes;
    if (header.reader_waits.load(std::memory_order_seq_cst) != 0 && unread >= kSegments / 4) {
      sys_futex_wake(&header.written_segments);
    }
    if (!wait_for_room()) return ring_detach();
    // The reader moves on to the new segment only once it is blank: if this process is killed now, it must not find
    // what was there a lap ago.
    ring.segment++;
    open_segment();
    return ring_publish(false);
  }
  open_segment();
}

void put_record(UInt id, std::span<const ULong> words) {
  if (ring.cursor + 8 * (words.size() + 1) > ring.end) next_segment();
  ULong* to = reinterpret_cast<ULong*>(ring.cursor);
  for (std::size_t i = 0; i < words.size(); i++) to[1 + i] = words[i];
  to[0] = id | ULong{words.size()} << 32;
  ring.cursor += 8 * (words.size() + 1);
}

/// A header without its record: the block there was stopped at `ip` by a fault.
void close_interrupted(Addr ip, bool (*block_of)(UInt exit, UInt* base_exit, UInt* slots)) {
  if (!ring.attached) return;
  ULong* at = reinterpret_cast<ULong*>(ring.cursor);
  UInt base_exit = 0;
  UInt slots = 0;
  if (at[0] < wire::kFirstExit || at[0] > 0xffffffff || !block_of(static_cast<UInt>(at[0]), &base_exit, &slots)) return;
  VG_(memmove)(at + 3, at + 1, 8 * SizeT{slots});
  at[1] = base_exit;
  at[2] = ip;
  ring_commit(wire::kInterrupted, slots + 2);
}

}  // namespace

bool ring_start(Int ring_fd, Int alive_fd) {
  const SysRes mapped =
      VG_(am_shared_mmap_file_float_valgrind)(wire::kRingBytes, VKI_PROT_READ | VKI_PROT_WRITE, ring_fd, 0);
  if (sr_isError(mapped)) return false;
  auto* base = reinterpret_cast<char*>(sr_Res(mapped));
  auto* header = reinterpret_cast<wire::RingHeader*>(base);
  if (header->magic != wire::kMagic) return false;
  const bool stale_translations = ring.stale_translations;
  ring = Ring{};
  ring.stale_translations = stale_translations;
  ring.header = header;
  ring.segments = base + wire::kHeaderBytes;
  ring.ring_fd = ring_fd;
  ring.alive_fd = alive_fd;
  ring.attached = true;
  open_segment();
  header->attached.store(1, std::memory_order_release);
  return true;
}

void ring_detach() {
  ring.stale_translations |= ring.attached;
  ring.attached = false;
  open_segment();
}

void ring_release() {
  ring_detach();
  if (ring.header == nullptr) return;
  VG_(am_munmap_valgrind)(reinterpret_cast<Addr>(ring.header), wire::kRingBytes);
  ring.header = nullptr;
  VG_(close)(ring.ring_fd);
  VG_(close)(ring.alive_fd);
}

void ring_drop_translations() {
  if (!ring.stale_translations) return;
  ring.stale_translations = false;
  VG_(discard_translations)(0, ~ULong{0}, "loopfold: recording ended");
}

bool ring_attached() { return ring.attached; }

void ring_enter_client(ThreadId tid, ULong watch) {
  const auto* cursor = reinterpret_cast<const UChar*>(&ring.cursor);
  const auto* end = reinterpret_cast<const UChar*>(&ring.end);
  VG_(set_shadow_regs_area)(tid, 1, kShadowCursor, 8, cursor);
  VG_(set_shadow_regs_area)(tid, 1, kShadowEnd, 8, end);
  VG_(set_shadow_regs_area)(tid, 1, kShadowWatch, 8, reinterpret_cast<const UChar*>(&watch));
  ring.client = tid;
}

void ring_leave_client(bool (*block_of)(UInt exit, UInt* base_exit, UInt* slots)) {
  if (ring.client == VG_INVALID_THREADID) return;
  const ThreadId tid = ring.client;
  ring.client = VG_INVALID_THREADID;
  VG_(get_shadow_regs_area)(tid, reinterpret_cast<UChar*>(&ring.cursor), 1, kShadowCursor, 8);
  close_interrupted(VG_(get_IP)(tid), block_of);
  ring_publish(false);
}

void ring_append(UInt id, std::span<const ULong> words) { put_record(id, words); }

void ring_append_from_client(GuestState* guest, UInt id, std::span<const ULong> words) {
  ring.cursor = guest->cursor();
  put_record(id, words);
  guest->cursor() = ring.cursor;
  guest->end() = ring.end;
}

ULong* ring_reserve(UInt words) {
  if (ring.cursor + 8 * (ULong{words} + 1) > ring.end) next_segment();
  return reinterpret_cast<ULong*>(ring.cursor) + 1;
}

void ring_commit(UInt id, UInt words) {
  *reinterpret_cast<ULong*>(ring.cursor) = id | ULong{words} << 32;
  ring.cursor += 8 * (ULong{words} + 1);
}

void ring_publish(bool finished) {
  if (!ring.attached) return;
  const ULong offset = ring.cursor - reinterpret_cast<ULong>(segment_start());
  ring.header->written.store(ring.segment * ULong{kSegmentBytes} + offset, std::memory_order_release);
  if (!finished) return;
  ring.header->finished.store(1, std::memory_order_release);
  ring.header->written_segments.fetch_add(1, std::memory_order_seq_cst);
  sys_futex_wake(&ring.header->written_segments);
}

}  // namespace loopfold::tool

void loopfold_segment_full(loopfold::tool::GuestState* guest) {
  loopfold::tool::ring.cursor = guest->cursor();
  loopfold::tool::next_segment();
  guest->cursor() = loopfold::tool::ring.cursor;
  guest->end() = loopfold::tool::ring.end;
}
