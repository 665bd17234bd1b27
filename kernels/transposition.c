// A matrix is transposed into another one; its lower triangle is subtracted from its upper one.
//
// static: sizes N = 12
// static: S[i, j] : 0 <= i < N and 0 <= j < N
// static:   order [0, i, j]
// static:   reads A[i, j]
// static:   writes B[j, i]
// static: R[i, j] : 0 <= i < N and 0 <= j < N - 1 - i
// static:   order [1, i, j]
// static:   reads B[i, i + 1 + j], B[i + 1 + j, i]
// static:   writes B[i, i + 1 + j]
//
// Along j, A is near and B is not; along i it is the other way round. No order is better than the other: only tiles
// help.
//
// advice: run 24
#include "kernel.h"

KERNEL void transpose(int n, double (*A)[n], double (*B)[n]) {
  // expect-advice: tile_depth 2; skew no; parallel_ops >= 95; simd_ops >= 90; reuse 50; potential_reuse 50
  // expect-advice: interchange none
  // expect-advice: suggests LF-PAR i; suggests LF-TIL i j; never LF-ICH; never LF-SKW
  for (int i = 0; i < n; i++) {  // expect: parallel
    // expect-advice: stride01 50
    for (int j = 0; j < n; j++) {  // expect: parallel
      B[j][i] = A[i][j];  // S:
    }
  }
  // expect-advice: tile_depth 2; skew no; parallel_ops >= 95; simd_ops >= 90; reuse 67; potential_reuse 67
  // expect-advice: interchange none; never LF-ICH
  for (int i = 0; i < n; i++) {  // expect: parallel
    // expect-advice: stride01 67
    for (int j = i + 1; j < n; j++) {  // expect: parallel
      B[i][j] = B[i][j] - B[j][i];  // R:
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 12);
  double* const b = numbers((long)n * n);
  transpose(n, (double(*)[n])numbers((long)n * n), (double(*)[n])b);
  print_sum(b, (long)n * n);
  return 0;
}
