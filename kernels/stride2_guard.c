// A guard that lets every other iteration through, in one loop and inside another.
//
// static: sizes N = 26, M = 7
// static: S[i] : 0 <= i < N - 2 and i mod 2 = 0
// static:   order [0, i]
// static:   reads a[i]
// static:   writes a[i + 2]
// static: R[m, i] : 0 <= m < M and 0 <= i < N and i mod 2 = 0
// static:   order [1, m, i]
// static:   reads a[i], b[m]
// static:   writes a[i]
#include "kernel.h"

KERNEL void guarded(int n, int m, double* a, double* b) {
  for (int i = 0; i < n - 2; i++) {
    if (i % 2 == 0) {
      a[i + 2] = a[i] * 0.75;  // S:
    }
  }
  for (int k = 0; k < m; k++) {
    for (int i = 0; i < n; i++) {
      if (i % 2 == 0) {
        a[i] += b[k];  // R:
      }
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 26);
  const int m = size_argument(argc, argv, 2, 7);
  double* const a = numbers(n);
  guarded(n, m, a, numbers(m));
  print_sum(a, n);
  return 0;
}
