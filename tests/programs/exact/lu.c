// LU decomposition with row pivoting, on an array of row pointers.
#include <stdio.h>
#include <stdlib.h>

#include "sentinel.h"

enum { kN = 18 };

static int __attribute__((noinline)) decompose(double** m) {
  int swaps = 0;
  for (int k = 0; k < kN; k++) {
    int pivot = k;
    for (int i = k + 1; i < kN; i++) {
      double a = m[i][k] < 0 ? -m[i][k] : m[i][k], b = m[pivot][k] < 0 ? -m[pivot][k] : m[pivot][k];
      if (a > b) pivot = i;
    }
    if (pivot != k) {
      double* row = m[k];
      m[k] = m[pivot];
      m[pivot] = row;
      swaps++;
    }
    for (int i = k + 1; i < kN; i++) {
      m[i][k] /= m[k][k];
      for (int j = k + 1; j < kN; j++) m[i][j] -= m[i][k] * m[k][j];
    }
  }
  return swaps;
}

int main(void) {
  double* rows[kN];
  for (int i = 0; i < kN; i++) {
    rows[i] = malloc(kN * sizeof *rows[i]);
    for (int j = 0; j < kN; j++) rows[i][j] = (i * 7 + j * 3) % 11 + (i == j) * 5;
  }
  SENTINEL_BEGIN();
  int swaps = decompose(rows);
  SENTINEL_END();
  double product = 1;
  for (int i = 0; i < kN; i++) product *= rows[i][i];
  printf("%d swaps, %.6e\n", swaps, product);
  for (int i = 0; i < kN; i++) free(rows[i]);
  return 0;
}
