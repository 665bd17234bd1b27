// Matrices of pointers to rows: the product goes down columns of the second one, which becomes its transpose.
//
// map: { a[i, k] -> [0, i, k] } { b[k, j] -> [1, j, k] }
#include "data.h"

static double** matrix(int rows, int columns, long seed) {
  double** const result = malloc((size_t)rows * sizeof *result);
  for (int i = 0; i < rows; i++) {
    result[i] = malloc((size_t)columns * sizeof **result);
    for (int j = 0; j < columns; j++) result[i][j] = number(seed * i + j);
  }
  return result;
}

static void release(double** matrix, int rows) {
  for (int i = 0; i < rows; i++) free(matrix[i]);
  free(matrix);
}

int main(int argc, char** argv) {
  const int n = size_from(argc, argv, 1, 30);
  double** a = matrix(n, n + 2, 3);
  double** b = matrix(n + 2, n, 5);
  double** c = matrix(n, n, 7);
#pragma scop
#pragma layout map(in: a(i,k) -> (0, i, k) : double[n, n + 2]) map(in: b(k,j) -> (1, j, k) : double[n + 2, n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      c[i][j] = 0;
      for (int k = 0; k < n + 2; k++) c[i][j] += a[i][k] * b[k][j];
    }
#pragma endscop
  for (int i = 0; i < n; i++) print_bits("row", c[i], (size_t)n * sizeof(double));
  release(a, n);
  release(b, n + 2);
  release(c, n);
  return 0;
}
