// Tail calls (jumps at -O2): mutual, through a pointer, and into another function's frame.
#include <stdio.h>

typedef long (*Step)(long, long);

long collatz(long n, long steps);

long __attribute__((noinline)) is_odd(long n, long steps) { return collatz(3 * n + 1, steps + 1); }
long __attribute__((noinline)) is_even(long n, long steps) { return collatz(n / 2, steps + 1); }

long __attribute__((noinline)) collatz(long n, long steps) {
  static const Step next[] = {is_even, is_odd};
  if (n == 1) return steps;
  return next[n & 1](n, steps);
}

long __attribute__((noinline)) count_down(long n, long sum) { return n == 0 ? sum : count_down(n - 1, sum + n); }

int main(void) {
  long total = 0;
  for (long n = 1; n < 300; n++) total += collatz(n, 0);
  printf("%ld %ld\n", total, count_down(10000, 0));
  return 0;
}
