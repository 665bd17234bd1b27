// A nest of three loops over a volume, with a stride in the outermost and a downward innermost loop.
#include "counted.h"

enum { kMost = 128 };
static int volume[kMost][kMost][kMost];

KERNEL long visit(int n) {
  long sum = 0;
  ENTER(0);
  for (int i = 0; i < n; i += 2) {
    ITERATE(0);
    ENTER(1);
    for (int j = 0; j < n; j++) {
      ITERATE(1);
      ENTER(2);
      for (int k = n - 1; k >= 0; k--) {
        ITERATE(2);
        volume[i][j][k] += i * j - k;
        sum += volume[i][j][k] & 15;
      }
    }
  }
  return sum;
}

int main(void) {
  int n = bound(15);
  return print_loops(visit(n) + visit(n - 4));
}
