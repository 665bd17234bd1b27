// A transposition by one loop that finds row and column by division. It is a parallel loop, and that is what a run
// shows. The nest of two loops that it stands for is not in the binary: whether it could be tiled or interchanged is
// another question, and must not be answered with yes.
//
// advice: run 24 20
#include "../kernel.h"

KERNEL void transpose(int n, int m, const double* a, double* b) {
  // expect-advice: suggests LF-PAR i; suggests LF-SIMD i; others unknown; parallel_ops >= 95; never LF-ICH
  // expect-advice: never LF-SKW
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
