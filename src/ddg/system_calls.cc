#include "ddg/system_calls.h"

#include <sys/syscall.h>

#include <algorithm>
#include <iterator>

namespace loopfold::ddg {
namespace {

constexpr long kInside[] = {SYS_arch_prctl,
                            SYS_brk,
                            SYS_capget,
                            SYS_clock_getres,
                            SYS_clock_gettime,
                            SYS_futex,
                            SYS_futex_waitv,
                            SYS_get_mempolicy,
                            SYS_get_robust_list,
                            SYS_get_thread_area,
                            SYS_getcpu,
                            SYS_getegid,
                            SYS_geteuid,
                            SYS_getgid,
                            SYS_getgroups,
                            SYS_getpgid,
                            SYS_getpgrp,
                            SYS_getpid,
                            SYS_getppid,
                            SYS_getpriority,
                            SYS_getresgid,
                            SYS_getresuid,
                            SYS_getrlimit,
                            SYS_getrusage,
                            SYS_getsid,
                            SYS_gettid,
                            SYS_gettimeofday,
                            SYS_getuid,
                            SYS_madvise,
                            SYS_mbind,
                            SYS_membarrier,
                            SYS_mincore,
                            SYS_mlock,
                            SYS_mlock2,
                            SYS_mlockall,
                            SYS_mmap,
                            SYS_mprotect,
                            SYS_mremap,
                            SYS_munlock,
                            SYS_munlockall,
                            SYS_munmap,
                            SYS_pkey_alloc,
                            SYS_pkey_free,
                            SYS_pkey_mprotect,
                            SYS_rseq,
                            SYS_rt_sigpending,
                            SYS_rt_sigreturn,
                            SYS_sched_get_priority_max,
                            SYS_sched_get_priority_min,
                            SYS_sched_getaffinity,
                            SYS_sched_getattr,
                            SYS_sched_getparam,
                            SYS_sched_getscheduler,
                            SYS_sched_rr_get_interval,
                            SYS_sched_yield,
                            SYS_set_mempolicy_home_node,
                            SYS_set_robust_list,
                            SYS_set_thread_area,
                            SYS_set_tid_address,
                            SYS_time,
                            SYS_times,
                            SYS_uname};

}  // namespace

bool has_outside_effect(std::uint32_t number) {
  return std::find(std::begin(kInside), std::end(kInside), static_cast<long>(number)) == std::end(kInside);
}

}  // namespace loopfold::ddg
