// Walked by rows as it is stored: nothing to gain.
// search: --cores 1 --scale 10
// expect-layout: region walk layouts none
// expect-layout: region walk conclusion "stay with what there is"
#include <stdio.h>

enum { ROWS = 150, COLUMNS = 140, TIMES = 30 };
static double M[ROWS][COLUMNS];

int main(void) {
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) M[i][j] = (i * 3 + j) % 17;
  double x = 0;
  for (int t = 0; t < TIMES; t++)  // region walk
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < COLUMNS; j++) x = x * 0.5 + M[i][j];
  printf("%g\n", x);
  return 0;
}
