// Atomic operations: xadd, xchg, lock and/or/inc, cmpxchg of 1 to 8 bytes and cmpxchg16b, from two threads.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { kRounds = 2000 };

static uint8_t byte;
static uint32_t word;
static uint64_t added, exchanged, swapped, bits;
static struct { uint64_t low, high; } __attribute__((aligned(16))) pair;

static int compare_exchange_16(uint64_t low, uint64_t high, uint64_t new_low, uint64_t new_high) {
  unsigned char equal;
  __asm__ volatile("lock cmpxchg16b %1\n\tsete %0"
                   : "=q"(equal), "+m"(pair), "+a"(low), "+d"(high)
                   : "b"(new_low), "c"(new_high)
                   : "cc", "memory");
  return equal;
}

static void* work(void* unused) {
  (void)unused;
  for (int i = 0; i < kRounds; i++) {
    __atomic_fetch_add(&added, (uint64_t)i, __ATOMIC_SEQ_CST);
    __atomic_exchange_n(&exchanged, 7, __ATOMIC_SEQ_CST);
    __atomic_or_fetch(&bits, 1ull << (i % 64), __ATOMIC_SEQ_CST);
    uint64_t seen = __atomic_load_n(&swapped, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(&swapped, &seen, seen + 3, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    uint32_t small = __atomic_load_n(&word, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(&word, &small, small * 2 + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    __atomic_fetch_add(&byte, 1, __ATOMIC_SEQ_CST);
    __asm__ volatile("lock incb %0" : "+m"(byte) : : "cc");
    uint64_t low, high;
    do {
      low = __atomic_load_n(&pair.low, __ATOMIC_SEQ_CST);
      high = __atomic_load_n(&pair.high, __ATOMIC_SEQ_CST);
    } while (!compare_exchange_16(low, high, low + 1, high + 2));
  }
  return NULL;
}

int main(void) {
  pthread_t other;
  if (pthread_create(&other, NULL, work, NULL) != 0) return 1;
  work(NULL);
  pthread_join(other, NULL);
  printf("%llu %llu %llu %llx %x %u\n", (unsigned long long)added, (unsigned long long)exchanged,
         (unsigned long long)swapped, (unsigned long long)bits, word, byte);
  printf("%llu %llu %s\n", (unsigned long long)pair.low, (unsigned long long)pair.high,
         compare_exchange_16(0, 0, 0, 0) ? "swapped" : "kept");
  return 0;
}
