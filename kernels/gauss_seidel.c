// Five-point Gauss-Seidel sweeps over a grid, in place.
//
// static: sizes T = 5, N = 9, M = 11
// static: S[t, i, j] : 0 <= t < T and 0 <= i < N - 2 and 0 <= j < M - 2
// static:   order [t, i, j]
// static:   reads A[i, j + 1], A[i + 1, j], A[i + 1, j + 1], A[i + 1, j + 2], A[i + 2, j + 1]
// static:   writes A[i + 1, j + 1]
//
// Distances (0, 1, 0), (0, 0, 1), (1, 0, 0), (1, -1, 0), (1, 0, -1): no loop is parallel. With i + t and j + t for i
// and j none is negative, so that all three loops can be tiled, and tiles of a wavefront run in parallel.
//
// advice: run 5 18 20
#include "kernel.h"

KERNEL void sweeps(int steps, int n, int m, double (*A)[m]) {
  // expect-advice: tile_depth 3; skew yes; tilable_ops >= 95; parallel_ops >= 90; suggests LF-SKW; never LF-PAR
  // expect-advice: interchange none
  // expect-advice: blocking S -> S distance 1
  for (int t = 0; t < steps; t++) {  // expect: no: the sweep before
    // expect-advice: blocking S -> S distance 1
    for (int i = 1; i < n - 1; i++) {  // expect: no: the row above
      // expect-advice: blocking S -> S distance 1
      for (int j = 1; j < m - 1; j++) {  // expect: no: the left neighbour
        A[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j]) * 0.2;  // S:
      }
    }
  }
}

int main(int argc, char** argv) {
  const int steps = size_argument(argc, argv, 1, 5);
  const int n = size_argument(argc, argv, 2, 9);
  const int m = size_argument(argc, argv, 3, 11);
  double* const a = numbers((long)n * m);
  sweeps(steps, n, m, (double(*)[m])a);
  print_sum(a, (long)n * m);
  return 0;
}
