// The first cells of a table, by columns, as many as are asked for: the last column is not whole, and the loop ends in
// the middle of its hidden one.
//
// advice: run 1234 40 50
// advice: builds -O0 -O1 -O2
#include "../kernel.h"

KERNEL void gather(int cells, int rows, int columns, const double* a, double* b) {
  // expect-advice: hidden 40; affine >= 99; trip 1234; suggests LF-PAR k legal yes
  for (int k = 0; k < cells; k++) {  // expect: parallel
    b[k] = a[k % rows * columns + k / rows] * 0.5;
  }
}

int main(int argc, char** argv) {
  const int cells = size_argument(argc, argv, 1, 1234);
  const int rows = size_argument(argc, argv, 2, 40);
  const int columns = size_argument(argc, argv, 3, 50);
  double* const b = numbers((long)rows * columns);
  gather(cells, rows, columns, numbers((long)rows * columns), b);
  print_sum(b, cells);
  return 0;
}
