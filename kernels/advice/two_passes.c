// Row by row: a pass that computes a row of differences, and a pass that uses it. The second needs from the first what
// has the same column, so the passes may be one loop, and the row of differences one variable. Rows are free of each
// other, but all use the same temporary row, which must be private to each before they run in parallel.
//
// advice: run 30 40
#include "../kernel.h"

KERNEL void sharpen(int n, int m, double (*A)[m], double (*B)[m], double* t) {
  // expect-advice: tile_depth 2; skew no; parallel_ops >= 95; simd_ops >= 90; reuse >= 98; never LF-ICH; never LF-SKW
  // expect-advice: suggests LF-PAR i needs private; suggests LF-FUS j.1 j.2; interchange none
  for (int i = 0; i < n; i++) {        // expect: parallel
    for (int j = 1; j < m - 1; j++) {  // expect: parallel
      t[j] = 2 * A[i][j] - A[i][j - 1] - A[i][j + 1];
    }
    for (int j = 1; j < m - 1; j++) {  // expect: parallel
      B[i][j] = A[i][j] + 0.5 * t[j];
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 30);
  const int m = size_argument(argc, argv, 2, 40);
  double* const b = numbers((long)n * m);
  sharpen(n, m, (double(*)[m])numbers((long)n * m), (double(*)[m])b, numbers(m));
  print_sum(b, (long)n * m);
  return 0;
}
