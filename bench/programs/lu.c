// LU decomposition without pivoting: triangular loops.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 320;
  double* a = malloc(sizeof(double) * n * n);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) a[i * n + j] = i == j ? n : 1.0 / (1 + i + j);
  }
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++) {
      a[i * n + k] /= a[k * n + k];
      for (int j = k + 1; j < n; j++) a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
  }
  printf("%g\n", a[n * n - 1]);
  return 0;
}
