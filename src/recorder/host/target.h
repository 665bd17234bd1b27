// The process being recorded, as the recording process sees it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "recorder/host/options.h"
#include "support/result.h"

namespace loopfold::recorder {

class Target {
 public:
  /// Forks and execs the recorder on `argv`, whose binary is `program`. Signals sent to this process (not by the terminal, which reaches the
  /// program by itself) are passed on to the program from now on.
  static Result<Target> start(const std::string& tool, const RecordOptions& options, int ring_fd, int log_fd,
                              const std::string& program, const std::vector<std::string>& argv);
  /// A process that is not a child of this one.
  static Target watch(pid_t pid);
  ~Target();
  Target(Target&& other) noexcept;
  Target& operator=(Target&&) = delete;

  pid_t pid() const { return pid_; }
  /// Has it ended? `wait`: sleep until it has.
  bool ended(bool wait);
  /// The wait status, once ended; nothing for a process that was only watched.
  std::optional<int> wait_status() const { return wait_status_; }

 private:
  Target(pid_t pid, bool is_child, int alive_fd);
  pid_t pid_;
  bool is_child_;
  int alive_fd_;      // write end of the pipe by which the target sees that this process lives
  int pid_fd_ = -1;
  bool ended_ = false;
  std::optional<int> wait_status_;
};

}  // namespace loopfold::recorder
