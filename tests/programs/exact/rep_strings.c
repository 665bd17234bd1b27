// String work with rep-prefixed instructions and by hand: copies, fills, scans, compares, push and pop of flags.
#include <stdio.h>

#include "sentinel.h"

static char text[600], copy[600];

static inline void copy_bytes(void* to, const void* from, unsigned long n) {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
static inline void copy_longs(void* to, const void* from, unsigned long n) {
  __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
static inline void fill(void* to, unsigned value, unsigned long n) {
  __asm__ volatile("rep stosl" : "+D"(to), "+c"(n) : "a"(value) : "memory");
}
static inline unsigned long scan(const void* in, char value, unsigned long n) {
  __asm__ volatile("repne scasb" : "+D"(in), "+c"(n) : "a"(value) : "memory", "cc");
  return n;
}
static inline unsigned long compare(const void* a, const void* b, unsigned long n) {
  __asm__ volatile("repe cmpsw" : "+D"(a), "+S"(b), "+c"(n) : : "memory", "cc");
  return n;
}
static unsigned long __attribute__((noinline)) length(const char* s) {
  const char* end = s;
  while (*end) end++;
  return (unsigned long)(end - s);
}

int main(void) {
  for (int i = 0; i < 599; i++) text[i] = (char)('a' + i * 7 % 26);
  SENTINEL_BEGIN();
  copy_bytes(copy, text, 333);
  copy_longs(copy + 100, text + 3, 40);
  fill(copy + 440, 0x41424344, 25);
  copy_bytes(copy, text, 0);
  unsigned long found = scan(text, 'z', 600), equal = compare(copy, text, 200), n = length(text);
  __asm__ volatile("lodsb" : : "S"(text + 5) : "rax");
  __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tpopfq\n\tlea 128(%%rsp), %%rsp" : : : "memory", "cc");
  SENTINEL_END();
  printf("%lu %lu %lu %s\n", found, equal, n, copy + 440);
  return 0;
}
