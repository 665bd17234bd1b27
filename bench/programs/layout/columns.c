// A matrix walked by columns, TIMES times. LAYOUT: 1 by columns.
#include <stdio.h>

#ifndef N
#define N 100
#endif
enum { ROWS = N, COLUMNS = N + 10, TIMES = 4 };
static unsigned long M[ROWS][COLUMNS];
#if LAYOUT
static unsigned long m[COLUMNS][ROWS];
#define MT(i, j) m[j][i]
#else
#define MT(i, j) M[i][j]
#endif

int main(void) {
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) M[i][j] = (unsigned long)(i * 3 + j) % 17;
  unsigned long x = 0;
#if LAYOUT
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) m[j][i] = M[i][j];
#endif
  for (int t = 0; t < TIMES; t++)        // t
    for (int j = 0; j < COLUMNS; j++)    // j
      for (int i = 0; i < ROWS; i++)     // i
        x = (x + MT(i, j)) ^ 5;
  printf("%lu\n", x);
  return 0;
}
