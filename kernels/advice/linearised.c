// A transposition by one loop that finds row and column by division. It is a parallel loop, and so are both loops of the
// nest that it stands for; that nest is not in the binary, but is found. Which of the two is inside makes no difference
// to an access that is a transposition, and nothing has to be skewed.
//
// advice: run 24 20
#include "../kernel.h"

KERNEL void transpose(int n, int m, const double* a, double* b) {
  // expect-advice: suggests LF-PAR i legal yes; suggests LF-SIMD i; parallel_ops >= 95; affine >= 99; hidden 20
  // expect-advice: never LF-SKW; suggests LF-TIL i i legal yes
  for (int i = 0; i < n * m; i++) {  // expect: parallel
    b[i % m * n + i / m] = a[i];
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 24);
  const int m = size_argument(argc, argv, 2, 20);
  double* const b = numbers((long)n * m);
  transpose(n, m, numbers((long)n * m), b);
  print_sum(b, n);
  return 0;
}
