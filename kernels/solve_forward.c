// Forward substitution: L x = b, x in the place of b, for the rows from `first` on. With 0 in its place, GCC would see
// that the inner loop is not entered in the first iteration and enter the outer loop behind it: counters would then
// differ from those of the source.
//
// static: sizes N = 17
// static: S[i, j] : 0 <= i < N and 0 <= j < i
// static:   order [i, 0, j]
// static:   reads x[i], L[i, j], x[j]
// static:   writes x[i]
// static: D[i] : 0 <= i < N
// static:   order [i, 1]
// static:   reads x[i], L[i, i]
// static:   writes x[i]
//
// x[i] takes its terms in the order in which they get finished: S(i, j) needs S(i, j - 1) and D(j). Both loops can be
// tiled together; with j outside, the rows below j are free of each other.
//
// advice: run 40
#include "kernel.h"

KERNEL void solve(int first, int n, double (*L)[n], double* x) {
  // expect-advice: tile_depth 2; skew no; tilable_ops >= 90; parallel_ops >= 90; reuse >= 95; never LF-SKW
  // expect-advice: never LF-PAR i
  // expect-advice: blocking D -> S
  for (int i = first; i < n; i++) {  // expect: no: the unknowns before
    for (int j = 0; j < i; j++) {  // expect: reduction(+)
      x[i] -= L[i][j] * x[j];  // S:
    }
    x[i] /= L[i][i];  // D:
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 17);
  double* const x = numbers(n);
  solve(0, n, (double(*)[n])numbers((long)n * n), x);
  print_sum(x, n);
  return 0;
}
