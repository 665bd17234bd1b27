// Gauss-Seidel in two colours: each half sweep updates every other point, from its neighbours of the other colour. The
// points of a colour are a lattice whose rows are shifted against each other.
//
// static: sizes T = 4, N = 8, M = 10
// static: R[t, i, j] : 0 <= t < T and 0 <= i < N - 2 and 0 <= j < M - 2 and (i + j) mod 2 = 0
// static:   order [t, 0, i, j]
// static:   reads A[i, j + 1], A[i + 1, j], A[i + 1, j + 2], A[i + 2, j + 1]
// static:   writes A[i + 1, j + 1]
// static: B[t, i, j] : 0 <= t < T and 0 <= i < N - 2 and 0 <= j < M - 2 and (i + j) mod 2 = 1
// static:   order [t, 1, i, j]
// static:   reads A[i, j + 1], A[i + 1, j], A[i + 1, j + 2], A[i + 2, j + 1]
// static:   writes A[i + 1, j + 1]
//
// Points of one colour need only the other colour: within a half sweep everything is parallel. Half sweeps follow each
// other.
//
// advice: run 5 16 18
#include "kernel.h"

KERNEL void sweeps(int steps, int n, int m, double (*A)[m]) {
  // expect-advice: tile_depth 3; skew yes; parallel_ops >= 90; never LF-PAR t; suggests LF-PAR
  for (int t = 0; t < steps; t++) {  // expect: no: the sweep before
    for (int i = 1; i < n - 1; i++) {  // expect: parallel
      for (int j = 1; j < m - 1; j++) {  // expect: parallel
        if ((i + j) % 2 == 0) {
          A[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j]) * 0.25;  // R:
        }
      }
    }
    for (int i = 1; i < n - 1; i++) {  // expect: parallel
      for (int j = 1; j < m - 1; j++) {  // expect: parallel
        if ((i + j) % 2 == 1) {
          A[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j]) * 0.25;  // B:
        }
      }
    }
  }
}

int main(int argc, char** argv) {
  const int steps = size_argument(argc, argv, 1, 4);
  const int n = size_argument(argc, argv, 2, 8);
  const int m = size_argument(argc, argv, 3, 10);
  double* const a = numbers((long)n * m);
  sweeps(steps, n, m, (double(*)[m])a);
  print_sum(a, (long)n * m);
  return 0;
}
