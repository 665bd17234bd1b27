// A five-point stencil on two heap arrays, swapped after each step.
#include <stdio.h>
#include <stdlib.h>

#include "sentinel.h"

enum { kN = 34, kSteps = 6 };

static void __attribute__((noinline)) step(float* restrict to, const float* restrict from) {
  for (int i = 1; i < kN - 1; i++) {
    for (int j = 1; j < kN - 1; j++) {
      to[i * kN + j] = 0.2f * (from[i * kN + j] + from[i * kN + j - 1] + from[i * kN + j + 1] + from[(i - 1) * kN + j] +
                               from[(i + 1) * kN + j]);
    }
  }
}

int main(void) {
  float *x = calloc(kN * kN, sizeof *x), *y = calloc(kN * kN, sizeof *y);
  for (int i = 0; i < kN * kN; i++) x[i] = y[i] = (float)(i % 13);
  SENTINEL_BEGIN();
  for (int t = 0; t < kSteps; t++) {
    step(y, x);
    float* swap = x;
    x = y;
    y = swap;
  }
  SENTINEL_END();
  printf("%.4f\n", x[kN * kN / 2]);
  free(x);
  free(y);
  return 0;
}
