// One line on the terminal that is written over, and wiped at the end. Nothing if standard error is no terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace loopfold::cli {

class ProgressLine {
 public:
  /// `what`: "finding loops".
  ProgressLine(std::string what, bool on);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// "loopfold: finding loops, 12 %"; with instructions that were done, their rate and the time that is left too.
  void show(double share, std::uint64_t instructions = 0);

 private:
  std::string what_;
  bool on_;
  bool shown_ = false;
  int last_ = -1;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// ", 85 M instructions/s, 0:12 left", as far as that can be said after so many seconds.
std::string rate_text(double share, std::uint64_t instructions, double seconds);

}  // namespace loopfold::cli
