// A recurrence over a table: each element needs its neighbours above and to the left. Both loops keep their order, and
// can be tiled as they are; what is on one diagonal, i + j, is free of each other. The compiler keeps the element to
// the left in a register, and loads the first one before the inner loop: that is where the recurrence begins, and no
// flow that the binary does not show.
//
// advice: run 40
#include "../kernel.h"

KERNEL void recurrence(int n, double (*a)[n]) {
  // expect-advice: tile_depth 2; skew no; tilable_ops >= 95; parallel_ops >= 90; suggests LF-SKW i j legal yes
  // expect-advice: never LF-PAR; never LF-ICH; blocking S -> S distance 1
  for (int i = 1; i < n; i++) {  // expect: no: the row above
    // expect-advice: blocking S -> S distance 1; never LF-SIMD j
    for (int j = 1; j < n; j++) {                   // expect: no: the left neighbour
      a[i][j] = (a[i - 1][j] + a[i][j - 1]) * 0.5;  // S:
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 40);
  double* const a = numbers((long)n * n);
  recurrence(n, (double(*)[n])a);
  print_sum(a, (long)n * n);
  return 0;
}
