// One call site, several callees, each with a loop of its own.
#include <stdio.h>

enum { kCalls = 60 };
static volatile long sum;

static void twos(int n) {
  for (int i = 0; i < n; i++) sum = sum + 2;  // @twos
}
static void threes(int n) {
  for (int i = 0; i < n; i++) sum = sum + 3;  // @threes
}
static void fives(int n) {
  for (int i = 0; i < n; i++) sum = sum + 5;  // @fives
}

static __attribute__((noinline)) void call_all(void (*const* table)(int)) {
  for (int i = 0; i < kCalls; i++) table[i % 3](i % 3 + 4);  // @calls
}

int main(void) {
  void (*const table[])(int) = {twos, threes, fives};
  call_all(table);
  printf("sum %ld\ncalls %d\ntwos %d\nthrees %d\nfives %d\n", sum, kCalls, kCalls / 3 * 4, kCalls / 3 * 5,
         kCalls / 3 * 6);
  return 0;
}
