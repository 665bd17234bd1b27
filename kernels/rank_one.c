// Two rank-one updates of a matrix, one after the other.
//
// static: sizes N = 10, M = 12
// static: S[i, j] : 0 <= i < N and 0 <= j < M
// static:   order [0, i, j]
// static:   reads A[i, j], u[i], v[j]
// static:   writes A[i, j]
// static: R[j, i] : 0 <= i < N and 0 <= j < M
// static:   order [1, j, i]
// static:   reads A[i, j], u[i], v[j]
// static:   writes A[i, j]
#include "kernel.h"

KERNEL void update(int n, int m, double (*A)[m], double* u, double* v) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) {
      A[i][j] += u[i] * v[j];  // S:
    }
  }
  for (int j = 0; j < m; j++) {
    for (int i = 0; i < n; i++) {
      A[i][j] -= v[j] * u[i];  // R:
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 10);
  const int m = size_argument(argc, argv, 2, 12);
  double* const a = numbers((long)n * m);
  update(n, m, (double(*)[m])a, numbers(n), numbers(m));
  print_sum(a, (long)n * m);
  return 0;
}
