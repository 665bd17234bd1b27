// A handler that loops, run from inside a nest: the nest's counts are as if there were none.
#include <signal.h>
#include <stdio.h>

enum { kOuter = 12, kInner = 9, kHandler = 25 };
static volatile long handled, sum;

static void handler(int signal) {
  (void)signal;
  for (int i = 0; i < kHandler; i++) handled = handled + 1;  // @handler
}

static __attribute__((noinline)) void nest(void) {
  for (int i = 0; i < kOuter; i++) {    // @outer
    for (int j = 0; j < kInner; j++) {  // @inner
      sum = sum + i * j;
      if ((i + j) % 4 == 0) raise(SIGUSR1);
    }
  }
}

int main(void) {
  signal(SIGUSR1, handler);
  nest();
  printf("outer %d\ninner %d\nhandled %ld\nper_signal %d\n", kOuter, kInner, handled, kHandler);
  return 0;
}
