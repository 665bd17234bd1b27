// Columns of a matrix with rows of 4096 bytes: all of a column falls into the same set of the cache, so that nothing is
// left of it when the next column begins. Rows a little longer do. Both directions are walked, so no order of the
// dimensions suits.
// search: --cores 1
// expect-layout: region smooth layouts "rows longer by 8 elements"
#include <stdio.h>

enum { N = 64, WIDTH = 512, TIMES = 12 };
static double M[N][WIDTH];

int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < WIDTH; j++) M[i][j] = (i * 3 + j) % 17;
  double x = 0;
  for (int t = 0; t < TIMES; t++)  // region smooth
    for (int j = 0; j < WIDTH - 1; j++)
      for (int i = 0; i < N; i++) x = x * 0.5 + M[i][j] * M[i][j + 1];
  printf("%g\n", x);
  return 0;
}
