// Matrix product whose inner loop goes down a column, of matrices that a nest of loops filled.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 200;
  double(*a)[n] = malloc(sizeof(double[n][n]));
  double(*b)[n] = malloc(sizeof(double[n][n]));
  double(*c)[n] = malloc(sizeof(double[n][n]));
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      a[i][j] = (i + j) % 7;
      b[i][j] = (i * j) % 5;
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
  }
  printf("%g\n", c[n / 2][n / 3]);
  return 0;
}
