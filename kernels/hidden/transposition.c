// A transposition in one loop that finds row and column by division. No address of b is affine along k; along k / m and
// k % m, all are. Every element is written once, from what was there before: every order is right, of the iterations as
// of the two hidden loops.
//
// advice: run 60 48
// advice: builds -O0 -O1 -O2
#include "../kernel.h"

KERNEL void transpose(int n, int m, const double* a, double* b) {
  // expect-advice: hidden 48; affine >= 99; trip 2880; suggests LF-PAR k legal yes
  // expect-advice -O1: stride01 50
  for (int k = 0; k < n * m; k++) {  // expect: parallel
    b[k % m * n + k / m] = a[k];
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 60);
  const int m = size_argument(argc, argv, 2, 48);
  double* const b = numbers((long)n * m);
  transpose(n, m, numbers((long)n * m), b);
  print_sum(b, n);
  return 0;
}
