// Large frames: alloca and variable-length arrays of changing size, touched at both ends.
#include <alloca.h>
#include <stdio.h>

static long __attribute__((noinline)) with_array(int n) {
  volatile char array[n];
  array[0] = 1;
  array[n - 1] = 2;
  return array[0] + array[n - 1];
}

static long __attribute__((noinline)) with_alloca(int n) {
  long sum = 0;
  for (int i = 1; i <= n; i++) {
    volatile int* block = alloca((size_t)i * 64);
    block[0] = i;
    block[i * 16 - 1] = 1;
    sum += block[0] + block[i * 16 - 1];
  }
  return sum;
}

int main(void) {
  long sum = 0;
  for (int n = 10; n < 3000000; n *= 3) sum += with_array(n);
  printf("%ld %ld\n", sum, with_alloca(100));
  return 0;
}
