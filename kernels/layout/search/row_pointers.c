// A matrix of rows that were allocated one by one, walked by columns.
// search: --cores 1
// expect-layout: region walk layouts "\[120\]\[130\] of 8 bytes by columns"
// expect-layout: region walk conclusion "change the layout"
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 120, COLUMNS = 130, TIMES = 40 };

int main(void) {
  double** m = malloc(ROWS * sizeof *m);
  for (int i = 0; i < ROWS; i++) m[i] = malloc(COLUMNS * sizeof **m);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) m[i][j] = (i * 3 + j) % 17;
  double x = 0;
  for (int t = 0; t < TIMES; t++)  // region walk
    for (int j = 0; j < COLUMNS; j++)
      for (int i = 0; i < ROWS; i++) x = x * 0.5 + m[i][j];
  printf("%g\n", x);
  for (int i = 0; i < ROWS; i++) free(m[i]);
  free(m);
  return 0;
}
