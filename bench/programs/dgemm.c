// Matrix product, i-j-k: a long regular inner loop with one unit and one large stride.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 300;
  double* a = malloc(sizeof(double) * n * n);
  double* b = malloc(sizeof(double) * n * n);
  double* c = malloc(sizeof(double) * n * n);
  for (int i = 0; i < n * n; i++) {
    a[i] = i % 7;
    b[i] = i % 5;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
  }
  printf("%g\n", c[n + 3]);
  return 0;
}
