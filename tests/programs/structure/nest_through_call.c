// A loop that calls a function with a loop, which is one nest of two; and that function again from another place.
#include <stdio.h>

enum { kOuter = 20, kInner = 30, kAgain = 7 };
static volatile int cells[kInner];

static __attribute__((noinline)) void work(int n) {
  for (int i = 0; i < n; i++) cells[i] += i;  // @inner
}

static __attribute__((noinline)) void nest(void) {
  for (int i = 0; i < kOuter; i++) work(kInner);  // @outer
}

int main(void) {
  nest();
  work(kAgain);  // @again
  printf("outer %d\ninner %d\nagain %d\n", kOuter, kInner, kAgain);
  return 0;
}
