// Counters that the function declares, and whose values the body uses as well: the compiler steps what it needs of them
// beside what it tests, and the head of the loop says whose they are.
#include <stdio.h>

enum { M = 40, N = 30 };
double q[N][N], d[M][N], c[N][N];

__attribute__((noinline)) double weighted(void) {
  int i, j;
  double s = 0;
  for (i = 0; i < N; i++)  // loop: verdict reduction unknown; never linear
    for (j = 0; j < N; j++) s += q[i][j] * (i + 1) + c[i][j] * (j + 1);
  return s;
}

__attribute__((noinline)) void products(void) {
  int i, j, k;
  for (i = 0; i < N; i++)  // loop: verdict yes no unknown; never linear; at -O0 needs private\(j\)
    for (j = i; j < N; j++) {
      double sum = 0;
      for (k = 0; k < M; k++) sum += d[k][i] * d[k][j];
      c[i][j] = sum / (M - 1);
      c[j][i] = c[i][j];
    }
}

int main(void) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      d[i][j] = i * j % 11 + 0.25 * i;
      q[i % N][j] = 1.0 / (i + 2 * j + 1);
    }
  products();
  printf("%.9g\n", weighted());
  return 0;
}
