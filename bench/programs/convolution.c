// Each point a weighted mean of the nine around it: the innermost loops have three iterations.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 250;
  const int rounds = argc > 2 ? atoi(argv[2]) : 2;
  float* in = malloc(sizeof(float) * n * n);
  float* out = calloc((size_t)n * n, sizeof(float));
  float weights[9];
  for (int i = 0; i < n * n; i++) in[i] = i % 13;
  for (int i = 0; i < 9; i++) weights[i] = 0.1f * i;
  for (int r = 0; r < rounds; r++) {
    for (int y = 1; y < n - 1; y++) {
      for (int x = 1; x < n - 1; x++) {
        float sum = 0;
        for (int dy = -1; dy <= 1; dy++)
          for (int dx = -1; dx <= 1; dx++) sum += weights[(dy + 1) * 3 + dx + 1] * in[(y + dy) * n + x + dx];
        out[y * n + x] = sum;
      }
    }
  }
  printf("%g\n", out[n + 5]);
  return 0;
}
