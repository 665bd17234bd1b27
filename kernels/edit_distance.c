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
#include "kernel.h"

#define SMALLER(a, b) ((a) < (b) ? (a) : (b))

KERNEL void distances(int n, int m, int* x, int* y, int (*D)[m + 1]) {
  for (int i = 0; i <= n; i++) {
    D[i][0] = i;  // V:
  }
  for (int j = 0; j <= m; j++) {
    D[0][j] = j;  // H:
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) {
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
