#include "recorder/host/ring_reader.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <new>

namespace loopfold::recorder {

namespace {

using wire::kSegmentBytes;
using wire::kSegments;

void futex_wake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, int milliseconds) {
  const timespec timeout{milliseconds / 1000, (milliseconds % 1000) * 1000000L};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

}  // namespace

RingReader::RingReader(int fd, void* memory)
    : fd_(fd), memory_(static_cast<char*>(memory)), header_(static_cast<wire::RingHeader*>(memory)) {}

RingReader::~RingReader() {
  ::munmap(memory_, wire::kRingBytes);
  ::close(fd_);
}

Result<std::unique_ptr<RingReader>> RingReader::create() {
  const int fd = ::memfd_create("loopfold-ring", MFD_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, wire::kRingBytes) != 0) {
    return fail(ErrorKind::kEnvironment,
                fmt::format("shared memory: cannot create the ring: {}; see loopfold doctor", std::strerror(errno)));
  }
  return adopt(fd, true);
}

Result<std::unique_ptr<RingReader>> RingReader::adopt(int fd, bool initialise) {
  void* memory = ::mmap(nullptr, wire::kRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    return fail(ErrorKind::kEnvironment, fmt::format("shared memory: cannot map the ring: {}", std::strerror(errno)));
  }
  if (initialise) {
    auto* header = new (memory) wire::RingHeader{};
    header->magic = wire::kMagic;
  }
  return std::unique_ptr<RingReader>(new RingReader(fd, memory));
}

std::span<const std::uint64_t> RingReader::available() {
  const std::uint64_t written = header_->written.load(std::memory_order_acquire);
  if (written <= position_) return {};
  const std::uint64_t segment_end = (position_ / kSegmentBytes + 1) * kSegmentBytes;
  const std::uint64_t end = std::min(written, segment_end);
  const char* from = memory_ + wire::kHeaderBytes + position_ % (std::uint64_t{kSegmentBytes} * kSegments);
  return {reinterpret_cast<const std::uint64_t*>(from), (end - position_) / 8};
}

void RingReader::release(std::size_t used, bool segment_ended) {
  const std::uint64_t before = position_ / kSegmentBytes;
  position_ += used * 8;
  if (segment_ended) position_ = (before + 1) * kSegmentBytes;
  header_->consumed.store(position_, std::memory_order_release);
  if (position_ / kSegmentBytes == before) return;
  header_->consumed_segments.fetch_add(1, std::memory_order_seq_cst);
  const std::uint64_t wanted = header_->target_waits_for.load(std::memory_order_seq_cst);
  if (wanted != 0 && position_ >= wanted) futex_wake(header_->consumed_segments);
}

std::span<const std::uint64_t> RingReader::unpublished_tail() const {
  const std::uint64_t segment_end = (position_ / kSegmentBytes + 1) * kSegmentBytes;
  const char* from = memory_ + wire::kHeaderBytes + position_ % (std::uint64_t{kSegmentBytes} * kSegments);
  return {reinterpret_cast<const std::uint64_t*>(from), (segment_end - position_) / 8};
}

void RingReader::wait(int milliseconds) {
  const std::uint32_t seen = header_->written_segments.load(std::memory_order_seq_cst);
  header_->reader_waits.store(1, std::memory_order_seq_cst);
  if (available().empty() && !finished()) futex_wait(header_->written_segments, seen, milliseconds);
  header_->reader_waits.store(0, std::memory_order_relaxed);
}

}  // namespace loopfold::recorder
