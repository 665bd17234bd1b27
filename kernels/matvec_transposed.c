// y = A' x along the rows of A, and r = A x beside it in the same nest.
//
// static: sizes N = 11, M = 9
// static: Z[j] : 0 <= j < M
// static:   order [0, j]
// static:   writes y[j]
// static: S[i, j] : 0 <= i < N and 0 <= j < M
// static:   order [1, i, j, 0]
// static:   reads y[j], A[i, j], x[i]
// static:   writes y[j]
// static: R[i, j] : 0 <= i < N and 0 <= j < M
// static:   order [1, i, j, 1]
// static:   reads r[i], A[i, j], q[j]
// static:   writes r[i]
//
// S adds up along i, R along j: each loop carries one of the two and is parallel for the other. Nothing is negative, so
// the nest can be tiled.
//
// advice: run 24 26
#include "kernel.h"

KERNEL void products(int n, int m, double (*A)[m], double* x, double* y, double* q, double* r) {
  for (int j = 0; j < m; j++) {  // expect: parallel
    y[j] = 0;  // Z:
  }
  // expect-advice: tile_depth 2; skew no; tilable_ops >= 95; parallel_ops >= 90; reuse >= 98; never LF-SKW
  for (int i = 0; i < n; i++) {  // expect: reduction(+)
    // expect-advice: stride01 100
    for (int j = 0; j < m; j++) {  // expect: reduction(+)
      y[j] += A[i][j] * x[i];  // S:
      r[i] += A[i][j] * q[j];  // R:
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 11);
  const int m = size_argument(argc, argv, 2, 9);
  double* const y = numbers(m);
  double* const r = numbers(n);
  products(n, m, (double(*)[m])numbers((long)n * m), numbers(n), y, numbers(m), r);
  print_sum(y, m);
  print_sum(r, n);
  return 0;
}
