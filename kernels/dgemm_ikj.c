// Matrix product with the loops in the order that runs along rows. The product is added to what C holds; a second
// statement scales it first.
//
// static: sizes N = 7, M = 9, K = 11
// static: Z[i, j] : 0 <= i < N and 0 <= j < M
// static:   order [0, i, j]
// static:   reads C[i, j]
// static:   writes C[i, j]
// static: S[i, k, j] : 0 <= i < N and 0 <= j < M and 0 <= k < K
// static:   order [1, i, k, j]
// static:   reads C[i, j], A[i, k], B[k, j]
// static:   writes C[i, j]
//
// The order to be in: along j all accesses are near. Nothing is left to interchange; tiling still pays.
//
// advice: run 24 26 28
#include "kernel.h"

KERNEL void dgemm(int n, int m, int depth, double (*C)[m], double (*A)[depth], double (*B)[m]) {
  // expect-advice: tile_depth 2; skew no; parallel_ops >= 95; simd_ops >= 90; reuse 100; never LF-ICH
  for (int i = 0; i < n; i++) {  // expect: parallel
    for (int j = 0; j < m; j++) {  // expect: parallel
      C[i][j] *= 0.5;  // Z:
    }
  }
  // expect-advice: tile_depth 3; tilable_ops >= 95; skew no; parallel_ops >= 95; simd_ops >= 90; potential_reuse >= 98
  // expect-advice: never LF-SKW
  // expect-advice: reuse >= 98; interchange none; never LF-ICH; suggests LF-PAR i; suggests LF-SIMD j
  // expect-advice: suggests LF-TIL i j k
  for (int i = 0; i < n; i++) {  // expect: parallel
    for (int k = 0; k < depth; k++) {  // expect: reduction(+)
      // expect-advice: stride01 100
      for (int j = 0; j < m; j++) {  // expect: parallel
        C[i][j] += A[i][k] * B[k][j];  // S:
      }
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 7);
  const int m = size_argument(argc, argv, 2, 9);
  const int depth = size_argument(argc, argv, 3, 11);
  double* const c = numbers((long)n * m);
  dgemm(n, m, depth, (double(*)[m])c, (double(*)[depth])numbers((long)n * depth),
        (double(*)[m])numbers((long)depth * m));
  print_sum(c, (long)n * m);
  return 0;
}
