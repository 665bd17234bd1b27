// The recording process's end of the ring (recorder/wire.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "recorder/wire.h"
#include "support/result.h"

namespace loopfold::recorder {

class RingReader {
 public:
  /// A new ring in anonymous shared memory.
  static Result<std::unique_ptr<RingReader>> create();
  /// The ring behind a file descriptor inherited from the process that will write it; `initialise` if it is still
  /// blank.
  static Result<std::unique_ptr<RingReader>> adopt(int fd, bool initialise);
  ~RingReader();
  RingReader(const RingReader&) = delete;
  RingReader& operator=(const RingReader&) = delete;

  int fd() const { return fd_; }
  bool attached() const { return header_->attached.load(std::memory_order_acquire) != 0; }
  bool finished() const { return header_->finished.load(std::memory_order_acquire) != 0; }

  /// What can be read now, whole records only, up to the end of a segment; empty if there is nothing. Valid until
  /// release().
  std::span<const std::uint64_t> available();
  /// The words of the last available() are done with: `used` of them were parsed; if the segment was found to end
  /// there (header 0), `segment_ended`.
  void release(std::size_t used, bool segment_ended);

  /// Once the target is dead: what it wrote behind the last published position, if anything.
  std::span<const std::uint64_t> unpublished_tail() const;

  /// Sleeps until a segment is full, the target finished, or the time is over.
  void wait(int milliseconds);

  /// Asks the target to stop recording; it does when its segment is full.
  void request_stop() { header_->stop.store(1, std::memory_order_release); }

 private:
  RingReader(int fd, void* memory);
  int fd_;
  char* memory_;
  wire::RingHeader* header_;
  std::uint64_t position_ = 0;
};

}  // namespace loopfold::recorder
