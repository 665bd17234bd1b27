// Length of the longest common subsequence of two strings: dynamic programming over integers. All three neighbours are
// read whatever the strings are, so that the flow does not depend on them.
//
// static: sizes N = 13, M = 11
// static: S[i, j] : 0 <= i < N and 0 <= j < M
// static:   order [i, j]
// static:   reads L[i, j], L[i, j + 1], L[i + 1, j], x[i], y[j]
// static:   writes L[i + 1, j + 1]
//
// As edit_distance.c. The greatest so far goes along j, but every cell of it is kept: a scan, not a reduction.
//
// advice: run 24 26
#include "kernel.h"

#define LARGER(a, b) ((a) > (b) ? (a) : (b))

KERNEL void lengths(int n, int m, int* x, int* y, int (*L)[m + 1]) {
  // expect-advice -O1: tile_depth 2; tilable_ops >= 95; parallel_ops >= 90
  // expect-advice: never LF-PAR; never LF-RED
  // expect-advice: blocking S -> S distance 1
  for (int i = 0; i < n; i++) {  // expect: no: the row above
    // expect-advice: blocking S -> S distance 1
    for (int j = 0; j < m; j++) {  // expect: no: the cell to the left
      L[i + 1][j + 1] = LARGER(L[i][j] + (x[i] == y[j]), LARGER(L[i][j + 1], L[i + 1][j]));  // S:
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 13);
  const int m = size_argument(argc, argv, 2, 11);
  int(*table)[m + 1] = (int(*)[m + 1]) integers((long)(n + 1) * (m + 1), 1);
  lengths(n, m, integers(n, 4), integers(m, 3), table);
  printf("%d\n", table[n][m]);
  return 0;
}
