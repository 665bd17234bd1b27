// By rows first, by columns then, in nests of their own: the second one wants it stored by columns, and gains enough to
// copy it in between.
// search: --cores 1 --scale 10
// expect-layout: region rows layouts none
// expect-layout: region columns layouts "M\[130\]\[120\] of 8 bytes by columns"
#include <stdio.h>

enum { ROWS = 130, COLUMNS = 120, TIMES = 25 };
static double M[ROWS][COLUMNS];

int main(void) {
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) M[i][j] = (i * 3 + j) % 17;
  double x = 0;
  for (int t = 0; t < TIMES; t++)  // region rows
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < COLUMNS; j++) x = x * 0.5 + M[i][j];
  for (int t = 0; t < TIMES; t++)  // region columns
    for (int j = 0; j < COLUMNS; j++)
      for (int i = 0; i < ROWS; i++) x = x * 0.25 + M[i][j];
  printf("%g\n", x);
  return 0;
}
