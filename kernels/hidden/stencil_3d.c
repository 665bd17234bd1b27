// A stencil on a cube, flattened by hand: one loop over all cells, whose place in the cube is found by division, and
// nothing is done on the surface. The addresses are affine along k; when they are used is not: the inside of the cube
// is a box of (z, y, x) and of nothing else.
//
// advice: run 14
// advice: builds -O0 -O1 -O2
#include "../kernel.h"

KERNEL void smooth(int n, const double* a, double* b) {
  // expect-advice: hidden 14 14; affine >= 99; trip 2744; suggests LF-PAR k legal yes
  // expect-advice -O1: stride01 100
  for (int k = 0; k < n * n * n; k++) {  // expect: parallel
    const int x = k % n;
    const int y = k / n % n;
    const int z = k / (n * n);
    if (x > 0 && x < n - 1 && y > 0 && y < n - 1 && z > 0 && z < n - 1)
      b[k] = 0.25 * a[k] + 0.125 * (a[k - 1] + a[k + 1] + a[k - n] + a[k + n] + a[k - n * n] + a[k + n * n]);
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 14);
  const long cells = (long)n * n * n;
  double* const b = numbers(cells);
  smooth(n, numbers(cells), b);
  print_sum(b, cells);
  return 0;
}
