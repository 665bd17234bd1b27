// A circular buffer: subscripts modulo its length.
//
// static: sizes N = 33, M = 8
// static: S[t] : 0 <= t < N
// static:   order [t, 0]
// static:   reads ring[t mod M], x[t]
// static:   writes ring[t mod M]
// static: R[t] : 0 <= t < N
// static:   order [t, 1]
// static:   reads ring[(t + 3) mod M]
// static:   writes y[t]
#include "kernel.h"

KERNEL void filter(int n, int m, double* ring, double* x, double* y) {
  for (int t = 0; t < n; t++) {
    ring[t % m] = ring[t % m] * 0.5 + x[t];  // S:
    y[t] = ring[(t + 3) % m];                // R:
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 33);
  const int m = size_argument(argc, argv, 2, 8);
  double* const y = numbers(n);
  filter(n, m, numbers(m), numbers(n), y);
  print_sum(y, n);
  return 0;
}
