// A wavefront along antidiagonals of a square: skewed, each of them is a row; below the diagonal, negative.
//
// map: { grid[i, j] -> [0, i + j, j] } { below[i, j] -> [1, i - j, j] }
#include "data.h"

static void sweep(int n, int grid[n][n], int (*below)[n]) {
#pragma layout map(inout: grid(i,j) -> (0, i + j, j) : int[n, n]) map(inout: below(i,j) -> (1, i - j, j) : int[n, n])
  for (int d = 2; d < 2 * n - 1; d++)
    for (unsigned j = 1; j < (unsigned)n; j++) {
      const int i = d - (int)j;
      if (i < 1 || i >= n) continue;
      grid[i][j] = (grid[i - 1][j] + 3 * grid[i][j - 1]) % 1000;
      below[i][j] += grid[i][j] - below[(unsigned)i - 1][j];
    }
}

int main(int argc, char** argv) {
  const int n = size_from(argc, argv, 1, 40);
  int(*const a)[n] = malloc(sizeof(int[n][n]));
  int(*const b)[n] = malloc(sizeof(int[n][n]));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i][j] = i * 7 + j, b[i][j] = i - 2 * j;
  sweep(n, a, b);
  print_bits("grid", a, sizeof(int[n][n]));
  print_bits("below", b, sizeof(int[n][n]));
  free(a);
  free(b);
  return 0;
}
