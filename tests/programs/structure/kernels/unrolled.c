// Loops with trip counts that are known and small: -O2 unrolls the innermost one, and may leave nothing of it.
#include "counted.h"

enum { kMost = 5000 };
static int in[kMost + 4], out[kMost];

KERNEL void filter(int n) {
  ENTER(0);
  for (int i = 0; i < n; i++) {
    ITERATE(0);
    int sum = 0;
    ENTER(1);
    for (int tap = 0; tap < 3; tap++) {  // expect(gcc-O2 gcc-O3 clang-*): gone
      ITERATE(1);
      sum += in[i + tap] << tap;
    }
    out[i] = sum;
  }
}

int main(void) {
  int n = bound(60);
  ENTER(2);
  for (int i = 0; i < n + 2; i++) {
    ITERATE(2);
    in[i] = (int)(noise((unsigned)i) % 500);
  }
  filter(n);
  return print_loops(out[n - 1]);
}
