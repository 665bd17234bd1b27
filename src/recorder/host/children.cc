#include "recorder/host/children.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

namespace loopfold::recorder {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kForTraces = std::chrono::milliseconds(2000);      // until all known traces are whole
constexpr auto kForDirectories = std::chrono::milliseconds(300);  // until all children have shown up
constexpr auto kBetween = std::chrono::milliseconds(10);

/// PID, or PID.N after an exec.
bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

std::vector<fs::path> directories_of_children(const fs::path& directory) {
  std::vector<fs::path> found;
  const std::string prefix = directory.filename().string() + ".";
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(prefix, 0) == 0 && is_number(name.substr(prefix.size()))) found.push_back(entry.path());
  }
  return found;
}

bool being_written(const fs::path& directory) {
  const int fd = ::open((directory / "trace.lft").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool locked = ::flock(fd, LOCK_SH | LOCK_NB) != 0;
  ::close(fd);
  return locked;
}

}  // namespace

TraceLock::TraceLock(const std::string& directory)
    : fd_(::open((directory + "/trace.lft").c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ >= 0) ::flock(fd_, LOCK_EX);
}

TraceLock::~TraceLock() {
  if (fd_ >= 0) ::close(fd_);
}

std::uint64_t wait_for_children(const std::string& directory, std::uint64_t expected) {
  const Clock::time_point started = Clock::now();
  for (;;) {
    const std::vector<fs::path> found = directories_of_children(directory);
    const Clock::duration waited = Clock::now() - started;
    const bool missing = found.size() < expected && waited < kForDirectories;
    const bool busy = std::any_of(found.begin(), found.end(), being_written) && waited < kForTraces;
    if (!missing && !busy) return found.size();
    std::this_thread::sleep_for(kBetween);
  }
}

}  // namespace loopfold::recorder
