// y = A x, then z = A y: the second product reads every element of the first one in each row.
//
// static: sizes N = 12
// static: Z[i] : 0 <= i < N
// static:   order [0, i, 0]
// static:   writes y[i]
// static: S[i, j] : 0 <= i < N and 0 <= j < N
// static:   order [0, i, 1, j]
// static:   reads y[i], A[i, j], x[j]
// static:   writes y[i]
// static: R[i, j] : 0 <= i < N and 0 <= j < N
// static:   order [1, i, j]
// static:   reads z[i], A[i, j], y[j]
// static:   writes z[i]
//
// Rows are free of each other, and a row adds up. Both loops go along rows.
//
// advice: run 40
#include "kernel.h"

KERNEL void products(int n, double (*A)[n], double* x, double* y, double* z) {
  // expect-advice: tile_depth 2; skew no; parallel_ops >= 95; reuse >= 98; never LF-ICH; suggests LF-PAR i
  for (int i = 0; i < n; i++) {  // expect: parallel
    y[i] = 0;  // Z:
    // expect-advice: stride01 100
    for (int j = 0; j < n; j++) {  // expect: reduction(+)
      y[i] += A[i][j] * x[j];  // S:
    }
  }
  // expect-advice: tile_depth 2; skew no; parallel_ops >= 95; reuse >= 98; never LF-ICH; suggests LF-PAR i
  for (int i = 0; i < n; i++) {  // expect: parallel
    // expect-advice: stride01 100
    for (int j = 0; j < n; j++) {  // expect: reduction(+)
      z[i] += A[i][j] * y[j];  // R:
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 12);
  double* const z = numbers(n);
  products(n, (double(*)[n])numbers((long)n * n), numbers(n), numbers(n), z);
  print_sum(z, n);
  return 0;
}
