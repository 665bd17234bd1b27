#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "support/print.h"
#include "support/units.h"

namespace loopfold::cli {

namespace {

constexpr double kSoonestEstimate = 0.5;  // seconds: before that, rates say nothing

}  // namespace

std::string rate_text(double share, std::uint64_t instructions, double seconds) {
  if (seconds < kSoonestEstimate || share <= 0) return "";
  std::string text;
  if (instructions != 0)
    text += fmt::format(", {} instructions/s",
                        short_count(static_cast<std::uint64_t>(static_cast<double>(instructions) / seconds)));
  const auto left = static_cast<std::uint64_t>(seconds * (1 - share) / share + 0.5);
  return text + fmt::format(", {}:{:02} left", left / 60, left % 60);
}

ProgressLine::ProgressLine(std::string what, bool on)
    : what_(std::move(what)), on_(on && ::isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() {
  if (shown_) print_stderr("\r\x1b[K");
}

void ProgressLine::show(double share, std::uint64_t instructions) {
  const int percent = static_cast<int>(share * 100);
  if (!on_ || percent == last_) return;
  last_ = percent;
  shown_ = true;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const std::string rate = instructions == 0 ? "" : rate_text(share, instructions, seconds);
  print_stderr("\rloopfold: {}, {} %{}\x1b[K", what_, percent, rate);
}

}  // namespace loopfold::cli
