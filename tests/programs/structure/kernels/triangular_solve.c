// Forward substitution: the inner loop's bound is the outer loop's counter, and it is not entered at first.
#include "counted.h"

enum { kMost = 500 };
static double l[kMost][kMost], x[kMost], y[kMost];

KERNEL void solve(int n) {
  ENTER(0);
  for (int i = 0; i < n; i++) {
    ITERATE(0);
    double sum = y[i];
    ENTER(1);
    for (int j = 0; j < i; j++) {
      ITERATE(1);
      sum -= l[i][j] * x[j];
    }
    x[i] = sum / l[i][i];
  }
}

int main(void) {
  int n = bound(37);
  ENTER(2);
  for (int i = 0; i < n; i++) {
    ITERATE(2);
    y[i] = i + 1;
    ENTER(3);
    for (int j = 0; j <= i; j++) {
      ITERATE(3);
      l[i][j] = i == j ? 2 : 1.0 / (i + j + 1);
    }
  }
  solve(n);
  return print_loops((long)(1000 * x[n - 1]));
}
