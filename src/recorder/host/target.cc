// Process and signal plumbing.
//
// Signals: Ctrl-C at a terminal goes to the whole foreground process group, so the program gets it by itself and this
// process only has to survive it. A signal sent to this process alone (kill, a batch system's SIGTERM) comes with
// si_code <= 0, and is passed on. Either way the program decides what happens, and recording goes on to its end.
#include "recorder/host/target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "recorder/host/launcher.h"

namespace loopfold::recorder {

namespace {

constexpr std::array kForwarded{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// Signal handlers have no other way to know the process.
std::atomic<pid_t> forward_to{0};

void forward(int signal, siginfo_t* info, void*) {
  const pid_t pid = forward_to.load();
  if (info->si_code <= 0 && pid > 0) ::kill(pid, signal);
}

double seconds_of(const rusage& usage) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void forward_signals(pid_t pid) {
  forward_to.store(pid);
  struct sigaction action {};
  action.sa_sigaction = forward;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : kForwarded) ::sigaction(signal, &action, nullptr);
}

}  // namespace

SignalDispositions take_over_signals() {
  SignalDispositions before;
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &by_default, &before.child);
  ::sigaction(SIGXFSZ, &ignore, &before.file_size);
  ::sigaction(SIGPIPE, &ignore, &before.pipe);
  return before;
}

double own_cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return seconds_of(usage);
}

long own_peak_kilobytes() {
  // Not ru_maxrss: that remembers the process this one was forked from.
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::strtol(line.c_str() + 6, nullptr, 10);
  }
  return 0;
}

Target::Target(pid_t pid, bool is_child, int alive_fd) : pid_(pid), is_child_(is_child), alive_fd_(alive_fd) {}

Target::Target(Target&& other) noexcept
    : pid_(other.pid_),
      is_child_(other.is_child_),
      alive_fd_(std::exchange(other.alive_fd_, -1)),
      pid_fd_(std::exchange(other.pid_fd_, -1)),
      ended_(other.ended_),
      wait_status_(other.wait_status_),
      cpu_seconds_(other.cpu_seconds_) {}

Target::~Target() {
  if (alive_fd_ >= 0) ::close(alive_fd_);
  if (pid_fd_ >= 0) ::close(pid_fd_);
}

Result<Target> Target::start(const std::string& tool, const RecordOptions& options, int ring_fd, int log_fd,
                             const SignalDispositions& dispositions, const std::string& program,
                             const std::vector<std::string>& argv) {
  int alive[2];
  if (::pipe(alive) != 0) return fail(ErrorKind::kEnvironment, fmt::format("pipe: {}", std::strerror(errno)));
  ::fcntl(alive[1], F_SETFD, FD_CLOEXEC);
  // No signal may arrive between the fork and the installation of the handlers.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::sigaction(SIGCHLD, &dispositions.child, nullptr);
    ::sigaction(SIGXFSZ, &dispositions.file_size, nullptr);
    ::sigaction(SIGPIPE, &dispositions.pipe, nullptr);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    ::close(alive[1]);
    // Duplicates survive exec; the originals do not.
    const InheritedFiles files{::dup(ring_fd), alive[0], ::dup(log_fd)};
    std::vector<std::string> command = tool_command(tool, options, files, program);
    command.insert(command.end(), argv.begin(), argv.end());
    exec_tool(tool, command);
    ::_exit(125);
  }
  if (pid > 0) forward_signals(pid);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::close(alive[0]);
  if (pid < 0) {
    ::close(alive[1]);
    return fail(ErrorKind::kEnvironment, fmt::format("fork: {}", std::strerror(errno)));
  }
  return Target(pid, true, alive[1]);
}

Target Target::watch(pid_t pid) {
  Target target(pid, false, -1);
  target.pid_fd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  return target;
}

bool Target::ended(bool wait) {
  if (ended_) return true;
  if (is_child_) {
    int status = 0;
    rusage usage{};
    const pid_t got = ::wait4(pid_, &status, wait ? 0 : WNOHANG, &usage);
    if (got == pid_) {
      wait_status_ = status;
      cpu_seconds_ = seconds_of(usage);
    }
    ended_ = got == pid_ || (got < 0 && errno == ECHILD);
    return ended_;
  }
  if (pid_fd_ >= 0) {
    pollfd poll{pid_fd_, POLLIN, 0};
    ended_ = ::poll(&poll, 1, wait ? -1 : 0) > 0;
  } else {
    ended_ = ::kill(pid_, 0) != 0 && errno == ESRCH;
    if (wait && !ended_) ::usleep(20000);
  }
  return ended_;
}

}  // namespace loopfold::recorder
