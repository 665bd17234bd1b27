// The least and the greatest of an array, and their place. The extremes are reductions: any order will do. The place of
// the greatest is not one of a single operation: which element counts is decided by those before.
//
// advice: run 300
#include "../kernel.h"

KERNEL void range(int n, const double* a, double* out) {
  double least = a[0];
  double greatest = a[0];
  // expect-advice: tile_depth <= 1; skew no; reuse 100; never LF-ICH; never LF-SKW; never LF-TIL
  // expect-advice: suggests LF-RED i needs reduction; stride01 100
  for (int i = 1; i < n; i++) {  // expect: reduction(max,min)
    least = a[i] < least ? a[i] : least;
    greatest = a[i] > greatest ? a[i] : greatest;
  }
  out[0] = least;
  out[1] = greatest;
}

KERNEL int place_of_greatest(int n, const double* a) {
  int place = 0;
  // expect-advice: never LF-PAR; never LF-RED; never LF-SIMD; parallel_ops <= 50
  for (int i = 1; i < n; i++) {  // expect: no: the place so far
    if (a[i] > a[place]) {
      place = i;
    }
  }
  return place;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 300);
  double out[2];
  const double* const a = numbers(n);
  range(n, a, out);
  printf("%.10g %.10g %d\n", out[0], out[1], place_of_greatest(n, a));
  return 0;
}
