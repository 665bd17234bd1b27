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
//
// The running sum keeps every value, so it is a scan, and the only order. The differences are parallel.
//
// advice: run 300 6
#include "kernel.h"

KERNEL void sums(int n, int window, double* a, double* b) {
  // expect-advice: suggests nothing; tile_depth <= 1; skew no; parallel_ops <= 5; simd_ops <= 5; interchange none
  // expect-advice: blocking S -> S distance 1
  for (int i = 1; i < n; i++) {  // expect: no: the sum so far
    a[i] += a[i - 1];  // S:
  }
  // expect-advice: tile_depth 1; parallel_ops >= 95; suggests LF-PAR i; never LF-ICH
  for (int i = 0; i < n - window; i++) {  // expect: parallel
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
