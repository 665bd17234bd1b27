// A recurrence over a square, walked along its diagonals: the skewed form of a doubly nested loop. The inner loop's
// bounds are a maximum and a minimum.
//
// static: sizes N = 9
// static: S[t, i] : 0 <= t < 2*N - 1 and 0 <= i <= t and i <= 2*N - 2 - t
// static:   order [t, i]
// static:   reads A[i, t - i + 1] : t < N
// static:   reads A[i + 1, t - i] : t < N
// static:   reads A[i + t - N + 1, N - i] : t >= N
// static:   reads A[i + t - N + 2, N - i - 1] : t >= N
// static:   writes A[i + 1, t - i + 1] : t < N
// static:   writes A[i + t - N + 2, N - i] : t >= N
//
// A recurrence that was skewed by hand: the inner loop runs over a diagonal, and is parallel. Its accesses move on by a
// row less one element: none is near.
//
// advice: run 24
#include "kernel.h"

KERNEL void wavefront(int n, double (*A)[n + 1]) {
  // expect-advice: parallel_ops >= 90; simd_ops >= 85; never LF-PAR t; suggests LF-PAR i; reuse <= 5
  // expect-advice: blocking S -> S distance 1
  for (int t = 0; t < 2 * n - 1; t++) {  // expect: no: the diagonal before
    // expect-advice: stride01 <= 5
    for (int i = t < n ? 0 : t - n + 1; i <= (t < n ? t : n - 1); i++) {  // expect: parallel
      A[i + 1][t - i + 1] = (A[i][t - i + 1] + A[i + 1][t - i]) * 0.5;  // S:
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 9);
  double* const a = numbers((long)(n + 1) * (n + 1));
  wavefront(n, (double(*)[n + 1]) a);
  print_sum(a, (long)(n + 1) * (n + 1));
  return 0;
}
