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
#include "kernel.h"

KERNEL void product(int n, int m, int depth, double (*C)[m], double (*A)[depth], double (*B)[depth]) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) {
      double s = A[i][j % depth];  // Z:
      for (int k = 0; k < depth; k++) {
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
