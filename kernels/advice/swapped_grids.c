// A stencil from one grid to the other, and the two change places after each step. Where a row ends is computed from a
// pointer that the steps hand on; but within a step it is a matter of counting, and rows are free of each other.
//
// advice: run 11 40
#include "../kernel.h"

enum { N = 40 };

KERNEL void sweep(int steps, int n, double (*from)[N], double (*to)[N]) {
  for (int t = 0; t < steps; t++) {  // expect: no: the step before
    // expect-advice: suggests LF-PAR i legal yes; never LF-PAR t
    for (int i = 1; i < n - 1; i++) {    // expect: parallel
      for (int j = 1; j < n - 1; j++) {  // expect: parallel
        to[i][j] = 0.2 * (from[i][j] + from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);  // S:
      }
    }
    double(*const other)[N] = from;
    from = to;
    to = other;
  }
}

int main(int argc, char** argv) {
  const int steps = size_argument(argc, argv, 1, 11);
  const int n = size_argument(argc, argv, 2, N);
  double* const a = numbers((long)N * N);
  double* const b = numbers((long)N * N);
  sweep(steps, n, (double(*)[N])a, (double(*)[N])b);
  print_sum(a, (long)N * N);
  print_sum(b, (long)N * N);
  return 0;
}
