// A histogram: the subscript is data. No static truth.
//
// irregular: sizes N = 400, B = 12
//
// Which counter is next depends on data, but each only adds up: a reduction of an array.
//
// advice: run 400 12
#include "kernel.h"

KERNEL void histogram(int n, int* x, int* bins) {
  // expect-advice: tile_depth <= 1; suggests LF-RED i needs reduction; never LF-ICH; never LF-TIL; never LF-SKW
  // expect-advice: reuse 30..55
  // expect-advice -O1: obstacles FA
  for (int i = 0; i < n; i++) {  // expect: reduction(+)
    bins[x[i]] += 1;  // S:
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 400);
  const int b = size_argument(argc, argv, 2, 12);
  int* const bins = integers(b, 3);
  histogram(n, integers(n, b), bins);
  for (int i = 0; i < b; i++) printf("%d\n", bins[i]);
  return 0;
}
