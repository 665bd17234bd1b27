// Fibonacci numbers by two calls; how many calls there were is counted.
#include <stdio.h>

static long calls;

static __attribute__((noinline)) long fibonacci(long n) {
  calls++;
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(void) {
  long value = fibonacci(16);
  printf("value %ld\ncalls %ld\n", value, calls);
  return 0;
}
