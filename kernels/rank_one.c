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
//
// Every element is touched once in each nest. The second one goes down columns: j and i should change places.
//
// advice: run 24 26
#include "kernel.h"

KERNEL void update(int n, int m, double (*A)[m], double* u, double* v) {
  // expect-advice: tile_depth 2; skew no; parallel_ops >= 95; simd_ops >= 90; reuse 100; interchange none; never LF-ICH
  // expect-advice: suggests LF-PAR i; suggests LF-SIMD j
  for (int i = 0; i < n; i++) {  // expect: parallel
    // expect-advice: stride01 100
    for (int j = 0; j < m; j++) {  // expect: parallel
      A[i][j] += u[i] * v[j];  // S:
    }
  }
  // expect-advice: tile_depth 2; skew no; parallel_ops >= 95; simd_ops >= 90; reuse 50; potential_reuse 100
  // expect-advice: interchange j i; suggests LF-ICH j i
  for (int j = 0; j < m; j++) {  // expect: parallel
    // expect-advice: stride01 50
    for (int i = 0; i < n; i++) {  // expect: parallel
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
