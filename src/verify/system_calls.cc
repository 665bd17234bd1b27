#include "verify/system_calls.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>

namespace loopfold::verify {

bool is_noticed_outside(std::uint32_t number) {
  static constexpr std::array kUnnoticed = {
      // Memory.
      SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_mlock, SYS_mlock2, SYS_munlock,
      SYS_mlockall, SYS_munlockall, SYS_mincore, SYS_membarrier, SYS_mbind, SYS_get_mempolicy, SYS_set_mempolicy,
      SYS_pkey_alloc, SYS_pkey_free, SYS_pkey_mprotect,
      // Threads, and waiting for each other.
      SYS_futex, SYS_futex_waitv, SYS_set_robust_list, SYS_get_robust_list, SYS_set_tid_address, SYS_arch_prctl,
      SYS_get_thread_area, SYS_set_thread_area, SYS_rseq, SYS_sched_yield, SYS_clone, SYS_clone3, SYS_exit,
      SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_sched_getparam, SYS_sched_getscheduler,
      SYS_sched_get_priority_max, SYS_sched_get_priority_min, SYS_getcpu,
      // Signals that the process may get.
      SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigpending, SYS_rt_sigreturn, SYS_sigaltstack,
      // What it is, and clocks.
      SYS_getpid, SYS_gettid, SYS_getppid, SYS_getpgid, SYS_getpgrp, SYS_getsid, SYS_getuid, SYS_geteuid, SYS_getgid,
      SYS_getegid, SYS_getresuid, SYS_getresgid, SYS_getgroups, SYS_capget, SYS_getrlimit, SYS_getrusage,
      SYS_getpriority, SYS_uname, SYS_sysinfo, SYS_times, SYS_time, SYS_gettimeofday, SYS_clock_gettime,
      SYS_clock_getres,
  };
  return std::find(kUnnoticed.begin(), kUnnoticed.end(), static_cast<long>(number)) == kUnnoticed.end();
}

}  // namespace loopfold::verify
