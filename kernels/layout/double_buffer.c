// A stencil with two buffers in turn, interleaved: what is read and what is written lie beside each other.
//
// map: { now[i, j] -> [i, j, 0] } { next[i, j] -> [i, j, 1] }
#include <stdio.h>

enum { N = 24, M = 18, STEPS = 5 };

static double relax(double now[N][M], double next[N][M]) {
#pragma layout map(inout: now(i,j) -> (i, j, 0) : double[N, M]) map(inout: next(i,j) -> (i, j, 1) : double[N, M])
  for (int t = 0; t < STEPS; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < M - 1; j++)
        next[i][j] = 0.2 * (now[i][j] + now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < M - 1; j++) now[i][j] = next[i][j];
  }
  return next[N / 2][M / 2];
}

int main(void) {
  static double a[N][M], b[N][M];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) a[i][j] = i * 0.25 + j;
  printf("%.17g", relax(a, b));
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) printf(" %.17g %.17g", a[i][j], b[i][j]);
  printf("\n");
  return 0;
}
