// Jacobi iteration on a plate: five loads and a store per point.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 500;
  const int steps = argc > 2 ? atoi(argv[2]) : 60;
  double* from = calloc((size_t)n * n, sizeof(double));
  double* to = calloc((size_t)n * n, sizeof(double));
  for (int i = 0; i < n; i++) from[i] = to[i] = 100;
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) {
      for (int j = 1; j < n - 1; j++) {
        to[i * n + j] = 0.2 * (from[i * n + j] + from[i * n + j - 1] + from[i * n + j + 1] + from[(i - 1) * n + j] +
                               from[(i + 1) * n + j]);
      }
    }
    double* swap = from;
    from = to;
    to = swap;
  }
  printf("%g\n", from[3 * n + n / 2]);
  return 0;
}
