// A loop in one line that calls a function and swaps two pointers: the compiler puts the swap behind the test, before the
// way back, and that test is none at the top.
#include "counted.h"

enum { kMost = 4096 };
static int one[kMost], other[kMost];

__attribute__((noinline)) static void step(int* to, const int* from, int n) {
  ENTER(1);
  for (int i = 1; i < n; i++) {
    ITERATE(1);
    to[i] = from[i - 1] + 1;
  }
}

KERNEL long run(int steps, int n) {
  int *a = one, *b = other;
  ENTER(0);
  for (int t = 0; t < steps; t++) { ITERATE(0); step(b, a, n); int* swap = a; a = b; b = swap;
  }
  return a[n - 1];
}

int main(void) { return print_loops(run(bound(10), bound(100))); }
