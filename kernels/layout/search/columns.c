// A matrix walked by columns, many times, in an order that rounding keeps. The loops cannot change places, so the
// columns must: stored by columns, one line in eight is fetched, and copying is soon paid for.
// search: --cores 1 --scale 10
// expect-layout: region walk layouts "M\[150\]\[140\] of 8 bytes by columns"
// expect-layout: region walk conclusion "change the layout"
// expect-layout: region walk directive "map(in: M(e1,e2) -> (e2, e1) : double[150, 140])"
#include <stdio.h>

enum { ROWS = 150, COLUMNS = 140, TIMES = 30 };
static double M[ROWS][COLUMNS];

int main(void) {
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) M[i][j] = (i * 3 + j) % 17;
  double x = 0;
  for (int t = 0; t < TIMES; t++)  // region walk
    for (int j = 0; j < COLUMNS; j++)
      for (int i = 0; i < ROWS; i++) x = x * 0.5 + M[i][j];
  printf("%g\n", x);
  return 0;
}
