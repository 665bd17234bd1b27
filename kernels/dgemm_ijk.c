// Matrix product, inner loop over the common dimension. C may be A or B for all that the compiler knows, so every
// update goes through memory.
//
// static: sizes N = 7, M = 9, K = 11
// static: Z[i, j] : 0 <= i < N and 0 <= j < M
// static:   order [i, j, 0]
// static:   writes C[i, j]
// static: S[i, j, k] : 0 <= i < N and 0 <= j < M and 0 <= k < K
// static:   order [i, j, 1, k]
// static:   reads C[i, j], A[i, k], B[k, j]
// static:   writes C[i, j]
//
// Along k, B is the only access that is not near; along j all are. Z stays in front of the loop over k, so it gets a
// nest of its own when j and k change places.
//
// advice: run 24 26 28
#include "kernel.h"

KERNEL void dgemm(int n, int m, int depth, double (*C)[m], double (*A)[depth], double (*B)[m]) {
  // expect-advice: tile_depth 3; tilable_ops >= 95; skew no; parallel_ops >= 95; simd_ops >= 90; potential_reuse >= 98
  // expect-advice: never LF-SKW
  // expect-advice: interchange j k; suggests LF-ICH j k; suggests LF-PAR i; suggests LF-TIL i j k
  // expect-advice -O1: reuse 70..80
  // expect-advice -O1: obstacles A
  for (int i = 0; i < n; i++) {  // expect: parallel
    // expect-advice: stride01 >= 98
    for (int j = 0; j < m; j++) {  // expect: parallel
      C[i][j] = 0;  // Z:
      // expect-advice -O1: stride01 75
      for (int k = 0; k < depth; k++) {  // expect: reduction(+)
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
