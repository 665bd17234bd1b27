// A matrix product that goes over tiles of its result, 8 by 8, whose two loops over tiles are one. Every element of the
// result is made in one iteration of it: tiles may change places.
//
// advice: run 48
// verify: run 32
// advice: builds -O0 -O1 -O2
#include "../kernel.h"

enum { kTile = 8 };

KERNEL void multiply(int n, const double* a, const double* b, double* c) {
  const int tiles = n / kTile;
  // expect-advice: hidden 6; affine >= 99; trip 36; blocks yes; suggests LF-PAR t legal yes
  for (int t = 0; t < tiles * tiles; t++) {  // expect: parallel
    const int row = t / tiles * kTile;
    const int column = t % tiles * kTile;
    for (int i = row; i < row + kTile; i++) {          // expect: parallel
      for (int j = column; j < column + kTile; j++) {  // expect: parallel
        double sum = 0;
        for (int k = 0; k < n; k++)  // expect: reduction(+)
          sum += a[i * n + k] * b[k * n + j];
        c[i * n + j] = sum;
      }
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 48);
  double* const c = numbers((long)n * n);
  multiply(n, numbers((long)n * n), numbers((long)n * n), c);
  print_sum(c, (long)n * n);
  return 0;
}
