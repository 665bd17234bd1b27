// A five-point stencil over time, between two grids that take turns.
#include "counted.h"

enum { kMost = 500 };
typedef double Grid[kMost][kMost];
static Grid grids[2];

KERNEL void sweep(int n, int steps) {
  ENTER(0);
  for (int t = 0; t < steps; t++) {
    ITERATE(0);
    double(*from)[kMost] = grids[t & 1], (*to)[kMost] = grids[(t & 1) ^ 1];
    ENTER(1);
    for (int i = 1; i < n - 1; i++) {
      ITERATE(1);
      ENTER(2);
      for (int j = 1; j < n - 1; j++) {
        ITERATE(2);
        to[i][j] = 0.2 * (from[i][j] + from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
      }
    }
  }
}

int main(void) {
  int n = bound(26);
  ENTER(3);
  for (int i = 0; i < n; i++) {
    ITERATE(3);
    grids[0][i][0] = grids[1][i][0] = 100;
    grids[0][0][i] = grids[1][0][i] = i;
  }
  sweep(n, bound(9));
  return print_loops((long)(1000 * grids[1][3][3]));
}
