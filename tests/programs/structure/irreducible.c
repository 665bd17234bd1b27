// A loop with two entries: a goto leads into its middle, so neither half dominates the other.
#include <stdio.h>

static volatile long firsts, seconds;

static __attribute__((noinline)) long walk(long n, int middle) {
  if (middle) goto second;
first:
  firsts++;
  n -= 2;
second:
  seconds++;
  n -= 1;
  if (n > 0) goto first;
  return n;
}

int main(void) {
  long result = 0;
  for (int i = 0; i < 10; i++) result += walk(30 + i, i % 2);  // @calls
  printf("result %ld\ncalls 10\nfirst %ld\nsecond %ld\n", result, firsts, seconds);
  return 0;
}
