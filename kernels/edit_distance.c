// Edit distance of two strings: dynamic programming over integers, with its two borders.
//
// static: sizes N = 12, M = 10
// static: V[i] : 0 <= i <= N
// static:   order [0, i]
// static:   writes D[i, 0]
// static: H[j] : 0 <= j <= M
// static:   order [1, j]
// static:   writes D[0, j]
// static: S[i, j] : 0 <= i < N and 0 <= j < M
// static:   order [2, i, j]
// static:   reads D[i, j], D[i, j + 1], D[i + 1, j], x[i], y[j]
// static:   writes D[i + 1, j + 1]
//
// A cell needs those to the left, above, and above to the left: (0, 1), (1, 0), (1, 1). No loop is parallel, both can
// be tiled as they are, and cells or tiles of a diagonal are free of each other.
//
// advice: run 24 26
#include "kernel.h"

#define SMALLER(a, b) ((a) < (b) ? (a) : (b))

KERNEL void distances(int n, int m, int* x, int* y, int (*D)[m + 1]) {
  for (int i = 0; i <= n; i++) {  // expect: parallel
    D[i][0] = i;  // V:
  }
  for (int j = 0; j <= m; j++) {  // expect: parallel
    D[0][j] = j;  // H:
  }
  // expect-advice -O1: tile_depth 2; tilable_ops >= 95; parallel_ops >= 90
  // expect-advice: never LF-PAR i; blocking S -> S distance 1
  for (int i = 0; i < n; i++) {  // expect: no: the row above
    // expect-advice: blocking S -> S distance 1
    for (int j = 0; j < m; j++) {  // expect: no: the cell to the left
      D[i + 1][j + 1] = SMALLER(D[i][j] + (x[i] != y[j]), 1 + SMALLER(D[i][j + 1], D[i + 1][j]));  // S:
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 12);
  const int m = size_argument(argc, argv, 2, 10);
  int(*table)[m + 1] = (int(*)[m + 1]) integers((long)(n + 1) * (m + 1), 9);
  distances(n, m, integers(n, 4), integers(m, 3), table);
  printf("%d\n", table[n][m]);
  return 0;
}
