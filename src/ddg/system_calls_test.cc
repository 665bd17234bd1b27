#include "ddg/system_calls.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

namespace loopfold::ddg {
namespace {

TEST(SystemCalls, TouchTheOutside) {
  for (const long number : {SYS_read, SYS_write, SYS_open, SYS_close, SYS_ioctl, SYS_exit, SYS_exit_group, SYS_kill,
                            SYS_nanosleep, SYS_getrandom, SYS_msync, SYS_clone, SYS_openat, SYS_io_uring_enter}) {
    EXPECT_TRUE(has_outside_effect(static_cast<std::uint32_t>(number))) << number;
  }
}

TEST(SystemCalls, StayInside) {
  for (const long number :
       {SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_getpid, SYS_clock_gettime, SYS_futex,
        SYS_sched_yield, SYS_set_robust_list, SYS_gettid, SYS_arch_prctl, SYS_rseq}) {
    EXPECT_FALSE(has_outside_effect(static_cast<std::uint32_t>(number))) << number;
  }
}

TEST(SystemCalls, UnknownNumbersTouchTheOutside) {
  for (const std::uint32_t number : {335U, 423U, 451U, 4711U, 0xffffffffU}) EXPECT_TRUE(has_outside_effect(number));
}

}  // namespace
}  // namespace loopfold::ddg
