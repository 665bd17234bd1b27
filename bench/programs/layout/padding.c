// Pairs of columns of a matrix with rows of 4096 bytes, TIMES times. LAYOUT: 1 rows longer by 8 elements, 2 by columns.
#include <stdio.h>

#ifndef N
#define N 64
#endif
enum { ROWS = N, WIDTH = 512, TIMES = 200 };
static unsigned long M[ROWS][WIDTH];
#if LAYOUT == 1
static unsigned long m[ROWS][WIDTH + 8];
#define MT(i, j) m[i][j]
#elif LAYOUT == 2
static unsigned long m[WIDTH][ROWS];
#define MT(i, j) m[j][i]
#else
#define MT(i, j) M[i][j]
#endif

int main(void) {
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < WIDTH; j++) M[i][j] = (unsigned long)(i * 3 + j) % 17;
  unsigned long x = 0;
#if LAYOUT
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < WIDTH; j++) MT(i, j) = M[i][j];
#endif
  for (int t = 0; t < TIMES; t++)         // t
    for (int j = 0; j < WIDTH - 1; j++)   // j
      for (int i = 0; i < ROWS; i++)      // i
        x = (x + MT(i, j) * MT(i, j + 1)) ^ 5;
  printf("%lu\n", x);
  return 0;
}
