// A hash over a sequence of events: recorded on the way in (record --checksum), compared on the way out (trace check).
// It shows that what the runs of a trace expand to is what the program did, event for event and slot for slot.
#pragma once

#include <cstdint>
#include <span>

#include "trace/types.h"

namespace loopfold::trace {

class EventHash {
 public:
  void add(ThreadId thread, ExitId exit, std::span<const std::uint64_t> slots) {
    mix(std::uint64_t{thread} << 32 | exit);
    for (const std::uint64_t slot : slots) mix(slot);
  }

  /// Never 0, which stands for "not recorded".
  std::uint64_t value() const { return hash_ == 0 ? 1 : hash_; }

 private:
  void mix(std::uint64_t word) {
    hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15ull;
    hash_ ^= hash_ >> 32;
  }
  std::uint64_t hash_ = 0x243f6a8885a308d3ull;
};

}  // namespace loopfold::trace
