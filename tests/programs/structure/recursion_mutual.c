// Two functions that call each other, entered by either.
#include <stdio.h>

static volatile long back;
static long evens, odds;
static int is_odd(int n);

static __attribute__((noinline)) int is_even(int n) {
  evens++;
  int result = n == 0 ? 1 : is_odd(n - 1);
  back++;
  return result;
}

static __attribute__((noinline)) int is_odd(int n) {
  odds++;
  int result = n == 0 ? 0 : is_even(n - 1);
  back++;
  return result;
}

int main(void) {
  int result = is_even(3001);
  result += is_odd(2000);
  printf("result %d\neven %ld\nodd %ld\n", result, evens, odds);
  return 0;
}
