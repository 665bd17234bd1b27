// Matrix product in tiles of 16: many short inner loops.
#include <stdio.h>
#include <stdlib.h>

enum { kTile = 16 };

int main(int argc, char** argv) {
  const int n = (argc > 1 ? atoi(argv[1]) : 256) / kTile * kTile;
  double* a = malloc(sizeof(double) * n * n);
  double* b = malloc(sizeof(double) * n * n);
  double* c = calloc((size_t)n * n, sizeof(double));
  for (int i = 0; i < n * n; i++) {
    a[i] = i % 7;
    b[i] = i % 5;
  }
  for (int ii = 0; ii < n; ii += kTile) {
    for (int jj = 0; jj < n; jj += kTile) {
      for (int kk = 0; kk < n; kk += kTile) {
        for (int i = ii; i < ii + kTile; i++) {
          for (int j = jj; j < jj + kTile; j++) {
            double sum = c[i * n + j];
            for (int k = kk; k < kk + kTile; k++) sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
          }
        }
      }
    }
  }
  printf("%g\n", c[n + 3]);
  return 0;
}
