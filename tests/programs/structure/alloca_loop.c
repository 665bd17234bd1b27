// The stack pointer moves down in every iteration: the frame stays the same.
#include <alloca.h>
#include <stdio.h>

enum { kOuter = 30 };
static long filled;

static __attribute__((noinline)) int touch(volatile char* block, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {  // @touch
    filled++;
    block[i] = (char)i;
    sum += block[i];
  }
  return sum;
}

static __attribute__((noinline)) int grow(void) {
  int sum = 0;
  for (int i = 0; i < kOuter; i++) {  // @outer
    int size = i % 5 * 16 + 8;
    volatile char* block = alloca((unsigned)size);
    sum += touch(block, size);
  }
  return sum;
}

int main(void) {
  int sum = grow();
  printf("sum %d\nouter %d\nfilled %ld\n", sum, kOuter, filled);
  return 0;
}
