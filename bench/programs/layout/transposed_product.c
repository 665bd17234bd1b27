// C = A B' in an order that rounding keeps. LAYOUT: 1 B by columns; ORDER: 1 with k in the middle, x expanded.
#include <stdio.h>

#ifndef N
#define N 70
#endif
static double A[N][N], B[N][N], C[N][N];
#if LAYOUT
static double b[N][N];
#define BT(j, k) b[k][j]
#else
#define BT(j, k) B[j][k]
#endif

int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      A[i][j] = (i * 7 + j) % 13;
      B[i][j] = (i * 5 + j) % 11;
    }
#if LAYOUT
  for (int j = 0; j < N; j++)
    for (int k = 0; k < N; k++) b[k][j] = B[j][k];
#endif
#if ORDER == 0
  for (int i = 0; i < N; i++)    // i
    for (int j = 0; j < N; j++) {  // j
      double x = 1;
      for (int k = 0; k < N; k++)  // k
        x = x * 0.5 + A[i][k] * BT(j, k);
      C[i][j] = x;
    }
#else
  for (int i = 0; i < N; i++) {
    static double x[N];
    for (int j = 0; j < N; j++) x[j] = 1;
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) x[j] = x[j] * 0.5 + A[i][k] * BT(j, k);
    for (int j = 0; j < N; j++) C[i][j] = x[j];
  }
#endif
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) sum = sum * 0.75 + C[i][j];
  printf("%.17g\n", sum);
  return 0;
}
