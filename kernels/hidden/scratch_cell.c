// A transposition through a scratch cell for each row. No value goes from one iteration to another, but all iterations
// of a row use its cell, one after the other: run at once, each needs its own. Rows do not share cells, so blocks of
// iterations that are a row each need nothing; that must not be said of the loop.
//
// advice: run 60 48
// advice: builds -O0 -O1 -O2
#include "../kernel.h"

KERNEL void transpose(int n, int m, const double* a, double* b, volatile double* cells) {
  // expect-advice: hidden 48; affine >= 99; blocks yes; suggests LF-PAR k needs private
  for (int k = 0; k < n * m; k++) {  // expect: parallel
    cells[k / m] = a[k] * 2;
    b[k % m * n + k / m] = cells[k / m] + 1;
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 60);
  const int m = size_argument(argc, argv, 2, 48);
  double* const b = numbers((long)n * m);
  transpose(n, m, numbers((long)n * m), b, numbers(n));
  print_sum(b, n);
  return 0;
}
