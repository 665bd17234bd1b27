// Loops that go in steps of three: the canonical counter goes in steps of one.
//
// static: sizes N = 40, M = 9
// static: S[i] : 0 <= i and 3*i < N - 3
// static:   order [0, i]
// static:   reads a[3*i]
// static:   writes a[3*i + 3]
// static: R[j, i] : 0 <= j < M and 0 <= i and 3*i < N
// static:   order [1, j, i]
// static:   reads a[3*i], b[j]
// static:   writes a[3*i]
#include "kernel.h"

KERNEL void steps(int n, int m, double* a, double* b) {
  for (int i = 0; i < n - 3; i += 3) {
    a[i + 3] = a[i] * 0.75;  // S:
  }
  for (int j = 0; j < m; j++) {
    for (int i = 0; i < n; i += 3) {
      a[i] += b[j];  // R:
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 40);
  const int m = size_argument(argc, argv, 2, 9);
  double* const a = numbers(n);
  steps(n, m, a, numbers(m));
  print_sum(a, n);
  return 0;
}
