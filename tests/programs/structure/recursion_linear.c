// A recursion of 100 000 calls, one in the other.
#include <stdio.h>

enum { kDepth = 100000 };
static volatile long ways_back;

static __attribute__((noinline)) long depth(long n) {
  if (n == 0) return 0;
  long below = depth(n - 1);
  ways_back++;
  return below + 1;
}

int main(void) {
  long found = depth(kDepth);
  printf("depth %ld\nback %ld\n", found, ways_back);
  return 0;
}
