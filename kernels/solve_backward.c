// Backward substitution: U x = b, x in the place of b; the outer loop counts down.
//
// static: sizes N = 17
// static: S[i, j] : 0 <= i < N and 0 <= j < i
// static:   order [i, 0, j]
// static:   reads x[N - 1 - i], U[N - 1 - i, N - i + j], x[N - i + j]
// static:   writes x[N - 1 - i]
// static: D[i] : 0 <= i < N
// static:   order [i, 1]
// static:   reads x[N - 1 - i], U[N - 1 - i, N - 1 - i]
// static:   writes x[N - 1 - i]
//
// The first term that x[i] takes is the one that was finished last, so S(i, first) waits for D just before, and the
// rest of the row for S(i, first): nothing can go on beside it. Unlike solve_forward.c, it cannot be tiled, nor run in
// parallel but for the sum of a row, in another order.
//
// advice: run 40
#include "kernel.h"

KERNEL void solve(int n, double (*U)[n], double* x) {
  // expect-advice: tile_depth <= 1; parallel_ops <= 10; never LF-PAR i; never LF-TIL; never LF-ICH
  // expect-advice: suggests LF-RED j needs reduction; blocking D -> S
  for (int i = n - 1; i >= 0; i--) {  // expect: no: the unknowns behind
    for (int j = i + 1; j < n; j++) {  // expect: reduction(+)
      x[i] -= U[i][j] * x[j];  // S:
    }
    x[i] /= U[i][i];  // D:
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 17);
  double* const x = numbers(n);
  solve(n, (double(*)[n])numbers((long)n * n), x);
  print_sum(x, n);
  return 0;
}
