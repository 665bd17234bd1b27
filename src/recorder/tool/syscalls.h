// The few system calls that the tool makes for itself and that Valgrind's tool interface does not offer.
#pragma once

#include "valgrind.h"

namespace loopfold::tool {

inline Long sys_call(ULong number, ULong a = 0, ULong b = 0, ULong c = 0, ULong d = 0, ULong e = 0, ULong f = 0) {
  register ULong r10 asm("r10") = d;
  register ULong r8 asm("r8") = e;
  register ULong r9 asm("r9") = f;
  Long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

inline Long sys_poll(vki_pollfd* fds, ULong count, Int milliseconds) {
  return sys_call(__NR_poll, reinterpret_cast<ULong>(fds), count, static_cast<ULong>(milliseconds));
}

inline void sys_futex_wait(const void* word, UInt seen, UInt milliseconds) {
  const vki_timespec timeout{0, static_cast<long>(milliseconds) * 1000000};
  sys_call(__NR_futex, reinterpret_cast<ULong>(word), 0 /* FUTEX_WAIT */, seen, reinterpret_cast<ULong>(&timeout));
}

inline void sys_futex_wake(const void* word) {
  sys_call(__NR_futex, reinterpret_cast<ULong>(word), 1 /* FUTEX_WAKE */, 1);
}

}  // namespace loopfold::tool
