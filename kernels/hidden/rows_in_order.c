// Running sums along the rows of a table, in one loop. An iteration needs the one before it, unless a row begins: the
// loop keeps its order. Rows do not need each other: blocks of iterations that are a row each may change places.
//
// advice: run 40 50
// advice: builds -O0 -O1 -O2
#include "../kernel.h"

KERNEL void sum_rows(int n, int m, const double* a, double* b) {
  // expect-advice: hidden 50; affine >= 99; blocks yes; suggests LF-PAR k legal unknown
  for (int k = 0; k < n * m; k++) {  // expect: no: b[k - 1] of the last iteration
    const double before = k % m > 0 ? b[k - 1] : 0;
    b[k] = a[k / m + k % m * n] + before;
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 40);
  const int m = size_argument(argc, argv, 2, 50);
  double* const b = numbers((long)n * m);
  sum_rows(n, m, numbers((long)n * m), b);
  print_sum(b, (long)n * m);
  return 0;
}
