// A prefix sum: one loop, carried.
#include "counted.h"

enum { kMost = 1000 };
static long values[kMost];

KERNEL void fill(int n) {
  ENTER(0);
  for (int i = 0; i < n; i++) {
    ITERATE(0);
    values[i] = noise((unsigned)i) % 100;
  }
}

KERNEL void prefix(int n) {
  ENTER(1);
  for (int i = 1; i < n; i++) {
    ITERATE(1);
    values[i] += values[i - 1];
  }
}

int main(void) {
  int n = bound(777);
  fill(n);
  prefix(n);
  return print_loops(values[n - 1]);
}
