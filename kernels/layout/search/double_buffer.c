// A stencil in two buffers by turns, walked as it is stored: no layout helps.
// search: --cores 1
// expect-layout: region steps layouts none
#include <stdio.h>

enum { N = 60, STEPS = 20 };
static double a[N][N], b[N][N];

int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = b[i][j] = (i * 5 + j) % 7;
  for (int t = 0; t < STEPS; t++) {  // region steps
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) a[i][j] = 0.25 * (b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1]);
  }
  printf("%g\n", a[N / 2][N / 3]);
  return 0;
}
