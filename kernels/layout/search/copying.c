// The same walk, once: copying the matrix touches more than it saves.
// search: --cores 1 --scale 10
// expect-layout: region walk layouts none
// expect-layout: region walk conclusion "copying the arrays costs more"
#include <stdio.h>

enum { ROWS = 300, COLUMNS = 280 };
static double M[ROWS][COLUMNS];

int main(void) {
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) M[i][j] = (i * 3 + j) % 17;
  double x = 0;
  for (int j = 0; j < COLUMNS; j++)  // region walk
    for (int i = 0; i < ROWS; i++) x = x * 0.5 + M[i][j];
  printf("%g\n", x);
  return 0;
}
