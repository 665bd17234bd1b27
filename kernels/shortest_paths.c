// Shortest paths between all pairs, through the first k nodes, for growing k. Row and column k are read in the step
// that also writes them.
//
// static: sizes N = 8
// static: S[k, i, j] : 0 <= k < N and 0 <= i < N and 0 <= j < N
// static:   order [k, i, j]
// static:   reads D[i, j], D[i, k], D[k, j]
// static:   writes D[i, j]
//
// Row and column k are stored again in step k, unchanged or not, and read by the rest of the step: no loop is parallel.
// The step before is needed on both sides of row and column k, at any distance, so k cannot be tiled with the others; i
// and j can, within a step: what row k and column k hand on goes to the right and down, so the elements of a diagonal
// are free of each other.
//
// advice: run 16
#include "kernel.h"

KERNEL void paths(int n, double (*D)[n]) {
  // expect-advice: tile_depth 2; skew no; tilable_ops >= 95; never LF-PAR; reuse >= 95
  // expect-advice: suggests LF-SKW i j legal yes
  for (int k = 0; k < n; k++) {  // expect: no: the step before
    // expect-advice: blocking S -> S
    for (int i = 0; i < n; i++) {  // expect: no: row k
      // expect-advice: blocking S -> S
      for (int j = 0; j < n; j++) {  // expect: no: column k
        D[i][j] = D[i][k] + D[k][j] < D[i][j] ? D[i][k] + D[k][j] : D[i][j];  // S:
      }
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 8);
  double* const d = numbers((long)n * n);
  paths(n, (double(*)[n])d);
  print_sum(d, (long)n * n);
  return 0;
}
