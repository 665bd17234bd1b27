// CPU time of the process, all its threads together, and the time that passes.
#pragma once

#include <chrono>
#include <ctime>
#include <utility>

namespace loopfold {

class Stopwatch {
 public:
  /// Seconds since the last call, or since the beginning.
  double lap() {
    const double now = cpu_seconds();
    const double passed = now - last_;
    last_ = now;
    return passed;
  }

 private:
  static double cpu_seconds() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  double last_ = cpu_seconds();
};

class WallClock {
 public:
  /// Seconds since the last call, or since the beginning.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace loopfold
