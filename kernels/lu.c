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
//
// S(k, i, j) goes to S(k + 1, i, j), D and S of step k need what step k - 1 left in row and column k: no distance is
// negative, so the three loops can be tiled as they are. Rows and columns of one step are free of each other. (i and j
// begin at k + 1: counted from there they would seem to be skewed, which they are not.)
//
// advice: run 24
#include "kernel.h"

KERNEL void lu(int n, double (*A)[n]) {
  // expect-advice: tile_depth 3; skew no; tilable_ops >= 95; parallel_ops >= 90; simd_ops >= 85; reuse >= 90
  // expect-advice: never LF-SKW; never LF-PAR k
  // expect-advice: suggests LF-TIL k i j; suggests LF-PAR i; blocking S -> S distance 1
  // expect-advice -O1: obstacles none
  for (int k = 0; k < n; k++) {  // expect: no: the steps before
    for (int i = k + 1; i < n; i++) {  // expect: parallel
      A[i][k] /= A[k][k];  // D:
      // expect-advice: stride01 100
      for (int j = k + 1; j < n; j++) {  // expect: parallel
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
