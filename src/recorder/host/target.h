// The process being recorded, as the recording process sees it.
#pragma once

#include <sys/types.h>

#include <csignal>

#include <optional>
#include <string>
#include <vector>

#include "recorder/host/options.h"
#include "support/result.h"

namespace loopfold::recorder {

/// What the program shall find as it was when `record` was started.
struct SignalDispositions {
  struct sigaction child {};
  struct sigaction file_size {};
  struct sigaction pipe {};
};

/// A full disk and a closed pipe are errors to be reported, not reasons to die, and children are to be waited for.
SignalDispositions take_over_signals();

class Target {
 public:
  /// Forks and execs the recorder on `argv`, whose binary is `program`. Signals sent to this process (not by the
  /// terminal, which reaches the program by itself) are passed on to the program from now on.
  static Result<Target> start(const std::string& tool, const RecordOptions& options, int ring_fd, int log_fd,
                              const SignalDispositions& before, const std::string& program, const std::vector<std::string>& argv);
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
  /// CPU time it used, in seconds, once ended; 0 for a process that was only watched.
  double cpu_seconds() const { return cpu_seconds_; }

 private:
  Target(pid_t pid, bool is_child, int alive_fd);
  pid_t pid_;
  bool is_child_;
  int alive_fd_;  // write end of the pipe by which the target sees that this process lives
  int pid_fd_ = -1;
  bool ended_ = false;
  std::optional<int> wait_status_;
  double cpu_seconds_ = 0;
};

/// CPU time and memory of this process so far.
double own_cpu_seconds();
long own_peak_kilobytes();

}  // namespace loopfold::recorder
