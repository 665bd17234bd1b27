// LU decomposition in place, without pivoting.
//
// static: sizes N = 11
// static: D[k, i] : 0 <= k < N and 0 <= i < N - 1 - k
// static:   order [k, i, 0]
// static:   reads A[k + 1 + i, k], A[k, k]
// static:   writes A[k + 1 + i, k]
// static: S[k, i, j] : 0 <= k < N and 0 <= i < N - 1 - k and 0 <= j < N - 1 - k
// static:   order [k, i, 1, j]
// static:   reads A[k + 1 + i, k + 1 + j], A[k + 1 + i, k], A[k, k + 1 + j]
// static:   writes A[k + 1 + i, k + 1 + j]
#include "kernel.h"

KERNEL void lu(int n, double (*A)[n]) {
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++) {
      A[i][k] /= A[k][k];  // D:
      for (int j = k + 1; j < n; j++) {
        A[i][j] -= A[i][k] * A[k][j];  // S:
      }
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 11);
  double* const a = numbers((long)n * n);
  for (int i = 0; i < n; i++) a[(long)i * n + i] += 2 * n;
  lu(n, (double(*)[n])a);
  print_sum(a, (long)n * n);
  return 0;
}
