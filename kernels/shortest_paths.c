// Shortest paths between all pairs, through the first k nodes, for growing k. Row and column k are read in the step
// that also writes them.
//
// static: sizes N = 8
// static: S[k, i, j] : 0 <= k < N and 0 <= i < N and 0 <= j < N
// static:   order [k, i, j]
// static:   reads D[i, j], D[i, k], D[k, j]
// static:   writes D[i, j]
#include "kernel.h"

KERNEL void paths(int n, double (*D)[n]) {
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
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
