// A times the transpose of B, summed up in a variable, which the compiler keeps in a register.
//
// static: sizes N = 8, M = 7, K = 9
// static: Z[i, j] : 0 <= i < N and 0 <= j < M
// static:   order [i, j, 0]
// static:   writes s[]
// static: S[i, j, k] : 0 <= i < N and 0 <= j < M and 0 <= k < K
// static:   order [i, j, 1, k]
// static:   reads s[], A[i, k], B[j, k]
// static:   writes s[]
// static: W[i, j] : 0 <= i < N and 0 <= j < M
// static:   order [i, j, 2]
// static:   reads s[], C[i, j]
// static:   writes C[i, j]
//
// Both matrices are read along rows: the order is as good as it can be, and the sum stays in a register.
//
// advice: run 24 26 28
#include "kernel.h"

KERNEL void product(int n, int m, int depth, double (*C)[m], double (*A)[depth], double (*B)[depth]) {
  // expect-advice: tile_depth 3; skew no; parallel_ops >= 95; reuse >= 95; never LF-SKW; suggests LF-PAR i
  for (int i = 0; i < n; i++) {  // expect: parallel
    for (int j = 0; j < m; j++) {  // expect: parallel
      double s = A[i][j % depth];  // Z:
      // expect-advice: stride01 100
      for (int k = 0; k < depth; k++) {  // expect: reduction(+)
        s += A[i][k] * B[j][k];  // S:
      }
      C[i][j] += s;  // W:
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 8);
  const int m = size_argument(argc, argv, 2, 7);
  const int depth = size_argument(argc, argv, 3, 9);
  double* const c = numbers((long)n * m);
  product(n, m, depth, (double(*)[m])c, (double(*)[depth])numbers((long)n * depth),
          (double(*)[depth])numbers((long)m * depth));
  print_sum(c, (long)n * m);
  return 0;
}
