// Electromagnetic waves in a box, two-dimensional: three fields, each updated from the others' differences.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 300;
  const int steps = argc > 2 ? atoi(argv[2]) : 40;
  double* ez = calloc((size_t)n * n, sizeof(double));
  double* hx = calloc((size_t)n * n, sizeof(double));
  double* hy = calloc((size_t)n * n, sizeof(double));
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n - 1; j++) hx[i * n + j] -= 0.5 * (ez[i * n + j + 1] - ez[i * n + j]);
    }
    for (int i = 0; i < n - 1; i++) {
      for (int j = 0; j < n; j++) hy[i * n + j] += 0.5 * (ez[(i + 1) * n + j] - ez[i * n + j]);
    }
    for (int i = 1; i < n - 1; i++) {
      for (int j = 1; j < n - 1; j++) {
        ez[i * n + j] += 0.5 * (hy[i * n + j] - hy[(i - 1) * n + j] - hx[i * n + j] + hx[i * n + j - 1]);
      }
    }
    ez[n / 2 * n + n / 2] += t < 20 ? t * (20 - t) * 0.01 : 0;
  }
  printf("%g\n", ez[n / 2 * n + n / 3]);
  return 0;
}
