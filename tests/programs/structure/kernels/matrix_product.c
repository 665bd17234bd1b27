// Matrix product: a perfect inner nest below an initialisation.
#include "counted.h"

enum { kMost = 512 };
static double a[kMost][kMost], b[kMost][kMost], c[kMost][kMost];

KERNEL void fill(int n) {
  ENTER(0);
  for (int i = 0; i < n; i++) {
    ITERATE(0);
    ENTER(1);
    for (int j = 0; j < n; j++) {
      ITERATE(1);
      a[i][j] = i + j;
      b[i][j] = i - j;
    }
  }
}

KERNEL void product(int n) {
  ENTER(2);
  for (int i = 0; i < n; i++) {
    ITERATE(2);
    ENTER(3);
    for (int j = 0; j < n; j++) {
      ITERATE(3);
      double sum = 0;
      ENTER(4);
      for (int k = 0; k < n; k++) {
        ITERATE(4);
        sum += a[i][k] * b[k][j];
      }
      c[i][j] = sum;
    }
  }
}

int main(void) {
  int n = bound(19);
  fill(n);
  product(n);
  return print_loops((long)c[n - 1][n / 2]);
}
