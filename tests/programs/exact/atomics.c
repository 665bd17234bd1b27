// Atomic read-modify-writes of 1 to 16 bytes on the members of a struct: xadd, xchg, lock ops, cmpxchg, cmpxchg16b.
#include <stdint.h>
#include <stdio.h>

#include "sentinel.h"

static struct {
  uint8_t byte;
  uint16_t half;
  uint32_t word;
  uint64_t sum, flags, lock;
  uint64_t pair[2] __attribute__((aligned(16)));
} state;

static int __attribute__((noinline)) swap_pair(uint64_t low, uint64_t high) {
  unsigned char equal;
  __asm__ volatile("lock cmpxchg16b %1\n\tsete %0"
                   : "=q"(equal), "+m"(state.pair), "+a"(low), "+d"(high)
                   : "b"(low + 1), "c"(high + 2)
                   : "cc", "memory");
  return equal;
}

int main(void) {
  int failed = 0;
  SENTINEL_BEGIN();
  for (int i = 0; i < 150; i++) {
    __atomic_fetch_add(&state.byte, 3, __ATOMIC_SEQ_CST);
    __atomic_fetch_sub(&state.half, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&state.sum, (uint64_t)i, __ATOMIC_SEQ_CST);
    __atomic_or_fetch(&state.flags, 1ull << (i % 64), __ATOMIC_SEQ_CST);
    uint32_t expected = i % 5 ? state.word : 12345;
    failed += !__atomic_compare_exchange_n(&state.word, &expected, expected + 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    while (__atomic_exchange_n(&state.lock, 1, __ATOMIC_ACQUIRE)) {
    }
    failed += !swap_pair(state.pair[0] + (i % 7 == 0), state.pair[1]);
    __atomic_store_n(&state.lock, 0, __ATOMIC_RELEASE);
  }
  SENTINEL_END();
  printf("%u %u %u %llu %llx %llu %d\n", state.byte, state.half, state.word, (unsigned long long)state.sum,
         (unsigned long long)state.flags, (unsigned long long)state.pair[1], failed);
  return 0;
}
