// A line that is relaxed in place, again and again. Each point needs its left neighbour of this sweep and its right one
// of the sweep before: distances (0, 1), (1, 0) and (1, -1). Neither loop is parallel, and they may not change places:
// (1, -1) would come out negative. With i replaced by i + t the distances are (0, 1), (1, 1) and (1, 0): both loops may
// be tiled, and the tiles of a diagonal are free of each other.
//
// advice: run 12 60
#include "../kernel.h"

KERNEL void relax(int sweeps, int n, double* a) {
  // expect-advice: tile_depth 2; skew yes; tilable_ops >= 95; parallel_ops >= 90; suggests LF-SKW; interchange none
  // expect-advice: never LF-PAR t; blocking S -> S
  for (int t = 0; t < sweeps; t++) {  // expect: no: the sweep before
    // expect-advice: blocking S -> S distance 1; never LF-SIMD i
    for (int i = 1; i < n - 1; i++) {              // expect: no: the left neighbour
      a[i] = (a[i - 1] + a[i] + a[i + 1]) * 0.25;  // S:
    }
  }
}

int main(int argc, char** argv) {
  const int sweeps = size_argument(argc, argv, 1, 12);
  const int n = size_argument(argc, argv, 2, 60);
  double* const a = numbers(n);
  relax(sweeps, n, a);
  print_sum(a, n);
  return 0;
}
