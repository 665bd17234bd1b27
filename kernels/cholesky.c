// Cholesky decomposition in place, column by column, of the lower triangle.
//
// static: sizes N = 11
// static: R[j] : 0 <= j < N
// static:   order [j, 0]
// static:   reads A[j, j]
// static:   writes A[j, j]
// static: D[j, i] : 0 <= j < N and 0 <= i < N - 1 - j
// static:   order [j, 1, i]
// static:   reads A[j + 1 + i, j], A[j, j]
// static:   writes A[j + 1 + i, j]
// static: U[j, k, i] : 0 <= j < N and 0 <= k < N - 1 - j and 0 <= i < N - 1 - j - k
// static:   order [j, 2, k, i]
// static:   reads A[j + 1 + k + i, j + 1 + k], A[j + 1 + k + i, j], A[j + 1 + k, j]
// static:   writes A[j + 1 + k + i, j + 1 + k]
//
// Columns are finished from left to right; D and U of one column are free of each other. U goes down columns: only
// A[k][j] is near along i, all but A[k][j] along k. The loops of U may change places, in a triangle. All three loops
// can be tiled (R as D with i = j, D as U with k = j); see lu.c for skewing.
//
// advice: run 24
#include <math.h>

#include "kernel.h"

KERNEL void cholesky(int n, double (*A)[n]) {
  // expect-advice: tile_depth 3; skew no; tilable_ops >= 90; parallel_ops >= 90; simd_ops >= 85; never LF-SKW
  // expect-advice: never LF-PAR j
  // expect-advice: interchange j k; suggests LF-ICH j k; reuse 20..35; potential_reuse >= 90; suggests LF-TIL
  for (int j = 0; j < n; j++) {  // expect: no: the columns before
    A[j][j] = sqrt(A[j][j]);  // R:
    for (int i = j + 1; i < n; i++) {  // expect: parallel
      A[i][j] /= A[j][j];  // D:
    }
    for (int k = j + 1; k < n; k++) {  // expect: parallel
      // expect-advice -O1: stride01 25
      for (int i = k; i < n; i++) {  // expect: parallel
        A[i][k] -= A[i][j] * A[k][j];  // U:
      }
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 11);
  double* const a = numbers((long)n * n);
  for (int i = 0; i < n; i++) a[(long)i * n + i] += 2 * n;
  cholesky(n, (double(*)[n])a);
  print_sum(a, (long)n * n);
  return 0;
}
