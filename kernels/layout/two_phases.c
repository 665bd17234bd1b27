// First rows, then columns of the same matrix: in between it is laid out anew.
//
// map: { M[i, j] -> [i, j] } { M[i, j] -> [j, i] }
#include "data.h"

static void smooth(int n, int m, double M[n][m]) {
#pragma layout map(inout: M(i,j) -> (i, j) : double[n, m])
  {
    for (int i = 0; i < n; i++)
      for (int j = 1; j < m; j++) M[i][j] = 0.5 * (M[i][j] + M[i][j - 1]);
#pragma layout map(redist: M(i,j) -> (j, i) : double[n, m])
    for (int j = 0; j < m; j++)
      for (int i = 1; i < n; i++) M[i][j] = 0.5 * (M[i][j] + M[i - 1][j]);
  }
}

int main(int argc, char** argv) {
  const int n = size_from(argc, argv, 1, 45), m = size_from(argc, argv, 2, 33);
  double(*const matrix)[m] = malloc(sizeof(double[n][m]));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) matrix[i][j] = number(3l * i + j);
  smooth(n, m, matrix);
  print_bits("matrix", matrix, sizeof(double[n][m]));
  free(matrix);
  return 0;
}
