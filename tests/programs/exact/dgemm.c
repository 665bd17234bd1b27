// Dense matrix product on static arrays.
#include <stdio.h>

#include "sentinel.h"

enum { kN = 20 };
static double a[kN][kN], b[kN][kN], c[kN][kN];

int main(void) {
  for (int i = 0; i < kN; i++) {
    for (int j = 0; j < kN; j++) a[i][j] = i + j, b[i][j] = i - j;
  }
  SENTINEL_BEGIN();
  for (int i = 0; i < kN; i++) {
    for (int j = 0; j < kN; j++) {
      for (int k = 0; k < kN; k++) c[i][j] += a[i][k] * b[k][j];
    }
  }
  SENTINEL_END();
  printf("%.1f %.1f\n", c[0][0], c[kN - 1][kN - 2]);
  return 0;
}
