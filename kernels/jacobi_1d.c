// Three-point Jacobi in time, from one array into the other and back.
//
// static: sizes T = 9, N = 19
// static: S[t, i] : 0 <= t < T and 0 <= i < N - 2
// static:   order [t, 0, i]
// static:   reads a[i], a[i + 1], a[i + 2]
// static:   writes b[i + 1]
// static: R[t, i] : 0 <= t < T and 0 <= i < N - 2
// static:   order [t, 1, i]
// static:   reads b[i + 1]
// static:   writes a[i + 1]
//
// A point needs three of the step before, at distances (1, -1), (1, 0), (1, 1) through the copy: to be tiled with time,
// i must be skewed by t, and the two loops over i be one. As written, they are parallel within a step.
//
// advice: run 12 60
#include "kernel.h"

KERNEL void steps(int count, int n, double* a, double* b) {
  // expect-advice: tile_depth 2; skew yes; tilable_ops >= 95; parallel_ops >= 90; simd_ops >= 90; reuse >= 98
  // expect-advice: suggests LF-SKW; never LF-PAR t
  // expect-advice: blocking R -> S distance 1
  for (int t = 0; t < count; t++) {  // expect: no: the step before
    for (int i = 1; i < n - 1; i++) {  // expect: parallel
      b[i] = (a[i - 1] + a[i] + a[i + 1]) * 0.33333;  // S:
    }
    for (int i = 1; i < n - 1; i++) {  // expect: parallel
      a[i] = b[i];  // R:
    }
  }
}

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 1, 9);
  const int n = size_argument(argc, argv, 2, 19);
  double* const a = numbers(n);
  steps(count, n, a, numbers(n));
  print_sum(a, n);
  return 0;
}
