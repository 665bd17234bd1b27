// Convolution of a signal with a kernel, then of the result with the same kernel.
//
// static: sizes N = 20, K = 5
// static: S[i, k] : 0 <= i < N - K + 1 and 0 <= k < K
// static:   order [0, i, k]
// static:   reads b[i], a[i + k], w[k]
// static:   writes b[i]
// static: R[i, k] : 0 <= i < N - 2*K + 2 and 0 <= k < K
// static:   order [1, i, k]
// static:   reads c[i], b[i + k], w[k]
// static:   writes c[i]
#include "kernel.h"

KERNEL void convolve(int n, int width, double* a, double* w, double* b, double* c) {
  for (int i = 0; i < n - width + 1; i++) {
    for (int k = 0; k < width; k++) {
      b[i] += a[i + k] * w[k];  // S:
    }
  }
  for (int i = 0; i < n - 2 * width + 2; i++) {
    for (int k = 0; k < width; k++) {
      c[i] += b[i + k] * w[k];  // R:
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 20);
  const int width = size_argument(argc, argv, 2, 5);
  double* const c = numbers(n);
  convolve(n, width, numbers(n), numbers(width), numbers(n), c);
  print_sum(c, n);
  return 0;
}
