// Gauss-Seidel iteration in place: each point of the mean of all nine around it, as they are by then.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 300;
  const int steps = argc > 2 ? atoi(argv[2]) : 20;
  double(*a)[n] = malloc(sizeof(double[n][n]));
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) a[i][j] = (i * (j + 2) + 2.0) / n;
  }
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) {
      for (int j = 1; j < n - 1; j++) {
        a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] + a[i][j + 1] +
                   a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) /
                  9.0;
      }
    }
  }
  printf("%g\n", a[n / 2][n / 3]);
  return 0;
}
