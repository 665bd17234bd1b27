// C = A B' in an order that rounding keeps: the loop over k must not be turned, but it may be anywhere. As it is stored,
// no loop but k is good inside, and k cannot be done in vectors. With B by columns, j can: neither the layout nor the
// order alone gains that.
// search: --cores 1
// expect-layout: region product layouts "B\[70\]\[70\] of 8 bytes by columns"
// expect-layout: region product conclusion "change both"
// expect-layout: region product better-than-either
#include <stdio.h>

enum { N = 70 };
static double A[N][N], B[N][N], C[N][N];

int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      A[i][j] = (i * 7 + j) % 13;
      B[i][j] = (i * 5 + j) % 11;
    }
  for (int i = 0; i < N; i++)  // region product
    for (int j = 0; j < N; j++) {
      double x = 1;
      for (int k = 0; k < N; k++) x = x * 0.5 + A[i][k] * B[j][k];
      C[i][j] = x;
    }
  printf("%g\n", C[N / 2][N / 3]);
  return 0;
}
