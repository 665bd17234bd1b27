// A nest whose inner loop leaves out some iterations and ends early.
#include "counted.h"

enum { kMost = 1000 };
static int table[kMost][kMost];

KERNEL long visit(int n, int limit) {
  long sum = 0;
  ENTER(0);
  for (int i = 0; i < n; i++) {
    ITERATE(0);
    long row = 0;
    ENTER(1);
    for (int j = 0; j < n; j++) {
      ITERATE(1);
      row += table[i][j];
      if (table[i][j] % 3 == 0) continue;
      if (row > limit) break;
      sum += row ^ j;
    }
    if (sum < 0) break;
  }
  return sum;
}

int main(void) {
  int n = bound(53);
  ENTER(2);
  for (int i = 0; i < n; i++) {
    ITERATE(2);
    ENTER(3);
    for (int j = 0; j < n; j++) {
      ITERATE(3);
      table[i][j] = (int)(noise((unsigned)(i * 64 + j)) % 97);
    }
  }
  return print_loops(visit(n, bound(2300)));
}
