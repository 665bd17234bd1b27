// A matrix product in tiles of 8 by 8 by 8, whose three loops over tiles are one. It goes over the tiles of the result
// and, for each, over those that are summed up for it: the sums are carried by the innermost of the three, and so by
// the one loop that they are. Blocks of iterations with the same rows of the result do not need each other.
// (At -O2 sums stay in registers from tile to tile while memory mirrors them; that is not seen to be a reduction.)
//
// advice: run 48
// verify: run 32
// advice: builds -O0 -O1
#include "../kernel.h"

enum { kTile = 8 };

KERNEL void multiply(int n, const double* a, const double* b, double* c) {
  const int tiles = n / kTile;
  // expect-advice: hidden 6 6; affine >= 99; trip 216; blocks yes
  for (int t = 0; t < tiles * tiles * tiles; t++) {  // expect: reduction(+)
    const int row = t / (tiles * tiles) * kTile;
    const int column = t / tiles % tiles * kTile;
    const int inner = t % tiles * kTile;
    for (int i = row; i < row + kTile; i++)          // expect: parallel
      for (int j = column; j < column + kTile; j++)  // expect: parallel
        for (int k = inner; k < inner + kTile; k++)  // expect: reduction(+)
          c[i * n + j] += a[i * n + k] * b[k * n + j];
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 48);
  double* const c = numbers((long)n * n);
  multiply(n, numbers((long)n * n), numbers((long)n * n), c);
  print_sum(c, (long)n * n);
  return 0;
}
