// How long points of the plane take to escape under iteration of a square. Points are free of each other. The innermost
// loop is not only a chain: how long it goes on is decided by its values, so that lengths differ from point to point.
//
// advice: run 20 30
#include "../kernel.h"

enum { kMost = 40 };

KERNEL void escape(int n, int m, int* count) {
  // expect-advice: parallel_ops >= 95; suggests LF-PAR y; tile_depth >= 2; skew no; never LF-SKW; never LF-SIMD while
  // expect-advice -O1: obstacles CB
  for (int y = 0; y < n; y++) {    // expect: parallel
    for (int x = 0; x < m; x++) {  // expect: parallel
      const double a = -2 + 2.5 * x / m;
      const double b = -1 + 2.0 * y / n;
      double u = 0;
      double v = 0;
      int steps = 0;
      while (u * u + v * v < 4 && steps < kMost) {  // expect: no: the point before, and whether it has escaped
        const double next = u * u - v * v + a;
        v = 2 * u * v + b;
        u = next;
        steps++;
      }
      count[y * m + x] = steps;
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 20);
  const int m = size_argument(argc, argv, 2, 30);
  int* const count = block_of((long)n * m, sizeof(int));
  escape(n, m, count);
  print_integer_sum(count, (long)n * m);
  return 0;
}
