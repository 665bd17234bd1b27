// The traces of followed children: each has a recording process of its own, which may end a little after the program.
#pragma once

#include <cstdint>
#include <string>

namespace loopfold::recorder {

/// Held by a recording process while it writes the trace in `directory`.
class TraceLock {
 public:
  explicit TraceLock(const std::string& directory);
  ~TraceLock();
  TraceLock(const TraceLock&) = delete;
  TraceLock& operator=(const TraceLock&) = delete;

 private:
  int fd_;
};

/// Waits until the traces of the children of the program recorded in `directory` (directory.PID) are whole, but not
/// long: a child may well outlive its parent. `expected` is how many there should be. Returns how many there are.
std::uint64_t wait_for_children(const std::string& directory, std::uint64_t expected);

}  // namespace loopfold::recorder
