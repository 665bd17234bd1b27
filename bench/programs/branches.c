// A long regular loop in which data decide between two ways through the body.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 20000;
  const int steps = argc > 2 ? atoi(argv[2]) : 100;
  double* a = malloc(sizeof(double) * n);
  double* b = calloc(n, sizeof(double));
  unsigned random = 1;
  for (int i = 0; i < n; i++) {
    random = random * 1103515245u + 12345u;
    a[i] = (random >> 16 & 255) / 256.0;
  }
  double sum = 0;
  for (int k = 0; k < steps; k++) {
    for (int i = 0; i < n; i++) {
      if (a[i] > 0.5)
        b[i] += a[i] * k;
      else
        b[i] -= 1.0 / (a[i] + k + 1);
    }
    sum += b[k % n];
  }
  printf("%g\n", sum);
  free(a);
  free(b);
  return 0;
}
