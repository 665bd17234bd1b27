// Heat in a box: seven points, explicit steps; the new state is copied back.
//
// static: sizes T = 4, N = 7, M = 6, K = 8
// static: S[t, i, j, k] : 0 <= t < T and 0 <= i < N - 2 and 0 <= j < M - 2 and 0 <= k < K - 2
// static:   order [t, 0, i, j, k]
// static:   reads A[i, j + 1, k + 1], A[i + 2, j + 1, k + 1], A[i + 1, j, k + 1], A[i + 1, j + 2, k + 1]
// static:   reads A[i + 1, j + 1, k], A[i + 1, j + 1, k + 2], A[i + 1, j + 1, k + 1]
// static:   writes B[i + 1, j + 1, k + 1]
// static: R[t, i, j, k] : 0 <= t < T and 0 <= i < N - 2 and 0 <= j < M - 2 and 0 <= k < K - 2
// static:   order [t, 1, i, j, k]
// static:   reads B[i + 1, j + 1, k + 1]
// static:   writes A[i + 1, j + 1, k + 1]
//
// As in jacobi_2d, one dimension more.
//
// advice: run 5 10 11 12
#include "kernel.h"

KERNEL void heat(int steps, int n, int m, int p, double (*A)[m][p], double (*B)[m][p]) {
  // expect-advice: tile_depth 4; skew yes; tilable_ops >= 95; parallel_ops >= 90; simd_ops >= 90; reuse >= 98
  // expect-advice: suggests LF-SKW; never LF-PAR t
  // expect-advice: blocking R -> S distance 1
  for (int t = 0; t < steps; t++) {  // expect: no: the step before
    for (int i = 1; i < n - 1; i++) {  // expect: parallel
      for (int j = 1; j < m - 1; j++) {  // expect: parallel
        for (int k = 1; k < p - 1; k++) {  // expect: parallel
          // clang-format off
          B[i][j][k] = 0.4 * A[i][j][k] + 0.1 * (A[i - 1][j][k] + A[i + 1][j][k] + A[i][j - 1][k] + A[i][j + 1][k] + A[i][j][k - 1] + A[i][j][k + 1]);  // S:
          // clang-format on
        }
      }
    }
    for (int i = 1; i < n - 1; i++) {  // expect: parallel
      for (int j = 1; j < m - 1; j++) {  // expect: parallel
        for (int k = 1; k < p - 1; k++) {  // expect: parallel
          A[i][j][k] = B[i][j][k];  // R:
        }
      }
    }
  }
}

int main(int argc, char** argv) {
  const int steps = size_argument(argc, argv, 1, 4);
  const int n = size_argument(argc, argv, 2, 7);
  const int m = size_argument(argc, argv, 3, 6);
  const int p = size_argument(argc, argv, 4, 8);
  double* const a = numbers((long)n * m * p);
  heat(steps, n, m, p, (double(*)[m][p])a, (double(*)[m][p])numbers((long)n * m * p));
  print_sum(a, (long)n * m * p);
  return 0;
}
