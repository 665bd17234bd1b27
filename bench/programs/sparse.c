// Sparse matrix times vector, compressed rows: regular in the matrix, a gather in the vector. Rows differ in length.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 20000;
  const int times = argc > 2 ? atoi(argv[2]) : 20;
  int* start = malloc(sizeof(int) * (n + 1));
  int* column = malloc(sizeof(int) * 16 * n);
  double* value = malloc(sizeof(double) * 16 * n);
  double* x = malloc(sizeof(double) * n);
  double* y = malloc(sizeof(double) * n);
  unsigned seed = 1;
  int entries = 0;
  for (int i = 0; i < n; i++) {
    x[i] = 1;
    start[i] = entries;
    seed = seed * 1103515245u + 12345u;
    for (unsigned left = 5 + (seed >> 16) % 12; left > 0; left--) {
      seed = seed * 1103515245u + 12345u;
      column[entries] = (seed >> 8) % n;
      value[entries++] = 1.0 / 16;
    }
  }
  start[n] = entries;
  for (int t = 0; t < times; t++) {
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int k = start[i]; k < start[i + 1]; k++) sum += value[k] * x[column[k]];
      y[i] = sum;
    }
    double* swap = x;
    x = y;
    y = swap;
  }
  printf("%g\n", x[n / 2]);
  return 0;
}
