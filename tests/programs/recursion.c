// Recursion: plain and deep (20 000 frames), double (Fibonacci), mutual, and nested (Ackermann).
#include <stdio.h>

static long __attribute__((noinline)) depth(long n) { return n == 0 ? 0 : 1 + depth(n - 1); }
static long __attribute__((noinline)) fibonacci(long n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
static int odd(int n);
static int __attribute__((noinline)) even(int n) { return n == 0 ? 1 : odd(n - 1); }
static int __attribute__((noinline)) odd(int n) { return n == 0 ? 0 : even(n - 1); }
static int __attribute__((noinline)) ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

int main(void) {
  printf("%ld %ld %d %d\n", depth(20000), fibonacci(18), even(1001), ackermann(2, 9));
  return 0;
}
