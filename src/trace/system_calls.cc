#include "trace/system_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace loopfold::trace {

namespace {

// clang-format off
// Sorted by number; what compiled programs and their libraries use, with the number of arguments.
constexpr SystemCall kSystemCalls[] = {
    {0, "read", 3}, {1, "write", 3}, {2, "open", 3}, {3, "close", 1}, {4, "stat", 2}, {5, "fstat", 2}, {6, "lstat", 2},
    {7, "poll", 3}, {8, "lseek", 3}, {9, "mmap", 6}, {10, "mprotect", 3}, {11, "munmap", 2}, {12, "brk", 1},
    {13, "rt_sigaction", 4}, {14, "rt_sigprocmask", 4}, {15, "rt_sigreturn", 0}, {16, "ioctl", 3}, {17, "pread64", 4},
    {18, "pwrite64", 4}, {19, "readv", 3}, {20, "writev", 3}, {21, "access", 2}, {22, "pipe", 1}, {23, "select", 5},
    {24, "sched_yield", 0}, {25, "mremap", 5}, {26, "msync", 3}, {27, "mincore", 3}, {28, "madvise", 3},
    {29, "shmget", 3}, {30, "shmat", 3}, {31, "shmctl", 3}, {32, "dup", 1}, {33, "dup2", 2}, {34, "pause", 0},
    {35, "nanosleep", 2}, {36, "getitimer", 2}, {37, "alarm", 1}, {38, "setitimer", 3}, {39, "getpid", 0},
    {40, "sendfile", 4}, {41, "socket", 3}, {42, "connect", 3}, {43, "accept", 3}, {44, "sendto", 6},
    {45, "recvfrom", 6}, {46, "sendmsg", 3}, {47, "recvmsg", 3}, {48, "shutdown", 2}, {49, "bind", 3},
    {50, "listen", 2}, {51, "getsockname", 3}, {52, "getpeername", 3}, {53, "socketpair", 4}, {54, "setsockopt", 5},
    {55, "getsockopt", 5}, {56, "clone", 5}, {57, "fork", 0}, {58, "vfork", 0}, {59, "execve", 3}, {60, "exit", 1},
    {61, "wait4", 4}, {62, "kill", 2}, {63, "uname", 1}, {72, "fcntl", 3}, {73, "flock", 2}, {74, "fsync", 1},
    {75, "fdatasync", 1}, {76, "truncate", 2}, {77, "ftruncate", 2}, {78, "getdents", 3}, {79, "getcwd", 2},
    {80, "chdir", 1}, {81, "fchdir", 1}, {82, "rename", 2}, {83, "mkdir", 2}, {84, "rmdir", 1}, {85, "creat", 2},
    {86, "link", 2}, {87, "unlink", 1}, {88, "symlink", 2}, {89, "readlink", 3}, {90, "chmod", 2}, {91, "fchmod", 2},
    {92, "chown", 3}, {95, "umask", 1}, {96, "gettimeofday", 2}, {97, "getrlimit", 2}, {98, "getrusage", 2},
    {99, "sysinfo", 1}, {100, "times", 1}, {102, "getuid", 0}, {104, "getgid", 0}, {107, "geteuid", 0},
    {108, "getegid", 0}, {109, "setpgid", 2}, {110, "getppid", 0}, {111, "getpgrp", 0}, {112, "setsid", 0},
    {127, "rt_sigpending", 2}, {128, "rt_sigtimedwait", 4}, {130, "rt_sigsuspend", 2}, {131, "sigaltstack", 2},
    {137, "statfs", 2}, {138, "fstatfs", 2}, {157, "prctl", 5}, {158, "arch_prctl", 2}, {160, "setrlimit", 2},
    {186, "gettid", 0}, {200, "tkill", 2}, {201, "time", 1}, {202, "futex", 6}, {203, "sched_setaffinity", 3},
    {204, "sched_getaffinity", 3}, {213, "epoll_create", 1}, {217, "getdents64", 3}, {218, "set_tid_address", 1},
    {221, "fadvise64", 4}, {222, "timer_create", 3}, {223, "timer_settime", 4}, {226, "timer_delete", 1},
    {228, "clock_gettime", 2}, {229, "clock_getres", 2}, {230, "clock_nanosleep", 4}, {231, "exit_group", 1},
    {232, "epoll_wait", 4}, {233, "epoll_ctl", 4}, {234, "tgkill", 3}, {247, "waitid", 5}, {257, "openat", 4},
    {258, "mkdirat", 3}, {262, "newfstatat", 4}, {263, "unlinkat", 3}, {264, "renameat", 4}, {267, "readlinkat", 4},
    {269, "faccessat", 3}, {270, "pselect6", 6}, {271, "ppoll", 5}, {273, "set_robust_list", 2}, {280, "utimensat", 4},
    {281, "epoll_pwait", 6}, {283, "timerfd_create", 2}, {284, "eventfd", 1}, {285, "fallocate", 4},
    {286, "timerfd_settime", 4}, {288, "accept4", 4}, {289, "signalfd4", 4}, {290, "eventfd2", 2},
    {291, "epoll_create1", 1}, {292, "dup3", 3}, {293, "pipe2", 2}, {295, "preadv", 5}, {296, "pwritev", 5},
    {302, "prlimit64", 4}, {309, "getcpu", 3}, {314, "sched_setattr", 3}, {315, "sched_getattr", 4},
    {316, "renameat2", 5}, {318, "getrandom", 3}, {319, "memfd_create", 2}, {322, "execveat", 5},
    {324, "membarrier", 3}, {326, "copy_file_range", 6}, {332, "statx", 5}, {334, "rseq", 4},
    {424, "pidfd_send_signal", 4}, {434, "pidfd_open", 2}, {435, "clone3", 2}, {436, "close_range", 3},
    {437, "openat2", 4}, {439, "faccessat2", 4}, {441, "epoll_pwait2", 6}, {449, "futex_waitv", 5},
};
// clang-format on

}  // namespace

const SystemCall* find_system_call(std::uint32_t number) {
  const auto before = [](const SystemCall& call, std::uint32_t wanted) { return call.number < wanted; };
  const SystemCall* const found = std::lower_bound(std::begin(kSystemCalls), std::end(kSystemCalls), number, before);
  return found != std::end(kSystemCalls) && found->number == number ? found : nullptr;
}

std::string system_call_name(std::uint32_t number) {
  const SystemCall* const call = find_system_call(number);
  return call != nullptr ? std::string(call->name) : fmt::format("syscall_{}", number);
}

}  // namespace loopfold::trace
