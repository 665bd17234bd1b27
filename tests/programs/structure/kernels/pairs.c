// All pairs: the inner loop starts one further on. In the last iteration of the outer loop it is not entered, and when
// it is not entered the outer loop is through: compilers notice.
#include "counted.h"

enum { kMost = 5000 };
static int x[kMost];

KERNEL long close_pairs(int n, int limit) {
  long found = 0;
  ENTER(0);
  for (int i = 0; i < n; i++) {  // expect(gcc-O1 gcc-O2): unclear
    ITERATE(0);
    ENTER(1);
    for (int j = i + 1; j < n; j++) {  // expect(gcc-O1 gcc-O2): differs
      ITERATE(1);
      int distance = x[i] - x[j];
      if (distance < limit && distance > -limit) found += i ^ j;
    }
  }
  return found;
}

int main(void) {
  int n = bound(70);
  ENTER(2);
  for (int i = 0; i < n; i++) {
    ITERATE(2);
    x[i] = (int)(noise((unsigned)i) % 1000);
  }
  return print_loops(close_pairs(n, bound(100)));
}
