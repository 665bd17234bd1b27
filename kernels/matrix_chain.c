// Cheapest way to multiply a chain of matrices: the table is filled by diagonals, each entry from all ways to cut the
// interval in two.
//
// static: sizes N = 11
// static: Z[l, i] : 0 <= l < N - 1 and 0 <= i < N - 1 - l
// static:   order [l, i, 0]
// static:   writes C[i, i + l + 1]
// static: S[l, i, k] : 0 <= l < N - 1 and 0 <= i < N - 1 - l and 0 <= k <= l
// static:   order [l, i, 1, k]
// static:   reads C[i, i + l + 1], C[i, i + k], C[i + k + 1, i + l + 1]
// static:   writes C[i, i + l + 1]
//
// Longer chains need shorter ones. Those of one length are free of each other; each is the least of its splits.
//
// advice: run 16
// advice: builds -O1: at -O2 the minimum is kept in a register and still stored every time, which hides it
#include "kernel.h"

KERNEL void chain(int n, double* p, double (*C)[n]) {
  // expect-advice: parallel_ops >= 90; never LF-PAR l; suggests LF-PAR i
  for (int l = 1; l < n; l++) {  // expect: no: shorter chains
    for (int i = 0; i < n - l; i++) {  // expect: parallel
      C[i][i + l] = 1e30;  // Z:
      for (int k = i; k < i + l; k++) {  // expect: reduction(min)
        const double* const c = &C[i][i + l];
        const double* const left = &C[i][k];
        const double* const right = &C[k + 1][i + l];
        // clang-format off
        C[i][i + l] = *left + *right + p[i] * p[k + 1] * p[i + l + 1] < *c ? *left + *right + p[i] * p[k + 1] * p[i + l + 1] : *c;  // S:
        // clang-format on
      }
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 11);
  double* const c = numbers((long)n * n);
  for (int i = 0; i < n; i++) c[(long)i * n + i] = 0;
  chain(n, numbers(n + 1), (double(*)[n])c);
  printf("%.10g\n", c[n - 1]);
  return 0;
}
