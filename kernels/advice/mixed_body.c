// A filter that goes on from its last value, and a polynomial of what it gives, in one loop. The filter keeps the loop
// in order; the polynomial only follows it. In two loops, the second one is parallel: more than half of the work. Both
// are one basic block, but two lines.
//
// advice: run 400
#include "../kernel.h"

KERNEL void smooth(int n, const double* in, double* level, double* out) {
  // expect-advice: tile_depth 1; skew no; never LF-PAR i
  // expect-advice: blocking L -> L distance 1; interchange none; never LF-ICH; never LF-SKW; suggests LF-DIS i
  for (int i = 1; i < n; i++) {             // expect: no: the level before
    level[i] = 0.5 * level[i - 1] + in[i];  // L:
    out[i] = ((level[i] * 0.25 + in[i]) * level[i] - 0.5 * in[i]) * level[i] + in[i] * in[i] * level[i];  // P:
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 400);
  double* const out = numbers(n);
  smooth(n, numbers(n), numbers(n), out);
  print_sum(out, n);
  return 0;
}
