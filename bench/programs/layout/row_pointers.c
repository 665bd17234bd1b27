// Rows that were allocated one by one, walked by columns, TIMES times. LAYOUT: 1 one block, by columns.
#include <stdio.h>
#include <stdlib.h>

#ifndef N
#define N 120
#endif
enum { ROWS = N, COLUMNS = N + 10, TIMES = 4 };
#if LAYOUT
static unsigned long block[COLUMNS][ROWS];
#define MT(i, j) block[j][i]
#else
#define MT(i, j) m[i][j]
#endif

int main(void) {
  unsigned long** m = malloc(ROWS * sizeof *m);
  for (int i = 0; i < ROWS; i++) m[i] = malloc(COLUMNS * sizeof **m);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) m[i][j] = (unsigned long)(i * 3 + j) % 17;
  unsigned long x = 0;
#if LAYOUT
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) block[j][i] = m[i][j];
#endif
  for (int t = 0; t < TIMES; t++)       // t
    for (int j = 0; j < COLUMNS; j++)   // j
      for (int i = 0; i < ROWS; i++)    // i
        x = (x + MT(i, j)) ^ 5;
  printf("%lu\n", x);
  for (int i = 0; i < ROWS; i++) free(m[i]);
  free(m);
  return 0;
}
