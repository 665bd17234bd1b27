// Prefix sums, and the sums of windows computed from them.
//
// static: sizes N = 25, W = 6
// static: S[i] : 0 <= i < N - 1
// static:   order [0, i]
// static:   reads a[i + 1], a[i]
// static:   writes a[i + 1]
// static: D[i] : 0 <= i < N - W
// static:   order [1, i]
// static:   reads a[i + W], a[i]
// static:   writes b[i]
#include "kernel.h"

KERNEL void sums(int n, int window, double* a, double* b) {
  for (int i = 1; i < n; i++) {
    a[i] += a[i - 1];  // S:
  }
  for (int i = 0; i < n - window; i++) {
    b[i] = a[i + window] - a[i];  // D:
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 25);
  const int window = size_argument(argc, argv, 2, 6);
  double* const b = numbers(n);
  sums(n, window, numbers(n), b);
  print_sum(b, n);
  return 0;
}
