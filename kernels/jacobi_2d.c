// Five-point Jacobi in time: two half steps per turn, there and back.
//
// static: sizes T = 4, N = 9, M = 8
// static: S[t, i, j] : 0 <= t < T and 0 <= i < N - 2 and 0 <= j < M - 2
// static:   order [t, 0, i, j]
// static:   reads A[i, j + 1], A[i + 1, j], A[i + 1, j + 1], A[i + 1, j + 2], A[i + 2, j + 1]
// static:   writes B[i + 1, j + 1]
// static: R[t, i, j] : 0 <= t < T and 0 <= i < N - 2 and 0 <= j < M - 2
// static:   order [t, 1, i, j]
// static:   reads B[i, j + 1], B[i + 1, j], B[i + 1, j + 1], B[i + 1, j + 2], B[i + 2, j + 1]
// static:   writes A[i + 1, j + 1]
//
// Neighbours in all directions from one half step to the next: both loops over space must be skewed by time before the
// three are tiled. Within a half step everything is parallel.
//
// advice: run 6 18 20
#include "kernel.h"

KERNEL void steps(int count, int n, int m, double (*A)[m], double (*B)[m]) {
  // expect-advice: tile_depth 3; skew yes; tilable_ops >= 95; parallel_ops >= 90; simd_ops >= 90; reuse >= 98
  // expect-advice: suggests LF-SKW; never LF-PAR t
  // expect-advice: blocking R -> S distance 1
  for (int t = 0; t < count; t++) {  // expect: no: the step before
    for (int i = 1; i < n - 1; i++) {  // expect: parallel
      for (int j = 1; j < m - 1; j++) {  // expect: parallel
        B[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j]) * 0.2;  // S:
      }
    }
    for (int i = 1; i < n - 1; i++) {  // expect: parallel
      for (int j = 1; j < m - 1; j++) {  // expect: parallel
        A[i][j] = (B[i - 1][j] + B[i][j - 1] + B[i][j] + B[i][j + 1] + B[i + 1][j]) * 0.2;  // R:
      }
    }
  }
}

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 1, 4);
  const int n = size_argument(argc, argv, 2, 9);
  const int m = size_argument(argc, argv, 3, 8);
  double* const a = numbers((long)n * m);
  steps(count, n, m, (double(*)[m])a, (double(*)[m])numbers((long)n * m));
  print_sum(a, (long)n * m);
  return 0;
}
