// A sum and a dot product in variables, which the compiler keeps in registers.
//
// static: sizes N = 30
// static: Z[] :
// static:   order [0]
// static:   writes s[]
// static: S[i] : 0 <= i < N
// static:   order [1, i]
// static:   reads s[], a[i]
// static:   writes s[]
// static: D[i] : 0 <= i < N
// static:   order [2, i]
// static:   reads s[], a[i], b[i]
// static:   writes s[]
// static: W[] :
// static:   order [3]
// static:   reads s[]
// static:   writes out[0]
//
// Two sums into one variable, each a reduction.
//
// advice: run 300
#include "kernel.h"

KERNEL void sums(int n, double* a, double* b, double* out) {
  double s = out[0];  // Z:
  // expect-advice: tile_depth <= 1; reuse 100; suggests LF-RED i needs reduction; never LF-ICH; never LF-SKW
  for (int i = 0; i < n; i++) {  // expect: reduction(+)
    s += a[i];  // S:
  }
  // expect-advice: tile_depth <= 1; reuse 100; suggests LF-RED i needs reduction; never LF-ICH; never LF-SKW
  for (int i = 0; i < n; i++) {  // expect: reduction(+)
    s += a[i] * b[i];  // D:
  }
  out[0] = s;  // W:
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 30);
  double* const out = numbers(1);
  sums(n, numbers(n), numbers(n), out);
  print_sum(out, 1);
  return 0;
}
