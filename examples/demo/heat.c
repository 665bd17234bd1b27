// The bundled example: heat spreads over a plate (a 2-D stencil), then the result is multiplied by a matrix.
#include <stdio.h>

enum { kSize = 64, kSteps = 20 };

static double plate[2][kSize][kSize], weights[kSize][kSize], product[kSize][kSize];

__attribute__((noinline)) static void spread(double to[kSize][kSize], double from[kSize][kSize]) {
  for (int i = 1; i < kSize - 1; i++) {
    for (int j = 1; j < kSize - 1; j++) {
      to[i][j] = 0.2 * (from[i][j] + from[i][j - 1] + from[i][j + 1] + from[i - 1][j] + from[i + 1][j]);
    }
  }
}

__attribute__((noinline)) static void multiply(double c[kSize][kSize], double a[kSize][kSize], double b[kSize][kSize]) {
  for (int i = 0; i < kSize; i++) {
    for (int j = 0; j < kSize; j++) {
      for (int k = 0; k < kSize; k++) c[i][j] += a[i][k] * b[k][j];
    }
  }
}

int main(void) {
  for (int i = 0; i < kSize; i++) {
    plate[0][0][i] = plate[1][0][i] = 100;  // one hot edge
    for (int j = 0; j < kSize; j++) weights[i][j] = i == j ? 2 : 1.0 / (1 + i + j);
  }
  for (int step = 0; step < kSteps; step++) spread(plate[(step + 1) % 2], plate[step % 2]);
  multiply(product, plate[kSteps % 2], weights);
  printf("warmth in the middle: %.6f, weighted: %.6f\n", plate[kSteps % 2][8][kSize / 2], product[8][kSize / 2]);
  return 0;
}
